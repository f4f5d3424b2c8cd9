//! An exhaustive reference matcher for patterns with alternatives, optional ops, wildcards, constants, types, regions, several outputs and
//! look-through. It shares only the IR with the matcher: a pattern is expanded into all its plain variants, and each tries all instructions for all its ops.

use std::collections::{BTreeMap, BTreeSet};

use sapwood_ptir::{BodyId, Function, InstId, ValueId};

/// An expression of a pattern, as the test writes it.
#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Param(usize),
    /// A value that `let` binds.
    Let(usize),
    /// `const c`
    Const(usize),
    Number(f64),
    /// One of several ops, or any op if there are none.
    Op(Vec<&'static str>, Vec<Expr>),
    /// An optional op, with the number of its choice.
    Optional(usize, &'static str, Box<Expr>),
    /// Alternatives, with the number of the choice.
    Either(usize, Vec<Expr>),
    /// A branch on the predicate, with the patterns of what its regions yield.
    Cond(Box<[Expr; 2]>),
}

/// The types of parameters: the text, and whether any dims may precede those given.
pub(crate) const TYPES: [(&str, bool); 6] = [
    ("f64[4]", false),
    ("[.., d]", true),
    ("[d]", false),
    ("[d, e]", false),
    ("f64[.., 2]", true),
    ("[e, e]", false),
];

/// The number of the parameter that is the predicate of branches.
const PREDICATE: usize = 9;

/// A pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) lets: Vec<Expr>,
    pub(crate) root: Expr,
    /// The numbers of branches of the choices.
    pub(crate) choices: Vec<usize>,
    pub(crate) through: Vec<&'static str>,
    /// The number that a constant must be, if it is bound.
    pub(crate) constants: Vec<Option<f64>>,
    /// The types of the parameters.
    pub(crate) types: [Option<usize>; 3],
    /// The types of the shared values.
    pub(crate) let_types: [Option<usize>; 2],
    /// The shared values that are outputs, besides the root.
    pub(crate) outputs: Vec<usize>,
}

impl Expr {
    fn text(&self, types: &dyn Fn(bool, usize) -> Option<usize>) -> String {
        let list = |all: &[Self], by: &str| -> String {
            all.iter().map(|e| e.text(types)).collect::<Vec<_>>().join(by)
        };
        match self {
            Self::Param(n) => match types(true, *n) {
                Some(ty) => format!("x{n}: {}", TYPES[ty].0),
                None => format!("x{n}"),
            },
            Self::Cond(yields) => {
                let [a, b] = &**yields;
                format!("cond(x{PREDICATE}) {{ {} }} {{ {} }}", a.text(types), b.text(types))
            }
            Self::Let(n) => match types(false, *n) {
                Some(ty) => format!("l{n}: {}", TYPES[ty].0),
                None => format!("l{n}"),
            },
            Self::Const(n) => format!("const c{n}"),
            Self::Number(n) => format!("{n:?}"),
            Self::Op(names, args) => match names[..] {
                [] => format!("_({})", list(args, ", ")),
                [one] => format!("{one}({})", list(args, ", ")),
                _ => format!("({})({})", names.join(" | "), list(args, ", ")),
            },
            Self::Optional(_, name, arg) => format!("{name}?({})", arg.text(types)),
            Self::Either(_, all) => format!("({})", list(all, " | ")),
        }
    }
}

impl Pattern {
    /// Returns the pattern as a file of rules.
    pub(crate) fn text(&self) -> String {
        let through = match self.through[..] {
            [] => String::new(),
            _ => format!(" through [{}]", self.through.join(", ")),
        };
        let lets =
            self.lets.iter().enumerate().map(|(n, e)| format!("  let l{n} = {}\n", self.show(e)));
        let conditions = self.constants.iter().enumerate();
        let conditions: Vec<String> = conditions
            .filter_map(|(n, wanted)| Some(format!("c{n} == {:?}", (*wanted)?)))
            .filter(|text| self.text_of_lefts().contains(&format!("const {}", &text[..2])))
            .collect();
        let conditions = match conditions[..] {
            [] => String::new(),
            _ => format!(" where {}", conditions.join(", ")),
        };
        let lets: String = lets.collect();
        let outputs: String = self.outputs.iter().map(|n| format!(", l{n}")).collect();
        format!("pattern p{through}:\n{lets}  {}{outputs}{conditions}\n", self.show(&self.root))
    }

    fn show(&self, expr: &Expr) -> String {
        expr.text(&|param, n| if param { self.types[n] } else { self.let_types[n] })
    }

