//! Diffs of a program before and after a pass. Values keep the names they had before, so that only real changes show.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Function, InstPrinter, Name, Program, ValueId};

/// The number of unchanged lines shown around a change.
const CONTEXT_LINES: u32 = 2;

type Map<K, V> = HashMap<K, V, FxBuildHasher>;

/// A program before a pass: its text, and the names of its values in the text.
pub(super) struct ProgramSnapshot {
    text: String,
    functions: Map<Name, Map<ValueId, PrintedName>>,
}

struct PrintedName {
    name: String,
    hint: Option<String>,
}

impl ProgramSnapshot {
    pub(super) fn new(program: &Program) -> Self {
        let functions = program.functions().iter().map(|f| (f.name(), printed_names(f))).collect();
        Self { text: program.to_string(), functions }
    }

    /// Returns the lines that differ, with a few lines around them. Instructions that only moved are shown once, at their new
    /// place, with `~` in front.
    pub(super) fn diff(&self, after: &Program) -> String {
        let after = self.text_with_old_names(after);
        let lines = InternedInput::new(self.text.as_str(), after.as_str());
        let mut diff = Diff::compute(Algorithm::Histogram, &lines);
        diff.postprocess_lines(&lines);
        let old = |at: u32| lines.interner[lines.before[at as usize]];
        let new = |at: u32| lines.interner[lines.after[at as usize]];
        let mut defined: [HashSet<&str, FxBuildHasher>; 2] = Default::default();
        for Hunk { before, after } in diff.hunks() {
            let defines = |line: &&str| line.contains(" = ");
            defined[0].extend(before.map(old).filter(defines).map(str::trim));
            defined[1].extend(after.map(new).filter(defines).map(str::trim));
        }
        let moved = |line: &str| defined.iter().all(|side| side.contains(line.trim()));
        let mut out = String::new();
        for group in group_hunks(&diff, lines.before.len() as u32, lines.after.len() as u32) {
            let (mut text, mut differs) = (String::new(), false);
            let mut put = |sign: char, line: &str| {
                differs |= sign != ' ';
                text.push(sign);
                text.push_str(line);
                if !line.ends_with('\n') {
                    text.push('\n');
                }
            };
            let mut at = group.before.start;
            for hunk in group.hunks {
                (at..hunk.before.start).for_each(|at| put(' ', old(at)));
                hunk.before.clone().map(old).filter(|l| !moved(l)).for_each(|l| put('-', l));
                hunk.after.map(new).for_each(|l| put(if moved(l) { '~' } else { '+' }, l));
                at = hunk.before.end;
            }
            (at..group.before.end).for_each(|at| put(' ', old(at)));
            if differs {
                let (before, after) = (LineRange(group.before), LineRange(group.after));
                out += &format!("@@ -{before} +{after} @@\n{text}");
            }
        }
        if out.is_empty() { out } else { format!("--- before\n+++ after\n{out}") }
    }

    // Returns the text of a program in which values that existed before keep their old names.
    fn text_with_old_names(&self, program: &Program) -> String {
        let mark = unused_marker(&program.to_string());
        let mut marked = program.clone();
        let mut names: Vec<Map<usize, String>> = Vec::new();
        let nothing = Map::default();
        for f in program.functions() {
            let before = self.functions.get(&f.name()).unwrap_or(&nothing);
            let chosen = choose_names(f, before);
            let mut copy = (**f).clone();
            for &(value, _) in &chosen {
                copy.set_hint(value, &format!("{mark}{}", value.index()));
            }
            marked.replace(copy);
            let chosen = chosen.into_iter().map(|(value, name)| (value.index(), name));
            names.push(chosen.collect());
        }
        let text = marked.to_string();
        let mut out = String::with_capacity(text.len());
        // Functions are printed in their order, each starting with a `func` line.
        let (mut names, mut current) = (names.iter(), None);
        for line in text.split_inclusive('\n') {
            if line.starts_with("func @") {
                current = names.next();
            }
            match current {
                Some(names) => insert_names(line, &mark, names, &mut out),
                None => out.push_str(line),
            }
        }
        out
    }
}

// Changes that are shown together, with the lines around them.
struct HunkGroup {
    hunks: Vec<Hunk>,
    before: Range<u32>,
    after: Range<u32>,
}

fn group_hunks(diff: &Diff, old_lines: u32, new_lines: u32) -> Vec<HunkGroup> {
    let mut groups: Vec<HunkGroup> = Vec::new();
    for hunk in diff.hunks() {
        let end = (hunk.before.end + CONTEXT_LINES).min(old_lines);
        let after_end = (hunk.after.end + CONTEXT_LINES).min(new_lines);
        match groups.last_mut() {
            Some(group) if hunk.before.start <= group.before.end + CONTEXT_LINES => {
                (group.before.end, group.after.end) = (end, after_end);
                group.hunks.push(hunk);
            }
            _ => {
                let before = hunk.before.start.saturating_sub(CONTEXT_LINES)..end;
                let after = hunk.after.start.saturating_sub(CONTEXT_LINES)..after_end;
                groups.push(HunkGroup { hunks: vec![hunk], before, after });
            }
        }
    }
    groups
}

// A range of lines in the notation of unified diffs: counted from 1, and without the length if it is one line.
struct LineRange(Range<u32>);

impl fmt::Display for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            0 => write!(f, "{},0", self.0.start),
            1 => write!(f, "{}", self.0.start + 1),
            n => write!(f, "{},{n}", self.0.start + 1),
        }
    }
}

