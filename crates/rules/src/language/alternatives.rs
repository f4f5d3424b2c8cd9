//! Resolution of alternatives, optional ops, wildcards, ops to look through, constants with names, and types.

use sapwood_ptir::{AttrKind, EffectRule, Effects, Name, OpDef, OpKey, OperandKind, ResultCount};
use sapwood_types::{DataType, Diagnostic, Span, counted};

use super::ast::{
    AttrExpr, ConditionText, DimText, Expr, OpText, RegionText, RuleSide, RuleText, TypeText, Word,
};
use super::resolve::{NameMeaning, Reported, RuleResolver};
use crate::graph::{
    AttrCondition, Choice, DimTest, Literal, LookThrough, OpIx, OtherOps, PatternGraph,
    PatternOperand, PatternRoot, RegionPattern, ShapeTest, ValueIx, ValueSource,
};

/// The largest number of choices of a pattern.
const MAX_CHOICES: usize = 256;

/// The largest number of alternatives of all choices of a pattern.
const MAX_BRANCHES: usize = 2048;

/// The ops that only move, repeat or convert elements. A pattern that looked through others, such as `neg`, would match programs that
/// compute something else.
const KEEP_ELEMENTS: [&str; 9] = [
    "broadcast_in_dim",
    "broadcast_to",
    "cast",
    "reduce_precision",
    "refine",
    "reshape",
    "reverse",
    "slice",
    "transpose",
];

const PLAIN_IF_SEVERAL: &str =
    "a rule with several outputs cannot have alternatives, wildcards or types";

/// Branches of choices, from the outermost to the innermost: the number of the choice, and that of the branch.
pub(super) type BranchPath = Vec<(usize, usize)>;

/// The ops that an op of the left side stands for.
pub(super) struct OpSet {
    pub(super) key: OpKey,
    pub(super) others: OtherOps,
    /// The definition, if it is one registered op.
    pub(super) def: Option<OpDef>,
    pub(super) commutative: bool,
}

