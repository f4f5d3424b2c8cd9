//! What is measured, and what each row has to reach: one file per area.

mod command;
mod eval;
mod ir;
mod ptir;
mod python;
mod rewrite;
mod rules;
pub(crate) mod stablehlo;
mod structural;

/// One thing that is measured.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The area: the name of the binary in `benches/src/bin` and of the script in `benches/peers`.
    pub(crate) area: &'static str,
    /// The name that both sides print.
    pub(crate) name: String,
    /// What the work is, for the table.
    pub(crate) what: String,
    /// What a value counts; both sides must say the same.
    pub(crate) unit: &'static str,
    /// What our side has to reach; all of it.
    pub(crate) reach: Vec<Reach>,
    /// Why our side cannot be measured yet, if it cannot.
    pub(crate) waits_for: Option<&'static str>,
}

impl Row {
    fn new(
        area: &'static str,
        name: impl Into<String>,
        what: impl Into<String>,
        unit: &'static str,
        reach: &[Reach],
    ) -> Self {
        let (name, what, reach) = (name.into(), what.into(), reach.to_vec());
        Self { area, name, what, unit, reach, waits_for: None }
    }
}

/// A bar to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reach {
    /// Our value is at most this.
    AtMost(f64),
    /// Our value is at least this.
    AtLeast(f64),
    /// Our value is at most the peer's divided by this, in the same run.
    TimesFaster(f64),
    /// Our value is at most the peer's times this, in the same run.
    TimesPeer(f64),
}

/// The sizes that programs are measured at: how rows call them, and how many ops they are.
const SIZES: [&str; 3] = ["1e4", "1e5", "1e6"];

/// Every row of every area.
pub(crate) fn all() -> Vec<Row> {
    [
        structural::rows(),
        ptir::rows(),
        ir::rows(),
        eval::rows(),
        rewrite::rows(),
        rules::rows(),
        stablehlo::rows(),
        python::rows(),
        command::rows(),
    ]
    .concat()
}

/// The areas, in order of their first row.
pub(crate) fn areas() -> Vec<&'static str> {
    let mut areas: Vec<&str> = Vec::new();
    for row in all() {
        if !areas.contains(&row.area) {
            areas.push(row.area);
        }
    }
    areas
}
