//! Extents as operands: StableHLO has no expressions over symbols, so that they are computed where an op needs them.
//!
//! Each extent of a parameter is asked for once, at the start of the function, and each expression is computed once. Ops whose shape has symbols become the
//! ops whose shape is an operand. The facts of the function, and the relations between the extents of its parameters, become one `shape_assertion`.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::dims::{DimBuilder, DimExpr, Facts, symbols_with_dims};
use sapwood_ptir::ops::{
    Add, And, Cast, Clamp, Compare, CompareOrder, Concat, Constant, Direction, Div,
    DynamicBroadcastInDim, DynamicGather, DynamicIota, DynamicPad, DynamicReshape,
    GetDimensionSize, Max, Mul, RealDynamicSlice, Rem, Reshape, Select, Sub,
};
use sapwood_ptir::{
    Attr, Axes, Dim, Function, InsertPoint, InstId, Int, Name, Op, OpKey, OpParts, TensorLiteral,
    TensorType, ValueId, ValueType,
};
use sapwood_types::{DataType, Span};

use super::WriteError;
use crate::read::SHAPE_ASSERTION;

/// Returns the function with all extents computed, or `None` if it needs no change.
///
/// # Errors
/// If an extent cannot be computed.
pub(super) fn materialize_dims(f: &Function) -> Result<Option<Function>, WriteError> {
    if !f.has_named_dims() && f.facts().is_none() {
        return Ok(None);
    }
    let insts: Vec<InstId> = f.walk().filter(|&inst| needs_operands(f, inst)).collect();
    let relates = relates_extents(f);
    let Some(first) = f.first_inst(f.body()).filter(|_| relates || !insts.is_empty()) else {
        return Ok(None);
    };
    let mut materializer = Materializer::new(f.clone(), first, &insts);
    if relates {
        let integer = materializer.shape_integer;
        materializer.computed_for(integer, Materializer::assert_relations);
    }
    for inst in insts {
        if !materializer.replace(inst) && has_only_expressions(&materializer.f, inst) {
            return Err(WriteError::Op {
                op: f.op_name(inst).to_owned(),
                function: f.name().to_string(),
                why: "StableHLO cannot compute its extents".into(),
            });
        }
    }
    Ok(Some(materializer.f))
}

// Returns whether no extent of the result is unknown.
fn has_only_expressions(f: &Function, inst: InstId) -> bool {
    let ty = f.value_of(inst).and_then(|value| f.value_type(value).as_tensor());
    ty.is_some_and(|ty| !ty.dims.contains(&Dim::Unknown))
}

// Returns whether an op has symbols in its attributes, or a result type that StableHLO requires to be static.
fn needs_operands(f: &Function, inst: InstId) -> bool {
    let is_open = |ty: &ValueType| {
        ty.as_tensor().is_some_and(|ty| ty.dims.iter().any(|d| matches!(d, Dim::Expr(_))))
    };
    match f.op_name(inst) {
        "reshape" | "broadcast_to" | "broadcast_in_dim" | "iota" => {
            f.value_of(inst).is_some_and(|value| is_open(f.value_type(value)))
        }
        _ if keeps_reduced_axes(f, inst) => {
            f.value_of(inst).is_some_and(|value| is_open(f.value_type(value)))
        }
        _ => f.attrs(inst).iter().any(Attr::has_symbols),
    }
}

// Returns whether an op is a reduction whose result has the reduced axes too, for which StableHLO needs a reshape.
fn keeps_reduced_axes(f: &Function, inst: InstId) -> bool {
    f.op_name(inst).starts_with("reduce_") && f.attr(inst, "keepdims") == Some(&Attr::Bool(true))
}

// Returns whether the extents of parameters are restricted by facts or by each other.
fn relates_extents(f: &Function) -> bool {
    let mut seen: HashSet<Name, FxBuildHasher> = HashSet::default();
    let dims = f.params().iter().filter_map(|&p| f.value_type(p).as_tensor());
    let related = dims.flat_map(|ty| ty.dims.iter()).any(|dim| match (dim, dim.as_symbol()) {
        (_, Some(name)) => !seen.insert(name),
        (dim, None) => matches!(dim, Dim::Expr(_)),
    });
    related || f.facts().is_some()
}

