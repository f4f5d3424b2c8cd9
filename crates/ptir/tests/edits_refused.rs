//! Refused edits: those that would break nesting or the order of definitions and uses.

use sapwood_ptir::ops::{Constant, Neg, Yield};
use sapwood_ptir::{
    BodyId, EditError, Function, InsertPoint, InstId, Op, OpKey, OpParts, Registry, TensorLiteral,
    TensorType, ValueId, ValueType, parse,
};
use sapwood_types::{DataType, Span};

fn scalar() -> ValueType {
    TensorType::scalar(DataType::F32).into()
}

fn parts(key: OpKey, operands: &[ValueId], regions: &[BodyId], results: usize) -> OpParts {
    OpParts {
        key,
        attrs: Default::default(),
        operands: operands.iter().copied().collect(),
        regions: regions.iter().copied().collect(),
        result_types: (0..results).map(|_| scalar()).collect(),
    }
}

fn neg(f: &mut Function, place: InsertPoint, operand: ValueId) -> Result<ValueId, EditError> {
    let inst = f.insert(place, &parts(Neg::key(), &[operand], &[], 1), Span::unknown())?;
    Ok(f.value_of(inst).unwrap())
}

fn owner(f: &mut Function, place: InsertPoint, regions: &[BodyId]) -> Result<InstId, EditError> {
    f.insert(place, &parts(OpKey::of("test.region"), &[], regions, 0), Span::unknown())
}

fn empty() -> Function {
    Function::new("f", Registry::builtin())
}

/// Asserts that an edit is refused and changes nothing.
fn assert_refused<T: std::fmt::Debug>(
    f: &mut Function,
    edit: impl FnOnce(&mut Function) -> Result<T, EditError>,
) -> EditError {
    let before = f.clone();
    let error = edit(f).unwrap_err();
    assert_eq!(format!("{f:?}"), format!("{before:?}"));
    assert_eq!(f.num_insts(), before.num_insts());
    f.check_indices().unwrap();
    error
}

#[test]
fn a_region_is_not_inserted_into_itself() {
    let mut f = empty();
    let body = f.new_body([]);
    let error = assert_refused(&mut f, |f| owner(f, InsertPoint::End(body), &[body]));
    assert_eq!(error, EditError::IntoItself);

    let inner = f.new_body([]);
    owner(&mut f, InsertPoint::End(body), &[inner]).unwrap();
    let error = assert_refused(&mut f, |f| owner(f, InsertPoint::End(inner), &[body]));
    assert_eq!(error, EditError::IntoItself);
}

#[test]
fn parts_without_inferred_types_are_not_inserted() {
    let mut f = empty();
    let x = f.push_param(f.body(), &scalar());
    let place = InsertPoint::End(f.body());
    let unresolved = Neg { input: x }.into_parts();
    let error = assert_refused(&mut f, |f| f.insert(place, &unresolved, Span::unknown()));
    assert_eq!(error, EditError::ResultCount { op: "neg", expected: 1, found: 0 });
    assert_eq!(error.to_string(), "`neg` has 1 result type, but the parts list 0");
    let parts = f.resolve_parts(&unresolved).unwrap();
    let inst = f.insert(place, &parts, Span::unknown()).unwrap();
    assert_eq!(f.parts_of(inst).result_types[..], [scalar()]);
}

#[test]
fn a_detached_body_is_not_inlined_into_itself() {
    let mut f = empty();
    let outer = f.new_body([]);
    let inner = f.new_body([]);
    owner(&mut f, InsertPoint::End(outer), &[inner]).unwrap();
    let error = assert_refused(&mut f, |f| f.inline_body(outer, &[], InsertPoint::Start(inner)));
    assert_eq!(error, EditError::IntoItself);
}

#[test]
fn the_body_of_the_function_is_not_inlined() {
    let mut f = empty();
    let other = f.new_body([]);
    let own = f.body();
    let error = assert_refused(&mut f, |f| f.inline_body(own, &[], InsertPoint::Start(other)));
    assert_eq!(error, EditError::Attached(own));
}

