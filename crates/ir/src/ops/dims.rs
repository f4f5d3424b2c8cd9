//! Conversion of types between the front-end IR and PTIR. A scalar is a tensor without dims; a variable in a dim is a symbol.

use rustc_hash::FxBuildHasher;
use sapwood_ptir::dims::{DimBuilder, DimExpr};
use sapwood_ptir::{
    Dim, Dims, MAX_EXTENT, MAX_TYPE_DEPTH, MAX_TYPE_SIZE, Name, TensorType, ValueType,
};
use sapwood_structural::{StructuralKey, StructuralOptions};
use sapwood_types::{DataType, Span};

use crate::nodes::{BinaryOp, Expr, ExprRef, Type, TypeRef, UnaryOp, has_few_nodes};

type IdMap<V> = hashbrown::HashMap<usize, V, FxBuildHasher>;

/// The largest number of operators and operands of a dim; larger ones are unknown.
const MAX_DIM_NODES: usize = 256;

/// The fewest bits of arithmetic that is read as an expression: with fewer, numbers as large as extents wrap around.
const MIN_EXPRESSION_BITS: u32 = 32;

/// The symbols of variables in dims.
#[derive(Default)]
pub struct DimSymbols {
    names: IdMap<Name>,
    /// The symbols that a dim must not contain: such a dim is unknown.
    unbound: hashbrown::HashSet<Name, FxBuildHasher>,
    /// The symbols of variables that may be negative. The normal form of `max` and `min` takes symbols for extents: `max(n, 0)` would be `n`.
    signed: hashbrown::HashSet<Name, FxBuildHasher>,
    /// Expressions that have a symbol as a whole.
    open: hashbrown::HashMap<StructuralKey<ExprRef>, Name, FxBuildHasher>,
}

impl DimSymbols {
    /// Adds the symbol of a variable.
    pub fn insert(&mut self, var: &ExprRef, name: Name) {
        self.names.insert(var.node().id(), name);
    }

    /// Returns whether this variable has a symbol.
    #[must_use]
    pub fn contains(&self, var: &ExprRef) -> bool {
        self.names.contains_key(&var.node().id())
    }

    /// Adds the symbol of an expression that is not an expression over symbols.
    pub fn insert_open(&mut self, expr: &ExprRef, name: Name) {
        if let Some(key) = structural_key(expr) {
            self.open.entry(key).or_insert(name);
        }
    }

    /// Returns the symbol of an expression that is not an expression over symbols.
    #[must_use]
    pub fn open_symbol(&self, expr: &ExprRef) -> Option<Name> {
        if self.open.is_empty() {
            return None;
        }
        self.open.get(&structural_key(expr)?).copied()
    }

    /// Sets the symbols that no parameter binds: a dim that contains one is unknown.
    pub fn set_unbound(&mut self, unbound: &[Name]) {
        self.unbound = unbound.iter().copied().collect();
    }

    /// Sets the symbols of variables that may be negative: a dim with `max` or `min` of one is unknown.
    pub fn set_signed(&mut self, signed: &[Name]) {
        self.signed = signed.iter().copied().collect();
    }

    fn has_signed(&self, expr: DimExpr) -> bool {
        expr.symbols().iter().any(|name| self.signed.contains(name))
    }