type Memo<K> = HashMap<K, ValueId, FxBuildHasher>;

/// The values that are computed so far. Those of expressions have an integer type of 32 or 64 bits.
#[derive(Default)]
struct Computed {
    sizes: Memo<(ValueId, usize)>,
    extents: Memo<(ValueId, usize, DataType)>,
    symbols: Memo<(Name, DataType)>,
    exprs: Memo<(DimExpr, DataType)>,
    constants: Memo<(i64, DataType)>,
    lists: Memo<(Vec<DimExpr>, DataType)>,
}

struct Materializer {
    f: Function,
    // New instructions are inserted before this one, which is the first of the function unless a symbol of a body is needed.
    first: InstId,
    facts: Facts,
    // The dims of parameters from which symbols are determined, and those of other values for the symbols that no parameter binds.
    sources: HashMap<Name, Source, FxBuildHasher>,
    local_sources: HashMap<Name, Source, FxBuildHasher>,
    computed: Computed,
    // The integer type in which expressions are computed now, and that of shapes: 64 bits only if a number in them does not fit 32.
    integer: DataType,
    shape_integer: DataType,
}

// The dim of a value: coefficient*symbol + rest.
#[derive(Clone, Copy)]
struct Source {
    value: ValueId,
    axis: usize,
    coefficient: i64,
    rest: Option<DimExpr>,
}

impl Source {
    // Returns how a symbol is determined by a dim, if it is a multiple of the symbol plus something else.
    fn new(name: Name, (value, axis, expr): (ValueId, usize, DimExpr)) -> Option<Self> {
        if expr.as_symbol().is_some() {
            return Some(Self { value, axis, coefficient: 1, rest: None });
        }
        let (coefficient, rest) = expr.linear_in(name)?;
        let coefficient = coefficient.as_constant()?;
        Some(Self { value, axis, coefficient, rest: Some(rest) })
    }
}

// Returns the dims of a value that are expressions.
fn expressions_of(f: &Function, value: ValueId) -> Vec<(ValueId, usize, DimExpr)> {
    let Some(ty) = f.value_type(value).as_tensor() else { return Vec::new() };
    let dims = ty.dims.iter().enumerate();
    dims.filter_map(|(axis, dim)| match dim {
        Dim::Expr(expr) => Some((value, axis, *expr)),
        Dim::Known(_) | Dim::Unknown => None,
    })
    .collect()
}

// Returns how the symbols that no parameter binds are determined by other values. The first value with a symbol binds it.
fn local_sources(
    f: &Function,
    sources: &HashMap<Name, Source, FxBuildHasher>,
) -> HashMap<Name, Source, FxBuildHasher> {
    let mut local: HashMap<Name, Source, FxBuildHasher> = HashMap::default();
    for inst in f.walk() {
        let params = f.regions(inst).iter().flat_map(|&body| f.body_params(body)).copied();
        for value in f.inst_results(inst).chain(params) {
            let mut dims = expressions_of(f, value);
            dims.sort_by_key(|(_, axis, expr)| (expr.as_symbol().is_none(), *axis));
            for dim in dims {
                let is_open =
                    |name: &&Name| !sources.contains_key(*name) && !local.contains_key(*name);
                let open: Vec<Name> = dim.2.symbols().iter().filter(is_open).copied().collect();
                if let [name] = open[..] {
                    local.extend(Source::new(name, dim).map(|source| (name, source)));
                }
            }
        }
    }
    local
}

