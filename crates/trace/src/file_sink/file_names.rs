//! File names that every file system accepts.

use std::fs;
use std::io;
use std::path::Path;

/// The maximum length of the part of a file name that comes from a program.
const MAX_NAME_CHARS: usize = 48;

/// Returns the name of a function or pass as part of a file name: letters, digits, `-` and `_`; anything else becomes `_`.
/// A number precedes it, so that no file name is reserved by a system, and no two differ only in case.
pub(super) fn sanitized_file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().map(plain).take(MAX_NAME_CHARS).collect();
    if name.is_empty() { "unnamed".into() } else { name }
}

/// Numbers above this were not written by us.
const MAX_NUMBER: u64 = 1_000_000_000_000;

/// Returns the number after the largest one at the start of a name in the folder.
pub(super) fn next_free_number(folder: &Path) -> io::Result<u64> {
    let mut largest = 0;
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.split_once('_')?.0.parse().ok());
        largest = largest.max(number.filter(|&number| number <= MAX_NUMBER).unwrap_or(0));
    }
    Ok(largest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_follows_the_largest_one() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(next_free_number(folder.path()).unwrap(), 1);
        for name in ["00007_main", "18446744073709551615_x", "99999999999999_y", "notes_3", "8"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        assert_eq!(next_free_number(folder.path()).unwrap(), 8);
    }

    #[test]
    fn file_names_are_plain_and_short() {
        for (name, expected) in [
            ("main", "main"),
            ("", "unnamed"),
            ("a/b\\c:d*e?f\"g<h>i|j", "a_b_c_d_e_f_g_h_i_j"),
            ("fixpoint(cse,dce)", "fixpoint_cse_dce_"),
            ("..", "__"),
            ("naïve λ\n", "na_ve___"),
            ("symbol-dce", "symbol-dce"),
        ] {
            assert_eq!(sanitized_file_name(name), expected);
        }
        assert_eq!(sanitized_file_name(&"é".repeat(1000)).len(), MAX_NAME_CHARS);
    }
}
