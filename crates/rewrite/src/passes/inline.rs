//! `inline`: replaces calls by the bodies of the functions they call.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::dims::{DimExpr, SymbolBindings};
use sapwood_ptir::ops::{Call, Refine};
use sapwood_ptir::{
    Attr, BodyId, CopiedIds, Dim, EditError, Function, InsertPoint, InstId, Name, Op, OpParts,
    Program, ResultType, ValueDef, ValueId, ValueType,
};
use sapwood_types::Span;
use smallvec::SmallVec;

use super::{Pass, PassContext, PassError, shipped_pass_methods};
use crate::pass_options;
use crate::pipeline::{MakePass, PassInfo};
use crate::rewriter::{Listener as _, StepKind};

/// Functions whose regions nest deeper are not inlined.
const MAX_REGION_DEPTH: usize = 256;

/// A pass that replaces calls by the bodies of the functions they call. The functions stay; `symbol-dce` removes them.
#[derive(Clone, Debug)]
pub struct InlinePass {
    /// Functions with more instructions are not inlined.
    pub max_insts: usize,
    /// The maximum number of instructions of the program. Calls that would exceed it stay calls.
    pub max_total: usize,
}

impl Default for InlinePass {
    fn default() -> Self {
        Self { max_insts: usize::MAX, max_total: 10_000_000 }
    }
}

impl Pass for InlinePass {
    shipped_pass_methods!();

    fn options(&self) -> Vec<(&'static str, String)> {
        INFO.options_of(self, &Self::default())
    }

    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError> {
        let mut total = program.num_insts();
        let (mut inlined, mut left) = (0, 0);
        // Of the calls that are left: those that would have made the program too large, and those whose callee nests too deep.
        let (mut beyond, mut too_deep) = (0, 0);
        for name in callees_first(program) {
            let Some(f) = program.function(name) else { continue };
            let mut caller = CallerState::default();
            for call in find_calls(f) {
                let Some(f) = program.function(name) else { continue };
                let callee = f.view::<Call>(call).and_then(|c| program.function(c.callee).cloned());
                let Some(callee) = callee.filter(|c| c.name() != name) else { continue };
                let size = callee.num_insts();
                let large = size > self.max_insts;
                let over = !large && total.saturating_add(size) > self.max_total;
                let deep = !large && !over && region_depth(&callee) > MAX_REGION_DEPTH;
                if large || over || deep {
                    left += 1;
                    beyond += usize::from(over);
                    too_deep += usize::from(deep);
                    continue;
                }
                let Some(f) = program.function_mut(name) else { continue };
                if let Some(trace) = &cx.trace {
                    trace.listener().step(f, StepKind::Inline, call);
                }
                match inline_call(f, call, &callee, &mut caller) {
                    Ok(()) => {
                        total += size;
                        inlined += 1;
                    }
                    Err(NotInlined::DoesNotFit) => left += 1,
                    Err(NotInlined::Refused(e)) => return Err(PassError::Refused(e.to_string())),
                }
            }
        }
        cx.count("inlined", inlined);
        cx.count("left", left);
        if beyond > 0 {
            cx.count("beyond max-total", beyond);
            cx.warnings.push(format!(
                "{beyond} of {} calls are not inlined: the program would have more than {} instructions, the `max-total`",
                inlined + left,
                self.max_total
            ));
        }
        if too_deep > 0 {
            cx.count("too deep", too_deep);
            cx.warnings.push(format!(
                "{too_deep} of {} calls are not inlined: regions of the callee nest deeper than {MAX_REGION_DEPTH}",
                inlined + left
            ));
        }
        Ok(inlined > 0)
    }
}

/// Replaces the calls that `wanted` selects, given caller and callee, by the bodies of the functions they call, callees first.
/// Returns the number of replaced calls.
///
/// # Errors
/// If a call does not fit its callee, which the verifier would have found.
pub fn inline_calls(
    program: &mut Program,
    wanted: impl Fn(&Function, &Function) -> bool,
) -> Result<usize, PassError> {
    let mut inlined = 0;
    for name in callees_first(program) {
        let Some(f) = program.function(name).cloned() else { continue };
        let mut caller = CallerState::default();
        for call in find_calls(&f) {
            let callee = f.view::<Call>(call).and_then(|c| program.function(c.callee).cloned());
            let fits = |c: &Arc<Function>| {
                c.name() != name && region_depth(c) <= MAX_REGION_DEPTH && wanted(&f, c)
            };
            let Some(callee) = callee.filter(fits) else { continue };
            let Some(f) = program.function_mut(name) else { continue };
            match inline_call(f, call, &callee, &mut caller) {
                Ok(()) => inlined += 1,
                Err(NotInlined::DoesNotFit) => {}
                Err(NotInlined::Refused(e)) => return Err(PassError::Refused(e.to_string())),
            }
        }
    }
    Ok(inlined)
}

