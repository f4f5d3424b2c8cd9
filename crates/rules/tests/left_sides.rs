//! Random left sides: parts of programs always load, and parts of which inference refuses an op never do.

use std::collections::{BTreeMap, BTreeSet};

use sapwood_ptir::testing::{Rng, random_functions};
use sapwood_ptir::{
    Attr, AttrKind, Function, InferCx, InstId, OpDef, Registry, TensorType, ValueId, ValueType,
};
use sapwood_rules::{Vocabulary, rules_from, show_attr};
use sapwood_types::{DataType, Source};

/// The attributes that may be negative, and do not count from the end then.
const SIGNED: [&str; 2] = ["low", "high"];

fn refusal(text: &str) -> Option<String> {
    let source = Source::new("p.rules", text);
    let read = rules_from(&source, &Registry::builtin(), &Vocabulary::builtin());
    read.err().map(|problems| problems.to_string())
}

fn tensor(f: &Function, value: ValueId) -> Option<&TensorType> {
    f.value_type(value).as_tensor().filter(|ty| ty.known_shape().is_some())
}

// Returns the definition of an instruction that a left side can have, with the types of all its values.
fn op_of(f: &Function, inst: InstId) -> Option<&OpDef> {
    let def = f.op_def(inst)?;
    let usable = def.regions.is_empty()
        && !def.terminator
        && def.control.is_none()
        && def.family != "call"
        && !def.name.contains('.')
        && def.name != "constant";
    let mut values = f.operands(inst).iter().copied().chain(f.inst_results(inst));
    let writable = |attr: &Attr| match attr {
        Attr::Literal(_) | Attr::Dict(_) | Attr::Str(_) | Attr::Func(_) | Attr::Dim(_) => false,
        Attr::List(items) => items.iter().all(|item| matches!(item, Attr::Ints(_))),
        _ => true,
    };
    let fits = values.all(|value| tensor(f, value).is_some()) && f.attrs(inst).iter().all(writable);
    (usable && fits).then_some(def)
}

fn attr_text(name: &str, attr: &Attr, rank: Option<usize>) -> String {
    let attr = match (attr, rank) {
        (Attr::Int(axis), Some(rank)) => Attr::Int(axis - rank as i64),
        (Attr::Ints(axes), Some(rank)) => {
            Attr::Ints(axes.iter().map(|axis| axis - rank as i64).collect())
        }
        _ => attr.clone(),
    };
    format!("{name} = {}", show_attr(&attr))
}

/// A part of a function that is written as a pattern.
struct Part<'a> {
    f: &'a Function,
    insts: BTreeSet<InstId>,
    /// The types that are written.
    types: BTreeMap<ValueId, String>,
}

impl<'a> Part<'a> {
    // Takes some of the instructions that compute the operands of one.
    fn new(rng: &mut Rng, f: &'a Function, root: InstId) -> Self {
        let mut insts = BTreeSet::from([root]);
        let mut open = vec![root];
        while let Some(inst) = open.pop() {
            for &operand in f.operands(inst) {
                if let Some(source) = f.inst_of(operand)
                    && op_of(f, source).is_some()
                    && insts.len() < 6
                    && !rng.one_in(4)
                    && insts.insert(source)
                {
                    open.push(source);
                }
            }
        }
        Self { f, insts, types: BTreeMap::new() }
    }

    fn values(&self) -> BTreeSet<ValueId> {
        self.insts.iter().flat_map(|&inst| self.f.operands(inst).iter().copied()).collect()
    }

    // Writes some types in some of the ways there are.
    fn choose_types(&mut self, rng: &mut Rng) {
        for value in self.values() {
            let Some(ty) = tensor(self.f, value) else { continue };
            let mut dims: Vec<String> = ty
                .known_shape()
                .unwrap_or_default()
                .iter()
                .map(|n| match rng.below(4) {
                    0 => "_".to_owned(),
                    1 => format!("d{n}"),
                    _ => n.to_string(),
                })
                .collect();
            let dtype = if rng.one_in(2) { ty.dtype.short_name() } else { "" };
            match rng.below(4) {
                0 => continue,
                1 if !dims.is_empty() => {
                    dims.drain(..rng.below(dims.len()));
                    dims.insert(0, "..".into());
                }
                _ => {}
            }
            self.types.insert(value, format!(": {dtype}[{}]", dims.join(", ")));
        }
    }