impl RuleResolver<'_> {
    /// Resolves the ops to look through.
    pub(super) fn look_through(&mut self, text: &RuleText) -> Result<(), Reported> {
        let mut keys = Vec::new();
        for word in &text.through {
            let (key, def) = self.op_named(word)?;
            let why = match def {
                None => Some("only registered ops can be looked through".to_owned()),
                Some(def) => {
                    let one = matches!(&def.operands[..], [o] if o.kind == OperandKind::One);
                    let pure = def.effects == EffectRule::Always(Effects::Pure);
                    if !one || !pure || def.results != ResultCount::One {
                        Some("it must have one operand, one result and no effects".to_owned())
                    } else if !def.name.contains('.') && !KEEP_ELEMENTS.contains(&def.name) {
                        let ops = KEEP_ELEMENTS.join(", ");
                        Some(format!("it computes other elements; expected one of {ops}"))
                    } else {
                        None
                    }
                }
            };
            if let Some(why) = why {
                let why = format!("cannot look through `{}`: {why}", word.of);
                return Err(self.report(word.span, why));
            }
            if keys.contains(&key) {
                return Err(self.report(word.span, format!("`{}` is given twice", word.of)));
            }
            keys.push(key);
        }
        if let (Some(first), true) = (text.through.first(), text.right.is_some()) {
            let why = "a rule with a right side cannot look through ops: it would have to create them again";
            let problem = Diagnostic::error(first.span, why);
            let help = format!("write `{}?(x)` where the op may be", first.of);
            self.problems.push(problem.with_help(help));
            return Err(Reported);
        }
        self.graph.through = LookThrough::new(keys);
        Ok(())
    }

    /// Returns the ops that the name of an op stands for: one, several, or all.
    pub(super) fn op_set(&mut self, text: &OpText) -> Result<OpSet, Reported> {
        if is_wildcard(&text.name.of) {
            if let Some(other) = text.more.first() {
                let why = "a wildcard stands for all ops, so there are no others";
                return Err(self.report(other.span, why));
            }
            if let Some((name, _)) = text.attrs.first() {
                let why = "a wildcard has no attributes of its own";
                return Err(self.report(name.span, why));
            }
            // No op has this key.
            let key = OpKey::of("_");
            return Ok(OpSet { key, others: OtherOps::All, def: None, commutative: false });
        }
        let (key, def) = self.op_named(&text.name)?;
        let def = def.cloned();
        let mut commutative = def.as_ref().is_some_and(|d| d.commutative);
        if text.more.is_empty() {
            return Ok(OpSet { key, others: OtherOps::None, def, commutative });
        }
        let mut keys = Vec::new();
        for word in std::iter::once(&text.name).chain(&text.more) {
            if is_wildcard(&word.of) {
                let why = "a wildcard stands for all ops; write it alone";
                return Err(self.report(word.span, why));
            }
            let (own, def) = self.op_named(word)?;
            if keys.contains(&own) {
                return Err(self.report(word.span, format!("`{}` is given twice", word.of)));
            }
            keys.push(own);
            let Some(def) = def.cloned() else { continue };
            if !def.regions.is_empty() {
                let why = format!("`{}` has regions; write it alone", word.of);
                return Err(self.report(word.span, why));
            }
            commutative |= def.commutative;
            let count = text.operands.len();
            let is_list = matches!(text.operands.last(), Some(Expr::Rest(_)));
            if !is_list && def.variadic_len(count).is_none() {
                let arity = def.describe_arity();
                let why = format!("{}: expected {arity}, found {count}", def.name);
                return Err(self.report(word.span, why));
            }
            for (name, attr) in &text.attrs {
                let (_, kind) = self.attr_slot(word, Some(&def), name)?;
                if let AttrExpr::Literal(literal) = attr {
                    self.accept_literal(name, kind, literal.of.clone(), literal.span)?;
                }
            }
        }
        keys.remove(0);
        // Attributes are compared by name, since the ops have them at different places.
        Ok(OpSet { key, others: OtherOps::These(keys), def: None, commutative })
    }

    /// Binds the name of a wildcard: `op(xs..)`.
    pub(super) fn capture_op(&mut self, text: &OpText, op: OpIx) -> Result<(), Reported> {
        let word = &text.name;
        if !is_wildcard(&word.of) || word.of == "_" {
            return Ok(());
        }
        if self.names.contains_key(&word.of) {
            let why = format!("`{}` is bound already; number wildcards: `op1`, `op2`", word.of);
            return Err(self.report(word.span, why));
        }
        self.graph.wildcards.push((word.of.clone(), op));
        self.bind_name(word, NameMeaning::Op(op), 1);
        Ok(())
    }

    /// Checks that an op has as many regions as are written.
    pub(super) fn check_region_count(
        &mut self,
        text: &OpText,
        def: Option<&OpDef>,
    ) -> Result<(), Reported> {
        let found = text.regions.len();
        let fits = match def {
            Some(def) => def.accepts_regions(found),
            // One of several ops, a wildcard or an unregistered op.
            None => found == 0,
        };
        if fits {
            return def.map_or(Ok(()), |def| self.check_region_values(text, def));
        }
        let why = match def {
            Some(def) if found == 0 => {
                let help = "write them after the operands: `{ (a, b) => add(a, b) }`";
                let why = format!("`{}` has regions", def.name);
                self.problems.push(Diagnostic::error(text.span, why).with_help(help));
                return Err(Reported);
            }
            Some(def) if def.regions.is_empty() => format!("`{}` has no regions", def.name),
            Some(def) => format!("`{}` has {}", def.name, counted(def.regions.len(), "region")),
            None => "only one registered op can have regions here".into(),
        };
        let span = text.regions.first().map_or(text.span, |region| region.span);
        Err(self.report(span, why))
    }

    // Checks the numbers of parameters and yielded values of regions, where they follow from the number of operands.
    fn check_region_values(&mut self, text: &OpText, def: &OpDef) -> Result<(), Reported> {
        let count = text.operands.len();
        if matches!(text.operands.last(), Some(Expr::Rest(_))) {
            return Ok(());
        }
        for (n, region) in text.regions.iter().enumerate() {
            let (params, yields) = match (def.name, n) {
                ("reduce" | "reduce_window", _) => (count, count / 2),
                ("sort", _) => (2 * count, 1),
                ("select_and_scatter", _) => (2, 1),
                ("while", 0) => (count, 1),
                ("while", _) => (count, count),
                ("cond" | "case", _) => (0, region.yields.len()),
                _ => continue,
            };
            let (found, given) = (region.params.len(), region.yields.len());
            if (params, yields) != (found, given) {
                let wanted =
                    format!("{} and {}", counted(params, "parameter"), counted(yields, "value"));
                let found =
                    format!("{} and {}", counted(found, "parameter"), counted(given, "value"));
                let (op, operands) = (def.name, counted(count, "operand"));
                let why =
                    format!("the region of `{op}` with {operands} has {wanted}, found {found}");
                let help = "parameters are before the arrow, yielded values after it: `{ (a, b) => add(a, b) }`";
                self.problems.push(Diagnostic::error(region.span, why).with_help(help));
                return Err(Reported);
            }
        }
        Ok(())
    }

    /// Resolves the regions of an op. Returns them, and the values from outside that they use.
    pub(super) fn regions(
        &mut self,
        text: &OpText,
    ) -> Result<(Vec<RegionPattern>, Vec<ValueIx>), Reported> {
        let mut regions = Vec::new();
        if text.regions.is_empty() {
            return Ok((regions, Vec::new()));
        }
        let first_op = self.graph.ops.len();
        self.region_depth += 1;
        let mut result = Ok(());
        for region in &text.regions {
            match self.region(region) {
                Ok(region) => regions.push(region),
                Err(Reported) => result = Err(Reported),
            }
        }
        self.region_depth -= 1;
        result?;
        let own: Vec<ValueIx> =
            regions.iter().flat_map(|r: &RegionPattern| r.params.clone()).collect();
        let inner = &self.graph.ops[first_op..];
        let defined: Vec<ValueIx> = inner.iter().flat_map(|op| op.results.clone()).collect();
        let mut captured = Vec::new();
        let used = inner.iter().flat_map(|op| self.graph.used_by_operands(op));
        let used = used.chain(regions.iter().flat_map(|r| r.yields.iter().copied()));
        for value in self.graph.without_choices(used) {
            let outer = !own.contains(&value) && !defined.contains(&value);
            let param = matches!(self.graph.values[value].from, ValueSource::Param);
            if outer && param && !captured.contains(&value) {
                captured.push(value);
            }
        }
        Ok((regions, captured))
    }

    fn region(&mut self, text: &RegionText) -> Result<RegionPattern, Reported> {
        let mut params = Vec::new();
        for word in &text.params {
            if self.names.contains_key(&word.of) {
                let why = format!("`{}` is bound already; a parameter needs a new name", word.of);
                return Err(self.report(word.span, why));
            }
            let value = self.new_value(&word.of, ValueSource::Param);
            self.bind_name(word, NameMeaning::Value(value), 1);
            params.push(value);
        }
        let yields = text.yields.iter().map(|expr| self.value(expr)).collect::<Result<_, _>>()?;
        Ok(RegionPattern { params, yields })
    }

    /// Adds a choice between several values.
    pub(super) fn alternatives(&mut self, all: &[Expr], span: Span) -> Result<ValueIx, Reported> {
        let number = self.new_choice(all.len(), span)?;
        let mut branches = Vec::new();
        let mut result = Ok(());
        for (n, expr) in all.iter().enumerate() {
            self.path.push((number, n));
            match self.value(expr) {
                Ok(value) => branches.push(value),
                Err(Reported) => result = Err(Reported),
            }
            self.path.pop();
        }
        result?;
        Ok(self.add_choice("|", branches, false))
    }

    /// Adds an op that may be missing: the op, or its first operand.
    pub(super) fn optional(&mut self, text: &OpText) -> Result<ValueIx, Reported> {
        let Some(first) = text.operands.first().filter(|e| !matches!(e, Expr::Rest(_))) else {
            let why = "an optional op has an operand that stands for it if it is missing";
            return Err(self.report(text.span, why));
        };
        if let Some(result) = &text.result {
            return Err(self.report(result.span, "an optional op has one result"));
        }
        let number = self.new_choice(2, text.span)?;
        let before = self.graph.params.len();
        let operand = self.value(first)?;
        let is_new_param = self.graph.params.len() > before
            && matches!(self.graph.values[operand].from, ValueSource::Param)
            && self.graph.values[operand].shape.is_none();
        self.path.push((number, 0));
        let op = self.required_op(text, Some(operand));
        self.path.pop();
        let names: Vec<&str> =
            std::iter::once(&text.name).chain(&text.more).map(|word| &*word.of).collect();
        let name = format!("{}?", names.join(" | "));
        Ok(self.add_choice(&name, vec![op?, operand], is_new_param))
    }

    fn new_choice(&mut self, branches: usize, span: Span) -> Result<usize, Reported> {
        if self.branch_counts.len() == MAX_CHOICES {
            let why = format!("a pattern has at most {MAX_CHOICES} choices");
            return Err(self.report(span, why));
        }
        if self.branch_counts.iter().sum::<usize>() + branches > MAX_BRANCHES {
            let why = format!("a pattern has at most {MAX_BRANCHES} alternatives");
            return Err(self.report(span, why));
        }
        self.branch_counts.push(branches);
        Ok(self.branch_counts.len() - 1)
    }

    fn add_choice(&mut self, name: &str, branches: Vec<ValueIx>, first_wins: bool) -> ValueIx {
        let choice = self.graph.choices.len();
        let value = self.new_value(name, ValueSource::Choice(choice));
        let after = self.graph.ops.len();
        self.graph.choices.push(Choice { value, branches, after, first_wins });
        value
    }

    /// Resolves a pattern whose root is one of several ops. Returns the first.
    pub(super) fn root_choice(
        &mut self,
        text: &RuleText,
        value: ValueIx,
    ) -> Result<OpIx, Reported> {
        let span = text.left.roots[0].span();
        if let Some(right) = &text.right {
            if text.left.roots.len() > 1 {
                return Err(self.report(span, PLAIN_IF_SEVERAL));
            }
            if let Some(extra) = right.roots.get(1) {
                let why = "each alternative has one result, so the right side is one value";
                return Err(self.report(extra.span(), why));
            }
        }
        let mut open = vec![(value, Vec::new())];
        // Choices may share branches; the first way to each op is kept.
        let mut seen = vec![false; self.graph.values.len()];
        while let Some((value, chosen)) = open.pop() {
            if std::mem::replace(&mut seen[value], true) {
                continue;
            }
            match self.graph.values[value].from {
                ValueSource::Choice(choice) => {
                    for (n, &branch) in self.graph.choices[choice].branches.iter().enumerate().rev()
                    {
                        let mut chosen: Vec<_> = chosen.clone();
                        chosen.push((choice, n));
                        open.push((branch, chosen));
                    }
                }
                ValueSource::Result(op) => {
                    if text.right.is_some() && self.graph.ops[op].results[0] != value {
                        let why =
                            "the whole op is replaced, so its first result is the alternative";
                        return Err(self.report(span, why));
                    }
                    self.graph.roots.push(PatternRoot { op, chosen });
                }
                ValueSource::Param | ValueSource::Literal(_) => {
                    let why = "each alternative of the root must be an op, such as `add(x, y)`";
                    return Err(self.report(span, why));
                }
            }
        }
        self.graph.outputs.push(value);
        let root = self.graph.roots.first().map(|root| root.op).ok_or(Reported)?;
        self.more_outputs(text, root)?;
        self.conditions(text);
        Ok(root)
    }

    /// Resolves the other outputs of a pattern, which are values that the first one is computed from.
    pub(super) fn more_outputs(&mut self, text: &RuleText, root: OpIx) -> Result<(), Reported> {
        for expr in &text.left.roots[1..] {
            if text.right.is_some() {
                let why = "the left side of a rule is one op; only patterns have several outputs";
                return Err(self.report(expr.span(), why));
            }
            let Expr::Name(word) = expr else {
                let why = "the other outputs are names that `let` binds";
                return Err(self.report(expr.span(), why));
            };
            self.check_output(word, root)?;
            let shared = self.names.get(&word.of).is_some_and(|known| known.shared);
            match self.meaning_of(word) {
                Some(NameMeaning::Value(value)) if shared => self.graph.outputs.push(value),
                _ => {
                    let why = format!("`{}` is not bound by `let`", word.of);
                    return Err(self.report(word.span, why));
                }
            }
        }
        Ok(())
    }

    /// Resolves the left side of a rule with several outputs, each the result of an op with one result.
    pub(super) fn several_outputs(
        &mut self,
        text: &RuleText,
        right: &RuleSide,
        root: OpIx,
    ) -> Result<OpIx, Reported> {
        let first = self.result(root, 0, text.left.roots[0].span())?;
        self.graph.outputs.push(first);
        for expr in &text.left.roots[1..] {
            let Expr::Name(word) = expr else {
                let why = "the other outputs are names that `let` binds";
                return Err(self.report(expr.span(), why));
            };
            let shared = self.names.get(&word.of).is_some_and(|known| known.shared);
            let output = match self.meaning_of(word) {
                Some(NameMeaning::Value(value)) if shared => value,
                _ => {
                    let why = format!("`{}` is not bound by `let`", word.of);
                    return Err(self.report(word.span, why));
                }
            };
            if !matches!(self.graph.values[output].from, ValueSource::Result(_)) {
                let why = format!("`{}` is not the result of an op", word.of);
                return Err(self.report(word.span, why));
            }
            if self.graph.outputs.contains(&output) {
                return Err(self.report(word.span, format!("`{}` is an output already", word.of)));
            }
            self.graph.outputs.push(output);
        }
        let (outputs, given) = (self.graph.outputs.len(), right.roots.len());
        if outputs != given {
            let given = counted(given, "value");
            let why = format!("the left side has {outputs} outputs, the right side gives {given}");
            return Err(self.report(right.roots[0].span(), why));
        }
        if !self.graph.is_plain() {
            return Err(self.report(text.left.roots[0].span(), PLAIN_IF_SEVERAL));
        }
        self.conditions(text);
        Ok(root)
    }

    /// Resolves `const c`: any constant, with a name for conditions.
    pub(super) fn constant(&mut self, word: &Word) -> Result<ValueIx, Reported> {
        match self.use_name(word) {
            Some(NameMeaning::Value(value)) if self.graph.is_literal(value) => Ok(value),
            Some(_) => {
                let why = format!("`{}` is bound already, and not to a constant", word.of);
                Err(self.report(word.span, why))
            }
            None => {
                let value = self.new_value(&word.of, ValueSource::Literal(Literal::Any));
                self.bind_name(word, NameMeaning::Value(value), 1);
                Ok(value)
            }
        }
    }

    /// Resolves a value with a type: `x: f32[n, d]`.
    pub(super) fn typed(&mut self, word: &Word, ty: &TypeText) -> Result<ValueIx, Reported> {
        let value = self.value(&Expr::Name(word.clone()))?;
        let dtype = match &ty.dtype {
            None => None,
            Some(name) => match name.of.parse::<DataType>() {
                Ok(dtype) => Some(dtype),
                Err(_) => return Err(self.report_unknown_word(name, AttrKind::Type)),
            },
        };
        let mut dims = Vec::new();
        for dim in &ty.dims {
            dims.push(match dim {
                DimText::Any => DimTest::Any,
                DimText::Known(n) => DimTest::Known(*n),
                DimText::Name(name) => DimTest::Name(self.dim(name)?),
            });
        }
        let test = ShapeTest { dtype, open: ty.open, dims };
        if let Some(known) = &self.graph.values[value].shape
            && **known != test
        {
            let why = format!("`{}` has the type {known} already", word.of);
            return Err(self.report(ty.span, why));
        }
        self.graph.values[value].shape = Some(Box::new(test));
        self.type_spans.entry(value).or_insert(ty.span);
        Ok(value)
    }

    fn dim(&mut self, word: &Word) -> Result<Name, Reported> {
        let name = Name::new(&word.of);
        match self.use_name(word) {
            Some(NameMeaning::Dim(_)) => {}
            Some(_) => {
                let why = format!("`{}` is bound already, and not to a dim", word.of);
                return Err(self.report(word.span, why));
            }
            None => self.bind_name(word, NameMeaning::Dim(name), 1),
        }
        Ok(name)
    }

    // Checks that another output is computed for the first one whatever alternatives are taken. Only the search for a plain pattern also
    // follows uses.
    fn check_output(&mut self, word: &Word, root: OpIx) -> Result<(), Reported> {
        let Some(known) = self.names.get(&word.of) else { return Ok(()) };
        let graph = &self.graph;
        if graph.is_plain() || graph.roots_or(root).all(|op| always_bound(graph, op, known.meaning))
        {
            return Ok(());
        }
        if graph.choices.is_empty() {
            let why = format!("the first output is not computed from `{}`", word.of);
            let help = "with wildcards, types, regions or ops to look through, the other outputs are parts of the first";
            self.problems.push(Diagnostic::error(word.span, why).with_help(help));
            return Err(Reported);
        }
        Err(self.report_sometimes_bound(word))
    }

    /// Checks that a name is bound whatever alternatives are taken, so that the right side can use it.
    pub(super) fn check_always_bound(&mut self, word: &Word, root: OpIx) -> Result<(), Reported> {
        let Some(known) = self.names.get(&word.of) else { return Ok(()) };
        let (graph, meaning) = (&self.graph, known.meaning);
        let is_bound = |op: OpIx| always_bound(graph, op, meaning);
        if graph.choices.is_empty() || graph.roots_or(root).all(is_bound) {
            return Ok(());
        }
        Err(self.report_sometimes_bound(word))
    }

    fn report_sometimes_bound(&mut self, word: &Word) -> Reported {
        let why = format!("`{}` is only bound in some of the alternatives", word.of);
        let mut problem = Diagnostic::error(word.span, why);
        if let Some(known) = self.names.get(&word.of) {
            problem = problem.with_note_at(known.span, "here");
        }
        self.problems.push(problem.with_help("bind it in each alternative"));
        Reported
    }

    /// Checks that alternatives can be taken in which all names of a condition are bound.
    pub(super) fn check_bound_together(&mut self, text: &ConditionText) -> Result<(), Reported> {
        let names: Vec<&Word> = text.arguments.iter().flat_map(AttrExpr::names).collect();
        let apart = |a: &BranchPath, b: &BranchPath| {
            a.iter().any(|(c, n)| b.iter().any(|(d, m)| c == d && n != m))
        };
        for (n, a) in names.iter().enumerate() {
            for b in &names[..n] {
                let (Some(x), Some(y)) = (self.names.get(&a.of), self.names.get(&b.of)) else {
                    continue;
                };
                let never = x.paths.iter().all(|p| y.paths.iter().all(|q| apart(p, q)));
                if never {
                    let why =
                        format!("`{}` and `{}` are bound in different alternatives", b.of, a.of);
                    return Err(self.report(a.span, why));
                }
            }
        }
        Ok(())
    }
}