fn find_calls(f: &Function) -> Vec<InstId> {
    f.walk().filter(|&i| f.is::<Call>(i)).collect()
}

// Returns the depth to which regions nest.
fn region_depth(f: &Function) -> usize {
    let mut by_body: HashMap<BodyId, usize, FxBuildHasher> = HashMap::default();
    let mut most = 0;
    for inst in f.walk().filter(|&i| !f.regions(i).is_empty()) {
        let outer = f.body_of(inst).and_then(|b| by_body.get(&b).copied()).unwrap_or(0);
        for &body in f.regions(inst) {
            by_body.insert(body, outer + 1);
        }
        most = most.max(outer + 1);
    }
    most
}

// Returns every function after those it calls; a verified program has no cycles.
fn callees_first(program: &Program) -> Vec<Name> {
    let mut order = Vec::new();
    let mut seen: HashSet<Name, FxBuildHasher> = HashSet::default();
    let targets = |f: &Arc<Function>| -> Vec<Name> {
        find_calls(f).into_iter().filter_map(|c| Some(f.view::<Call>(c)?.callee)).collect()
    };
    for root in program.functions() {
        let mut stack = vec![(root.name(), Vec::new())];
        if !seen.insert(root.name()) {
            continue;
        }
        stack[0].1 = targets(root);
        while let Some((name, open)) = stack.last_mut() {
            match open.pop() {
                Some(next) => {
                    if let Some(f) = program.function(next).filter(|_| seen.insert(next)) {
                        stack.push((next, targets(f)));
                    }
                }
                None => {
                    order.push(*name);
                    stack.pop();
                }
            }
        }
    }
    order
}

// The reason why a call is not inlined.
enum NotInlined {
    // An instruction of the callee does not fit the dims of the arguments, or needs the name of a dim that no argument binds.
    DoesNotFit,
    Refused(EditError),
}

impl From<EditError> for NotInlined {
    fn from(error: EditError) -> Self {
        Self::Refused(error)
    }
}

// A source of dim names that a function does not use yet.
struct FreshNames {
    used: HashSet<Name, FxBuildHasher>,
    next: HashMap<Name, usize, FxBuildHasher>,
}

impl FreshNames {
    fn of(f: &Function) -> Self {
        let mut used = HashSet::default();
        let nested = f.walk().flat_map(|i| f.regions(i).iter().flat_map(|&b| f.body_params(b)));
        let results = f.walk().flat_map(|i| f.inst_results(i));
        for value in results.chain(f.params().iter().chain(nested).copied()) {
            f.value_type(value).for_each_symbol(&mut |name| {
                used.insert(name);
            });
        }
        for ty in f.result_types() {
            ty.for_each_symbol(&mut |name| {
                used.insert(name);
            });
        }
        Self { used, next: HashMap::default() }
    }

    fn fresh_like(&mut self, name: Name) -> Name {
        let count = self.next.entry(name).or_insert(0);
        loop {
            let text = if *count == 0 { name.to_string() } else { format!("{name}_{count}") };
            *count += 1;
            let fresh = Name::new(&text);
            if self.used.insert(fresh) {
                return fresh;
            }
        }
    }
}

// What is known about a function that calls are inlined into, for further calls.
#[derive(Default)]
struct CallerState {
    names: Option<FreshNames>,
    // By callee: the types and attributes that are in the caller already.
    copied: HashMap<Name, CopiedIds, FxBuildHasher>,
}

struct InlineCopy<'a> {
    from: &'a Function,
    // True if a type or an attribute of the callee has a symbol, which has another meaning in the caller.
    symbolic: bool,
    copied: &'a mut CopiedIds,
    // The span of the call.
    call: Span,
    place: InsertPoint,
    // By index of the value in the callee.
    values: Vec<Option<ValueId>>,
    bodies: HashMap<BodyId, BodyId, FxBuildHasher>,
    bindings: SymbolBindings,
    // Fresh symbols for those that no argument binds.
    dims: HashMap<Name, Dim, FxBuildHasher>,
    // The source of names for dims that no argument binds. Without one, such dims become `?`.
    names: Option<&'a mut FreshNames>,
    // True if a dim differs from the one in the callee.
    dims_differ: bool,
}

