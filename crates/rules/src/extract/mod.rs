//! Extraction: each match becomes a function and a call of it.

mod copy;
mod replace;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::structural::{self, Mode};
use sapwood_ptir::{Attr, Effects, Function, InstPrinter, Name, Program, ValueId};
use sapwood_rewrite::inline_calls;
use sapwood_types::Span;

use crate::cut_symbols::CutSymbols;
use crate::effects::CallEffects;
use crate::graph::{CalleeMatch, Callees, PatternGraph, constant_insts};
use crate::legality::{IllegalMatch, check_match, replacement_place};
use crate::matcher::{
    Exhausted, FindOptions, FindReport, Match, SearchLimit, find_disjoint, find_selected,
};
use crate::overlap::{OverlapPreference, select};

/// The number of refused matches that are described; the others are only counted.
const MAX_DESCRIBED_REFUSALS: usize = 1000;

/// The options of extraction.
#[derive(Clone, Debug, Default)]
pub struct ExtractOptions {
    /// The options of the search.
    pub find: FindOptions,
    /// The choice between overlapping matches.
    pub prefer: OverlapPreference,
    /// Lets equal extractions share one function.
    pub share: bool,
    /// Leaves calls in extracted functions as they are.
    pub keep_nested: bool,
    /// Keeps private functions that are no longer called.
    pub keep_unused: bool,
}

/// The report of an extraction.
#[derive(Clone, Debug, Default)]
pub struct ExtractReport {
    /// The matches that became calls, in order.
    pub calls: Vec<ExtractedCall>,
    /// The matches that could not be replaced, with the reasons; at most a thousand.
    pub refused: Vec<RefusedMatch>,
    /// The number of matches that could not be replaced.
    pub refusals: usize,
    /// The searches that were cut short.
    pub exhausted: Vec<Exhausted>,
    /// The private functions that were removed because they are no longer called.
    pub removed: Vec<Name>,
}

/// A match that became a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExtractedCall {
    /// The pattern.
    pub pattern: Name,
    /// The function that contained the match.
    pub function: Name,
    /// The function that the match became.
    pub name: Name,
    /// The number of its instructions.
    pub ops: usize,
    /// Set if a call in it was matched to another pattern by its name alone.
    pub by_name: bool,
}

/// A match that could not be replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedMatch {
    /// The pattern.
    pub pattern: Name,
    /// The function that contains the match.
    pub function: Name,
    /// The reason.
    pub reason: String,
    /// The span of its first instruction.
    pub span: Span,
}

/// Extracts the matches of patterns, one pattern after the other: each may match calls of functions that earlier patterns
/// extracted. Functions extracted before this call are not searched. The new functions are private.
///
/// # Errors
/// If an edit of the program fails, which only happens if it does not verify; the program is then unchanged.
pub fn extract(
    program: &mut Program,
    patterns: &[PatternGraph],
    options: &ExtractOptions,
) -> Result<ExtractReport, String> {
    let mut work = program.clone();
    let mut extractor = Extractor {
        entry: entry_points(&work),
        program: &mut work,
        patterns,
        options,
        report: ExtractReport::default(),
        calls: CallEffects::default(),
        new_functions: HashSet::default(),
        next: HashMap::default(),
        shared: HashMap::default(),
    };
    for number in options.find.selected(patterns) {
        extractor.extract_pattern(number)?;
    }
    if !options.keep_nested {
        let made = &extractor.new_functions;
        inline_calls(extractor.program, |caller, _| made.contains(&caller.name()))
            .map_err(|e| e.to_string())?;
    }
    if !options.keep_unused {
        extractor.remove_unused();
    }
    let report = extractor.report;
    *program = work;
    Ok(report)
}

struct Extractor<'a> {
    program: &'a mut Program,
    patterns: &'a [PatternGraph],
    options: &'a ExtractOptions,
    report: ExtractReport,
    // The functions without callers at the start.
    entry: Vec<Name>,
    calls: CallEffects,
    new_functions: HashSet<Name, FxBuildHasher>,
    // The next number to try for a name, by pattern.
    next: HashMap<Name, usize, FxBuildHasher>,
    // The extracted functions, by the hash of their bodies.
    shared: HashMap<String, Vec<Name>, FxBuildHasher>,
}