// Returns a function with two bodies, and a value of the first that the second uses.
fn with_value_across_bodies() -> (Function, [BodyId; 2], ValueId) {
    let mut f = empty();
    let x = f.push_param(f.body(), &scalar());
    let (defines, uses) = (f.new_body([]), f.new_body([]));
    let value = neg(&mut f, InsertPoint::End(defines), x).unwrap();
    neg(&mut f, InsertPoint::End(uses), value).unwrap();
    (f, [defines, uses], value)
}

#[test]
fn bodies_that_used_each_others_values_are_not_attached_out_of_order() {
    let (mut f, [inner, outer], hidden) = with_value_across_bodies();
    owner(&mut f, InsertPoint::End(outer), &[inner]).unwrap();
    let own = f.body();
    let error = assert_refused(&mut f, |f| owner(f, InsertPoint::End(own), &[outer]));
    assert_eq!(error, EditError::NotAvailable { value: hidden, user: "neg" });
}

#[test]
fn a_body_whose_values_another_uses_is_not_dropped() {
    let (mut f, [defines, uses], value) = with_value_across_bodies();
    let error = assert_refused(&mut f, |f| f.drop_body(defines));
    assert!(matches!(error, EditError::StillUsed { value: v, uses: 1, .. } if v == value));

    let own = f.body();
    let holder = owner(&mut f, InsertPoint::End(own), &[defines]).unwrap();
    let error = assert_refused(&mut f, |f| f.erase(holder));
    assert!(matches!(error, EditError::StillUsed { value: v, .. } if v == value));

    f.drop_body(uses).unwrap();
    f.erase(holder).unwrap();
    f.check_indices().unwrap();
}

#[test]
fn constants_requested_at_the_start_are_shared() {
    let mut f = empty();
    let start = InsertPoint::Start(f.body());
    let one = TensorLiteral::scalar(1f32);
    let first = f.constant(&one, start, Span::unknown());
    let second = f.constant(&one, start, Span::unknown());
    assert_eq!(first, second);
    let constant = f.inst_of(first).unwrap();
    assert!(f.is::<Constant>(constant));
    neg(&mut f, InsertPoint::After(constant), first).unwrap();
    f.check_indices().unwrap();
}

#[test]
fn slots_of_removed_operands_are_reused() {
    let mut f = empty();
    let x = f.push_param(f.body(), &scalar());
    let own = f.body();
    let many = vec![x; 1000];
    let user = f
        .insert(InsertPoint::End(own), &parts(Yield::key(), &many, &[], 0), Span::unknown())
        .unwrap();
    let before = f.memory_bytes();
    for len in (0..1000).rev() {
        f.set_operands(user, &many[..len]).unwrap();
        assert_eq!(f.uses(x).count(), len);
    }
    f.check_indices().unwrap();
    assert!(f.memory_bytes() < before + 16_000, "{} after {before}", f.memory_bytes());
}

#[test]
fn regions_nested_deeply_are_inlined_one_by_one() {
    // Outermost first, as a driver does. With quadratic cost this would not finish.
    let depth = 200_000;
    let mut text = String::from("ptir 1\nfunc @f(%p: bool[], %x: f32[]) -> f32[] {\n");
    for i in 0..depth {
        text += &format!("%c{i} = cond %p () {{ %n{i} = neg %x : f32[]\n");
    }
    for i in (0..depth).rev() {
        text += &format!("yield %n{i} }} () {{ yield %x }} : f32[]\n");
    }
    text += "return %c0 }";
    let program = parse(&text).unwrap();
    let mut f = (*program.functions()[0]).clone();
    let mut at = f.inst_of(f.results()[0]);
    let mut inlined = 0;
    while let Some(cond) = at {
        let body = f.regions(cond)[0];
        let yielded = f.inline_body(body, &[], InsertPoint::Before(cond)).unwrap();
        assert_eq!(yielded.len(), 1);
        inlined += 1;
        at = f.prev_inst(cond).filter(|&i| !f.regions(i).is_empty());
    }
    assert_eq!(inlined, depth);
    f.check_indices().unwrap();
}

