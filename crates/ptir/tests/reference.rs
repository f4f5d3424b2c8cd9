//! `docs/reference/ops.md` is up to date with the op tables. `BLESS=1` writes it.

use sapwood_ptir::{Registry, ops_reference_page};
use sapwood_testing::repository;

#[test]
fn the_reference_page_of_ops_is_up_to_date() {
    let path = repository().join("docs/reference/ops.md");
    let expected = ops_reference_page(&Registry::builtin());
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "docs/reference/ops.md is stale; run with BLESS=1");
}

#[test]
fn the_readme_has_the_number_of_ops() {
    let ops = format!("{} ops", Registry::builtin().defs().count());
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(readme.contains(&ops), "README.md should say \"{ops}\"");
}

#[test]
fn every_op_and_attribute_is_documented() {
    for def in Registry::builtin().defs() {
        assert!(def.doc.len() > 10, "`{}` has no documentation", def.name);
        for attr in &def.attrs {
            assert!(!attr.doc.is_empty(), "`{}` of `{}` has no documentation", attr.name, def.name);
        }
    }
}