    fn text_of_lefts(&self) -> String {
        self.lets.iter().chain([&self.root]).map(|e| self.show(e)).collect::<Vec<_>>().join(" ")
    }
}

/// An operand of a plain op: another op by its number, or a leaf.
#[derive(Clone, Debug)]
enum Operand {
    Op(usize),
    Param(usize),
    Const(usize),
    Number(f64),
}

/// A plain op.
struct PlainOp {
    /// Its names; none for any op.
    names: Vec<&'static str>,
    operands: Vec<Operand>,
    /// The number of the region that it is in.
    region: Option<usize>,
    /// Its own regions, each with what it yields.
    regions: Vec<(usize, Operand)>,
}

/// A plain variant of a pattern: the ops that its root needs; the root is the last.
struct Variant<'a> {
    pattern: &'a Pattern,
    branches: &'a [usize],
    ops: Vec<PlainOp>,
    lets: BTreeMap<usize, Option<usize>>,
    /// The operand that a `let` stands for, if it is no op.
    leaves: BTreeMap<usize, Operand>,
    regions: usize,
}

impl Variant<'_> {
    fn add(&mut self, expr: &Expr, region: Option<usize>) -> Operand {
        match expr {
            Expr::Param(n) => Operand::Param(*n),
            Expr::Const(n) => Operand::Const(*n),
            Expr::Number(n) => Operand::Number(*n),
            Expr::Let(n) => {
                if let Some(Some(op)) = self.lets.get(n) {
                    return Operand::Op(*op);
                }
                if let Some(leaf) = self.leaves.get(n) {
                    return leaf.clone();
                }
                let own = self.pattern.lets[*n].clone();
                let operand = self.add(&own, None);
                match &operand {
                    Operand::Op(op) => drop(self.lets.insert(*n, Some(*op))),
                    leaf => drop(self.leaves.insert(*n, leaf.clone())),
                }
                operand
            }
            Expr::Op(names, args) => {
                let operands = args.iter().map(|arg| self.add(arg, region)).collect();
                self.push(names.clone(), operands, region, Vec::new())
            }
            Expr::Optional(choice, name, arg) => {
                let operand = self.add(arg, region);
                if self.branches[*choice] > 0 {
                    return operand;
                }
                self.push(vec![name], vec![operand], region, Vec::new())
            }
            Expr::Either(choice, all) => {
                let taken = all[self.branches[*choice]].clone();
                self.add(&taken, region)
            }
            Expr::Cond(yields) => {
                let mut regions = Vec::new();
                for expr in &**yields {
                    let own = self.regions;
                    self.regions += 1;
                    regions.push((own, self.add(expr, Some(own))));
                }
                self.push(vec!["cond"], vec![Operand::Param(PREDICATE)], region, regions)
            }
        }
    }

    fn push(
        &mut self,
        names: Vec<&'static str>,
        operands: Vec<Operand>,
        region: Option<usize>,
        regions: Vec<(usize, Operand)>,
    ) -> Operand {
        self.ops.push(PlainOp { names, operands, region, regions });
        Operand::Op(self.ops.len() - 1)
    }
}

/// Tells whether a set of instructions can be replaced.
#[derive(Clone, Copy, Default)]
struct Legality {
    /// Only outputs are used outside, the match computes no input, and is in one body.
    binding: bool,
    /// Also no path leaves the match and returns.
    full: bool,
}

/// The sets of instructions of matches, with their roots.
type Sets = BTreeMap<(InstId, Vec<InstId>), Legality>;