    fn name(&self, value: ValueId) -> String {
        let inst = self.f.inst_of(value).filter(|inst| self.insts.contains(inst));
        let Some(inst) = inst else { return format!("v{}", value.index()) };
        match self.f.inst_results(inst).position(|own| own == value) {
            Some(0) | None => format!("i{}", inst.index()),
            Some(n) => format!("i{}.{n}", inst.index()),
        }
    }

    fn operand(&self, value: ValueId) -> String {
        let name = self.name(value);
        // A type belongs to a name.
        let ty = self.types.get(&value).filter(|_| !name.contains('.'));
        format!("{name}{}", ty.map_or("", String::as_str))
    }

    // Writes the pattern, with the attributes of each instruction.
    fn text(&self, attrs: &mut dyn FnMut(InstId) -> Vec<String>, conditions: &[String]) -> String {
        let mut text = "pattern p:\n".to_owned();
        let ordered: Vec<InstId> =
            self.f.body_insts(self.f.body()).filter(|inst| self.insts.contains(inst)).collect();
        for (n, &inst) in ordered.iter().enumerate() {
            let operands = self.f.operands(inst).iter().map(|&value| self.operand(value));
            let all: Vec<String> = operands.chain(attrs(inst)).collect();
            let name = self.f.op_def(inst).map_or("", |def| def.name);
            let op = format!("{name}({})", all.join(", "));
            match n + 1 == ordered.len() {
                true => text.push_str(&format!("  {op}")),
                false => text.push_str(&format!("  let i{} = {op}\n", inst.index())),
            }
        }
        match conditions {
            [] => text,
            all => format!("{text} where {}", all.join(", ")),
        }
    }

    // Returns conditions that hold.
    fn conditions(&self, rng: &mut Rng) -> Vec<String> {
        let values: Vec<ValueId> =
            self.values().into_iter().filter(|&v| !self.name(v).contains('.')).collect();
        let mut all = Vec::new();
        for &value in &values {
            let Some(ty) = tensor(self.f, value) else { continue };
            let name = self.name(value);
            let not = |holds: bool| if holds { "" } else { "not " };
            all.push(match rng.below(12) {
                0 => format!("rank({name}, {})", ty.rank()),
                1 => format!("not rank({name}, {})", ty.rank() + 1),
                2 => format!("{}float({name})", not(ty.dtype.is_float())),
                3 => format!("{}integer({name})", not(ty.dtype.is_integer())),
                4 => format!("dtype({name}, {})", ty.dtype.short_name()),
                5 => format!("static({name})"),
                6 => {
                    let Some(&other) = values.get(rng.below(values.len())) else { continue };
                    let same =
                        tensor(self.f, other).is_some_and(|o| o.known_shape() == ty.known_shape());
                    format!("{}same_shape({name}, {})", not(same), self.name(other))
                }
                7 => {
                    let Some(&other) = values.get(rng.below(values.len())) else { continue };
                    let same = tensor(self.f, other).is_some_and(|o| o.dtype == ty.dtype);
                    format!("{}same_dtype({name}, {})", not(same), self.name(other))
                }
                8 => format!("rank_of({name}) < {}", ty.rank() + 1),
                9 => {
                    // A dim with a name.
                    let written = self.types.get(&value);
                    let named = written
                        .and_then(|ty| ty.split(['[', ',', ']', ' ']).find(|w| w.starts_with('d')));
                    let Some(named) = named else { continue };
                    format!(
                        "{named} {}",
                        [format!("== {}", &named[1..]), "< 100".into()][rng.below(2)]
                    )
                }
                _ => continue,
            });
        }
        all
    }
}

