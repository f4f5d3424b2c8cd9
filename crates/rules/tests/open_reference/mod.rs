//! An exhaustive reference matcher for patterns with alternatives, optional ops, wildcards, constants and look-through. It shares only
//! the IR with the matcher: a pattern is expanded into all its plain variants, and each tries all instructions for all its ops.

use std::collections::{BTreeMap, BTreeSet};

use sapwood_ptir::{Function, InstId, ValueId};

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
}

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
}

impl Expr {
    fn text(&self) -> String {
        let list = |all: &[Self], by: &str| -> String {
            all.iter().map(Self::text).collect::<Vec<_>>().join(by)
        };
        match self {
            Self::Param(n) => format!("x{n}"),
            Self::Let(n) => format!("l{n}"),
            Self::Const(n) => format!("const c{n}"),
            Self::Number(n) => format!("{n:?}"),
            Self::Op(names, args) => match names[..] {
                [] => format!("_({})", list(args, ", ")),
                [one] => format!("{one}({})", list(args, ", ")),
                _ => format!("({})({})", names.join(" | "), list(args, ", ")),
            },
            Self::Optional(_, name, arg) => format!("{name}?({})", arg.text()),
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
            self.lets.iter().enumerate().map(|(n, e)| format!("  let l{n} = {}\n", e.text()));
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
        format!("pattern p{through}:\n{lets}  {}{conditions}\n", self.root.text())
    }

    fn text_of_lefts(&self) -> String {
        self.lets.iter().chain([&self.root]).map(Expr::text).collect::<Vec<_>>().join(" ")
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

/// A plain op: its names, none for any op, and its operands.
type PlainOp = (Vec<&'static str>, Vec<Operand>);

/// A plain variant of a pattern: the ops that its root needs; the root is the last.
struct Variant<'a> {
    pattern: &'a Pattern,
    branches: &'a [usize],
    ops: Vec<PlainOp>,
    lets: BTreeMap<usize, Option<usize>>,
    /// The operand that a `let` stands for, if it is no op.
    leaves: BTreeMap<usize, Operand>,
}

impl Variant<'_> {
    fn add(&mut self, expr: &Expr) -> Operand {
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
                let operand = self.add(&own);
                match &operand {
                    Operand::Op(op) => drop(self.lets.insert(*n, Some(*op))),
                    leaf => drop(self.leaves.insert(*n, leaf.clone())),
                }
                operand
            }
            Expr::Op(names, args) => {
                let operands = args.iter().map(|arg| self.add(arg)).collect();
                self.ops.push((names.clone(), operands));
                Operand::Op(self.ops.len() - 1)
            }
            Expr::Optional(choice, name, arg) => {
                let operand = self.add(arg);
                if self.branches[*choice] > 0 {
                    return operand;
                }
                self.ops.push((vec![name], vec![operand]));
                Operand::Op(self.ops.len() - 1)
            }
            Expr::Either(choice, all) => {
                let taken = all[self.branches[*choice]].clone();
                self.add(&taken)
            }
        }
    }
}

/// The sets of instructions that match, each with whether it can be replaced, after the choice between sets that contain each other.
pub(crate) fn reference(f: &Function, pattern: &Pattern) -> BTreeMap<Vec<InstId>, bool> {
    // By root and set.
    let mut all: BTreeMap<(InstId, Vec<InstId>), bool> = BTreeMap::new();
    let mut branches = vec![0; pattern.choices.len()];
    loop {
        let (lets, leaves) = (BTreeMap::new(), BTreeMap::new());
        let mut variant = Variant { pattern, branches: &branches, ops: Vec::new(), lets, leaves };
        if let Operand::Op(root) = variant.add(&pattern.root) {
            let ops = variant.ops;
            try_all(f, pattern, &ops, root, &mut Vec::new(), &mut all);
        }
        let Some(next) = (0..branches.len()).find(|&n| branches[n] + 1 < pattern.choices[n]) else {
            break;
        };
        branches[next] += 1;
        branches[..next].fill(0);
    }
    let list: Vec<(&(InstId, Vec<InstId>), &bool)> = all.iter().collect();
    let is_part = |a: &[InstId], b: &[InstId]| a.iter().all(|i| b.contains(i));
    let loses = |a: &(&(InstId, Vec<InstId>), &bool)| {
        list.iter().any(|b| {
            let ((root_a, set_a), (root_b, set_b)) = (a.0, b.0);
            root_a == root_b
                && set_a != set_b
                && match a.1 == b.1 {
                    true => is_part(set_a, set_b),
                    false => *b.1 && (is_part(set_a, set_b) || is_part(set_b, set_a)),
                }
        })
    };
    let kept = list.iter().filter(|a| !loses(a));
    kept.map(|((_, set), legal)| (set.clone(), **legal)).collect()
}

