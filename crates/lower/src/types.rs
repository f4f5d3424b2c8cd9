//! Types: scalars are tensors without dims; a dim is a number, a parameter's name, or unknown.

use sapwood_ir::{ExprRef, Function, Type, TypeRef, Var};
use sapwood_ptir::{
    Dim, Dims, MAX_EXTENT, MAX_TYPE_DEPTH, MAX_TYPE_SIZE, Name, TensorType, ValueType,
};

use crate::survey::{Survey, dim_vars};
use crate::{Map, Set};

/// The symbols of a function: parameters that stand as dims of parameters and keep their value.
#[derive(Default)]
pub(crate) struct DimNames(Map<Name>);

impl DimNames {
    pub(crate) fn new(function: &Function, survey: &Survey<'_>) -> Self {
        let params: Set = function.params.iter().map(Var::id).collect();
        let mut names = Self::default();
        let mut taken: hashbrown::HashSet<Name, rustc_hash::FxBuildHasher> = Default::default();
        for param in &function.params {
            for var in dim_vars(param.ty()) {
                let id = var.node().id();
                if !params.contains(&id) || survey.changes(var) || names.0.contains_key(&id) {
                    continue;
                }
                let plain = var.name().filter(|name| !name.is_empty()).unwrap_or("d");
                let mut name = Name::new(plain);
                let mut count = 1;
                while !taken.insert(name) {
                    name = Name::new(&format!("{plain}_{count}"));
                    count += 1;
                }
                names.0.insert(id, name);
            }
        }
        names
    }

    fn dim(&self, dim: &ExprRef) -> Dim {
        if let Some(name) = self.0.get(&dim.node().id()) {
            return Dim::Named(*name);
        }
        let number = dim.as_int().or_else(|| {
            let folds = dim.operands().len() > 0;
            folds.then(|| sapwood_ir::passes::fold_expr(dim).ok()?.as_int()).flatten()
        });
        match number.and_then(|n| u64::try_from(n).ok()).filter(|&n| n <= MAX_EXTENT) {
            Some(n) => Dim::Known(n),
            None => Dim::Unknown,
        }
    }

    /// The type as PTIR has it; what is wrong otherwise.
    pub(crate) fn convert(&self, ty: &TypeRef) -> Result<ValueType, String> {
        check_size(ty)?;
        self.convert_small(ty)
    }

    // Nested at most `MAX_TYPE_DEPTH` deep.
    fn convert_small(&self, ty: &TypeRef) -> Result<ValueType, String> {
        Ok(match &**ty {
            Type::Scalar { dtype } => TensorType::scalar(*dtype).into(),
            Type::Tensor { dtype, shape } => {
                let dims: Dims = shape.iter().map(|dim| self.dim(dim)).collect();
                if let Some(big) = shape.iter().find_map(|dim| dim.as_int().filter(too_large)) {
                    return Err(format!("a dim is at most {MAX_EXTENT}, found {big}"));
                }
                TensorType { dtype: *dtype, dims }.into()
            }
            Type::Tuple { types } => ValueType::Tuple(
                types.iter().map(|ty| self.convert_small(ty)).collect::<Result<_, _>>()?,
            ),
            Type::Function { .. } => return Err("a function is no value".to_owned()),
            Type::Unknown {} => return Err("the type is not known".to_owned()),
        })
    }
}

fn too_large(dim: &i128) -> bool {
    *dim > i128::from(MAX_EXTENT)
}

/// Refuses types that nest too deep or, through sharing, have too many parts.
fn check_size(root: &TypeRef) -> Result<(), String> {
    let mut known: Map<(u64, usize)> = Map::default();
    let mut todo = vec![(root, false)];
    while let Some((ty, ready)) = todo.pop() {
        let Type::Tuple { types } = &**ty else { continue };
        let id = ty.node().id();
        if known.contains_key(&id) {
            continue;
        }
        if !ready {
            todo.push((ty, true));
            todo.extend(types.iter().map(|ty| (ty, false)));
            continue;
        }
        let (mut parts, mut depth) = (1u64, 0);
        for ty in types {
            let (inner, levels) = known.get(&ty.node().id()).copied().unwrap_or((1, 0));
            parts = parts.saturating_add(inner);
            depth = depth.max(levels);
        }
        known.insert(id, (parts, depth + 1));
    }
    let (parts, depth) = known.get(&root.node().id()).copied().unwrap_or((1, 0));
    if depth > MAX_TYPE_DEPTH {
        return Err(format!("tuple types nest at most {MAX_TYPE_DEPTH} deep, this one {depth}"));
    }
    if parts > MAX_TYPE_SIZE as u64 {
        return Err(format!("a tuple type has at most {MAX_TYPE_SIZE} parts, this one {parts}"));
    }
    Ok(())
}

/// Of a value that goes round a loop: the type of its first value, dims left open where the variable's type does.
pub(crate) fn carried(first: &ValueType, declared: Option<&ValueType>) -> ValueType {
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
        (ValueType::Tuple(a), Some(ValueType::Tuple(b))) if a.len() == b.len() => {
            ValueType::Tuple(a.iter().zip(b.iter()).map(|(a, b)| carried(a, Some(b))).collect())
        }
        _ => first.clone(),
    }
}