    /// Returns the expression of a dim over the symbols, or `None` if it has other parts or is too large.
    fn expression(&self, dim: &ExprRef, left: &mut usize) -> Option<DimExpr> {
        *left = left.checked_sub(1)?;
        if let Some(&name) = self.names.get(&dim.node().id()) {
            return DimExpr::symbol(name).filter(|_| !self.unbound.contains(&name));
        }
        if let Some(number) = dim.as_int() {
            return DimExpr::constant(i64::try_from(number).ok()?);
        }
        if let Some((UnaryOp::Cast, operand)) = dim.as_unary() {
            // A dim of a smaller type; its value stays the same.
            let widens = operand.ty().as_scalar().and_then(DataType::integer_range);
            let widens = widens.is_some_and(|(_, max)| max <= i128::from(i64::MAX));
            let is_wide = dim.ty().as_scalar() == Some(DataType::I64);
            return if widens && is_wide { self.expression(operand, left) } else { None };
        }
        let (op, lhs, rhs) = dim.as_binary()?;
        if dim.ty().as_scalar().is_some_and(|dtype| dtype.bit_width() < MIN_EXPRESSION_BITS) {
            return None;
        }
        let (lhs, rhs) = (self.expression(lhs, left)?, self.expression(rhs, left)?);
        match op {
            BinaryOp::Add => lhs.checked_add(rhs),
            BinaryOp::Sub => lhs.checked_sub(rhs),
            BinaryOp::Mul => lhs.checked_mul(rhs),
            // Divisors are numbers of at least one.
            BinaryOp::FloorDiv => lhs.floordiv(rhs.as_constant()?),
            BinaryOp::FloorMod => lhs.modulo(rhs.as_constant()?),
            BinaryOp::Min | BinaryOp::Max if self.has_signed(lhs) || self.has_signed(rhs) => None,
            BinaryOp::Min => lhs.min(rhs),
            BinaryOp::Max => lhs.max(rhs),
            _ => None,
        }
    }

    fn convert_dim(&self, dim: &ExprRef) -> Dim {
        let expr = self.expression(dim, &mut { MAX_DIM_NODES });
        if let Some(expr) = expr
            && expr.as_constant().is_none()
        {
            return Dim::from_expr(expr);
        }
        let number = dim.as_int().or_else(|| {
            let folds = dim.operands().len() > 0;
            folds.then(|| crate::passes::fold_expr(dim).ok()?.as_int()).flatten()
        });
        // Variables may cancel out: `i + 1 - i`.
        let number = number.or_else(|| expr?.as_constant().map(i128::from));
        match number.and_then(|n| u64::try_from(n).ok()).filter(|&n| n <= MAX_EXTENT) {
            Some(n) => Dim::Known(n),
            None => self.open_symbol(dim).map_or(Dim::Unknown, Dim::symbol),
        }
    }

    /// Converts a type to PTIR.
    ///
    /// # Errors
    /// Returns the reason why the type cannot be converted.
    pub fn convert(&self, ty: &TypeRef) -> Result<ValueType, String> {
        check_type_size(ty)?;
        self.convert_checked(ty)
    }

    /// Converts a type that nests at most `MAX_TYPE_DEPTH` deep.
    fn convert_checked(&self, ty: &TypeRef) -> Result<ValueType, String> {
        Ok(match &**ty {
            Type::Scalar { dtype, .. } => TensorType::scalar(*dtype).into(),
            Type::Tensor { dtype, shape, .. } => {
                let dims: Dims = shape.iter().map(|dim| self.convert_dim(dim)).collect();
                if let Some(big) = shape.iter().find_map(|dim| dim.as_int().filter(too_large)) {
                    return Err(format!("a dim is {big}, expected at most {MAX_EXTENT}"));
                }
                TensorType { dtype: *dtype, dims }.into()
            }
            Type::Tuple { types, .. } => ValueType::Tuple(
                types.iter().map(|ty| self.convert_checked(ty)).collect::<Result<_, _>>()?,
            ),
            Type::Function { .. } => return Err("a function is not a value".to_owned()),
            Type::Unknown { .. } => return Err("the type is not known".to_owned()),
        })
    }
}

// Returns an expression as a key: equal expressions have equal keys.
fn structural_key(expr: &ExprRef) -> Option<StructuralKey<ExprRef>> {
    StructuralKey::new(expr.clone(), StructuralOptions::default()).ok()
}

fn too_large(dim: &i128) -> bool {
    *dim > i128::from(MAX_EXTENT)
}