impl Materializer {
    fn new(f: Function, first: InstId, insts: &[InstId]) -> Self {
        let facts = f.facts().cloned().unwrap_or_default();
        let dims: Vec<_> = f.params().iter().flat_map(|&param| expressions_of(&f, param)).collect();
        let exprs: Vec<DimExpr> = dims.iter().map(|&(_, _, expr)| expr).collect();
        let source =
            |(name, position): (Name, usize)| Some((name, Source::new(name, dims[position])?));
        let sources: HashMap<Name, Source, FxBuildHasher> =
            symbols_with_dims(&exprs).into_iter().filter_map(source).collect();
        let fits = |expr: DimExpr| expr.build(&mut FitsNarrow).is_some();
        let mut is_narrow = exprs.iter().all(|&expr| fits(expr))
            && facts.relations().all(|relation| fits(relation.expr));
        let mut is_local = false;
        for &inst in insts {
            let results = f.inst_results(inst).flat_map(|value| expressions_of(&f, value));
            results.for_each(|(_, _, expr)| is_narrow &= fits(expr));
            for_each_symbol(&f, inst, &mut |name| is_local |= !sources.contains_key(&name));
        }
        let local_sources = if is_local { local_sources(&f, &sources) } else { HashMap::default() };
        Self {
            f,
            first,
            facts,
            sources,
            local_sources,
            computed: Computed::default(),
            integer: DataType::I32,
            shape_integer: if is_narrow { DataType::I32 } else { DataType::I64 },
        }
    }

    fn insert(&mut self, parts: &OpParts, at: InstId) -> Option<ValueId> {
        let parts = self.f.resolve_parts(parts).ok()?;
        let inst = self.f.insert(InsertPoint::Before(at), &parts, Span::unknown()).ok()?;
        self.f.value_of(inst)
    }

    fn emit(&mut self, op: impl Op) -> Option<ValueId> {
        self.insert(&op.into_parts(), self.first)
    }

    fn emit_at(&mut self, op: impl Op, at: InstId) -> Option<ValueId> {
        self.insert(&op.into_parts(), at)
    }

    // Returns an extent in the integer type in which expressions are computed.
    fn extent(&mut self, input: ValueId, axis: usize) -> Option<ValueId> {
        let key = (input, axis, self.integer);
        if let Some(&value) = self.computed.extents.get(&key) {
            return Some(value);
        }
        let size = match self.computed.sizes.get(&(input, axis)) {
            Some(&size) => size,
            None => self.emit(GetDimensionSize { input, axis: Int::from(axis) })?,
        };
        self.computed.sizes.insert((input, axis), size);
        let value = match self.integer {
            DataType::I32 => size,
            integer => self.emit(Cast { input: size, ty: TensorType::scalar(integer).into() })?,
        };
        self.computed.extents.insert(key, value);
        Some(value)
    }

    // Returns the value of a symbol, if those that its source needs are computed.
    fn solved(&mut self, source: Source) -> Option<ValueId> {
        let mut value = self.extent(source.value, source.axis)?;
        let Some(rest) = source.rest else { return Some(value) };
        if rest.as_constant() != Some(0) {
            let rest = rest.build(self)?;
            value = self.subtract(value, rest)?;
        }
        if source.coefficient != 1 {
            let rhs = self.constant(source.coefficient)?;
            value = self.emit(Div { lhs: value, rhs })?;
        }
        Some(value)
    }

    // Returns the values of expressions as a tensor with one axis.
    fn list(&mut self, values: &[DimExpr], dtype: DataType) -> Option<ValueId> {
        let key = (values.to_vec(), dtype);
        if let Some(&value) = self.computed.lists.get(&key) {
            return Some(value);
        }
        let list = self.computed_for(dtype, |this| this.new_list(values, dtype))?;
        self.computed.lists.insert(key, list);
        Some(list)
    }

    // Computes expressions that become integers of a type. Those that the program needs as 64 bits may not fit 32.
    fn computed_for<T>(&mut self, dtype: DataType, compute: impl FnOnce(&mut Self) -> T) -> T {
        let is_wide = matches!(dtype, DataType::I64 | DataType::U64);
        let integer = if is_wide { DataType::I64 } else { DataType::I32 };
        let outer = std::mem::replace(&mut self.integer, integer);
        let result = compute(self);
        self.integer = outer;
        result
    }

    // Returns a constant of the integer type in which expressions are computed.
    fn numbers(&mut self, shape: &[u64], numbers: &[i64]) -> Option<ValueId> {
        let value = match self.integer {
            DataType::I64 => TensorLiteral::from_slice(shape, numbers).ok()?,
            _ => {
                let narrow = numbers.iter().map(|&n| i32::try_from(n).ok());
                TensorLiteral::from_slice(shape, &narrow.collect::<Option<Vec<_>>>()?).ok()?
            }
        };
        self.emit(Constant { value })
    }

