//! The symbols of a function, the types of its parameters, and those of loop-carried values.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ir::ops::{DimSymbols, dim_vars, extent_vars};
use sapwood_ir::{Expr, ExprRef, Function, Type, TypeRef, Var};
use sapwood_ptir::dims::{DimExpr, determined_symbols};
use sapwood_ptir::{Dim, Name, TensorType, ValueType};
use sapwood_types::{DataType, Span};

use crate::IdSet;
use crate::summary::LoweringSummary;

type NameSet = hashbrown::HashSet<Name, FxBuildHasher>;

/// The symbols of a function, and the types of its parameters.
#[derive(Default)]
pub(crate) struct ParamDims<'a> {
    /// The symbols in the body: parameters that occur in dims of parameters and are never reassigned.
    pub(crate) symbols: DimSymbols,
    /// The types of the parameters, or the reasons why they cannot be converted.
    pub(crate) types: Vec<Result<ValueType, String>>,
    /// The dims whose values the caller passes, too.
    pub(crate) ties: Vec<DimTie<'a>>,
}

/// A dim of a parameter that is computed from parameters: its value must be the extent.
pub(crate) struct DimTie<'a> {
    /// A parameter, or an expression over parameters whose extent no symbols express.
    pub(crate) expr: &'a ExprRef,
    /// The extent.
    pub(crate) extent: DimExpr,
    /// The span of the parameter with this dim.
    pub(crate) span: Span,
}

impl<'a> ParamDims<'a> {
    pub(crate) fn new(function: &'a Function, summary: &LoweringSummary<'_>) -> Self {
        let params: IdSet = function.params.iter().map(Var::id).collect();
        let mut names = SymbolNames::default();
        // Dims of parameters mean the arguments; in the body a parameter may have another value.
        let (mut on_entry, mut in_body) = (DimSymbols::default(), DimSymbols::default());
        let mut vars: Vec<(&ExprRef, Name, Span)> = Vec::new();
        for param in &function.params {
            for var in dim_vars(param.ty()) {
                if !params.contains(&var.node().id()) || on_entry.contains(var) {
                    continue;
                }
                let name = names.choose(var.name());
                on_entry.insert(var, name);
                if !summary.is_reassigned(var) {
                    in_body.insert(var, name);
                }
                vars.push((var, name, param.span()));
            }
        }
        let extents: IdSet = function
            .params
            .iter()
            .flat_map(|param| extent_vars(param.ty()))
            .map(|var| var.node().id())
            .collect();
        let is_signed = |var: &&(&ExprRef, Name, Span)| !extents.contains(&var.0.node().id());
        let signed: Vec<Name> = vars.iter().filter(is_signed).map(|var| var.1).collect();
        on_entry.set_signed(&signed);
        in_body.set_signed(&signed);
        let convert = |symbols: &DimSymbols| -> Vec<Result<ValueType, String>> {
            function.params.iter().map(|param| symbols.convert(param.ty())).collect()
        };
        let first = convert(&on_entry);
        let bound = determined_by(first.iter().flatten());
        let is_unbound = |name: &Name| !bound.contains(name);
        let unbound: Vec<Name> = vars.iter().map(|var| var.1).filter(is_unbound).collect();
        on_entry.set_unbound(&unbound);
        in_body.set_unbound(&unbound);
        let mut types = convert(&on_entry);
        let mut ties = Vec::new();
        for (expr, name, span) in vars {
            let is_integer = expr.ty().as_scalar().is_some_and(DataType::is_integer);
            if bound.contains(&name)
                && is_integer
                && let Some(extent) = DimExpr::symbol(name)
            {
                ties.push(DimTie { expr, extent, span });
            }
        }
        let (unbound, others) = (HashMap::default(), DimSymbols::default());
        let mut open = OpenDims { params: &params, names, ties, unbound, others };
        for ((param, first), ty) in function.params.iter().zip(&first).zip(&mut types) {
            if let (Ok(first), Ok(ty)) = (first, ty) {
                open.name_dims((param, param.ty()), first, ty);
            }
        }
        let ties = open.ties;
        for tie in ties.iter().filter(|tie| !tie.expr.is_var()) {
            if !vars_of(tie.expr).into_iter().any(|var| summary.is_reassigned(var))
                && let Some(name) = tie.extent.as_symbol()
            {
                in_body.insert_open(tie.expr, name);
            }
        }
        Self { symbols: in_body, types, ties }
    }
}

/// Returns the symbols that the extents of parameters determine, whatever they are.
fn determined_by<'a>(types: impl Iterator<Item = &'a ValueType>) -> NameSet {
    let mut dims: Vec<DimExpr> = Vec::new();
    for ty in types {
        ty.for_each_dim(&mut |dim| {
            if let Dim::Expr(expr) = dim {
                dims.push(expr);
            }
        });
    }
    determined_symbols(&dims).into_iter().collect()
}

/// Names the unknown dims of parameters that are expressions over parameters, so that their values can be compared with the extents.
struct OpenDims<'a, 'f> {
    params: &'f IdSet,
    names: SymbolNames,
    ties: Vec<DimTie<'a>>,
    /// The symbols of dims over symbols that no parameter binds; equal dims have one symbol.
    unbound: HashMap<Dim, Name, FxBuildHasher>,
    /// The symbols of other expressions; equal expressions have one symbol.
    others: DimSymbols,
}

