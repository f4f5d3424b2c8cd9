//! What is measured, and what each row has to reach.

/// One thing that is measured.
pub(crate) struct Row {
    /// The area: the name of the binary in `benches/src/bin` and of the script in `benches/peers`.
    pub(crate) area: &'static str,
    /// The name that both sides print.
    pub(crate) name: &'static str,
    /// What the work is, for the table.
    pub(crate) what: &'static str,
    /// What a value counts; both sides must say the same.
    pub(crate) unit: &'static str,
    /// What our side has to reach; all of it.
    pub(crate) reach: &'static [Reach],
    /// Why our side cannot be measured yet, if it cannot.
    pub(crate) waits_for: Option<&'static str>,
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
}

use Reach::{AtLeast, AtMost, TimesFaster};

/// Every row of every area.
pub(crate) const ROWS: &[Row] = &[
    Row {
        area: "structural",
        name: "equal/tree",
        what: "equal, two copies of a balanced tree of 2^20 - 1 nodes, built depth first",
        unit: "ns/node",
        reach: &[AtMost(25.0), TimesFaster(10.0)],
        waits_for: None,
    },
    Row {
        area: "structural",
        name: "hash/tree",
        what: "hash, the same tree, nothing cached",
        unit: "ns/node",
        reach: &[AtMost(25.0), TimesFaster(10.0)],
        waits_for: None,
    },
    Row {
        area: "structural",
        name: "equal/tree-by-levels",
        what: "equal, the same tree built level by level",
        unit: "ns/node",
        reach: &[AtMost(25.0)],
        waits_for: None,
    },
    Row {
        area: "structural",
        name: "hash/tree-by-levels",
        what: "hash, the same tree built level by level",
        unit: "ns/node",
        reach: &[AtMost(25.0)],
        waits_for: None,
    },
    Row {
        area: "structural",
        name: "equal/dag",
        what: "equal, the same tree of kind dag, unshared copies",
        unit: "ns/node",
        reach: &[AtMost(60.0)],
        waits_for: None,
    },
    Row {
        area: "structural",
        name: "equal/lambda",
        what: "equal, lambda of 10^5 parameters, each used once",
        unit: "ns/node",
        reach: &[AtMost(40.0)],
        waits_for: None,
    },
    Row {
        area: "structural",
        name: "equal/ladder",
        what: "equal, tree ladder: 1000 levels, 2^1000 paths (the peer: 22 levels)",
        unit: "ms",
        reach: &[AtMost(1.0)],
        waits_for: None,
    },
    Row {
        area: "structural",
        name: "equal/chain",
        what: "equal, the deepest chain that works",
        unit: "depth",
        reach: &[AtLeast(1e6)],
        waits_for: None,
    },
    Row {
        area: "structural",
        name: "hash/chain",
        what: "hash, the deepest chain that works",
        unit: "depth",
        reach: &[AtLeast(1e6)],
        waits_for: None,
    },
    Row {
        area: "structural",
        name: "build/python",
        what: "a node built from Python",
        unit: "µs/node",
        reach: &[AtMost(2.0)],
        waits_for: Some("the Python package"),
    },
    Row {
        area: "ir",
        name: "equal/tree",
        what: "equal, two copies of a balanced tree of 2^20 - 1 additions and constants",
        unit: "ns/node",
        reach: &[AtMost(25.0)],
        waits_for: None,
    },
    Row {
        area: "ir",
        name: "hash/tree",
        what: "hash, the same tree, nothing cached",
        unit: "ns/node",
        reach: &[AtMost(25.0)],
        waits_for: None,
    },
    Row {
        area: "ir",
        name: "equal/statements",
        what: "equal, two copies of 250,000 assignments of sums, each over the variable before",
        unit: "ns/node",
        reach: &[AtMost(25.0)],
        waits_for: None,
    },
    Row {
        area: "ir",
        name: "hash/statements",
        what: "hash, the same program, nothing cached",
        unit: "ns/node",
        reach: &[AtMost(25.0)],
        waits_for: None,
    },
    Row {
        area: "ir",
        name: "mismatch/first",
        what: "first mismatch at the root of two trees of 2^20 nodes",
        unit: "µs",
        reach: &[AtMost(100.0)],
        waits_for: None,
    },
    Row {
        area: "ir",
        name: "chain",
        what: "equal and hash, the deepest chain that works",
        unit: "depth",
        reach: &[AtLeast(1e6)],
        waits_for: None,
    },
    Row {
        area: "ir",
        name: "print",
        what: "print, 100,000 assignments",
        unit: "MB/s",
        reach: &[AtLeast(100.0)],
        waits_for: None,
    },
    Row {
        area: "ir",
        name: "parse",
        what: "parse, the same text",
        unit: "MB/s",
        reach: &[AtLeast(50.0)],
        waits_for: None,
    },
];

/// The areas, in order of their first row.
pub(crate) fn areas() -> Vec<&'static str> {
    let mut areas: Vec<&str> = Vec::new();
    for row in ROWS {
        if !areas.contains(&row.area) {
            areas.push(row.area);
        }
    }
    areas
}