    fn new_list(&mut self, values: &[DimExpr], dtype: DataType) -> Option<ValueId> {
        let mut pieces: Vec<ValueId> = Vec::new();
        let mut rest = values;
        while let Some((&value, others)) = rest.split_first() {
            let numbers: Vec<i64> = rest.iter().map_while(|e| e.as_constant()).collect();
            if numbers.is_empty() {
                let input = value.build(self)?;
                let ty = TensorType::new(self.integer, [1]);
                pieces.push(self.emit(Reshape { input, ty: ty.into() })?);
                rest = others;
            } else {
                pieces.push(self.numbers(&[numbers.len() as u64], &numbers)?);
                rest = &rest[numbers.len()..];
            }
        }
        let list = match pieces[..] {
            [] => self.numbers(&[0], &[])?,
            [one] => one,
            _ => self.emit(Concat { inputs: pieces.into(), axis: Int(0) })?,
        };
        if dtype == self.integer {
            return Some(list);
        }
        let ty = TensorType::new(dtype, [values.len() as u64]);
        self.emit(Cast { input: list, ty: ty.into() })
    }

    fn attr_list(&mut self, inst: InstId, name: &str) -> Option<ValueId> {
        let values = self.f.attr(inst, name)?.as_dim_exprs()?;
        self.list(&values, self.shape_integer)
    }

    // Returns a list with the entries of an optional attribute.
    fn attr_list_or(&mut self, inst: InstId, name: &str, default: i64) -> Option<ValueId> {
        let rank = self.f.value_type(*self.f.operands(inst).first()?).as_tensor()?.rank();
        let default = DimExpr::constant(default)?;
        let values = self.f.attr(inst, name)?.as_dim_exprs();
        self.list(&values.unwrap_or_else(|| vec![default; rank].into()), self.shape_integer)
    }

    // Replaces an instruction by one whose shape is an operand. If that is not possible, it stays, and the result is false.
    fn replace(&mut self, inst: InstId) -> bool {
        let Some(old) = self.f.value_of(inst) else { return false };
        let mut is_local = false;
        for_each_symbol(&self.f, inst, &mut |name| is_local |= !self.sources.contains_key(&name));
        let new = match is_local {
            false => self.with_operands(inst, old),
            // The symbols of a body have values only there, so that everything is computed right before the instruction.
            true => {
                let first = std::mem::replace(&mut self.first, inst);
                let computed = std::mem::take(&mut self.computed);
                let new = self.with_operands(inst, old);
                (self.first, self.computed) = (first, computed);
                new
            }
        };
        let Some(new) = new else { return false };
        if self.f.value_type(new) != self.f.value_type(old) {
            let ty = self.f.value_type(old).clone();
            let _ = self.f.set_type(new, &ty);
        }
        if let Some(hint) = self.f.hint(old).map(str::to_owned) {
            self.f.set_hint(new, &hint);
        }
        if let Some(made) = self.f.inst_of(new) {
            let span = self.f.inst_span(inst);
            self.f.set_inst_span(made, span);
        }
        if self.f.replace_all_uses(old, new).is_ok() {
            if self.first == inst {
                self.first = self.f.next_inst(inst).unwrap_or(inst);
            }
            let _ = self.f.erase(inst);
        }
        true
    }