/// Rejects types that nest too deep or, through sharing, have too many parts.
fn check_type_size(root: &TypeRef) -> Result<(), String> {
    let mut sizes: IdMap<(u64, usize)> = IdMap::default();
    let mut worklist = vec![(root, false)];
    while let Some((ty, ready)) = worklist.pop() {
        let Type::Tuple { types, .. } = &**ty else { continue };
        let id = ty.node().id();
        if sizes.contains_key(&id) {
            continue;
        }
        if !ready {
            worklist.push((ty, true));
            worklist.extend(types.iter().map(|ty| (ty, false)));
            continue;
        }
        let (mut parts, mut depth) = (1u64, 0);
        for ty in types {
            let (inner, levels) = sizes.get(&ty.node().id()).copied().unwrap_or((1, 0));
            parts = parts.saturating_add(inner);
            depth = depth.max(levels);
        }
        sizes.insert(id, (parts, depth + 1));
    }
    let (parts, depth) = sizes.get(&root.node().id()).copied().unwrap_or((1, 0));
    if depth > MAX_TYPE_DEPTH {
        return Err(format!("a tuple type nests {depth} deep, expected at most {MAX_TYPE_DEPTH}"));
    }
    if parts > MAX_TYPE_SIZE as u64 {
        return Err(format!("a tuple type has {parts} parts, expected at most {MAX_TYPE_SIZE}"));
    }
    Ok(())
}

/// Returns the variables that are dims in a type.
#[must_use]
pub fn dim_vars(ty: &TypeRef) -> Vec<&ExprRef> {
    let mut vars = Vec::new();
    let mut seen: hashbrown::HashSet<usize, FxBuildHasher> = hashbrown::HashSet::default();
    let mut worklist = vec![ty];
    while let Some(ty) = worklist.pop() {
        match &**ty {
            Type::Tensor { shape, .. } => {
                let mut dims: Vec<&ExprRef> = shape.iter().rev().collect();
                while let Some(dim) = dims.pop() {
                    if dim.is_var() {
                        vars.push(dim);
                    } else if let Some((_, left, right)) = dim.as_binary()
                        && seen.insert(dim.node().id())
                    {
                        dims.extend([right, left]);
                    }
                }
            }
            Type::Tuple { types, .. } if seen.insert(ty.node().id()) => {
                worklist.extend(types.iter().rev());
            }
            _ => {}
        }
    }
    vars
}

/// Returns the variables that are whole dims in a type: they are at least zero wherever a value has the type.
#[must_use]
pub fn extent_vars(ty: &TypeRef) -> Vec<&ExprRef> {
    let mut vars = Vec::new();
    let mut seen: hashbrown::HashSet<usize, FxBuildHasher> = hashbrown::HashSet::default();
    let mut worklist = vec![ty];
    while let Some(ty) = worklist.pop() {
        match &**ty {
            Type::Tensor { shape, .. } => vars.extend(shape.iter().filter(|dim| dim.is_var())),
            Type::Tuple { types, .. } if seen.insert(ty.node().id()) => worklist.extend(types),
            _ => {}
        }
    }
    vars
}

/// Returns whether two small types are tensors with equal dims, which may be written in different ways: `2 * n` and `n + n`.
pub(crate) fn are_same_tensor_types(left: &TypeRef, right: &TypeRef) -> bool {
    let (Type::Tensor { dtype, shape, .. }, Type::Tensor { dtype: other, shape: others, .. }) =
        (&**left, &**right)
    else {
        return false;
    };
    if dtype != other
        || shape.len() != others.len()
        || !has_few_nodes(left)
        || !has_few_nodes(right)
    {
        return false;
    }
    let mut numbered = NumberedSymbols::default();
    numbered.add(left);
    numbered.add(right);
    shape.iter().zip(others).all(|(a, b)| {
        let [first, second] = [a, b].map(|dim| numbered.symbols.convert_dim(dim));
        first.certainly_equal(second) || sapwood_structural::equal(a, b).unwrap_or(false)
    })
}

/// The variables of some types, numbered in order of occurrence, each with a symbol.
#[derive(Default)]
pub(crate) struct NumberedSymbols {
    pub(crate) symbols: DimSymbols,
    vars: Vec<(Name, ExprRef)>,
}

