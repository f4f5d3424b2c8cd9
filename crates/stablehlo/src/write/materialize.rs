//! Extents as operands: StableHLO has no expressions over symbols, so that they are computed where an op needs them.
//!
//! Each extent of a parameter is asked for once, at the start of the function, and each expression is computed once. Ops whose shape has symbols become the
//! ops whose shape is an operand. The facts of the function, and the relations between the extents of its parameters, become one `shape_assertion`.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::dims::{DimBuilder, DimExpr, Facts};
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

use crate::read::SHAPE_ASSERTION;

/// Returns the function with all extents computed, or `None` if it needs no change.
pub(super) fn materialize_dims(f: &Function) -> Option<Function> {
    if !f.has_named_dims() && f.facts().is_none() {
        return None;
    }
    let insts: Vec<InstId> = f.walk().filter(|&inst| needs_operands(f, inst)).collect();
    let relates = relates_extents(f);
    if insts.is_empty() && !relates {
        return None;
    }
    let mut materializer = Materializer::new(f.clone())?;
    if relates {
        materializer.assert_relations();
    }
    for inst in insts {
        materializer.replace(inst);
    }
    Some(materializer.f)
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
        _ => f.attrs(inst).iter().any(Attr::has_symbols),
    }
}

// Returns whether the extents of parameters are restricted by facts or by each other.
fn relates_extents(f: &Function) -> bool {
    let mut seen: Vec<Name> = Vec::new();
    let dims = f.params().iter().filter_map(|&p| f.value_type(p).as_tensor());
    let related = dims.flat_map(|ty| ty.dims.iter()).any(|dim| match (dim, dim.as_symbol()) {
        (_, Some(name)) if seen.contains(&name) => true,
        (_, Some(name)) => {
            seen.push(name);
            false
        }
        (dim, None) => matches!(dim, Dim::Expr(_)),
    });
    related || f.facts().is_some()
}

type Memo<K> = HashMap<K, ValueId, FxBuildHasher>;

struct Materializer {
    f: Function,
    // The first instruction of the function. New ones are inserted before it.
    first: InstId,
    facts: Facts,
    // The dims of parameters from which symbols are determined.
    sources: Vec<(Name, Source)>,
    sizes: Memo<(ValueId, usize)>,
    symbols: Memo<Name>,
    exprs: Memo<DimExpr>,
    constants: Memo<i64>,
    lists: Memo<(Vec<DimExpr>, DataType)>,
}

// The dim of a parameter: coefficient*symbol + rest.
#[derive(Clone, Copy)]
struct Source {
    param: ValueId,
    axis: usize,
    coefficient: i64,
    rest: Option<DimExpr>,
}

