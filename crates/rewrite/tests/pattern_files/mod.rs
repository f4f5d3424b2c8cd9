//! The reader of the golden files of patterns.

use sapwood_ptir::{Program, parse};
use sapwood_testing::golden::{Case, Failure, Kind};
use sapwood_testing::repository;

/// Describes the golden files of patterns; `handler` says what is done with a program.
pub(crate) fn kind(
    handler: impl Fn(&Case) -> Result<String, Failure> + Send + Sync + 'static,
) -> Kind {
    Kind::new("patterns", "ptir", handler)
        .by_function("ptir 1")
        .key("fires")
        .key("floats")
        .key("values")
        .key("raises")
}

/// Reads all files, in order. A file has a program for each of its functions.
#[allow(dead_code, reason = "the golden target runs the files through `kind`")]
pub(crate) fn programs() -> Vec<(Case, Program)> {
    let folder = repository().join("tests/golden/patterns");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let kind = kind(|case| Ok(case.program.clone()));
    let cases = paths.iter().flat_map(|path| kind.cases(path).unwrap());
    let parsed = |case: Case| match parse(&case.program) {
        Ok(program) => (case, program),
        Err(problems) => panic!("{}:{}: {problems}", case.path.display(), case.first_line),
    };
    cases.map(parsed).collect()
}