impl Extractor<'_> {
    fn extract_pattern(&mut self, number: usize) -> Result<(), String> {
        let found = self.find(number);
        self.report.exhausted.extend(found.exhausted);
        let mut refused: Vec<(usize, IllegalMatch)> = Vec::new();
        let legal: Vec<bool> = (found.matches.iter().enumerate())
            .map(|(n, m)| match check_match(self.program, self.patterns, m, &self.calls) {
                Ok(()) => true,
                Err(why) => {
                    refused.push((n, why));
                    false
                }
            })
            .collect();
        self.refuse(&found.matches, &refused);
        let matches = &found.matches;
        let chosen = select(matches, self.patterns, self.options.prefer, |n| legal[n]);
        for n in chosen {
            self.extract_one(number, &matches[n])?;
        }
        Ok(())
    }

    fn find(&self, number: usize) -> FindReport {
        let find =
            FindOptions { in_extracted: false, share_ops: false, ..self.options.find.clone() };
        let mut found = find_selected(self.program, self.patterns, &[number], &find);
        if found.exhausted.iter().any(|e| matches!(e.limit, SearchLimit::Matches(_))) {
            // Too many matches overlap to consider all of them.
            let accept =
                |m: &Match| check_match(self.program, self.patterns, m, &self.calls).is_ok();
            found = find_disjoint(self.program, self.patterns, number, &find, accept);
        }
        // A function whose body is the pattern stays as it is: calls of it stand for the pattern.
        let callees = Callees::new(self.program, self.patterns);
        let pattern = self.patterns[number].name;
        let entry: HashSet<Name, FxBuildHasher> = self.entry.iter().copied().collect();
        let stays = |m: &Match| {
            !entry.contains(&m.function)
                && callees.fit(pattern, m.function) == CalleeMatch::Instance
        };
        found.matches.retain(|m| !stays(m));
        found
    }

    fn refuse(&mut self, matches: &[Match], refused: &[(usize, IllegalMatch)]) {
        self.report.refusals += refused.len();
        let mut names: Option<(Name, InstPrinter<'_>)> = None;
        for (n, why) in refused {
            if self.report.refused.len() >= MAX_DESCRIBED_REFUSALS {
                return;
            }
            let found = &matches[*n];
            let Some(f) = self.program.function(found.function) else { continue };
            if names.as_ref().is_none_or(|(known, _)| *known != found.function) {
                names = Some((found.function, InstPrinter::new(f)));
            }
            let Some((_, printer)) = &mut names else { continue };
            self.report.refused.push(RefusedMatch {
                pattern: self.patterns[found.pattern].name,
                function: found.function,
                reason: why.describe(printer),
                span: f.inst_span(found.ops[0]),
            });
        }
    }

    fn extract_one(&mut self, number: usize, found: &Match) -> Result<(), String> {
        let pattern = &self.patterns[number];
        let name = self.unused_name(pattern.name);
        let Some(f) = self.program.function(found.function) else { return Ok(()) };
        // Earlier extractions may have changed the surroundings of the match, its inputs included.
        let mut found = found.clone();
        found.rebind(f, pattern);
        let is_constant = |&v: &ValueId| constant_insts(&pattern.through, f, v).is_some();
        if let Some(value) = found.constants(f, pattern).into_iter().find(|v| !is_constant(v)) {
            self.refuse(std::slice::from_ref(&found), &[(0, IllegalMatch::Constant { value })]);
            return Ok(());
        }
        let place = match replacement_place(self.program, f, pattern, &found, &self.calls) {
            Ok(place) => place,
            Err(why) => {
                self.refuse(std::slice::from_ref(&found), &[(0, why)]);
                return Ok(());
            }
        };
        // The place exists, and with it the symbols.
        let Ok(symbols) = CutSymbols::new(f, pattern, &found) else { return Ok(()) };
        let function =
            copy::function_of(f, pattern, &found, &symbols, name).map_err(|e| e.to_string())?;
        let pure = is_pure(&function);
        let name = self.add(function)?;
        let Some(f) = self.program.function_mut(found.function) else { return Ok(()) };
        let call = replace::ReplacementCall { callee: name, pure, binders: &symbols.binders };
        replace::replace(f, pattern, &found, &place, &call).map_err(|e| e.to_string())?;
        self.report.calls.push(ExtractedCall {
            pattern: pattern.name,
            function: found.function,
            name,
            ops: found.ops.len(),
            by_name: found.by_name,
        });
        Ok(())
    }

    // Returns the name with the smallest free number.
    fn unused_name(&mut self, pattern: Name) -> Name {
        let next = self.next.entry(pattern).or_insert(0);
        loop {
            let name = Name::new(&format!("{pattern}_{next}"));
            if self.program.function(name).is_none() {
                return name;
            }
            *next += 1;
        }
    }

    // Adds a function, unless an equal one exists and may be shared.
    fn add(&mut self, function: Function) -> Result<Name, String> {
        let name = function.name();
        if self.options.share {
            let own = with_sorted_operands(&function);
            let hash = structural::hash_body(&own, own.body(), Mode::Ordered).to_string();
            let known = self.shared.entry(hash).or_default();
            for other in known.iter() {
                let Some(g) = self.program.function(*other) else { continue };
                let theirs = with_sorted_operands(g);
                let bodies = ((&theirs, theirs.body()), (&own, own.body()));
                if g.extracted_from() == function.extracted_from()
                    && structural::equal_bodies(bodies.0, bodies.1, Mode::Ordered)
                    && have_equal_facts(g, &function)
                {
                    return Ok(*other);
                }
            }
            known.push(name);
        }
        self.new_functions.insert(name);
        self.program.add(function).map_err(|e| e.to_string())?;
        Ok(name)
    }

    // Removes private functions that were called at the start and no longer are.
    fn remove_unused(&mut self) {
        let public = self.program.functions().iter().filter(|f| !f.is_private()).map(|f| f.name());
        let mut open: Vec<Name> = public.chain(self.entry.iter().copied()).collect();
        let mut kept: HashSet<Name, FxBuildHasher> = HashSet::default();
        while let Some(name) = open.pop() {
            if kept.insert(name)
                && let Some(f) = self.program.function(name)
            {
                open.extend(called_by(f));
            }
        }
        let mut functions = self.program.take_functions();
        functions.retain(|f| {
            let keep = kept.contains(&f.name());
            if !keep {
                self.report.removed.push(f.name());
            }
            keep
        });
        // All names are different, as they were before.
        let _ = self.program.set_functions(functions);
    }
}