    fn with_operands(&mut self, inst: InstId, old: ValueId) -> Option<ValueId> {
        let operands = self.f.operands(inst).to_vec();
        let ty = self.f.value_type(old).as_tensor()?.clone();
        let shape = ty.dims.iter().map(|dim| dim.to_expr()).collect::<Option<Vec<_>>>();
        let result = || ty.clone().into();
        match (self.f.op_name(inst), &operands[..]) {
            ("reshape", &[input]) => {
                let shape = self.list(&shape?, self.shape_integer)?;
                self.emit_at(DynamicReshape { input, shape, ty: result() }, inst)
            }
            (_, &[_]) if keeps_reduced_axes(&self.f, inst) => {
                let shape = self.list(&shape?, self.shape_integer)?;
                let input = self.without_reduced_axes(inst)?;
                self.emit_at(DynamicReshape { input, shape, ty: result() }, inst)
            }
            ("broadcast_in_dim", &[input]) => {
                let dims = Axes::from(self.f.attr(inst, "dims")?.as_ints()?);
                let shape = self.list(&shape?, self.shape_integer)?;
                self.emit_at(DynamicBroadcastInDim { input, shape, dims, ty: result() }, inst)
            }
            ("broadcast_to", &[input]) => {
                let from = self.f.value_type(input).as_tensor()?.rank();
                let dims: Axes = (ty.rank() - from..ty.rank()).collect();
                let shape = self.list(&shape?, self.shape_integer)?;
                self.emit_at(DynamicBroadcastInDim { input, shape, dims, ty: result() }, inst)
            }
            ("iota", []) => {
                let axis = Int(self.f.attr(inst, "axis")?.as_int()?);
                let shape = self.list(&shape?, self.shape_integer)?;
                self.emit_at(DynamicIota { shape, axis, ty: result() }, inst)
            }
            ("dims", []) => self.dims(inst, &ty),
            ("slice", &[input]) => {
                let (starts, limits) =
                    (self.attr_list(inst, "starts")?, self.attr_list(inst, "limits")?);
                let strides = self.attr_list_or(inst, "strides", 1)?;
                self.emit_at(
                    RealDynamicSlice { input, starts, limits, strides, ty: result() },
                    inst,
                )
            }
            ("pad", &[input, value]) => {
                let (low, high) = (self.attr_list(inst, "low")?, self.attr_list(inst, "high")?);
                let interior = self.attr_list_or(inst, "interior", 0)?;
                self.emit_at(DynamicPad { input, value, low, high, interior, ty: result() }, inst)
            }
            ("gather", &[input, indices]) => {
                let slice_sizes = self.attr_list(inst, "slice_sizes")?;
                let mut parts = OpParts::new(DynamicGather::key());
                parts.operands.extend([input, indices, slice_sizes]);
                let attrs = self.f.attrs(inst);
                parts.attrs.extend(attrs[..attrs.len() - 1].iter().cloned());
                parts.push_attr(&sapwood_ptir::ResultType::from(ty));
                self.insert(&parts, inst)
            }
            ("dynamic_slice", [input, starts @ ..]) => self.slice_at(inst, *input, starts, &ty),
            _ => None,
        }
    }

    // Inserts the same reduction with a result that lacks the reduced axes.
    fn without_reduced_axes(&mut self, inst: InstId) -> Option<ValueId> {
        let def = self.f.op_def(inst)?;
        let keepdims = def.attrs.iter().position(|row| row.name == "keepdims")?;
        let mut parts = OpParts::new(self.f.op_key(inst));
        parts.operands.extend(self.f.operands(inst).iter().copied());
        parts.attrs.extend(self.f.attrs(inst).iter().cloned());
        *parts.attrs.get_mut(keepdims)? = Attr::Bool(false);
        self.insert(&parts, inst)
    }

    fn dims(&mut self, inst: InstId, ty: &TensorType) -> Option<ValueId> {
        let values = self.f.attr(inst, "values")?.as_dim_exprs()?;
        if let ([value], 0) = (&values[..], ty.rank()) {
            return self.computed_for(ty.dtype, |this| {
                let input = value.build(this)?;
                match ty.dtype == this.integer {
                    true => Some(input),
                    false => this.emit(Cast { input, ty: ty.clone().into() }),
                }
            });
        }
        let list = self.list(&values, ty.dtype)?;
        match ty.rank() {
            1 => Some(list),
            _ => self.emit(Reshape { input: list, ty: ty.clone().into() }),
        }
    }