impl<'a> OpenDims<'a, '_> {
    /// Names the dims in `ty`; `first` is the type with all symbols.
    fn name_dims(
        &mut self,
        (param, declared): (&'a Var, &'a TypeRef),
        first: &ValueType,
        ty: &mut ValueType,
    ) {
        match (&**declared, first, ty) {
            (
                Type::Tensor { shape, .. },
                ValueType::Tensor(first),
                ValueType::Tensor(TensorType { dims, .. }),
            ) => {
                for ((expr, &first), dim) in shape.iter().zip(&first.dims).zip(dims) {
                    if *dim == Dim::Unknown
                        && let Some(symbol) = self.symbol(param, expr, first)
                    {
                        *dim = Dim::from_expr(symbol);
                    }
                }
            }
            (Type::Tuple { types, .. }, ValueType::Tuple(first), ValueType::Tuple(elements)) => {
                let named = types.iter().zip(first.iter()).zip(elements.iter());
                let named = named.map(|((declared, first), ty)| {
                    let mut ty = ty.clone();
                    self.name_dims((param, declared), first, &mut ty);
                    ty
                });
                *elements = named.collect();
            }
            _ => {}
        }
    }

    /// Returns the symbol of a dim, or `None` if its value is not computed from parameters.
    fn symbol(&mut self, param: &'a Var, expr: &'a ExprRef, first: Dim) -> Option<DimExpr> {
        let known = match first {
            Dim::Expr(_) => self.unbound.get(&first).copied(),
            Dim::Known(_) | Dim::Unknown => self.others.open_symbol(expr),
        };
        if let Some(name) = known {
            return DimExpr::symbol(name);
        }
        if !is_computed_from(expr, &|var| self.params.contains(&var.node().id())) {
            return None;
        }
        let name = self.names.choose(Some(param.name()));
        let extent = DimExpr::symbol(name)?;
        match first {
            Dim::Expr(_) => drop(self.unbound.insert(first, name)),
            Dim::Known(_) | Dim::Unknown => self.others.insert_open(expr, name),
        }
        self.ties.push(DimTie { expr, extent, span: param.span() });
        Some(extent)
    }
}

/// The names of symbols so far.
#[derive(Default)]
struct SymbolNames {
    taken: NameSet,
    /// The next number for each wanted name that was taken already.
    next: HashMap<Name, usize, FxBuildHasher>,
}

impl SymbolNames {
    /// Returns a new name close to a wanted one.
    fn choose(&mut self, wanted: Option<&str>) -> Name {
        let plain = wanted.filter(|name| !name.is_empty()).unwrap_or("d");
        let plain = Name::new(plain);
        let mut name = plain;
        while !self.taken.insert(name) {
            let count = self.next.entry(plain).or_insert(1);
            name = Name::new(&format!("{plain}_{count}"));
            *count += 1;
        }
        name
    }
}

/// Returns the variables in an expression, each once.
pub(crate) fn vars_of(root: &ExprRef) -> Vec<&ExprRef> {
    let mut seen = IdSet::default();
    let mut vars = Vec::new();
    let mut worklist = vec![root];
    while let Some(expr) = worklist.pop() {
        if seen.insert(expr.node().id()) {
            if expr.is_var() {
                vars.push(expr);
            }
            worklist.extend(expr.operands());
        }
    }
    vars
}

/// Returns whether an expression is an integer that operators compute from constants and some integer variables.
pub(crate) fn is_computed_from(root: &ExprRef, is_usable: &dyn Fn(&ExprRef) -> bool) -> bool {
    /// The largest number of operators and operands of a dim that is compared with its extent.
    const MAX_NODES: usize = 256;
    let mut worklist = vec![root];
    let mut seen = 0;
    while let Some(expr) = worklist.pop() {
        seen += 1;
        let is_known = match &**expr {
            Expr::Var { .. } => is_usable(expr),
            other => other.as_int().is_some() || expr.operands().len() > 0,
        };
        let is_call = matches!(&**expr, Expr::Call { .. });
        let is_integer = expr.ty().as_scalar().is_some_and(DataType::is_integer);
        if !is_known || is_call || !is_integer || seen > MAX_NODES {
            return false;
        }
        worklist.extend(expr.operands());
    }
    true
}

/// Returns the type of a loop-carried value: that of its initial value, with unknown dims where the declared type has them.
pub(crate) fn widen_to_declared(first: &ValueType, declared: Option<&ValueType>) -> ValueType {
    match (first, declared) {
        (ValueType::Tensor(a), Some(ValueType::Tensor(b)))
            if a.dtype == b.dtype && a.rank() == b.rank() =>
        {
            let dims = a.dims.iter().zip(&b.dims).map(|(&first, &declared)| match declared {
                Dim::Known(_) => declared,
                _ if first == declared => declared,
                _ => Dim::Unknown,
            });
            TensorType { dtype: a.dtype, dims: dims.collect() }.into()
        }
        (ValueType::Tuple(a), Some(ValueType::Tuple(b))) if a.len() == b.len() => ValueType::Tuple(
            a.iter().zip(b.iter()).map(|(a, b)| widen_to_declared(a, Some(b))).collect(),
        ),
        _ => first.clone(),
    }
}
