//! Extraction: each match becomes a function and a call of it.

mod copy;
mod replace;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::structural::{self, Mode};
use sapwood_ptir::{Attr, Effects, Function, InstPrinter, Name, Program};
use sapwood_rewrite::inline_calls;
use sapwood_types::Span;

use crate::effects::CallEffects;
use crate::graph::{Callees, Fit, PatternGraph};
use crate::legal::{Illegal, legal_in, place_of};
use crate::matcher::{Exhausted, FindOptions, Found, Limit, Match, find_apart, find_some};
use crate::select::{Prefer, select};

/// How many refused matches are described; the others are counted.
const DESCRIBED: usize = 1000;

/// How to extract.
#[derive(Clone, Debug, Default)]
pub struct ExtractOptions {
    /// How to look.
    pub find: FindOptions,
    /// Which of overlapping matches are taken.
    pub prefer: Prefer,
    /// Whether equal extractions become one function.
    pub share: bool,
    /// Whether calls in extracted functions are left as they are.
    pub keep_nested: bool,
    /// Whether private functions that nothing calls any more are left.
    pub keep_unused: bool,
}

/// What extraction did.
#[derive(Clone, Debug, Default)]
pub struct Extracted {
    /// One entry per match that became a call, in order.
    pub calls: Vec<Extraction>,
    /// Matches that could not be replaced, and why; at most a thousand.
    pub refused: Vec<Refused>,
    /// How many could not be replaced.
    pub refusals: usize,
    /// Searches that were cut short.
    pub exhausted: Vec<Exhausted>,
    /// Private functions that were removed because nothing calls them any more.
    pub removed: Vec<Name>,
}

/// A match that became a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Extraction {
    /// The pattern.
    pub pattern: Name,
    /// The function the match was in.
    pub function: Name,
    /// The function it became.
    pub name: Name,
    /// How many instructions it had.
    pub ops: usize,
    /// Whether a call in it was taken for an instance of another pattern because of its name alone.
    pub by_name: bool,
}

/// A match that could not be replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The pattern.
    pub pattern: Name,
    /// The function the match is in.
    pub function: Name,
    /// Why.
    pub reason: String,
    /// Where its first instruction was written.
    pub span: Span,
}

/// Extracts the matches of patterns, one pattern after the other: each may match calls of what those before it
/// extracted. Functions that were extracted before are not looked into. The functions it makes are private.
///
/// # Errors
/// If the program cannot be changed as it should, which only a program that does not verify can cause; then it is as it
/// was.
pub fn extract(
    program: &mut Program,
    patterns: &[PatternGraph],
    options: &ExtractOptions,
) -> Result<Extracted, String> {
    let mut work = program.clone();
    let mut run = Run {
        entry: entry_points(&work),
        program: &mut work,
        patterns,
        options,
        report: Extracted::default(),
        calls: CallEffects::default(),
        made: HashSet::default(),
        next: HashMap::default(),
        shared: HashMap::default(),
    };
    for number in options.find.wanted(patterns) {
        run.pattern(number)?;
    }
    if !options.keep_nested {
        let made = &run.made;
        inline_calls(run.program, |caller, _| made.contains(&caller.name()))
            .map_err(|e| e.to_string())?;
    }
    if !options.keep_unused {
        run.remove_unused();
    }
    let report = run.report;
    *program = work;
    Ok(report)
}

struct Run<'a> {
    program: &'a mut Program,
    patterns: &'a [PatternGraph],
    options: &'a ExtractOptions,
    report: Extracted,
    // Functions that nothing called at first.
    entry: Vec<Name>,
    calls: CallEffects,
    made: HashSet<Name, FxBuildHasher>,
    // The next number to try, by pattern.
    next: HashMap<Name, usize, FxBuildHasher>,
    // Extracted functions by the hash of their bodies.
    shared: HashMap<String, Vec<Name>, FxBuildHasher>,
}