// Returns the names of the values of a function in its text.
fn printed_names(f: &Function) -> Map<ValueId, PrintedName> {
    let mut printer = InstPrinter::as_printed(f);
    let name = |value| {
        let hint = f.hint(value).map(str::to_owned);
        (value, PrintedName { name: printer.value(value), hint })
    };
    all_values(f).map(name).collect()
}

fn all_values(f: &Function) -> impl Iterator<Item = ValueId> {
    let inside = f.walk().flat_map(|inst| {
        let params = f.regions(inst).iter().flat_map(|&body| f.body_params(body).iter().copied());
        f.inst_results(inst).chain(params)
    });
    f.params().iter().copied().chain(inside)
}

// Chooses a name for each value: the old one if the value existed before, otherwise an unused one.
fn choose_names(f: &Function, before: &Map<ValueId, PrintedName>) -> Vec<(ValueId, String)> {
    let number = |name: &str| name.strip_prefix('%')?.parse::<u64>().ok();
    let largest = before.values().filter_map(|called| number(&called.name)).max();
    let mut free = largest.map_or(0, |n| n + 1);
    let all: Vec<ValueId> = all_values(f).collect();
    let same = |value: ValueId| {
        let called = before.get(&value)?;
        (called.hint.as_deref() == f.hint(value)).then(|| called.name.clone())
    };
    let kept: Vec<Option<String>> = all.iter().map(|&value| same(value)).collect();
    let mut taken: HashSet<String, FxBuildHasher> = kept.iter().flatten().cloned().collect();
    let mut suffixes: Map<String, usize> = Map::default();
    let mut chosen = Vec::with_capacity(all.len());
    for (value, kept) in all.into_iter().zip(kept) {
        let name = kept.unwrap_or_else(|| {
            let Some(hint) = f.hint(value) else {
                free += 1;
                return format!("%{}", free - 1);
            };
            let mut name = format!("%{hint}");
            while !taken.insert(name.clone()) {
                let suffix = suffixes.entry(hint.to_owned()).or_insert(0);
                *suffix += 1;
                name = format!("%{hint}_{suffix}");
            }
            name
        });
        chosen.push((value, name));
    }
    chosen
}

// Returns a marker to put before the number of a value until its name is inserted. No name that the parser accepts starts
// with a dot, and no comment or string of the text has as many dots.
fn unused_marker(text: &str) -> String {
    let dots = |part: &str| part.len() - part.trim_start_matches('.').len();
    ".".repeat(text.split('%').skip(1).map(dots).max().unwrap_or(0) + 1)
}

// Appends a line with the markers replaced by names.
fn insert_names(line: &str, mark: &str, names: &Map<usize, String>, out: &mut String) {
    let mark = format!("%{mark}");
    let mut parts = line.split(&mark);
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let name = part[..digits].parse().ok().and_then(|index: usize| names.get(&index));
        out.push_str(name.map_or("%?", String::as_str));
        out.push_str(&part[digits..]);
    }
}

#[cfg(test)]
mod tests {
    use sapwood_ptir::parse;

    use super::*;
    use crate::PassManager;

    fn changes(pipeline: &str, text: &str) -> String {
        let mut program = parse(text).unwrap();
        let report =
            PassManager::parse(pipeline).unwrap().print_changes(true).run(&mut program).unwrap();
        report.changes()
    }

    #[test]
    fn unchanged_values_keep_their_numbers() {
        let text = "ptir 1 func @f(%x: f32[4]) -> f32[4] {
          %0 = neg %x : f32[4]
          %1 = neg %0 : f32[4]
          %2 = exp %1 : f32[4]
          %3 = log %2 : f32[4]
          %4 = add %2, %3 : f32[4]
          %5 = mul %4, %3 : f32[4]
          return %5
        }";
        let found = changes("simplify", text);
        let signs = |sign: char| found.lines().filter(|line| line.starts_with(sign)).count();
        // Two are erased, and the user of the second uses another value.
        assert_eq!((signs('-'), signs('+')), (3 + 1, 1 + 1), "{found}");
        assert!(found.contains("+  %2 = exp %x : f32[4]"), "{found}");
    }

    #[test]
    fn text_that_looks_like_a_marker_is_kept() {
        let text = r#"ptir 1 func @f(%x: f32[4]) -> f32[4] {
          %a = custom_call "%.0 and %..1 and %...2" %x : f32[4]
          %b = neg %a : f32[4]
          %c = neg %b : f32[4]
          return %c
        }"#;
        let found = changes("simplify", text);
        assert!(found.contains(r#"%a = custom_call "%.0 and %..1 and %...2" %x"#), "{found}");
    }

    #[test]
    fn moved_instructions_are_shown_once() {
        let program = |order: [&str; 3]| {
            let body = order.join("\n");
            parse(&format!("ptir 1 func @f(%x: f32[4]) -> f32[4] {{ {body}\n return %c }}"))
                .unwrap()
        };
        let (a, b, c) =
            ("%a = neg %x : f32[4]", "%b = exp %x : f32[4]", "%c = add %a, %b : f32[4]");
        let (one, two) = (program([a, b, c]), program([b, a, c]));
        let found = ProgramSnapshot::new(&one).diff(&two);
        assert_eq!(found.lines().filter(|line| line.starts_with('~')).count(), 1, "{found}");
        assert!(!found.lines().skip(2).any(|line| line.starts_with(['-', '+'])), "{found}");
        assert_eq!(ProgramSnapshot::new(&one).diff(&one), "");
    }
}