#[test]
fn parts_of_programs_load() {
    let (mut loaded, mut with_conditions) = (0, 0);
    let (mut ops, mut refused) = (BTreeSet::<&str>::new(), Vec::new());
    for (seed, f, mut rng) in random_functions(sapwood_testing::cases(3000, 60_000)) {
        for root in f.body_insts(f.body()).collect::<Vec<_>>() {
            if op_of(&f, root).is_none() || f.value_of(root).is_none() {
                continue;
            }
            let mut part = Part::new(&mut rng, &f, root);
            part.choose_types(&mut rng);
            let conditions = if rng.one_in(2) { part.conditions(&mut rng) } else { Vec::new() };
            let mut attrs = |inst: InstId| -> Vec<String> {
                let Some(def) = op_of(&f, inst) else { return Vec::new() };
                ops.insert(def.name);
                let operand = f.operands(inst).first().and_then(|&v| tensor(&f, v));
                let mut all = Vec::new();
                for (row, attr) in def.attrs.iter().zip(f.attrs(inst).iter()) {
                    let from_the_end =
                        matches!(row.name, "axis" | "axes" | "perm") && operand.is_some();
                    let rank =
                        operand.map(TensorType::rank).filter(|_| from_the_end && rng.one_in(3));
                    match rng.below(3) {
                        _ if row.kind == AttrKind::ResultType => {}
                        0 => {}
                        1 if matches!(row.kind, AttrKind::Ints | AttrKind::Int) => {
                            all.push(format!(
                                "{} = a{}{}",
                                row.name,
                                inst.index(),
                                row.name.replace('_', "")
                            ));
                        }
                        _ if *attr == Attr::Unit && row.default != Some(Attr::Unit) => {}
                        _ => all.push(attr_text(row.name, attr, rank)),
                    }
                }
                let result = f.value_of(inst).and_then(|v| tensor(&f, v));
                let names: Vec<&str> = def.attrs.iter().map(|row| row.name).collect();
                if let Some(ty) = result {
                    if rng.one_in(2) && !names.contains(&"shape") {
                        all.push(format!("shape = {:?}", ty.known_shape().unwrap_or_default()));
                    }
                    if rng.one_in(2) && !names.contains(&"dtype") {
                        all.push(format!("dtype = {}", ty.dtype.short_name()));
                    }
                }
                all
            };
            let text = part.text(&mut attrs, &conditions);
            if let Some(why) = refusal(&text) {
                refused.push(format!("seed {seed}\n{text}\n{why}"));
            }
            loaded += 1;
            with_conditions += usize::from(!conditions.is_empty());
        }
    }
    refused.truncate(5);
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    let enough = loaded > 3000 && with_conditions > 500 && ops.len() > 80;
    assert!(enough, "{loaded} parts, {with_conditions} with conditions, {} ops", ops.len());
}

// Returns other attributes, of which one differs.
fn other_attrs(rng: &mut Rng, def: &OpDef, attrs: &[Attr]) -> Option<Vec<Attr>> {
    let mut attrs = attrs.to_vec();
    let row = rng.below(attrs.len().max(1));
    let (attr, def) = (attrs.get_mut(row)?, def.attrs.get(row)?);
    let least = if SIGNED.contains(&def.name) { -4 } else { 0 };
    let number = least + rng.below(7) as i64;
    *attr = match (&*attr, def.kind) {
        (Attr::Int(_), _) => Attr::Int(number),
        (Attr::Ints(list), _) => {
            let mut list = list.clone();
            match rng.below(4) {
                0 => list.push(number),
                1 => {
                    list.pop();
                }
                _ => {
                    let n = rng.below(list.len().max(1));
                    *list.get_mut(n)? = number;
                }
            }
            Attr::Ints(list)
        }
        (Attr::Word(_), AttrKind::Word(words)) => Attr::word(words[rng.below(words.len())]),
        (Attr::Type(_), _) => Attr::Type(DataType::ALL[rng.below(DataType::ALL.len())]),
        _ => return None,
    };
    Some(attrs)
}

fn other_type(rng: &mut Rng, ty: &TensorType) -> TensorType {
    let mut dims: Vec<u64> = ty.known_shape().unwrap_or_default().to_vec();
    let mut dtype = ty.dtype;
    let n = rng.below(dims.len().max(1));
    match (rng.below(4), dims.get_mut(n)) {
        (0, _) => dtype = DataType::ALL[rng.below(DataType::ALL.len())],
        (1, _) => dims.push(rng.below(5) as u64),
        (2, Some(_)) => {
            dims.remove(n);
        }
        (_, Some(dim)) => *dim = rng.below(7) as u64,
        (_, None) => dims.push(2),
    }
    TensorType::new(dtype, dims)
}