/// The sets of instructions that match, each with whether it can be replaced, after the choice between sets that contain each other.
pub(crate) fn reference(f: &Function, pattern: &Pattern) -> BTreeMap<Vec<InstId>, bool> {
    // By root and set.
    let mut all = Sets::new();
    let mut branches = vec![0; pattern.choices.len()];
    loop {
        let (lets, leaves) = (BTreeMap::new(), BTreeMap::new());
        let ops = Vec::new();
        let mut variant = Variant { pattern, branches: &branches, ops, lets, leaves, regions: 0 };
        if let Operand::Op(root) = variant.add(&pattern.root, None) {
            // In a plain pattern an output need not be a part of the first one.
            let outputs =
                pattern.outputs.iter().filter_map(|&n| match variant.add(&Expr::Let(n), None) {
                    Operand::Op(op) => Some(op),
                    _ => None,
                });
            let outputs: Vec<usize> = outputs.collect();
            let Variant { ops, lets, .. } = variant;
            let plain = Plain { f, pattern, ops: &ops, lets: &lets, root, outputs: &outputs };
            plain.try_all(&mut Vec::new(), &mut all);
        }
        let Some(next) = (0..branches.len()).find(|&n| branches[n] + 1 < pattern.choices[n]) else {
            break;
        };
        branches[next] += 1;
        branches[..next].fill(0);
    }
    let list: Vec<(&(InstId, Vec<InstId>), &Legality)> = all.iter().collect();
    let is_part = |a: &[InstId], b: &[InstId]| a.iter().all(|i| b.contains(i));
    let loses = |a: &(&(InstId, Vec<InstId>), &Legality)| {
        list.iter().any(|b| {
            let ((root_a, set_a), (root_b, set_b)) = (a.0, b.0);
            root_a == root_b
                && set_a != set_b
                && match a.1.binding == b.1.binding {
                    true => is_part(set_a, set_b),
                    false => b.1.binding && (is_part(set_a, set_b) || is_part(set_b, set_a)),
                }
        })
    };
    let kept = list.iter().filter(|a| !loses(a));
    let mut sets: BTreeMap<Vec<InstId>, bool> = BTreeMap::new();
    for ((_, set), legal) in kept {
        *sets.entry(set.clone()).or_default() |= legal.full;
    }
    sets
}

/// A plain variant in a function.
struct Plain<'a> {
    f: &'a Function,
    pattern: &'a Pattern,
    ops: &'a [PlainOp],
    lets: &'a BTreeMap<usize, Option<usize>>,
    root: usize,
    outputs: &'a [usize],
}