    // Writes a slice at computed starts, which are clamped, with sizes that are expressions.
    fn slice_at(
        &mut self,
        inst: InstId,
        input: ValueId,
        starts: &[ValueId],
        ty: &TensorType,
    ) -> Option<ValueId> {
        let dtype = self.f.value_type(*starts.first()?).as_tensor()?.dtype;
        let sizes = self.f.attr(inst, "sizes")?.as_dim_exprs()?;
        let dims = self.f.value_type(input).as_tensor()?.dims.clone();
        let most = dims.iter().zip(&sizes).map(|(dim, &size)| dim.to_expr()?.checked_sub(size));
        let most = self.list(&most.collect::<Option<Vec<_>>>()?, dtype)?;
        let one = TensorType::new(dtype, [1]);
        let mut pieces = Vec::new();
        for &input in starts {
            pieces.push(self.emit_at(Reshape { input, ty: one.clone().into() }, inst)?);
        }
        let wanted = self.emit_at(Concat { inputs: pieces.into(), axis: Int(0) }, inst)?;
        let number = |n| DimExpr::constant(n).map(|n| vec![n; starts.len()]);
        let (zeros, ones) = (self.list(&number(0)?, dtype)?, self.list(&number(1)?, dtype)?);
        let starts = self.emit_at(Clamp { low: zeros, input: wanted, high: most }, inst)?;
        let sizes = self.list(&sizes, dtype)?;
        let limits = self.emit_at(Add { lhs: starts, rhs: sizes }, inst)?;
        let ty = ty.clone().into();
        self.emit_at(RealDynamicSlice { input, starts, limits, strides: ones, ty }, inst)
    }

    // Asserts the facts, and that parameters with the same symbols have the same extents.
    fn assert_relations(&mut self) -> Option<()> {
        let mut all: Option<ValueId> = None;
        let mut texts: Vec<String> = Vec::new();
        let params = self.f.params().to_vec();
        let own = self.sources.iter().filter(|(_, source)| source.coefficient == 1);
        let own: HashMap<(ValueId, usize), Name, FxBuildHasher> =
            own.map(|(&name, source)| ((source.value, source.axis), name)).collect();
        for (n, &param) in params.iter().enumerate() {
            let Some(ty) = self.f.value_type(param).as_tensor().cloned() else { continue };
            for (axis, dim) in ty.dims.iter().enumerate() {
                let Dim::Expr(expr) = *dim else { continue };
                all = Some(match own.get(&(param, axis)) {
                    Some(_) if expr.as_symbol().is_some() => continue,
                    // The extent is a symbol with something added: the symbol is at least zero.
                    Some(&name) => {
                        let (lhs, rhs) = (self.symbol(name)?, self.constant(0)?);
                        self.and(all, lhs, rhs, Direction::Ge)?
                    }
                    None => {
                        let (lhs, rhs) = (self.extent(param, axis)?, expr.build(self)?);
                        self.and(all, lhs, rhs, Direction::Eq)?
                    }
                });
                texts.push(format!("axis {axis} of argument {n} is {expr}"));
            }
        }
        let facts = self.facts.clone();
        for relation in facts.relations() {
            let (lhs, rhs) = (relation.expr.build(self)?, self.constant(0)?);
            let direction = if relation.equation { Direction::Eq } else { Direction::Ge };
            all = Some(self.and(all, lhs, rhs, direction)?);
            texts.push(relation.to_string());
        }
        let mut message = String::from("{error_message = ");
        let text = format!("the shapes of the arguments do not fit: {}", texts.join(", "));
        super::write_string(&mut message, &text);
        message.push('}');
        let properties = format!(
            "{{api_version = 2 : i32, call_target_name = \"{SHAPE_ASSERTION}\", has_side_effect = true}}"
        );
        let mut parts = OpParts::new(OpKey::of("stablehlo.custom_call"));
        parts.operands.push(all?);
        parts.attrs.push(Attr::dict(vec![
            (Name::new("properties"), Attr::Str(properties.into())),
            (Name::new("attributes"), Attr::Str(message.into())),
        ]));
        self.f.insert(InsertPoint::Before(self.first), &parts, Span::unknown()).ok().map(|_| ())
    }

    fn and(
        &mut self,
        all: Option<ValueId>,
        lhs: ValueId,
        rhs: ValueId,
        direction: Direction,
    ) -> Option<ValueId> {
        let one = self.emit(Compare { lhs, rhs, direction, order: CompareOrder::Partial })?;
        match all {
            None => Some(one),
            Some(all) => self.emit(And { lhs: all, rhs: one }),
        }
    }
}

// Calls a function with the symbols of the results and the attributes of an instruction.
fn for_each_symbol(f: &Function, inst: InstId, visit: &mut dyn FnMut(Name)) {
    f.inst_results(inst).for_each(|value| f.value_type(value).for_each_symbol(visit));
    f.attrs(inst).iter().for_each(|attr| attr.for_each_symbol(visit));
}

