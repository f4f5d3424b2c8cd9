//! The rows of the benchmarks with their targets, one file per area.

/// Lists rows of an area: name, unit, targets, work.
macro_rules! bench_rows {
    ($area:literal: $($name:literal in $unit:literal [$($target:expr),*]: $work:literal;)*) => {
        vec![$(BenchRow::new($area, $name, $work, $unit, &[$($target),*])),*]
    };
}

mod command;
mod dims;
pub(crate) mod eval;
mod ir;
pub(crate) mod onnx;
mod ptir;
mod python;
mod rewrite;
mod rules;
pub(crate) mod stablehlo;
mod structural;

/// A row of the benchmarks: one measurement on both sides.
#[derive(Clone, Debug)]
pub(crate) struct BenchRow {
    /// The area: the name of the binary in `benches/src/bin` and of the script in `benches/peers`.
    pub(crate) area: &'static str,
    /// The name that both sides print.
    pub(crate) name: String,
    /// A description of the work, for the table.
    pub(crate) work: String,
    /// The unit of values; both sides must use the same one.
    pub(crate) unit: &'static str,
    /// The targets of our side, all of which must be reached.
    pub(crate) targets: Vec<PerformanceTarget>,
    /// The reason why our side cannot be measured yet.
    pub(crate) blocked_by: Option<&'static str>,
}

impl BenchRow {
    fn new(
        area: &'static str,
        name: impl Into<String>,
        work: impl Into<String>,
        unit: &'static str,
        targets: &[PerformanceTarget],
    ) -> Self {
        let (name, work, targets) = (name.into(), work.into(), targets.to_vec());
        Self { area, name, work, unit, targets, blocked_by: None }
    }

    /// Returns whether a target compares the models one by one.
    pub(crate) fn lists_models(&self) -> bool {
        self.targets.iter().any(|target| matches!(target, PerformanceTarget::ShareOfModels(_)))
    }
}

/// An action on programs: its name, its description, the unit of its values, and the targets.
type ProgramAction<'a> = (&'a str, &'a str, &'static str, &'a [PerformanceTarget]);

/// Returns the rows of actions on programs of one kind, which has a name and a description, in all sizes.
fn rows_of_programs(
    area: &'static str,
    (kind, of): (&str, &str),
    actions: &[ProgramAction<'_>],
) -> Vec<BenchRow> {
    let of_size = |size| {
        actions.iter().map(move |&(verb, does, unit, targets)| {
            let name = format!("{verb}/{kind}/{size}");
            BenchRow::new(area, name, format!("{does}, {of}, {size} ops"), unit, targets)
        })
    };
    SIZES.into_iter().flat_map(of_size).collect()
}

/// A target for our value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PerformanceTarget {
    /// Our value is at most this.
    AtMost(f64),
    /// Our value is at least this.
    AtLeast(f64),
    /// Our value is at most the peer's divided by this, in the same run.
    TimesFaster(f64),
    /// Our value is at most the peer's times this, in the same run.
    TimesPeer(f64),
    /// On at least this share of the models, our value is at most the peer's.
    ShareOfModels(f64),
}

/// The numbers of ops of the measured programs, as the names of rows write them.
const SIZES: [&str; 3] = ["1e4", "1e5", "1e6"];

/// Returns the rows of all areas.
pub(crate) fn all() -> Vec<BenchRow> {
    [
        structural::rows(),
        ptir::rows(),
        dims::rows(),
        ir::rows(),
        eval::rows(),
        rewrite::rows(),
        rules::rows(),
        stablehlo::rows(),
        onnx::rows(),
        python::rows(),
        command::rows(),
    ]
    .concat()
}

/// Returns the areas, in the order of their first row.
pub(crate) fn areas() -> Vec<&'static str> {
    let mut areas: Vec<&str> = Vec::new();
    for row in all() {
        if !areas.contains(&row.area) {
            areas.push(row.area);
        }
    }
    areas
}
