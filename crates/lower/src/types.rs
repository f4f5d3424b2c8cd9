//! The symbols of a function, the types of its parameters, and those of loop-carried values.

use sapwood_ir::ops::{DimSymbols, dim_vars};
use sapwood_ir::{Expr, ExprRef, Function, Type, TypeRef, Var};
use sapwood_ptir::dims::{DimExpr, symbols_with_dims};
use sapwood_ptir::{Dim, Name, TensorType, ValueType};
use sapwood_types::{DataType, Span};

use crate::IdSet;
use crate::summary::LoweringSummary;

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
        let convert = |symbols: &DimSymbols| -> Vec<Result<ValueType, String>> {
            function.params.iter().map(|param| symbols.convert(param.ty())).collect()
        };
        let first = convert(&on_entry);
        let bound = determined_symbols(first.iter().flatten());
        let is_unbound = |name: &Name| !bound.contains(name);
        let unbound: Vec<Name> = vars.iter().map(|var| var.1).filter(is_unbound).collect();
        on_entry.set_unbound(unbound.clone());
        in_body.set_unbound(unbound);
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
        let mut open = OpenDims { params: &params, names, ties, known: Vec::new() };
        for ((param, first), ty) in function.params.iter().zip(&first).zip(&mut types) {
            if let (Ok(first), Ok(ty)) = (first, ty) {
                open.name_dims((param, param.ty()), first, ty);
            }
        }
        let ties = open.ties;
        for tie in ties.iter().filter(|tie| !tie.expr.is_var()) {
            let mut params = function.params.iter();
            let changes =
                |param: &Var| contains(tie.expr, param) && summary.is_reassigned(param.expr());
            if !params.any(changes)
                && let Some(name) = tie.extent.as_symbol()
            {
                in_body.insert_open(tie.expr, name);
            }
        }
        Self { symbols: in_body, types, ties }
    }
}

/// Returns the symbols that the extents of parameters determine, whatever they are: `?n*?m` does not determine `?n`, because `?m` may be zero.
fn determined_symbols<'a>(types: impl Iterator<Item = &'a ValueType>) -> Vec<Name> {
    let mut dims: Vec<DimExpr> = Vec::new();
    for ty in types {
        ty.for_each_dim(&mut |dim| {
            if let Dim::Expr(expr) = dim {
                dims.push(expr);
            }
        });
    }
    loop {
        let bound = symbols_with_dims(&dims);
        let has_open_coefficient = |&&(name, position): &&(Name, usize)| {
            let linear = dims[position].linear_in(name);
            linear.is_none_or(|(coefficient, _)| coefficient.as_constant().is_none())
        };
        let Some(&(_, undetermining)) = bound.iter().find(has_open_coefficient) else {
            return bound.into_iter().map(|(name, _)| name).collect();
        };
        // Another dim may determine the symbol.
        dims.remove(undetermining);
    }
}

/// Names the unknown dims of parameters that are expressions over parameters, so that their values can be compared with the extents.
struct OpenDims<'a, 'f> {
    params: &'f IdSet,
    names: SymbolNames,
    ties: Vec<DimTie<'a>>,
    /// The symbols of expressions; equal expressions have one symbol.
    known: Vec<(OpenDim, DimExpr)>,
}

/// A dim that no symbols of parameters express.
#[derive(PartialEq, Eq)]
enum OpenDim {
    /// An expression over symbols that no parameter binds.
    Unbound(Dim),
    /// The id of another expression.
    Other(usize),
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
        let open = match first {
            Dim::Expr(_) => OpenDim::Unbound(first),
            Dim::Known(_) | Dim::Unknown => OpenDim::Other(expr.node().id()),
        };
        if let Some((_, symbol)) = self.known.iter().find(|(known, _)| *known == open) {
            return Some(*symbol);
        }
        if !is_computed_from(expr, &|var| self.params.contains(&var.node().id())) {
            return None;
        }
        let extent = DimExpr::symbol(self.names.choose(Some(param.name())))?;
        self.known.push((open, extent));
        self.ties.push(DimTie { expr, extent, span: param.span() });
        Some(extent)
    }
}

/// The names of symbols so far.
#[derive(Default)]
struct SymbolNames {
    taken: hashbrown::HashSet<Name, rustc_hash::FxBuildHasher>,
}

impl SymbolNames {
    /// Returns a new name close to a wanted one.
    fn choose(&mut self, wanted: Option<&str>) -> Name {
        let plain = wanted.filter(|name| !name.is_empty()).unwrap_or("d");
        let mut name = Name::new(plain);
        let mut count = 1;
        while !self.taken.insert(name) {
            name = Name::new(&format!("{plain}_{count}"));
            count += 1;
        }
        name
    }
}

/// Returns whether a variable occurs in an expression.
pub(crate) fn contains(root: &ExprRef, var: &Var) -> bool {
    let mut seen = IdSet::default();
    let mut worklist = vec![root];
    while let Some(expr) = worklist.pop() {
        if expr.node().id() == var.id() {
            return true;
        }
        if seen.insert(expr.node().id()) {
            worklist.extend(expr.operands());
        }
    }
    false
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