fn try_all(
    f: &Function,
    pattern: &Pattern,
    ops: &[PlainOp],
    root: usize,
    bound: &mut Vec<(InstId, bool)>,
    all: &mut BTreeMap<(InstId, Vec<InstId>), bool>,
) {
    let Some((names, operands)) = ops.get(bound.len()) else {
        if let Some((set, legal)) = judge(f, pattern, ops, root, bound) {
            *all.entry((bound[root].0, set)).or_default() |= legal;
        }
        return;
    };
    for inst in f.body_insts(f.body()) {
        let name = f.op_name(inst).to_string();
        let fits = match names.is_empty() {
            true => name != "return" && name != "constant",
            false => names.iter().any(|n| *n == name),
        };
        let taken = bound.iter().any(|(own, _)| *own == inst);
        if !fits || taken || f.operands(inst).len() != operands.len() {
            continue;
        }
        let swaps = !names.is_empty()
            && operands.len() == 2
            && f.op_def(inst).is_some_and(|def| def.commutative);
        for swapped in [false, true].into_iter().take(1 + usize::from(swaps)) {
            bound.push((inst, swapped));
            try_all(f, pattern, ops, root, bound, all);
            bound.pop();
        }
    }
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

// Returns the instructions of a complete binding and whether it can be replaced; none if the binding is no match.
fn judge(
    f: &Function,
    pattern: &Pattern,
    ops: &[PlainOp],
    root: usize,
    bound: &[(InstId, bool)],
) -> Option<(Vec<InstId>, bool)> {
    let mut set: BTreeSet<InstId> = bound.iter().map(|(inst, _)| *inst).collect();
    let mut params: BTreeMap<usize, Vec<ValueId>> = BTreeMap::new();
    let mut constants: BTreeMap<usize, f64> = BTreeMap::new();
    for ((_, operands), &(inst, swapped)) in ops.iter().zip(bound) {
        for (n, operand) in operands.iter().enumerate() {
            let value = f.operands(inst)[if swapped { 1 - n } else { n }];
            match operand {
                Operand::Op(def) => {
                    let result = f.value_of(bound[*def].0)?;
                    let mut reached = chain(f, pattern, value).into_iter();
                    set.extend(reached.find(|(v, _)| *v == result)?.1);
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
    }
    let mut inputs = Vec::new();
    for uses in params.values() {
        // The nearest value that is reached from all uses.
        let chains: Vec<_> = uses.iter().map(|&v| chain(f, pattern, v)).collect();
        let common = chains[0]
            .iter()
            .map(|(v, _)| *v)
            .find(|v| chains.iter().all(|chain| chain.iter().any(|(reached, _)| reached == v)))?;
        for chain in &chains {
            let (_, between) = chain.iter().find(|(v, _)| *v == common)?;
            set.extend(between.iter().copied());
        }
        inputs.push(common);
    }
    let output = f.value_of(bound[root].0)?;
    let mut inner = set.iter().flat_map(|&i| f.inst_results(i)).filter(|v| *v != output);
    let closed = inner.all(|v| f.users_of(v).iter().all(|user| set.contains(user)));
    let outside = inputs.iter().all(|&v| !f.inst_of(v).is_some_and(|def| set.contains(&def)));
    Some((set.into_iter().collect(), closed && outside))
}