impl Plain<'_> {
    fn try_all(&self, bound: &mut Vec<(InstId, bool)>, all: &mut Sets) {
        let f = self.f;
        let Some(op) = self.ops.get(bound.len()) else {
            if let Some((set, legal)) = self.judge(bound) {
                let known = all.entry((bound[self.root].0, set)).or_default();
                known.binding |= legal.binding;
                known.full |= legal.full;
            }
            return;
        };
        for inst in f.walk() {
            let name = f.op_name(inst).to_string();
            let fits = match op.names.is_empty() {
                true => !["return", "yield", "constant", "cond"].contains(&&*name),
                false => op.names.iter().any(|n| *n == name),
            };
            let taken = bound.iter().any(|(own, _)| *own == inst);
            let in_region = f.body_of(inst) != Some(f.body());
            if !fits
                || taken
                || op.region.is_some() && !in_region
                || f.operands(inst).len() != op.operands.len()
            {
                continue;
            }
            let swaps = !op.names.is_empty()
                && op.operands.len() == 2
                && f.op_def(inst).is_some_and(|def| def.commutative);
            for swapped in [false, true].into_iter().take(1 + usize::from(swaps)) {
                bound.push((inst, swapped));
                if self.fits_operands(bound) {
                    self.try_all(bound, all);
                }
                bound.pop();
            }
        }
    }

    // Compares the operands of the last op that are ops.
    fn fits_operands(&self, bound: &[(InstId, bool)]) -> bool {
        let (f, last) = (self.f, bound.len() - 1);
        self.ops[last].operands.iter().enumerate().all(|(n, operand)| {
            let Operand::Op(def) = operand else { return true };
            let (inst, swapped) = bound[last];
            let value = f.operands(inst)[if swapped { 1 - n } else { n }];
            let result = f.value_of(bound[*def].0);
            chain(f, self.pattern, value).iter().any(|(v, _)| Some(*v) == result)
        })
    }

    // Returns the instruction that has a region of the pattern, and the region.
    fn region(&self, bound: &[(InstId, bool)], region: usize) -> Option<BodyId> {
        let at = |op: &PlainOp| op.regions.iter().position(|(own, _)| *own == region);
        let (op, n) = self.ops.iter().enumerate().find_map(|(i, op)| Some((i, at(op)?)))?;
        self.f.regions(bound[op].0).get(n).copied()
    }

    // Returns the values that the ops of a binding use, with what the pattern has there.
    fn edges(&self, bound: &[(InstId, bool)]) -> Option<Vec<(ValueId, &Operand)>> {
        let f = self.f;
        let mut edges = Vec::new();
        for (op, &(inst, swapped)) in self.ops.iter().zip(bound) {
            for (n, operand) in op.operands.iter().enumerate() {
                edges.push((f.operands(inst)[if swapped { 1 - n } else { n }], operand));
            }
            for ((_, operand), &body) in op.regions.iter().zip(f.regions(inst)) {
                edges.push((f.operands(f.terminator(body)?)[0], operand));
            }
        }
        Some(edges)
    }

    // Returns the instructions of a complete binding and whether it can be replaced; none if the binding is no match.
    fn judge(&self, bound: &[(InstId, bool)]) -> Option<(Vec<InstId>, Legality)> {
        let Self { f, pattern, .. } = *self;
        for (op, &(inst, _)) in self.ops.iter().zip(bound) {
            if let Some(region) = op.region
                && f.body_of(inst) != Some(self.region(bound, region)?)
            {
                return None;
            }
        }
        let owners: Vec<InstId> = self
            .ops
            .iter()
            .zip(bound)
            .filter(|(op, _)| !op.regions.is_empty())
            .map(|(_, b)| b.0)
            .collect();
        let body = f.body_of(bound[self.root].0);
        let outside = self.ops.iter().zip(bound).filter(|(op, _)| op.region.is_none());
        let mut set: BTreeSet<InstId> = outside.map(|(_, (inst, _))| *inst).collect();
        let mut between: Vec<InstId> = Vec::new();
        let mut params: BTreeMap<usize, Vec<ValueId>> = BTreeMap::new();
        let mut constants: BTreeMap<usize, f64> = BTreeMap::new();
        for (value, operand) in self.edges(bound)? {
            match operand {
                Operand::Op(def) => {
                    let result = f.value_of(bound[*def].0)?;
                    let mut reached = chain(f, pattern, value).into_iter();
                    between.extend(reached.find(|(v, _)| *v == result)?.1);
                }
                Operand::Param(param) => params.entry(*param).or_default().push(value),
                Operand::Const(constant) => {
                    let found = number(f, pattern, value)?;
                    if *constants.entry(*constant).or_insert(found) != found
                        || pattern.constants[*constant].is_some_and(|wanted| wanted != found)
                    {
                        return None;
                    }
                }
                Operand::Number(wanted) => {
                    number(f, pattern, value).filter(|found| found == wanted)?;
                }
            }
        }
        let mut inputs: BTreeMap<usize, ValueId> = BTreeMap::new();
        for (&param, uses) in &params {
            // The nearest value outside of the regions of the match that is reached from all uses.
            let chains: Vec<_> = uses.iter().map(|&v| chain(f, pattern, v)).collect();
            let common = chains[0].iter().map(|(v, _)| *v).find(|v| {
                !is_inside(f, *v, &owners)
                    && chains.iter().all(|chain| chain.iter().any(|(reached, _)| reached == v))
            })?;
            for chain in &chains {
                between.extend(&chain.iter().find(|(v, _)| *v == common)?.1);
            }
            inputs.insert(param, common);
        }
        // What is in a region belongs to the instruction that has the region.
        let result_inside = |i: InstId| f.value_of(i).is_some_and(|v| is_inside(f, v, &owners));
        set.extend(between.into_iter().filter(|&i| !result_inside(i)));
        let one_body = set.iter().all(|&i| f.body_of(i) == body);
        if !self.types_fit(&inputs, bound) || !self.covered(bound, &owners) {
            return None;
        }
        let outputs: Vec<ValueId> = self
            .outputs
            .iter()
            .chain([&self.root])
            .map(|&op| f.value_of(bound[op].0))
            .collect::<Option<_>>()?;
        let within = |i: InstId| enclosing(f, i, body).is_some_and(|i| set.contains(&i));
        let mut inner =
            set.iter().flat_map(|&i| f.inst_results(i)).filter(|v| !outputs.contains(v));
        let closed = inner.all(|v| f.users_of(v).iter().all(|&user| within(user)));
        let own = |v: &ValueId| f.inst_of(*v).is_some_and(|def| set.contains(&def));
        let binding = one_body && closed && !inputs.values().any(own);
        let full = binding && !returns(f, &set, body);
        Some((set.into_iter().collect(), Legality { binding, full }))
    }

    // Returns whether the types of the inputs and shared values are those of the pattern.
    fn types_fit(&self, inputs: &BTreeMap<usize, ValueId>, bound: &[(InstId, bool)]) -> bool {
        let (f, pattern) = (self.f, self.pattern);
        let params = inputs.iter().filter_map(|(&n, &v)| Some(((*pattern.types.get(n)?)?, v)));
        let lets = self
            .lets
            .iter()
            .filter_map(|(&n, op)| Some((pattern.let_types[n]?, f.value_of(bound[(*op)?].0)?)));
        let mut known: BTreeMap<String, u64> = BTreeMap::new();
        params.chain(lets).all(|(ty, value)| {
            let (text, open) = TYPES[ty];
            let dims = text.split_once('[').map_or("", |(_, dims)| dims).trim_end_matches(']');
            let dims: Vec<&str> = dims.split(", ").filter(|d| *d != "..").collect();
            let found =
                f.value_type(value).as_tensor().and_then(sapwood_ptir::TensorType::known_shape);
            let Some(found) = found else { return false };
            let Some(before) = found.len().checked_sub(dims.len()) else { return false };
            (before == 0 || open)
                && dims.iter().zip(&found[before..]).all(|(dim, &n)| match dim.parse::<u64>() {
                    Ok(wanted) => wanted == n,
                    Err(_) => *known.entry((*dim).to_owned()).or_insert(n) == n,
                })
        })
    }

    // Returns whether the regions of the match have nothing but ops of the pattern, constants and ops to look through.
    fn covered(&self, bound: &[(InstId, bool)], owners: &[InstId]) -> bool {
        let f = self.f;
        let inner = || owners.iter().flat_map(|&i| f.regions(i)).flat_map(|&b| f.walk_body(b));
        let is_matched =
            |i: &InstId| bound.iter().any(|(own, _)| own == i) || f.op_name(*i) == "yield";
        let used = inner().filter(is_matched).flat_map(|i| f.operands(i));
        let live: BTreeSet<InstId> = used
            .flat_map(|&v| chain(f, self.pattern, v).into_iter().flat_map(|(_, insts)| insts))
            .collect();
        inner().all(|inst| {
            let name = f.op_name(inst).to_string();
            bound.iter().any(|(own, _)| *own == inst)
                || name == "yield"
                || name == "constant"
                || live.contains(&inst)
        })
    }
}

