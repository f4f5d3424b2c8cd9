//! The mappings between StableHLO ops and PTIR ops, which the reader and the writer share.
//!
//! A mapping names a StableHLO op and its PTIR op, with functions that convert in both directions. A mapping without a PTIR op is
//! only read: it becomes several ops. An op without a mapping is kept as it is written, as an unknown op.

mod attributes;
mod call;
mod contract;
mod control;
mod converter;
mod decomposed;
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
use crate::read::FastOpReader;
use crate::write::{TextWriter, WriteError};

pub(crate) use converter::{OpConverter, ResultValues};
pub(crate) use reduce::combiner_region;
pub(crate) use unknown::write as write_unknown;

/// Reads the text after an op name on the fast path and appends the PTIR op. Returns `None` for another form or an error.
pub(crate) type FastRead = fn(&mut FastOpReader<'_, '_>) -> Option<()>;
/// Converts a raw op to PTIR.
pub(crate) type ReadOp = fn(&mut OpConverter<'_, '_>) -> Result<ResultValues, String>;
/// Writes a PTIR instruction as a StableHLO op.
pub(crate) type WriteOp =
    fn(&mut TextWriter<'_>, InstId, &'static OpMapping) -> Result<(), WriteError>;

/// A mapping between a StableHLO op and a PTIR op.
pub(crate) struct OpMapping {
    /// The name of the StableHLO op.
    pub(crate) name: &'static str,
    /// The PTIR op that is written as the StableHLO op; empty if the mapping is only read.
    pub(crate) ptir: &'static str,
    pub(crate) read: ReadOp,
    pub(crate) write: WriteOp,
    pub(crate) fast_read: Option<FastRead>,
}

impl OpMapping {
    const fn new(name: &'static str, ptir: &'static str, read: ReadOp, write: WriteOp) -> Self {
        Self { name, ptir, read, write, fast_read: None }
    }

    /// Returns a mapping that is only read.
    const fn read_only(name: &'static str, read: ReadOp) -> Self {
        Self { name, ptir: "", read, write: |_, _, _| Ok(()), fast_read: None }
    }

    /// Adds a reader for the fast path.
    const fn fast(mut self, fast_read: FastRead) -> Self {
        self.fast_read = Some(fast_read);
        self
    }
}

const MAPPING_TABLES: [&[OpMapping]; 11] = [
    elementwise::MAPPINGS,
    shape::MAPPINGS,
    contract::MAPPINGS,
    reduce::MAPPINGS,
    window::MAPPINGS,
    index::MAPPINGS,
    control::MAPPINGS,
    call::MAPPINGS,
    decomposed::MAPPINGS,
    dynamic::MAPPINGS,
    unknown::MAPPINGS,
];

/// All mappings, by StableHLO name and by PTIR op.
struct MappingIndex {
    by_name: HashMap<&'static str, (&'static OpMapping, OpKey), FxBuildHasher>,
    by_key: HashMap<OpKey, &'static OpMapping, FxBuildHasher>,
}

static MAPPING_INDEX: LazyLock<MappingIndex> = LazyLock::new(|| {
    let mut tables = MappingIndex { by_name: HashMap::default(), by_key: HashMap::default() };
    for mapping in MAPPING_TABLES.into_iter().flatten() {
        let key = OpKey::of(if mapping.ptir.is_empty() { mapping.name } else { mapping.ptir });
        tables.by_name.entry(mapping.name).or_insert((mapping, key));
        if !mapping.ptir.is_empty() {
            // The first mapping of a PTIR op is used for writing.
            tables.by_key.entry(key).or_insert(mapping);
        }
    }
    tables
});

/// Returns the mapping of a StableHLO op. `mhlo` is an older name of the dialect.
pub(crate) fn by_name(name: &str) -> Option<(&'static OpMapping, OpKey)> {
    let mappings = &MAPPING_INDEX.by_name;
    if let Some(found) = mappings.get(name) {
        return Some(*found);
    }
    let rest = name.strip_prefix("mhlo.")?;
    mappings.get(&*format!("stablehlo.{rest}")).copied()
}