// Replaces one call. A dim whose name no argument binds becomes `?`. If an instruction needs its name, the copy gets a fresh
// one; not in a region, which may run more than once with other extents each time.
fn inline_call(
    f: &mut Function,
    call: InstId,
    callee: &Function,
    caller: &mut CallerState,
) -> Result<(), NotInlined> {
    let copied = caller.copied.entry(callee.name()).or_default();
    let first = copy_in_place(f, call, callee, copied, None);
    if !matches!(first, Err(NotInlined::DoesNotFit)) || f.body_of(call) != Some(f.body()) {
        return first;
    }
    let names = caller.names.get_or_insert_with(|| FreshNames::of(f));
    copy_in_place(f, call, callee, copied, Some(names))
}

fn copy_in_place(
    f: &mut Function,
    call: InstId,
    callee: &Function,
    copied: &mut CopiedIds,
    names: Option<&mut FreshNames>,
) -> Result<(), NotInlined> {
    let copy = InlineCopy {
        from: callee,
        symbolic: callee.has_named_dims() || callee.has_symbolic_attrs(),
        copied,
        call: f.inst_span(call),
        place: InsertPoint::Before(call),
        values: vec![None; callee.value_capacity()],
        bodies: HashMap::default(),
        bindings: SymbolBindings::default(),
        dims: HashMap::default(),
        names,
        dims_differ: false,
    };
    f.open_journal();
    let done = copy.replace_call(f, call);
    match done {
        Ok(()) => f.commit_journal(),
        Err(_) => f.rollback_journal(),
    }
    done
}