/// Builds nothing, and fails if a number of an expression does not fit 32 bits.
struct FitsNarrow;

impl DimBuilder for FitsNarrow {
    type Value = ();

    fn known(&self, _: DimExpr) -> Option<()> {
        None
    }

    fn record(&mut self, _: DimExpr, (): ()) {}

    fn constant(&mut self, number: i64) -> Option<()> {
        i32::try_from(number).ok().map(|_| ())
    }

    fn symbol(&mut self, _: Name) -> Option<()> {
        Some(())
    }

    fn add(&mut self, (): (), (): ()) -> Option<()> {
        Some(())
    }

    fn subtract(&mut self, (): (), (): ()) -> Option<()> {
        Some(())
    }

    fn multiply(&mut self, (): (), (): ()) -> Option<()> {
        Some(())
    }

    fn floordiv(&mut self, (): (), _: DimExpr, divisor: i64) -> Option<()> {
        self.constant(divisor)
    }

    fn positive_part(&mut self, (): ()) -> Option<()> {
        Some(())
    }
}

impl DimBuilder for Materializer {
    type Value = ValueId;

    fn known(&self, expr: DimExpr) -> Option<ValueId> {
        self.computed.exprs.get(&(expr, self.integer)).copied()
    }

    fn record(&mut self, expr: DimExpr, value: ValueId) {
        self.computed.exprs.insert((expr, self.integer), value);
    }

    fn constant(&mut self, number: i64) -> Option<ValueId> {
        let key = (number, self.integer);
        if let Some(&value) = self.computed.constants.get(&key) {
            return Some(value);
        }
        let value = self.numbers(&[], &[number])?;
        self.computed.constants.insert(key, value);
        Some(value)
    }

    fn symbol(&mut self, name: Name) -> Option<ValueId> {
        // The chain of symbols that need others may be long.
        let mut stack = vec![name];
        while let Some(&next) = stack.last() {
            if !self.computed.symbols.contains_key(&(next, self.integer)) {
                let source = *self.sources.get(&next).or_else(|| self.local_sources.get(&next))?;
                let needed = source.rest.map_or(&[][..], DimExpr::symbols);
                let is_open =
                    |&name: &Name| !self.computed.symbols.contains_key(&(name, self.integer));
                let before = stack.len();
                stack.extend(needed.iter().copied().filter(is_open));
                if stack.len() > before {
                    continue;
                }
                let value = self.solved(source)?;
                self.computed.symbols.insert((next, self.integer), value);
            }
            stack.pop();
        }
        self.computed.symbols.get(&(name, self.integer)).copied()
    }

    fn add(&mut self, lhs: ValueId, rhs: ValueId) -> Option<ValueId> {
        self.emit(Add { lhs, rhs })
    }

    fn subtract(&mut self, lhs: ValueId, rhs: ValueId) -> Option<ValueId> {
        self.emit(Sub { lhs, rhs })
    }

    fn multiply(&mut self, lhs: ValueId, rhs: ValueId) -> Option<ValueId> {
        self.emit(Mul { lhs, rhs })
    }

    fn floordiv(&mut self, lhs: ValueId, of: DimExpr, divisor: i64) -> Option<ValueId> {
        let rhs = self.constant(divisor)?;
        let quotient = self.emit(Div { lhs, rhs })?;
        if self.facts.bounds(of).is_at_least(0) {
            return Some(quotient);
        }
        // The quotient is rounded towards zero. It is one too large if the remainder is negative.
        let rest = self.emit(Rem { lhs, rhs })?;
        let (zero, one) = (self.constant(0)?, self.constant(1)?);
        let direction = Direction::Lt;
        let pred =
            self.emit(Compare { lhs: rest, rhs: zero, direction, order: CompareOrder::Partial })?;
        let less = self.subtract(quotient, one)?;
        self.emit(Select { pred, on_true: less, on_false: quotient })
    }

    fn positive_part(&mut self, lhs: ValueId) -> Option<ValueId> {
        let rhs = self.constant(0)?;
        self.emit(Max { lhs, rhs })
    }
}