// Returns whether two functions with equal bodies assume the same.
fn have_equal_facts(f: &Function, g: &Function) -> bool {
    let same_name = || g.clone().with_name(f.name());
    f.facts().is_none() && g.facts().is_none()
        || structural::first_mismatch_functions(f, &same_name(), Mode::Ordered).is_none()
}

// Returns the functions that are not called.
fn entry_points(program: &Program) -> Vec<Name> {
    let called: HashSet<Name, FxBuildHasher> =
        program.functions().iter().flat_map(|f| called_by(f)).collect();
    program.functions().iter().map(|f| f.name()).filter(|name| !called.contains(name)).collect()
}

// Returns a copy in which the first two operands of commutative ops are in the order of their definitions, so that functions that differ
// only by swapped operands are equal.
fn with_sorted_operands(f: &Function) -> Function {
    let mut sorted = f.clone();
    let mut places: HashMap<ValueId, usize, FxBuildHasher> = HashMap::default();
    for &param in f.params() {
        places.insert(param, places.len());
    }
    for inst in f.walk() {
        for value in f
            .inst_results(inst)
            .chain(f.regions(inst).iter().flat_map(|&b| f.body_params(b).to_vec()))
        {
            places.insert(value, places.len());
        }
        if let [a, b, ..] = *f.operands(inst)
            && f.op_def(inst).is_some_and(|def| def.commutative)
            && places.get(&a) > places.get(&b)
        {
            let mut operands = f.operands(inst).to_vec();
            operands.swap(0, 1);
            // Operands of a commutative op have the same type, so that this does not fail.
            let _ = sorted.set_operands(inst, &operands);
        }
    }
    sorted
}

// Returns the functions that instructions of this one refer to.
fn called_by(f: &Function) -> Vec<Name> {
    fn named(attr: &Attr, names: &mut Vec<Name>) {
        match attr {
            Attr::Func(name) => names.push(*name),
            Attr::List(list) => list.iter().for_each(|a| named(a, names)),
            Attr::Dict(entries) => entries.iter().for_each(|(_, a)| named(a, names)),
            _ => {}
        }
    }
    let mut names = Vec::new();
    for inst in f.walk() {
        f.attrs(inst).iter().for_each(|a| named(a, &mut names));
    }
    names
}

// Returns whether no instruction is ordered, terminators aside.
fn is_pure(f: &Function) -> bool {
    f.walk()
        .all(|i| f.own_effects(i) == Effects::Pure || f.op_def(i).is_some_and(|def| def.terminator))
}
