//! Golden files of patterns, laws and passes.

#[allow(dead_code, reason = "golden files are not compared up to NaN")]
mod meaning;
mod pattern_files;

use std::process::ExitCode;

use meaning::agree;
use sapwood_ptir::cost::{self, Amount, FunctionCost};
use sapwood_ptir::{Name, Program, parse};
use sapwood_rewrite::{
    FloatMode, FrozenPatternSet, GreedyConfig, PASSES, PassManager, PatternSet,
    apply_patterns_and_fold_greedily, canonicalize, optimize,
};
use sapwood_testing::golden::{Case, Failure, Kind, Runner};
use sapwood_testing::registry::check_files;
use sapwood_testing::repository;

// Returns the patterns that a file is about, and no others.
fn set(case: &Case) -> Result<FrozenPatternSet, Failure> {
    let mut set = PatternSet::new();
    canonicalize::populate_canonicalization(&mut set);
    let names: Vec<&str> = case.headers("fires").collect();
    if names.is_empty() {
        return Err(Failure::new("the header names no pattern: `//! fires: name`"));
    }
    set.only(&names).map_err(Failure::new)?;
    Ok(set.freeze())
}

// Returns the float mode of a function. A mode at the end of its name would have no effect.
fn floats(case: &Case, function: Name) -> Result<FloatMode, Failure> {
    let last = function.as_str().rsplit('_').next().unwrap_or_default();
    if last.parse::<FloatMode>().is_ok() {
        let text =
            format!("write `//! floats: {last}` above @{function}, not `_{last}` in its name");
        return Err(Failure::new(text));
    }
    case.header("floats").unwrap_or("exact").parse().map_err(|e: String| Failure::new(e))
}

fn config(floats: FloatMode) -> GreedyConfig {
    GreedyConfig {
        enable_constant_fold: false,
        expensive_checks: true,
        floats,
        ..GreedyConfig::default()
    }
}

// Rewrites every function. Those named `fires…` must be changed by each pattern of the header, those named `stays…` by
// none. That a file has both is checked in `reference.rs`.
fn rewrite(case: &Case, program: &mut Program, judge: bool) -> Result<(), Failure> {
    let set = set(case)?;
    let names: Vec<_> = program.functions().iter().map(|f| f.name()).collect();
    for name in names {
        let Some(f) = program.function_mut(name) else { continue };
        let stats = apply_patterns_and_fold_greedily(f, &set, &config(floats(case, name)?))
            .map_err(|p| Failure::new(p.to_string()))?;
        if let Some(problem) = stats.problems.first() {
            return Err(Failure::new(problem.to_string()));
        }
        if !stats.converged {
            return Err(Failure::new(format!("@{name} does not converge")));
        }
        if !judge {
            continue;
        }
        let quiet = stats.patterns.iter().find(|p| p.applied == 0);
        if name.as_str().starts_with("fires")
            && let Some(pattern) = quiet
        {
            return Err(Failure::new(format!("`{}` does not fire in @{name}", pattern.name)));
        }
        if name.as_str().starts_with("stays") && stats.rewrites > 0 {
            return Err(Failure::new(format!("a pattern fires in @{name}")));
        }
    }
    Ok(())
}

fn patterns(case: &Case) -> Result<String, Failure> {
    let mut program = parse(&case.program).map_err(|p| Failure::new(p.to_string()))?;
    rewrite(case, &mut program, true)?;
    Ok(program.to_string())
}

fn reads_back(_: &Case, output: &str) -> Result<(), Failure> {
    let program = parse(output).map_err(|p| Failure::new(p.to_string()))?;
    if program.to_string() == output { Ok(()) } else { Err(Failure::new("it prints otherwise")) }
}

fn stays(case: &Case, output: &str) -> Result<(), Failure> {
    let mut program = parse(output).map_err(|p| Failure::new(p.to_string()))?;
    rewrite(case, &mut program, false)?;
    if program.to_string() == output {
        Ok(())
    } else {
        Err(Failure::new("a second run changes it"))
    }
}