// Returns the instruction of a body that is or contains an instruction.
fn enclosing(f: &Function, mut inst: InstId, body: Option<BodyId>) -> Option<InstId> {
    while f.body_of(inst) != body {
        inst = f.body_owner(f.body_of(inst)?)?;
    }
    Some(inst)
}

// Returns whether a value is defined in a region of one of these instructions.
fn is_inside(f: &Function, value: ValueId, owners: &[InstId]) -> bool {
    let mut at = f.inst_of(value);
    while let Some(owner) = at.and_then(|i| f.body_of(i)).and_then(|b| f.body_owner(b)) {
        if owners.contains(&owner) {
            return true;
        }
        at = Some(owner);
    }
    false
}

// Returns whether a path leaves a set of instructions of a body and returns to it.
fn returns(f: &Function, set: &BTreeSet<InstId>, body: Option<BodyId>) -> bool {
    let needs = |inst: InstId| -> Vec<InstId> {
        let nested = f.regions(inst).iter().flat_map(|&b| f.walk_body(b));
        let used = nested.chain([inst]).flat_map(|i| f.operands(i));
        used.filter_map(|&v| enclosing(f, f.inst_of(v)?, body)).filter(|&i| i != inst).collect()
    };
    let mut open: Vec<InstId> =
        set.iter().flat_map(|&i| needs(i)).filter(|i| !set.contains(i)).collect();
    while let Some(inst) = open.pop() {
        for before in needs(inst) {
            if set.contains(&before) {
                return true;
            }
            open.push(before);
        }
    }
    false
}

// Returns the values that are reached from a value through the ops to look through, and the instructions before each.
fn chain(f: &Function, pattern: &Pattern, value: ValueId) -> Vec<(ValueId, Vec<InstId>)> {
    let mut all = vec![(value, Vec::new())];
    while let Some((at, insts)) = all.last().cloned() {
        let Some(inst) = f.inst_of(at) else { break };
        if !pattern.through.iter().any(|name| f.op_name(inst) == *name) {
            break;
        }
        let insts = insts.into_iter().chain([inst]).collect();
        all.push((f.operands(inst)[0], insts));
    }
    all
}

// Returns the number of a constant, or of one behind a chain.
fn number(f: &Function, pattern: &Pattern, value: ValueId) -> Option<f64> {
    let mut reached = chain(f, pattern, value).into_iter().map(|(v, _)| v);
    let literal = reached.find_map(|v| {
        let source = f.inst_of(v).filter(|&i| f.op_name(i) == "broadcast_to");
        f.constant_of(source.map_or(v, |i| f.operands(i)[0]))
    })?;
    Some(f64::from_le_bytes(literal.as_splat()?.try_into().ok()?))
}
