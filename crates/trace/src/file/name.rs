//! Names that every file system takes.

use std::fs;
use std::io;
use std::path::Path;

/// No part of a name that comes from a program is longer.
const LONGEST: usize = 48;

/// The name of a function or pass as part of the name of a file: letters, digits, `-` and `_`; anything else is `_`.
/// A number stands before it, so no name is one that a system keeps for itself, and none differs by case alone.
pub(super) fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().map(plain).take(LONGEST).collect();
    if name.is_empty() { "unnamed".into() } else { name }
}

/// Numbers above this are none of ours.
const LARGEST: u64 = 1_000_000_000_000;

/// The number after the largest that a name in the folder starts with.
pub(super) fn first_free(folder: &Path) -> io::Result<u64> {
    let mut largest = 0;
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.split_once('_')?.0.parse().ok());
        largest = largest.max(number.filter(|&number| number <= LARGEST).unwrap_or(0));
    }
    Ok(largest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_after_the_largest_of_ours() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(first_free(folder.path()).unwrap(), 1);
        for name in ["00007_main", "18446744073709551615_x", "99999999999999_y", "notes_3", "8"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        assert_eq!(first_free(folder.path()).unwrap(), 8);
    }

    #[test]
    fn names_are_plain_and_short() {
        for (name, expected) in [
            ("main", "main"),
            ("", "unnamed"),
            ("a/b\\c:d*e?f\"g<h>i|j", "a_b_c_d_e_f_g_h_i_j"),
            ("fixpoint(cse,dce)", "fixpoint_cse_dce_"),
            ("..", "__"),
            ("naïve λ\n", "na_ve___"),
            ("symbol-dce", "symbol-dce"),
        ] {
            assert_eq!(file_name(name), expected);
        }
        assert_eq!(file_name(&"é".repeat(1000)).len(), LONGEST);
    }
}