impl NumberedSymbols {
    /// Adds the variables of the dims of a type.
    pub(crate) fn add(&mut self, ty: &TypeRef) {
        for var in dim_vars(ty) {
            if !self.symbols.contains(var) {
                // The symbols have the same names in every call, so that few expressions are interned.
                let name = Name::new(&format!("v{}", self.vars.len()));
                self.symbols.insert(var, name);
                self.vars.push((name, var.clone()));
            }
        }
    }

    /// Converts a type of PTIR back; returns none if a dim is unknown or a part has no type in the front end.
    pub(crate) fn restore(&self, ty: &ValueType) -> Option<TypeRef> {
        match ty {
            ValueType::Tensor(ty) if ty.rank() == 0 => Some(Type::scalar(ty.dtype)),
            ValueType::Tensor(ty) => {
                let dims = ty.dims.iter().map(|&dim| self.restore_dim(dim));
                Some(Type::tensor(ty.dtype, dims.collect::<Option<Vec<_>>>()?))
            }
            ValueType::Tuple(types) => {
                let types = types.iter().map(|ty| self.restore(ty));
                Some(Type::tuple(types.collect::<Option<Vec<_>>>()?))
            }
            _ => None,
        }
    }

    fn restore_dim(&self, dim: Dim) -> Option<ExprRef> {
        if let Some(known) = dim.known() {
            return i64::try_from(known).ok().map(Expr::dim);
        }
        // All variables have one integer type, which is that of the whole expression.
        let expr = dim.to_expr()?;
        let used = expr.symbols();
        let mut dtypes = self.vars.iter().filter(|(name, _)| used.contains(name));
        let dtype = dtypes.next()?.1.ty().as_scalar().filter(|dtype| dtype.is_integer())?;
        if dtypes.any(|(_, var)| var.ty().as_scalar() != Some(dtype)) {
            return None;
        }
        let mut builder = DimRestorer { vars: &self.vars, dtype, exprs: Vec::new() };
        let root = expr.build(&mut builder)?;
        builder.exprs.get(root).cloned()
    }
}

/// A builder of front-end expressions from dims.
struct DimRestorer<'a> {
    vars: &'a [(Name, ExprRef)],
    dtype: DataType,
    exprs: Vec<ExprRef>,
}

impl DimRestorer<'_> {
    fn push(&mut self, expr: ExprRef) -> Option<usize> {
        self.exprs.push(expr);
        Some(self.exprs.len() - 1)
    }

    fn binary(&mut self, op: BinaryOp, a: usize, b: usize) -> Option<usize> {
        let expr = Expr::binary(op, &self.exprs[a], &self.exprs[b], self.dtype, Span::unknown());
        self.push(expr)
    }
}

impl DimBuilder for DimRestorer<'_> {
    type Value = usize;

    fn known(&self, _expr: DimExpr) -> Option<usize> {
        None
    }

    fn record(&mut self, _expr: DimExpr, _value: usize) {}

    fn constant(&mut self, number: i64) -> Option<usize> {
        let expr = Expr::const_int(number, self.dtype, Span::unknown()).ok()?;
        self.push(expr)
    }

    fn symbol(&mut self, name: Name) -> Option<usize> {
        let var = self.vars.iter().find(|(known, _)| *known == name)?.1.clone();
        self.push(var)
    }

    fn add(&mut self, a: usize, b: usize) -> Option<usize> {
        self.binary(BinaryOp::Add, a, b)
    }

    fn subtract(&mut self, a: usize, b: usize) -> Option<usize> {
        self.binary(BinaryOp::Sub, a, b)
    }

    fn multiply(&mut self, a: usize, b: usize) -> Option<usize> {
        self.binary(BinaryOp::Mul, a, b)
    }

    fn floordiv(&mut self, a: usize, _of: DimExpr, divisor: i64) -> Option<usize> {
        let divisor = self.constant(divisor)?;
        self.binary(BinaryOp::FloorDiv, a, divisor)
    }

    fn positive_part(&mut self, a: usize) -> Option<usize> {
        let zero = self.constant(0)?;
        self.binary(BinaryOp::Max, a, zero)
    }
}