// The readers for the fast path, by the hashes of the op names.
static FAST_READS: LazyLock<HashTable<(u64, &'static str, FastRead, OpKey)>> =
    LazyLock::new(|| {
        let mut table = HashTable::new();
        let mut add = |name: &'static str, read, key| {
            let Some((_, hash)) = op_name_hash(format!("{name:<64}").as_bytes()) else { return };
            let same = |mapping: &(u64, &'static str, FastRead, OpKey)| mapping.1 == name;
            if table.find(hash, same).is_none() {
                table.insert_unique(hash, (hash, name, read, key), |mapping| mapping.0);
            }
        };
        for mapping in MAPPING_TABLES.into_iter().flatten() {
            if let Some((mapping, key)) = by_name(mapping.name)
                && let Some(read) = mapping.fast_read
            {
                add(mapping.name, read, key);
            }
        }
        for name in ["return", "func.return", "stablehlo.return"] {
            add(name, crate::read::fast_read_terminator, OpKey::of("return"));
        }
        table
    });

/// Returns the reader of an op for the fast path, if it has one.
#[inline]
pub(crate) fn fast_read(name: &str, hash: u64) -> Option<(FastRead, OpKey)> {
    let mapping = FAST_READS.find(hash, |mapping| mapping.0 == hash && mapping.1 == name)?;
    Some((mapping.2, mapping.3))
}

/// Returns the mapping that writes a PTIR op.
pub(crate) fn by_key(key: OpKey) -> Option<&'static OpMapping> {
    MAPPING_INDEX.by_key.get(&key).copied()
}

/// Returns whether an op ends a region.
pub(crate) fn is_terminator(name: &str) -> bool {
    matches!(name, "return" | "func.return" | "stablehlo.return" | "mhlo.return" | "sdy.return")
}

/// Returns the StableHLO names of all mappings, for messages.
pub(crate) fn stablehlo_names() -> impl Iterator<Item = &'static str> {
    MAPPING_TABLES.into_iter().flatten().map(|mapping| mapping.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_ptir::Registry;

    #[test]
    fn every_ptir_op_has_a_mapping_or_a_reason() {
        let without = [
            ("return", "written as the end of a function"),
            ("yield", "written as the end of a region"),
            ("constant", "has a syntax of its own"),
            ("rng_bits", "StableHLO's generators have other bits"),
            ("rng_uniform", "StableHLO's generators have other bits"),
            ("rng_normal", "StableHLO's generators have other bits"),
        ];
        for def in Registry::builtin().defs() {
            let has_reason = without.iter().any(|(name, _)| *name == def.name);
            assert!(
                by_key(def.key).is_some() || has_reason,
                "op `{}` has no mapping: add a row to a table in this folder, or the reason to `without`",
                def.name
            );
        }
    }

    fn table() -> String {
        let mut out = String::from("| StableHLO | PTIR |\n| --- | --- |\n");
        let mut done = Vec::new();
        for mapping in MAPPING_TABLES.into_iter().flatten() {
            if done.contains(&mapping.name) {
                continue;
            }
            done.push(mapping.name);
            let all = MAPPING_TABLES.into_iter().flatten().filter(|r| r.name == mapping.name);
            let names: Vec<String> =
                all.filter(|r| !r.ptir.is_empty()).map(|r| format!("`{}`", r.ptir)).collect();
            out += format!("| `{}` | {} |", mapping.name, names.join(", "))
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
    fn every_mapping_is_in_a_golden_file() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/stablehlo");
        let mut all = String::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            all += &std::fs::read_to_string(entry.unwrap().path()).unwrap();
        }
        for name in stablehlo_names() {
            let found = all.match_indices(name).any(|(at, _)| {
                !all[at + name.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
            });
            assert!(found, "no file of tests/golden/stablehlo has `{name}`");
        }
    }

    #[test]
    fn mappings_name_ops_that_exist() {
        let registry = Registry::builtin();
        for mapping in MAPPING_TABLES.into_iter().flatten() {
            let known = mapping.ptir.is_empty() || registry.get(OpKey::of(mapping.ptir)).is_some();
            assert!(known, "`{}`: op `{}` does not exist", mapping.name, mapping.ptir);
        }
    }
}