#[test]
fn parts_that_inference_refuses_do_not_load() {
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut loaded: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (seed, f, mut rng) in random_functions(sapwood_testing::cases(3000, 60_000)) {
        for root in f.body_insts(f.body()).collect::<Vec<_>>() {
            let Some(root_def) = op_of(&f, root).filter(|_| f.value_of(root).is_some()) else {
                continue;
            };
            let mut part = Part::new(&mut rng, &f, root);
            // One operand or one attribute of the last instruction differs.
            let operands = f.operands(root);
            let changed = operands.get(rng.below(operands.len() + 1)).copied();
            let changed = changed.filter(|&value| !part.name(value).contains('.'));
            let attrs = match changed {
                Some(_) => f.attrs(root).to_vec(),
                None => match other_attrs(&mut rng, root_def, f.attrs(root)) {
                    Some(attrs) => attrs,
                    None => continue,
                },
            };
            let mut types: BTreeMap<ValueId, TensorType> = BTreeMap::new();
            for value in part.values() {
                let Some(ty) = tensor(&f, value) else { continue };
                let ty = if changed == Some(value) { other_type(&mut rng, ty) } else { ty.clone() };
                let dims = format!("{:?}", ty.known_shape().unwrap_or_default());
                part.types.insert(value, format!(": {}{dims}", ty.dtype.short_name()));
                types.insert(value, ty);
            }
            // Results but the first have no type here.
            if part.values().iter().any(|&value| part.name(value).contains('.')) {
                continue;
            }
            let given: Vec<ValueType> = operands
                .iter()
                .filter_map(|value| Some(types.get(value)?.clone().into()))
                .collect();
            let declares = root_def.attrs.iter().any(|row| row.kind == AttrKind::ResultType);
            let declared: Vec<&ValueType> = f
                .inst_results(root)
                .filter(|_| declares)
                .map(|value| f.value_type(value))
                .collect();
            let cx = InferCx {
                def: root_def,
                attrs: &attrs,
                operands: given.iter().collect(),
                regions: Default::default(),
                declared_types: declared.into_iter().collect(),
            };
            let Err(error) = root_def.infer(&cx) else { continue };
            let mut written = |inst: InstId| -> Vec<String> {
                let Some(def) = op_of(&f, inst) else { return Vec::new() };
                let own = if inst == root { &attrs[..] } else { f.attrs(inst) };
                let mut all = Vec::new();
                for (row, attr) in def.attrs.iter().zip(own) {
                    if row.kind != AttrKind::ResultType
                        && (*attr != Attr::Unit || row.default == Some(Attr::Unit))
                    {
                        all.push(attr_text(row.name, attr, None));
                    }
                }
                if def.attrs.iter().any(|row| row.kind == AttrKind::ResultType)
                    && let Some(ty) = f.value_of(inst).and_then(|v| tensor(&f, v))
                {
                    all.push(format!("shape = {:?}", ty.known_shape().unwrap_or_default()));
                    all.push(format!("dtype = {}", ty.dtype.short_name()));
                }
                all
            };
            let text = part.text(&mut written, &[]);
            match refusal(&text) {
                Some(_) => *refused.entry(root_def.name).or_default() += 1,
                None => {
                    let (count, _) = loaded
                        .entry(root_def.name.to_owned())
                        .or_insert_with(|| (0, format!("seed {seed}\n{text}\n{}", error.message)));
                    *count += 1;
                }
            }
        }
    }
    let all: Vec<String> =
        loaded.iter().map(|(op, (count, example))| format!("{op}: {count}\n{example}")).collect();
    assert!(loaded.is_empty(), "{}", all.join("\n\n"));
    let count: usize = refused.values().sum();
    assert!(count > 3000 && refused.len() > 70, "{count} refused, {} ops", refused.len());
}