impl Run<'_> {
    fn pattern(&mut self, number: usize) -> Result<(), String> {
        let found = self.find(number);
        self.report.exhausted.extend(found.exhausted);
        let mut refused: Vec<(usize, Illegal)> = Vec::new();
        let legal: Vec<bool> = (found.matches.iter().enumerate())
            .map(|(n, m)| match legal_in(self.program, self.patterns, m, &self.calls) {
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

    fn find(&self, number: usize) -> Found {
        let find =
            FindOptions { in_extracted: false, share_ops: false, ..self.options.find.clone() };
        let mut found = find_some(self.program, self.patterns, &[number], &find);
        if found.exhausted.iter().any(|e| matches!(e.limit, Limit::Matches(_))) {
            // Too many overlap to look at all of them.
            let accept = |m: &Match| legal_in(self.program, self.patterns, m, &self.calls).is_ok();
            found = find_apart(self.program, self.patterns, number, &find, accept);
        }
        // A function that is the pattern is what calls of it stand for, and stays so.
        let callees = Callees::new(self.program, self.patterns);
        let pattern = self.patterns[number].name;
        let entry: HashSet<Name, FxBuildHasher> = self.entry.iter().copied().collect();
        let stays = |m: &Match| {
            !entry.contains(&m.function) && callees.fit(pattern, m.function) == Fit::Instance
        };
        found.matches.retain(|m| !stays(m));
        found
    }

    fn refuse(&mut self, matches: &[Match], refused: &[(usize, Illegal)]) {
        self.report.refusals += refused.len();
        let mut names: Option<(Name, InstPrinter<'_>)> = None;
        for (n, why) in refused {
            if self.report.refused.len() >= DESCRIBED {
                return;
            }
            let found = &matches[*n];
            let Some(f) = self.program.function(found.function) else { continue };
            if names.as_ref().is_none_or(|(known, _)| *known != found.function) {
                names = Some((found.function, InstPrinter::new(f)));
            }
            let Some((_, printer)) = &mut names else { continue };
            self.report.refused.push(Refused {
                pattern: self.patterns[found.pattern].name,
                function: found.function,
                reason: why.describe(printer),
                span: f.inst_span(found.ops[0]),
            });
        }
    }

    fn extract_one(&mut self, number: usize, found: &Match) -> Result<(), String> {
        let pattern = &self.patterns[number];
        let name = self.free_name(pattern.name);
        let Some(f) = self.program.function(found.function) else { return Ok(()) };
        // Earlier extractions may have changed what is around it, inputs included.
        let mut found = found.clone();
        found.rebind(f, pattern);
        let place = match place_of(self.program, f, pattern, &found, &self.calls) {
            Ok(place) => place,
            Err(why) => {
                self.refuse(std::slice::from_ref(&found), &[(0, why)]);
                return Ok(());
            }
        };
        let function = copy::function_of(f, pattern, &found, name).map_err(|e| e.to_string())?;
        let pure = is_pure(&function);
        let name = self.add(function)?;
        let Some(f) = self.program.function_mut(found.function) else { return Ok(()) };
        replace::replace(f, pattern, &found, &place, name, pure).map_err(|e| e.to_string())?;
        self.report.calls.push(Extraction {
            pattern: pattern.name,
            function: found.function,
            name,
            ops: found.ops.len(),
            by_name: found.by_name,
        });
        Ok(())
    }

    // The name with the smallest free number.
    fn free_name(&mut self, pattern: Name) -> Name {
        let next = self.next.entry(pattern).or_insert(0);
        loop {
            let name = Name::new(&format!("{pattern}_{next}"));
            if self.program.function(name).is_none() {
                return name;
            }
            *next += 1;
        }
    }

    // Adds a function, unless an equal one is there and may be shared.
    fn add(&mut self, function: Function) -> Result<Name, String> {
        let name = function.name();
        if self.options.share {
            let body = function.body();
            let hash = structural::hash_body(&function, body, Mode::Ordered).to_string();
            let known = self.shared.entry(hash).or_default();
            for other in known.iter() {
                let Some(g) = self.program.function(*other) else { continue };
                if g.extracted_from() == function.extracted_from()
                    && structural::equal_bodies((g, g.body()), (&function, body), Mode::Ordered)
                {
                    return Ok(*other);
                }
            }
            known.push(name);
        }
        self.made.insert(name);
        self.program.add(function).map_err(|e| e.to_string())?;
        Ok(name)
    }

    // Only private functions that were called at first may go.
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
        // Names are those of before, so they are all different.
        let _ = self.program.set_functions(functions);
    }
}

// The functions that nothing calls.
fn entry_points(program: &Program) -> Vec<Name> {
    let called: HashSet<Name, FxBuildHasher> =
        program.functions().iter().flat_map(|f| called_by(f)).collect();
    program.functions().iter().map(|f| f.name()).filter(|name| !called.contains(name)).collect()
}

// The functions an instruction of this one names.
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

// Whether nothing in it is ordered; what ends a body does not count.
fn is_pure(f: &Function) -> bool {
    f.walk()
        .all(|i| f.own_effects(i) == Effects::Pure || f.op_def(i).is_some_and(|def| def.terminator))
}