#[test]
fn the_second_region_is_inlined_before_its_owner() {
    let program = parse(
        "ptir 1\nfunc @f(%p: bool[], %x: f32[]) -> f32[] {\n%c = cond %p () { %a = neg %x : f32[]\nyield %a } \
         () { %b = exp %x : f32[]\n%d = cond %p () { yield %b } () { yield %x } : f32[]\nyield %d } : f32[]\nreturn %c }",
    )
    .unwrap();
    let mut f = (*program.functions()[0]).clone();
    let cond = f.inst_of(f.results()[0]).unwrap();
    let yielded = f.inline_body(f.regions(cond)[1], &[], InsertPoint::Before(cond)).unwrap();
    f.check_indices().unwrap();
    f.replace_all_uses(f.value_of(cond).unwrap(), yielded[0]).unwrap();
    f.erase(cond).unwrap();
    f.check_indices().unwrap();
    sapwood_ptir::verify_function(&f).unwrap();
    assert_eq!(f.num_insts(), 5);
}

#[test]
fn an_op_whose_name_cannot_be_read_back_is_not_registered() {
    use sapwood_ptir::{OpDef, RegistryError};
    for name in ["my op", "", "true", "hex", "func", "1x", "x."] {
        let def = OpDef::new(name, "test", &[], |cx| cx.same_as(0));
        let error = Registry::builtin().with([def]).unwrap_err();
        assert_eq!(error, RegistryError::Name(name));
    }
}

#[test]
fn a_program_gets_the_ops_that_are_defined_after_it() {
    use sapwood_ptir::{AttrDef, Int, OpDef, OperandKind};
    let text =
        "ptir 1 func @f(%x: f32[2]) -> f32[2] { %y = my.roll %x {by = 1} : f32[2] return %y }";
    let program = parse(text).unwrap();
    let core = parse("ptir 1 func @g(%x: f32[2]) -> f32[2] { return %x }").unwrap();
    let define = |attr: &'static str| {
        let def = OpDef::new("my.roll", "my", &[], |cx| cx.same_as(0))
            .operand("input", OperandKind::One)
            .attr(AttrDef::new::<Int>(attr, None, &[]));
        Registry::builtin().with([def]).unwrap()
    };
    let registry = define("by");
    let defined = program.with_registry(&registry).unwrap();
    let f = &defined.functions()[0];
    let roll = f.walk().next().unwrap();
    assert!(f.op_def(roll).is_some() && f.attr(roll, "by").is_some());
    assert_eq!(defined.to_string(), program.to_string());
    sapwood_ptir::verify(&defined).unwrap();
    let core = core.with_registry(&registry).unwrap();
    assert!(core.functions()[0].registry().by_name("my.roll").is_some());
    // An instruction that does not fit the definition is an error, and the program stays as it is.
    let error = program.with_registry(&define("distance")).unwrap_err();
    assert!(error.to_string().contains("my.roll"), "{error}");
    assert!(program.functions()[0].op_def(roll).is_none());
}

#[test]
fn renaming_a_function_keeps_names_unique() {
    let mut program = parse(
        "ptir 1\nfunc @f(%x: f32[]) -> f32[] { return %x }\nfunc @g(%x: f32[]) -> f32[] { return %x }",
    )
    .unwrap();
    assert!(program.rename("f", "g").is_err());
    program.rename("f", "h").unwrap();
    assert!(program.function("f").is_none());
    assert_eq!(program.function("h").unwrap().name().as_str(), "h");
    parse(&program.to_string()).unwrap();
}

#[test]
fn an_exponential_shared_tuple_is_refused_in_bounded_time() {
    use sapwood_ptir::prelude::*;
    let mut builder = GraphBuilder::new("f", &Registry::builtin());
    let mut g = PtirGraph::new(&mut builder);
    let x = g.parameter("x", TensorType::scalar(DataType::F32));
    let mut t = x;
    let mut made = 0;
    let error = loop {
        match g.tuple(&[t.clone(), t.clone()]) {
            Ok(next) => t = next,
            Err(error) => break error,
        }
        made += 1;
    };
    assert_eq!(made, 15);
    assert!(error.to_string().contains("at most 65536 parts"), "{error}");
}