// Returns whether a name is bound whatever branches are taken: it is reached from the root through every branch of a choice.
fn always_bound(graph: &PatternGraph, root: OpIx, name: NameMeaning) -> bool {
    let is_in = |op: OpIx| match name {
        NameMeaning::Value(value) => graph.ops[op].results.contains(&value),
        NameMeaning::List(list) => graph.ops[op].operands.contains(&PatternOperand::Rest(list)),
        NameMeaning::Capture(capture) => graph.ops[op]
            .attrs
            .iter()
            .any(|a| matches!(a.test, AttrCondition::Capture(own) if own == capture)),
        NameMeaning::Op(own) => own == op,
        NameMeaning::Dim(_) => false,
    };
    let is = |value: ValueIx| match name {
        NameMeaning::Value(own) => own == value,
        NameMeaning::Dim(dim) => graph.values[value]
            .shape
            .as_ref()
            .is_some_and(|shape| shape.dims.contains(&DimTest::Name(dim))),
        _ => false,
    };
    // Values are created after those that they depend on.
    let mut binds = vec![false; graph.values.len()];
    let op_binds = |op: OpIx, binds: &[bool]| {
        let data = &graph.ops[op];
        let yields = data.region_patterns.iter().flat_map(|region| region.yields.iter().copied());
        is_in(op) || graph.used_by_operands(data).chain(yields).any(|value| binds[value])
    };
    for (value, data) in graph.values.iter().enumerate() {
        binds[value] = is(value)
            || match data.from {
                ValueSource::Param | ValueSource::Literal(_) => false,
                ValueSource::Result(op) => op_binds(op, &binds),
                ValueSource::Choice(choice) => {
                    graph.choices[choice].branches.iter().all(|&branch| binds[branch])
                }
            };
    }
    op_binds(root, &binds)
}

/// Returns whether the name of an op stands for all ops: `_`, `op`, `op1`, `op2`.
pub(super) fn is_wildcard(name: &str) -> bool {
    name == "_"
        || name.strip_prefix("op").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
}