impl InlineCopy<'_> {
    fn replace_call(mut self, f: &mut Function, call: InstId) -> Result<(), NotInlined> {
        let callee = self.from;
        let args: Vec<ValueId> = f.operands(call).to_vec();
        let types = |(&param, &arg)| (callee.value_type(param), f.value_type(arg));
        let (bindings, errors) =
            SymbolBindings::of_call(callee.params().iter().zip(&args).map(types));
        if !errors.is_empty() {
            return Err(NotInlined::DoesNotFit);
        }
        self.bindings = bindings;
        for (&param, &arg) in callee.params().iter().zip(&args) {
            let ty = self.substituted_type(callee.value_type(param));
            let arg = self.refined_to(f, arg, &ty)?;
            self.values[param.index()] = Some(arg);
        }
        let Some(end) = callee.terminator(callee.body()) else { return Ok(()) };
        for inst in callee.walk_post_order().filter(|&i| i != end) {
            self.copy_inst(f, inst)?;
        }
        let results: Vec<ValueId> = f.inst_results(call).collect();
        for (n, result) in results.into_iter().enumerate() {
            let value = self.copied_value(f, callee.operands(end)[n])?;
            let value = match f.type_id(value) == f.type_id(result) {
                true => value,
                false => self.refined_to(f, value, &f.value_type(result).clone())?,
            };
            f.replace_all_uses(result, value)?;
            if f.hint(value).is_none()
                && let Some(hint) = f.hint(result).map(str::to_owned)
            {
                f.set_hint(value, &hint);
            }
        }
        Ok(f.erase(call)?)
    }

    fn substituted_type(&mut self, ty: &ValueType) -> ValueType {
        match self.from.has_named_dims() {
            true => ty.map_dims(&mut |dim| self.substituted_dim(dim)),
            false => ty.clone(),
        }
    }

    fn substituted_dim(&mut self, dim: Dim) -> Dim {
        dim.substitute(&mut |name| {
            let bound = self.dims.get(&name).copied();
            self.dims_differ = true;
            let bound = bound.or_else(|| self.bindings.get(name)).unwrap_or(Dim::Unknown);
            match &mut self.names {
                Some(names) if bound == Dim::Unknown => {
                    let fresh = Dim::symbol(names.fresh_like(name));
                    self.dims.insert(name, fresh);
                    fresh
                }
                _ => bound,
            }
        })
    }

    // Returns attributes with the dims of the caller in place of symbols, or `None` if one is not known.
    fn substituted_attrs(&mut self, attrs: &[Attr]) -> Option<SmallVec<[Attr; 4]>> {
        if !attrs.iter().any(Attr::has_symbols) {
            return Some(attrs.iter().cloned().collect());
        }
        let mut substitute = |expr: DimExpr| self.substituted_dim(Dim::Expr(expr)).to_expr();
        attrs.iter().map(|attr| attr.map_exprs(&mut substitute)).collect()
    }

    // Returns the value with another type, through a `refine` if it does not have that type already.
    fn refined_to(
        &self,
        f: &mut Function,
        value: ValueId,
        ty: &ValueType,
    ) -> Result<ValueId, EditError> {
        if f.value_type(value) == ty {
            return Ok(value);
        }
        let mut parts = OpParts::new(Refine::key());
        parts.operands.push(value);
        parts.push_attr(&ResultType(ty.clone()));
        let found = || Box::new(f.value_type(value).clone());
        let parts = f
            .resolve_parts(&parts)
            .map_err(|_| EditError::Type { expected: Box::new(ty.clone()), found: found() })?;
        let inst = f.insert(self.place, &parts, Span::unknown())?;
        f.value_of(inst).ok_or(EditError::NoSuchInst(inst))
    }

    fn copied_value(&mut self, f: &mut Function, value: ValueId) -> Result<ValueId, EditError> {
        if let Some(copy) = self.values[value.index()] {
            return Ok(copy);
        }
        if let ValueDef::Param(body, _) = self.from.value_def(value) {
            self.copied_body(f, body);
        }
        self.values[value.index()].ok_or(EditError::NoSuchValue(value))
    }

    fn copied_body(&mut self, f: &mut Function, body: BodyId) -> BodyId {
        if let Some(&known) = self.bodies.get(&body) {
            return known;
        }
        let params = self.from.body_params(body);
        let types: Vec<ValueType> =
            params.iter().map(|&p| self.substituted_type(self.from.value_type(p))).collect();
        let new = f.new_body(&types);
        for (&old, &param) in params.iter().zip(&f.body_params(new).to_vec()) {
            self.values[old.index()] = Some(param);
            if let Some(hint) = self.from.hint(old) {
                f.set_hint(param, hint);
            }
        }
        self.bodies.insert(body, new);
        new
    }

    fn copy_inst(&mut self, f: &mut Function, inst: InstId) -> Result<(), NotInlined> {
        let from = self.from;
        let home = from.body_of(inst).unwrap_or(from.body());
        let place = if home == from.body() {
            self.place
        } else {
            InsertPoint::End(self.copied_body(f, home))
        };
        let mut operands: SmallVec<[ValueId; 4]> = SmallVec::new();
        for &value in from.operands(inst) {
            operands.push(self.copied_value(f, value)?);
        }
        let regions: SmallVec<[BodyId; 2]> =
            from.regions(inst).iter().map(|&b| self.copied_body(f, b)).collect();
        let span = from.inst_span(inst).called_from(self.call);
        let new = if self.symbolic {
            let parts = self.substituted_parts(inst, operands, regions)?;
            if self.dims_differ && !is_well_typed(f, &parts) {
                return Err(NotInlined::DoesNotFit);
            }
            f.insert(place, &parts, span)?
        } else {
            f.insert_copy(place, (from, inst), self.copied, &operands, &regions, span)?
        };
        for (old, value) in from.inst_results(inst).zip(f.inst_results(new)) {
            self.values[old.index()] = Some(value);
            if let Some(hint) = from.hint(old) {
                f.set_hint(value, hint);
            }
        }
        Ok(())
    }
}

impl InlineCopy<'_> {
    // Returns the parts of a copy, with the dims of the caller in place of symbols.
    fn substituted_parts(
        &mut self,
        inst: InstId,
        operands: SmallVec<[ValueId; 4]>,
        regions: SmallVec<[BodyId; 2]>,
    ) -> Result<OpParts, NotInlined> {
        let from = self.from;
        let result_types =
            from.inst_results(inst).map(|v| self.substituted_type(from.value_type(v))).collect();
        let attrs = self.substituted_attrs(from.attrs(inst)).ok_or(NotInlined::DoesNotFit)?;
        Ok(OpParts { key: from.op_key(inst), attrs, operands, regions, result_types })
    }
}

// Returns true if the op accepts its operands and infers compatible result types.
fn is_well_typed(f: &Function, parts: &OpParts) -> bool {
    f.resolve_parts(parts).is_ok_and(|found| {
        let mut pairs = found.result_types.iter().zip(&parts.result_types);
        found.result_types.len() == parts.result_types.len() && pairs.all(|(a, b)| a.compatible(b))
    })
}

pub(super) static INFO: PassInfo = PassInfo {
    name: "inline",
    doc: "Replaces calls by the bodies of the functions they call.",
    options: pass_options!(InlinePass {
        "max-insts": max_insts, "Functions with more instructions are not inlined.";
        "max-total": max_total, "The maximum number of instructions of the program.";
    }),
    make: MakePass::Plain(|options| options.fill(InlinePass::default())),
};