// Checks that only the float mode's freedom distinguishes the results before and after.
fn means_the_same(case: &Case, output: &str) -> Result<(), Failure> {
    let problem = |p: sapwood_types::Diagnostics| Failure::new(p.to_string());
    let (before, after) = (parse(&case.program).map_err(problem)?, parse(output).map_err(problem)?);
    let none = case.header("values") == Some("none");
    for f in before.functions() {
        let mode = floats(case, f.name())?;
        let seeds = 0..u64::from(sapwood_testing::cases(48, 2000));
        let runs = agree(&before, &after, f.name(), mode, seeds).map_err(Failure::new)?;
        if runs == 0 && !none {
            let text = "cannot be run; if that is intended, add `//! values: none` to the header";
            return Err(Failure::new(format!("@{} {text}", f.name())));
        }
    }
    Ok(())
}

// Checks that no function takes more operations, or moves more bytes, than before. A pattern that must raise a cost declares it in the header of its
// file, `//! raises: bytes`, and in its doc comment.
fn costs_no_more(case: &Case, output: &str) -> Result<(), Failure> {
    let problem = |p: sapwood_types::Diagnostics| Failure::new(p.to_string());
    // A pattern may compute with constants, and leave equal instructions.
    let costs = |text: &str| -> Result<Vec<FunctionCost>, Failure> {
        let mut program = parse(text).map_err(problem)?;
        PassManager::parse("fold,cse")?.run(&mut program)?;
        Ok(cost::of_program(&program))
    };
    let after = costs(output)?;
    for old in costs(&case.program)? {
        let name = old.name;
        let Some(new) = after.iter().find(|new| new.name == name) else { continue };
        let is_hidden = new.not_counted > old.not_counted || new.open_loops > old.open_loops;
        if is_hidden || (new.flops == Amount::Unknown && old.flops != Amount::Unknown) {
            return Err(Failure::new(format!("the cost of @{name} is not known any more")));
        }
        if old.not_counted > 0 {
            continue;
        }
        for (what, old, new) in [("flops", old.flops, new.flops), ("bytes", old.bytes, new.bytes)] {
            let raises = new.at_most(old) != Some(true) && new != Amount::Unknown;
            if raises && case.headers("raises").all(|declared| declared != what) {
                let text = format!("@{name} takes {new} {what} after and {old} before");
                return Err(Failure::new(text));
            }
        }
    }
    Ok(())
}

// Returns the pipeline that applies the law that a file is about, and no others.
fn law_pipeline(case: &Case) -> Result<PassManager, Failure> {
    let law = case.header("fires").ok_or_else(|| Failure::new("no `//! fires:`"))?;
    let floats = case.header("floats").unwrap_or("exact");
    let pipeline = format!("optimize{{only={law},float={floats}}}");
    Ok(PassManager::parse(&pipeline)?.verify_each(true))
}

// Applies a law to a function: it must change one named `fires…`, and must not change one named `stays…`.
fn laws(case: &Case) -> Result<String, Failure> {
    let problem = |p: sapwood_types::Diagnostics| Failure::new(p.to_string());
    let before = parse(&case.program).map_err(problem)?;
    let mut after = before.clone();
    law_pipeline(case)?.run(&mut after)?;
    let (old, new) = (before.to_string(), after.to_string());
    for f in before.functions() {
        let name = f.name();
        let is_changed = function_text(&old, name) != function_text(&new, name);
        if is_changed && name.as_str().starts_with("stays") {
            return Err(Failure::new(format!("the law fires in @{name}")));
        }
        if !is_changed && name.as_str().starts_with("fires") {
            return Err(Failure::new(format!("the law does not fire in @{name}")));
        }
    }
    Ok(new)
}

// Returns the text of a function in the text of a program.
fn function_text(program: &str, name: Name) -> Option<&str> {
    let start = program.find(&format!("func @{name}("))?;
    let rest = &program[start..];
    Some(&rest[..rest.find("\n}")?])
}

