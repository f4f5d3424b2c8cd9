//! The ops: one row each, read by the reader and written by the writer.
//!
//! A row names an op of StableHLO and the op of PTIR it is, and says how to get from one to the other. Rows without an op
//! of PTIR are only read: they stand for several of its ops. What has no row is kept as it is written, as an op that
//! nothing here knows.

mod attributes;
mod call;
mod composed;
mod contract;
mod control;
mod convert;
mod dynamic;
mod elementwise;
mod index;
mod reduce;
mod shape;
mod unknown;
mod window;

use std::sync::LazyLock;

use hashbrown::{HashMap, HashTable};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{InstId, OpKey};

use crate::cursor::op_name_hash;
use crate::read::Direct;
use crate::write::{WriteError, Writer};

pub(crate) use convert::{Convert, Made};
pub(crate) use reduce::applied_region;
pub(crate) use unknown::write as write_unknown;

/// Makes the op of PTIR straight from what follows its name. `None` if that has another form, or is not right.
pub(crate) type ReadDirect = fn(&mut Direct<'_, '_>) -> Option<()>;
/// Makes the op of PTIR.
pub(crate) type Read = fn(&mut Convert<'_, '_>) -> Result<Made, String>;
/// Writes the op of StableHLO.
pub(crate) type Write = fn(&mut Writer<'_>, InstId, &'static Row) -> Result<(), WriteError>;

/// An op of StableHLO.
pub(crate) struct Row {
    /// Its name.
    pub(crate) name: &'static str,
    /// The op of PTIR that is written as it; empty if it is only read.
    pub(crate) ptir: &'static str,
    pub(crate) read: Read,
    pub(crate) write: Write,
    pub(crate) direct: Option<ReadDirect>,
}

impl Row {
    const fn new(name: &'static str, ptir: &'static str, read: Read, write: Write) -> Self {
        Self { name, ptir, read, write, direct: None }
    }

    /// A row that is only read.
    const fn read_only(name: &'static str, read: Read) -> Self {
        Self { name, ptir: "", read, write: |_, _, _| Ok(()), direct: None }
    }

    /// Read straight from the text where it has the usual form.
    const fn direct(mut self, direct: ReadDirect) -> Self {
        self.direct = Some(direct);
        self
    }
}

const TABLES: [&[Row]; 11] = [
    elementwise::ROWS,
    shape::ROWS,
    contract::ROWS,
    reduce::ROWS,
    window::ROWS,
    index::ROWS,
    control::ROWS,
    call::ROWS,
    composed::ROWS,
    dynamic::ROWS,
    unknown::ROWS,
];

struct Tables {
    by_name: HashMap<&'static str, (&'static Row, OpKey), FxBuildHasher>,
    by_key: HashMap<OpKey, &'static Row, FxBuildHasher>,
}

static ROWS: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables { by_name: HashMap::default(), by_key: HashMap::default() };
    for row in TABLES.into_iter().flatten() {
        let key = OpKey::of(if row.ptir.is_empty() { row.name } else { row.ptir });
        tables.by_name.entry(row.name).or_insert((row, key));
        if !row.ptir.is_empty() {
            // The first row of an op of PTIR is the one that is written.
            tables.by_key.entry(key).or_insert(row);
        }
    }
    tables
});

/// The row of an op of StableHLO. `mhlo` is its older name.
pub(crate) fn by_name(name: &str) -> Option<(&'static Row, OpKey)> {
    let rows = &ROWS.by_name;
    if let Some(found) = rows.get(name) {
        return Some(*found);
    }
    let rest = name.strip_prefix("mhlo.")?;
    rows.get(&*format!("stablehlo.{rest}")).copied()
}

// Ops that are read straight from the text, by a hash of their names.
static DIRECT: LazyLock<HashTable<(u64, &'static str, ReadDirect, OpKey)>> = LazyLock::new(|| {
    let mut table = HashTable::new();
    let mut add = |name: &'static str, read, key| {
        let Some((_, hash)) = op_name_hash(format!("{name:<64}").as_bytes()) else { return };
        let same = |row: &(u64, &'static str, ReadDirect, OpKey)| row.1 == name;
        if table.find(hash, same).is_none() {
            table.insert_unique(hash, (hash, name, read, key), |row| row.0);
        }
    };
    for row in TABLES.into_iter().flatten() {
        if let Some((row, key)) = by_name(row.name)
            && let Some(read) = row.direct
        {
            add(row.name, read, key);
        }
    }
    for name in ["return", "func.return", "stablehlo.return"] {
        add(name, crate::read::end, OpKey::of("return"));
    }
    table
});

/// How an op is read straight from the text, if it is.
#[inline]
pub(crate) fn direct(name: &str, hash: u64) -> Option<(ReadDirect, OpKey)> {
    let row = DIRECT.find(hash, |row| row.0 == hash && row.1 == name)?;
    Some((row.2, row.3))
}

/// The row that an op of PTIR is written by.
pub(crate) fn by_key(key: OpKey) -> Option<&'static Row> {
    ROWS.by_key.get(&key).copied()
}

/// Whether an op ends a region.
pub(crate) fn is_terminator(name: &str) -> bool {
    matches!(name, "return" | "func.return" | "stablehlo.return" | "mhlo.return" | "sdy.return")
}

/// All names that are known, for messages.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().flatten().map(|row| row.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_ptir::Registry;

    #[test]
    fn every_op_of_ptir_has_a_row_or_a_reason() {
        let without = ["return", "yield", "constant", "rng_bits", "rng_uniform", "rng_normal"];
        for def in Registry::builtin().defs() {
            let known = by_key(def.key).is_some() || without.contains(&def.name);
            assert!(known, "op `{}` has no row", def.name);
        }
    }

    fn table() -> String {
        let mut out = String::from("| StableHLO | PTIR |\n| --- | --- |\n");
        let mut done = Vec::new();
        for row in TABLES.into_iter().flatten() {
            if done.contains(&row.name) {
                continue;
            }
            done.push(row.name);
            let all = TABLES.into_iter().flatten().filter(|r| r.name == row.name);
            let names: Vec<String> =
                all.filter(|r| !r.ptir.is_empty()).map(|r| format!("`{}`", r.ptir)).collect();
            out += format!("| `{}` | {} |", row.name, names.join(", "))
                .replace("|  |", "| |")
                .as_str();
            out.push('\n');
        }
        out
    }

    #[test]
    fn the_table_of_the_docs_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/stablehlo.md");
        let page = std::fs::read_to_string(path).unwrap();
        let (start, rest) = page.split_once("<!-- table -->\n").unwrap();
        let (_, end) = rest.split_once("<!-- end -->").unwrap();
        let fresh = format!("{start}<!-- table -->\n{}<!-- end -->{end}", table());
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, &fresh).unwrap();
        } else {
            assert_eq!(page, fresh, "BLESS=1 writes it anew");
        }
    }

    #[test]
    fn every_row_stands_in_a_golden_file() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/stablehlo");
        let mut all = String::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            all += &std::fs::read_to_string(entry.unwrap().path()).unwrap();
        }
        for name in names() {
            let found = all.match_indices(name).any(|(at, _)| {
                !all[at + name.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
            });
            assert!(found, "no file of tests/golden/stablehlo has `{name}`");
        }
    }

    #[test]
    fn rows_name_ops_that_exist() {
        let registry = Registry::builtin();
        for row in TABLES.into_iter().flatten() {
            let known = row.ptir.is_empty() || registry.get(OpKey::of(row.ptir)).is_some();
            assert!(known, "`{}`: there is no op `{}`", row.name, row.ptir);
        }
    }
}