impl Materializer {
    fn new(f: Function) -> Option<Self> {
        let first = f.first_inst(f.body())?;
        let facts = f.facts().cloned().unwrap_or_default();
        let mut sources: Vec<(Name, Source)> = Vec::new();
        let dims: Vec<(ValueId, usize, DimExpr)> = f
            .params()
            .iter()
            .filter_map(|&param| Some((param, f.value_type(param).as_tensor()?)))
            .flat_map(|(param, ty)| {
                let exprs = ty.dims.iter().enumerate();
                exprs.filter_map(move |(axis, dim)| match dim {
                    Dim::Expr(expr) => Some((param, axis, *expr)),
                    Dim::Known(_) | Dim::Unknown => None,
                })
            })
            .collect();
        for &(param, axis, expr) in &dims {
            if let Some(name) = expr.as_symbol()
                && !sources.iter().any(|(other, _)| *other == name)
            {
                sources.push((name, Source { param, axis, coefficient: 1, rest: None }));
            }
        }
        let mut before = usize::MAX;
        while before != sources.len() {
            before = sources.len();
            for &(param, axis, expr) in &dims {
                let is_known = |name: &Name| sources.iter().any(|(other, _)| other == name);
                let open: Vec<Name> =
                    expr.symbols().iter().copied().filter(|name| !is_known(name)).collect();
                if let [name] = open[..]
                    && let Some((coefficient, rest)) = expr.linear_in(name)
                    && let Some(coefficient) = coefficient.as_constant()
                {
                    let rest = Some(rest);
                    sources.push((name, Source { param, axis, coefficient, rest }));
                }
            }
        }
        Some(Self {
            f,
            first,
            facts,
            sources,
            sizes: Memo::default(),
            symbols: Memo::default(),
            exprs: Memo::default(),
            constants: Memo::default(),
            lists: Memo::default(),
        })
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

    fn size(&mut self, param: ValueId, axis: usize) -> Option<ValueId> {
        if let Some(&value) = self.sizes.get(&(param, axis)) {
            return Some(value);
        }
        let value = self.emit(GetDimensionSize { input: param, axis: Int::from(axis) })?;
        self.sizes.insert((param, axis), value);
        Some(value)
    }

    // Returns a tensor with the values of expressions along its only axis.
    fn list(&mut self, values: &[DimExpr], dtype: DataType) -> Option<ValueId> {
        let key = (values.to_vec(), dtype);
        if let Some(&value) = self.lists.get(&key) {
            return Some(value);
        }
        let mut pieces: Vec<ValueId> = Vec::new();
        let mut rest = values;
        while let Some((&value, others)) = rest.split_first() {
            let is_number = |e: &&DimExpr| e.as_constant().is_some();
            let numbers: Vec<i32> = rest
                .iter()
                .take_while(is_number)
                .map(|e| e.as_constant().and_then(|n| i32::try_from(n).ok()))
                .collect::<Option<_>>()?;
            if numbers.is_empty() {
                let input = value.build(self)?;
                let ty = TensorType::new(DataType::I32, [1]);
                pieces.push(self.emit(Reshape { input, ty: ty.into() })?);
                rest = others;
            } else {
                let literal = TensorLiteral::from_slice(&[numbers.len() as u64], &numbers).ok()?;
                pieces.push(self.emit(Constant { value: literal })?);
                rest = &rest[numbers.len()..];
            }
        }
        let mut list = match pieces[..] {
            [] => {
                let empty = TensorLiteral::from_slice::<i32>(&[0], &[]).ok()?;
                self.emit(Constant { value: empty })?
            }
            [one] => one,
            _ => self.emit(Concat { inputs: pieces.into(), axis: Int(0) })?,
        };
        if dtype != DataType::I32 {
            let ty = TensorType::new(dtype, [values.len() as u64]);
            list = self.emit(Cast { input: list, ty: ty.into() })?;
        }
        self.lists.insert(key, list);
        Some(list)
    }

    fn attr_list(&mut self, inst: InstId, name: &str) -> Option<ValueId> {
        let values = self.f.attr(inst, name)?.as_dim_exprs()?;
        self.list(&values, DataType::I32)
    }

    // Returns a list with the entries of an optional attribute.
    fn attr_list_or(&mut self, inst: InstId, name: &str, default: i64) -> Option<ValueId> {
        let rank = self.f.value_type(*self.f.operands(inst).first()?).as_tensor()?.rank();
        let default = DimExpr::constant(default)?;
        let values = self.f.attr(inst, name)?.as_dim_exprs();
        self.list(&values.unwrap_or_else(|| vec![default; rank].into()), DataType::I32)
    }

    // Replaces an instruction by one whose shape is an operand. If that is not possible, it stays.
    fn replace(&mut self, inst: InstId) {
        let Some(old) = self.f.value_of(inst) else { return };
        let Some(new) = self.with_operands(inst, old) else { return };
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
    }

    fn with_operands(&mut self, inst: InstId, old: ValueId) -> Option<ValueId> {
        let operands = self.f.operands(inst).to_vec();
        let ty = self.f.value_type(old).as_tensor()?.clone();
        let shape = ty.dims.iter().map(|dim| dim.to_expr()).collect::<Option<Vec<_>>>();
        let result = || ty.clone().into();
        match (self.f.op_name(inst), &operands[..]) {
            ("reshape", &[input]) => {
                let shape = self.list(&shape?, DataType::I32)?;
                self.emit_at(DynamicReshape { input, shape, ty: result() }, inst)
            }
            ("broadcast_in_dim", &[input]) => {
                let dims = Axes::from(self.f.attr(inst, "dims")?.as_ints()?);
                let shape = self.list(&shape?, DataType::I32)?;
                self.emit_at(DynamicBroadcastInDim { input, shape, dims, ty: result() }, inst)
            }
            ("broadcast_to", &[input]) => {
                let from = self.f.value_type(input).as_tensor()?.rank();
                let dims: Axes = (ty.rank() - from..ty.rank()).collect();
                let shape = self.list(&shape?, DataType::I32)?;
                self.emit_at(DynamicBroadcastInDim { input, shape, dims, ty: result() }, inst)
            }
            ("iota", []) => {
                let axis = Int(self.f.attr(inst, "axis")?.as_int()?);
                let shape = self.list(&shape?, DataType::I32)?;
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

    fn dims(&mut self, inst: InstId, ty: &TensorType) -> Option<ValueId> {
        let values = self.f.attr(inst, "values")?.as_dim_exprs()?;
        if let ([value], 0) = (&values[..], ty.rank()) {
            let value = value.build(self)?;
            let ty = ty.clone().into();
            return if self.f.value_type(value).as_tensor()?.dtype == DataType::I32 && is_i32(&ty) {
                Some(value)
            } else {
                self.emit(Cast { input: value, ty })
            };
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
        for (n, &param) in params.iter().enumerate() {
            let Some(ty) = self.f.value_type(param).as_tensor().cloned() else { continue };
            for (axis, dim) in ty.dims.iter().enumerate() {
                let Dim::Expr(expr) = *dim else { continue };
                let own = self.sources.iter().any(|(_, source)| {
                    (source.param, source.axis, source.coefficient) == (param, axis, 1)
                });
                if own {
                    continue;
                }
                let (lhs, rhs) = (self.size(param, axis)?, expr.build(self)?);
                all = Some(self.and(all, lhs, rhs, Direction::Eq)?);
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

fn is_i32(ty: &sapwood_ptir::ResultType) -> bool {
    ty.0.as_tensor().is_some_and(|ty| ty.dtype == DataType::I32)
}

impl DimBuilder for Materializer {
    type Value = ValueId;

    fn known(&self, expr: DimExpr) -> Option<ValueId> {
        self.exprs.get(&expr).copied()
    }

    fn record(&mut self, expr: DimExpr, value: ValueId) {
        self.exprs.insert(expr, value);
    }

    fn constant(&mut self, number: i64) -> Option<ValueId> {
        if let Some(&value) = self.constants.get(&number) {
            return Some(value);
        }
        let literal = TensorLiteral::scalar(i32::try_from(number).ok()?);
        let value = self.emit(Constant { value: literal })?;
        self.constants.insert(number, value);
        Some(value)
    }

    fn symbol(&mut self, name: Name) -> Option<ValueId> {
        if let Some(&value) = self.symbols.get(&name) {
            return Some(value);
        }
        let (_, source) = *self.sources.iter().find(|(other, _)| *other == name)?;
        let mut value = self.size(source.param, source.axis)?;
        if let Some(rest) = source.rest {
            if rest.as_constant() != Some(0) {
                let rest = rest.build(self)?;
                value = self.subtract(value, rest)?;
            }
            if source.coefficient != 1 {
                let rhs = self.constant(source.coefficient)?;
                value = self.emit(Div { lhs: value, rhs })?;
            }
        }
        self.symbols.insert(name, value);
        Some(value)
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