fn stays_under_the_law(case: &Case, output: &str) -> Result<(), Failure> {
    let mut program = parse(output).map_err(|p| Failure::new(p.to_string()))?;
    law_pipeline(case)?.run(&mut program)?;
    if program.to_string() == output {
        return Ok(());
    }
    Err(Failure::new("a second run changes it"))
}

// Checks that a law raises no operations; if they stay the same, it must not raise the bytes either.
fn becomes_cheaper(case: &Case, output: &str) -> Result<(), Failure> {
    let costs = |text: &str| -> Result<Vec<FunctionCost>, Failure> {
        Ok(cost::of_program(&parse(text).map_err(|p| Failure::new(p.to_string()))?))
    };
    let after = costs(output)?;
    for (old, new) in costs(&case.program)?.iter().zip(&after) {
        let holds = match new.flops == old.flops {
            true => new.bytes.at_most(old.bytes) != Some(false),
            false => new.flops.at_most(old.flops) == Some(true) || old.flops == Amount::Unknown,
        };
        if !holds {
            let text = format!("@{} takes {new:?} after and {old:?} before", old.name);
            return Err(Failure::new(text));
        }
    }
    Ok(())
}

// Returns the laws that are not canonicalizations as well.
fn names_of_laws() -> impl Iterator<Item = &'static str> {
    optimize::LISTS.iter().flat_map(|list| list.entries).map(|entry| entry.name)
}

// Runs the pipeline of the header.
fn passes(case: &Case) -> Result<String, Failure> {
    run_pipeline(case, &case.program)
}

fn run_pipeline(case: &Case, text: &str) -> Result<String, Failure> {
    let pipeline = case.header("pipeline").ok_or_else(|| Failure::new("no `//! pipeline:`"))?;
    let manager = PassManager::parse(pipeline)?.verify_each(true);
    let mut program = parse(text).map_err(|p| Failure::new(p.to_string()))?;
    let report = manager.run(&mut program)?;
    let mut out: String = report.warnings().map(|w| format!("// {w}\n")).collect();
    out += &program.to_string();
    Ok(out)
}

fn stays_under_the_pipeline(case: &Case, output: &str) -> Result<(), Failure> {
    if run_pipeline(case, output)? == output {
        return Ok(());
    }
    Err(Failure::new("a second run changes it"))
}

fn main() -> ExitCode {
    let root = repository().join("tests/golden");
    let names: Vec<&str> =
        canonicalize::LISTS.iter().flat_map(|l| l.entries).map(|e| e.name).collect();
    if let Err(problems) = check_files("pattern", names, &root.join("patterns"), "ptir") {
        panic!("{problems}");
    }
    if let Err(problems) = check_files("law", names_of_laws(), &root.join("laws"), "ptir") {
        panic!("{problems}");
    }
    let names = PASSES.iter().map(|p| p.name);
    if let Err(problems) = check_files("pass", names, &root.join("passes"), "ptir") {
        panic!("{problems}");
    }
    Runner::new(root)
        .kind(
            pattern_files::kind(patterns)
                .check("the output prints back to itself", reads_back)
                .check("a second run changes nothing", stays)
                .check("before and after agree on random inputs", means_the_same)
                .check("no cost rises", costs_no_more),
        )
        .kind(
            Kind::new("laws", "ptir", laws)
                .by_function("ptir 1")
                .key("fires")
                .key("floats")
                .key("values")
                .check("the output prints back to itself", reads_back)
                .check("a second run changes nothing", stays_under_the_law)
                .check("before and after agree on random inputs", means_the_same)
                .check("it becomes cheaper", becomes_cheaper),
        )
        .kind(
            Kind::new("passes", "ptir", passes)
                .by_function("ptir 1")
                .key("pipeline")
                .check("the output prints back to itself", reads_back)
                .check("a second run changes nothing", stays_under_the_pipeline),
        )
        .own_kinds_only()
        .main()
}
