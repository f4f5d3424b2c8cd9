//! Extents as expressions; there is no peer.

use super::BenchRow;
use super::PerformanceTarget::AtMost;

pub(super) fn rows() -> Vec<BenchRow> {
    let row = |name: String, work: String, unit, reach| {
        BenchRow::new("dims", name, work, unit, &[AtMost(reach)])
    };
    let operations = [
        ("add", "normalise a sum of 4 monomials"),
        ("mul", "normalise a product of 2 by 2 monomials"),
        ("floordiv", "normalise a quotient of 4 monomials"),
        ("mod", "normalise a remainder of 4 monomials"),
        ("max", "normalise the larger of 2 by 2 monomials"),
        ("compare", "compare two expressions of 4 monomials"),
        ("compare-equal", "compare two equal expressions of 4 monomials"),
        ("compare-facts", "compare two expressions of 4 monomials under 2 facts"),
    ];
    let mut rows = Vec::new();
    for (name, work) in operations {
        rows.push(row(name.into(), work.into(), "ns", 200.0));
    }
    for (kind, of) in
        [("blocks", "blocks as transformers have them"), ("shapes", "pairs of shape ops")]
    {
        for verb in ["verify", "canonicalize", "cse", "simplify"] {
            let work = format!("{verb} 1e5 ops with symbols, beside numbers: {of}");
            rows.push(row(format!("{verb}/{kind}/1e5"), work, "times", 1.5));
        }
    }
    rows
}
