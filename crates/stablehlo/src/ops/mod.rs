//! The mappings between StableHLO ops and PTIR ops, which the reader and the writer share.
//!
//! A mapping is a row with the name of a StableHLO op, its PTIR op and its [form](form), from which reading and writing follow; ops
//! that need more than a form have functions that convert or write. A mapping without a PTIR op is only read: it becomes several
//! ops. An op without a mapping is kept as it is written, as an unknown op.

mod attributes;
mod call;
mod contract;
mod control;
mod converter;
mod decomposed;
mod dynamic;
mod elementwise;
mod form;
mod index;
mod reduce;
mod shape;
mod unknown;
mod window;

use std::sync::LazyLock;

use hashbrown::{HashMap, HashTable};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, InstId, OpKey};

use crate::cursor::op_name_hash;
use crate::read::FastOpReader;
use crate::write::{TextWriter, WriteError, print_form};

pub(crate) use call::write_own_op;
pub(crate) use converter::{OpConverter, ResultValues};
pub(crate) use form::{Part, TypeSyntax};
pub(crate) use reduce::combiner_region;
pub(crate) use unknown::write as write_unknown;

/// Reads the text after an op name silently and appends the PTIR op. Returns `None` for another form or an error.
pub(crate) type ReadSilently = fn(&mut FastOpReader<'_, '_>) -> Option<()>;
/// Converts a raw op to PTIR.
pub(crate) type BuildOp = fn(&mut OpConverter<'_, '_>) -> Result<ResultValues, String>;
/// Writes a PTIR instruction as a StableHLO op.
pub(crate) type PrintOp = fn(&mut TextWriter<'_>, PrintedOp) -> WriteResult;
/// An instruction that is written, and the mapping of its op.
pub(crate) type PrintedOp = (InstId, &'static OpMapping);
pub(crate) type WriteResult = Result<(), WriteError>;

/// A mapping between a StableHLO op and a PTIR op: a row of a table.
pub(crate) struct OpMapping {
    /// The name of the StableHLO op.
    pub(crate) name: &'static str,
    /// The PTIR op that the StableHLO op becomes, and that is written as it; empty if the op is read as several.
    pub(crate) ptir: &'static str,
    /// The syntax.
    pub(crate) form: &'static [Part],
    pub(crate) silent: Silent,
    /// The conversion of the op, if that is not stated by the form.
    build: Option<BuildOp>,
    /// The writer of the op, if its text is not stated by the form.
    print: Option<PrintOp>,
}

/// The cases in which the silent builder reads an op.
#[derive(Clone, Copy)]
pub(crate) enum Silent {
    Never,
    /// Text in exactly the form becomes one instruction.
    Always,
    /// Text in exactly the form becomes one instruction if this holds for operands, results and attributes.
    If(fn(&FastOpReader<'_, '_>, &[Attr]) -> bool),
    /// The op has a reader of its own.
    By(ReadSilently),
}

/// Returns a mapping that is completely stated by the form.
const fn row(name: &'static str, ptir: &'static str, form: &'static [Part]) -> OpMapping {
    OpMapping { name, ptir, form, silent: Silent::Always, build: None, print: None }
}

/// Returns a mapping of an op that is only read, by a function, and has plain syntax.
const fn read_only(name: &'static str, build: BuildOp) -> OpMapping {
    row(name, "", &[Part::Operands, Part::Types(TypeSyntax::Same)]).build(build)
}

impl OpMapping {
    /// Converts with a function. The silent builder then needs [`silent`](Self::silent).
    const fn build(self, build: BuildOp) -> Self {
        Self { silent: Silent::Never, build: Some(build), ..self }
    }

    /// Writes with a function.
    const fn print(self, print: PrintOp) -> Self {
        Self { print: Some(print), ..self }
    }

    const fn silent(self, silent: Silent) -> Self {
        Self { silent, ..self }
    }

    /// Converts a raw op.
    pub(crate) fn convert(&self, cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
        match self.build {
            Some(build) => build(cx),
            None => form::build(cx, self.form),
        }
    }

    /// Writes an instruction.
    pub(crate) fn write(&'static self, w: &mut TextWriter<'_>, inst: InstId) -> WriteResult {
        match self.print {
            Some(print) => print(w, (inst, self)),
            None => print_form(w, (inst, self)),
        }
    }

    /// Returns the usual syntax of the types.
    pub(crate) fn type_syntax(&self) -> TypeSyntax {
        let found = self.form.iter().find_map(|part| match part {
            Part::Types(syntax) => Some(*syntax),
            _ => None,
        });
        found.unwrap_or(TypeSyntax::Same)
    }

    /// Returns whether the op has operands and regions only.
    pub(crate) fn has_only_regions(&self) -> bool {
        matches!(self.form, [Part::Operands, Part::Types(TypeSyntax::Generic)] | [Part::Loop])
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

/// A name with its hash, and its mapping; `None` for a terminator.
struct SilentEntry {
    hash: u64,
    name: &'static str,
    mapping: Option<&'static OpMapping>,
    key: OpKey,
}

// The mappings that are read silently, by the hashes of the op names.
static SILENT_INDEX: LazyLock<HashTable<SilentEntry>> = LazyLock::new(|| {
    let mut table = HashTable::new();
    let mut add = |name: &'static str, mapping, key| {
        let Some((_, hash)) = op_name_hash(format!("{name:<64}").as_bytes()) else { return };
        if table.find(hash, |entry: &SilentEntry| entry.name == name).is_none() {
            table.insert_unique(hash, SilentEntry { hash, name, mapping, key }, |entry| entry.hash);
        }
    };
    for mapping in MAPPING_TABLES.into_iter().flatten() {
        if let Some((mapping, key)) = by_name(mapping.name)
            && !matches!(mapping.silent, Silent::Never)
        {
            add(mapping.name, Some(mapping), key);
        }
    }
    for name in ["return", "func.return", "stablehlo.return"] {
        add(name, None, OpKey::of("return"));
    }
    table
});

/// Returns the mapping and the PTIR op of an op that is read silently. Terminators have no mapping.
#[inline]
pub(crate) fn silent_by_name(name: &str, hash: u64) -> Option<(Option<&'static OpMapping>, OpKey)> {
    let found = SILENT_INDEX.find(hash, |entry| entry.hash == hash && entry.name == name)?;
    Some((found.mapping, found.key))
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
            ("dims", "written as integer arithmetic on extents"),
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
