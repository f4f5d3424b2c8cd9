//! The golden-file runner, run on folders made for the purpose.

use std::fs;
use std::path::Path;

use sapwood_testing::golden::{Case, Failure, Kind, Runner};
use tempfile::TempDir;

/// A kind that gives the program in capitals, and fails where it says `fail`.
fn upper() -> Kind {
    let handler = |case: &Case| {
        if case.program.contains("fail") {
            return Err(Failure::new("told to fail"));
        }
        let prefix = case.header("prefix").unwrap_or("");
        Ok(case.program.lines().map(|line| format!("{prefix}{}\n", line.to_uppercase())).collect())
    };
    Kind::new("upper", "txt", handler).key("prefix")
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn runner(folder: &TempDir, kind: Kind) -> Runner {
    Runner::new(folder.path()).bless(false).kind(kind)
}

/// The message of the only test, which fails; paths are shortened.
#[track_caller]
fn only_failure(folder: &TempDir, runner: &Runner) -> String {
    let mut results = runner.run_all();
    assert_eq!(results.len(), 1, "{results:?}");
    let message = results.remove(0).1.expect_err("the test should fail");
    let root = folder.path().display().to_string();
    message.replace(&format!("{root}{}", std::path::MAIN_SEPARATOR), "")
}

#[track_caller]
fn all_pass(runner: &Runner) {
    for (name, result) in runner.run_all() {
        assert_eq!(result, Ok(()), "{name}");
    }
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

#[test]
fn a_file_that_is_right_passes() {
    let folder = folder(&[("upper/a.txt", "//! test: upper\nabc\n\n//> ABC\n//>\n")]);
    all_pass(&runner(&folder, upper()));
}

#[test]
fn names_come_from_folders_and_files() {
    let text = "//! test: upper\na\n//> A\n";
    let files = [("upper/b.txt", text), ("upper/deep/a.txt", text), ("upper/README.md", "x")];
    let folder = folder(&files);
    let runner = runner(&folder, upper());
    assert_eq!(runner.names(), ["upper::b", "upper::deep::a"]);
    all_pass(&runner);
}

#[test]
fn a_mismatch_shows_a_diff() {
    let folder = folder(&[("upper/a.txt", "//! test: upper\none\ntwo\n//> ONE\n//> THREE\n")]);
    assert_eq!(
        only_failure(&folder, &runner(&folder, upper())),
        "upper/a.txt:2: the output differs from what is expected
--- expected
+++ came out
@@ -1,2 +1,2 @@
 ONE
-THREE
+TWO
`BLESS=1` accepts what came out"
    );
}

#[test]
fn blessing_rewrites_the_expected_lines_and_nothing_else() {
    let above = "//! test: upper\n//! prefix: =\n  one // > kept\n";
    let folder = folder(&[("upper/a.txt", &format!("{above}//> OLD\n//> OLDER\n"))]);
    all_pass(&runner(&folder, upper()).bless(true));
    assert_eq!(read(&folder, "upper/a.txt"), format!("{above}//> =  ONE // > KEPT\n"));
    all_pass(&runner(&folder, upper()));
    let left: Vec<_> = fs::read_dir(folder.path().join("upper")).unwrap().collect();
    assert_eq!(left.len(), 1, "no half-written file stays");
}

#[test]
fn several_programs_in_one_file() {
    let folder =
        folder(&[("upper/a.txt", "//! test: upper\none\n//> ?\n\ntwo\n//>\n//> ?\nthree\n")]);
    all_pass(&runner(&folder, upper()).bless(true));
    let blessed = "//! test: upper\none\n//> ONE\n\ntwo\n//>\n//> TWO\nthree\n//> THREE\n";
    assert_eq!(read(&folder, "upper/a.txt"), blessed);
    all_pass(&runner(&folder, upper()));
}

#[test]
fn an_empty_output_is_blessed_for_the_last_program_alone() {
    let silent = || {
        Kind::new("upper", "txt", |case: &Case| {
            Ok(if case.program.contains("silent") { String::new() } else { "SAID\n".into() })
        })
    };
    let text = "//! test: upper\nsilent\n//> OLD\nloud\n//> OLD\nsilent\n//> OLD\n\n";
    let folder = folder(&[("upper/a.txt", text)]);
    let refusal = "the output is empty, so nothing would part this program from the next one, \
        and they would become one; make it the last of its file, or give it a file of its own";
    let failure = only_failure(&folder, &runner(&folder, silent()).bless(true));
    assert_eq!(failure, format!("upper/a.txt:2: {refusal}"));
    assert_eq!(read(&folder, "upper/a.txt"), text, "nothing is blessed");
    // Nor is it said that blessing would help.
    let failure = only_failure(&folder, &runner(&folder, silent()));
    assert!(failure.contains(&format!("-OLD\n{refusal}\nupper/a.txt:4: ")), "{failure}");

    let text = "//! test: upper\nloud\n//> OLD\nsilent\n//> OLD\n\n";
    fs::write(folder.path().join("upper/a.txt"), text).unwrap();
    all_pass(&runner(&folder, silent()).bless(true));
    assert_eq!(read(&folder, "upper/a.txt"), "//! test: upper\nloud\n//> SAID\nsilent\n\n");
    all_pass(&runner(&folder, silent()));
}

#[test]
fn blank_lines_at_the_end_are_no_program() {
    let text = "//! test: upper\none\n//> ONE\n\n\n";
    let folder = folder(&[("upper/a.txt", text)]);
    all_pass(&runner(&folder, upper()));
    all_pass(&runner(&folder, upper()).bless(true));
    assert_eq!(read(&folder, "upper/a.txt"), text);
}

#[test]
fn a_program_without_a_final_newline_can_be_blessed() {
    let folder = folder(&[("upper/a.txt", "//! test: upper\none")]);
    all_pass(&runner(&folder, upper()).bless(true));
    assert_eq!(read(&folder, "upper/a.txt"), "//! test: upper\none\n//> ONE\n");
}

#[test]
fn crlf_stays_crlf() {
    let folder = folder(&[("upper/a.txt", "//! test: upper\r\none\r\n//> ONE\r\n")]);
    all_pass(&runner(&folder, upper()));
    fs::write(folder.path().join("upper/a.txt"), "//! test: upper\r\none\r\n//> NO\r\n").unwrap();
    all_pass(&runner(&folder, upper()).bless(true));
    assert_eq!(read(&folder, "upper/a.txt"), "//! test: upper\r\none\r\n//> ONE\r\n");
}

#[test]
fn another_comment_lead() {
    let folder = folder(&[("upper/a.txt", "#! test: upper\n// one\n#> // ONE\n")]);
    all_pass(&runner(&folder, upper().lead("#")));
}

#[test]
fn bad_headers() {
    for (text, message) in [
        ("one\n", "the first line has to be `//! test: upper`"),
        ("//! prefix: x\none\n", "the first line has to be `//! test: upper`"),
        ("//! test: lower\none\n", "the header says `test: lower`, the folder says `upper`"),
        ("//! test: upper\n//! nonsense\none\n", "line 2: a header reads `//! key: value`"),
        (
            "//! test: upper\n//! prefx: a\none\n",
            "line 2: unknown header `prefx`; did you mean `prefix`?",
        ),
        (
            "//! test: upper\n//! colour: a\none\n",
            "line 2: unknown header `colour`; one of test, prefix",
        ),
        ("//! test: upper\n//> ONE\n", "line 2: `//>` without a program above"),
        ("//! test: upper\n\n", "there is no program"),
        ("", "the first line has to be `//! test: upper`"),
    ] {
        let folder = folder(&[("upper/a.txt", text)]);
        let failure = only_failure(&folder, &runner(&folder, upper()));
        assert_eq!(failure, format!("upper/a.txt: {message}"), "{text:?}");
    }
}

#[test]
fn what_is_not_text_is_an_error() {
    let folder = folder(&[("upper/a.txt", "")]);
    fs::write(folder.path().join("upper/a.txt"), [0xff, 0xfe]).unwrap();
    let failure = only_failure(&folder, &runner(&folder, upper()));
    assert!(failure.starts_with("cannot read upper/a.txt: "), "{failure}");
}

#[test]
fn a_failing_handler_gives_its_message_and_is_never_blessed() {
    let text = "//! test: upper\nfail\n//> OLD\n";
    let folder = folder(&[("upper/a.txt", text)]);
    for bless in [false, true] {
        let failure = only_failure(&folder, &runner(&folder, upper()).bless(bless));
        assert_eq!(failure, "upper/a.txt:2: told to fail");
        assert_eq!(read(&folder, "upper/a.txt"), text);
    }
}

#[test]
fn checks_run_on_every_program_and_stop_blessing() {
    let text = "//! test: upper\none\n//> OLD\n";
    let folder = folder(&[("upper/a.txt", text)]);
    let picky = || {
        upper().check("short", |_, output| match output.len() {
            0..=3 => Ok(()),
            length => Err(Failure::new(format!("{length} bytes"))),
        })
    };
    let failure = only_failure(&folder, &runner(&folder, picky()).bless(true));
    assert_eq!(failure, "upper/a.txt:2: check `short`: 4 bytes");
    assert_eq!(read(&folder, "upper/a.txt"), text);
}

#[test]
fn values_are_never_blessed() {
    let text = "//! test: upper\none\n//> OLD\n";
    let folder = folder(&[("upper/a.txt", text)]);
    let failure = only_failure(&folder, &runner(&folder, upper().never_blessed()).bless(true));
    assert!(failure.ends_with("are not blessed; see the header for their origin"), "{failure}");
    assert_eq!(read(&folder, "upper/a.txt"), text);
}

#[test]
fn a_kind_may_compare_in_its_own_way() {
    let text = "//! test: upper\none\n//> One\ntwo\n//> three\n";
    let folder = folder(&[("upper/a.txt", text)]);
    let loose = upper().compared_by(|case, expected, output| {
        if expected.eq_ignore_ascii_case(output) {
            return Ok(());
        }
        Err(Failure::new(format!("{}: {expected} is not {output}", case.program.trim())))
    });
    let failure = only_failure(&folder, &runner(&folder, loose).bless(true));
    assert_eq!(failure, "upper/a.txt:4: two: three is not TWO");
    assert_eq!(read(&folder, "upper/a.txt"), text);
}

#[test]
fn unknown_kinds_and_stray_files_fail() {
    let ok = "//! test: upper\na\n//> A\n";
    let folder = folder(&[("upper/a.txt", ok), ("uper/a.txt", ok), ("upper/b.text", ok)]);
    let results = runner(&folder, upper()).run_all();
    let failed: Vec<&str> =
        results.iter().filter(|(_, r)| r.is_err()).map(|(name, _)| name.as_str()).collect();
    assert_eq!(failed, ["uper", "upper::b.text"]);
    let message = results[0].1.clone().unwrap_err();
    assert!(message.ends_with("is called `uper`; did you mean `upper`?"), "{message}");
    let own = runner(&folder, upper()).own_kinds_only();
    assert_eq!(own.names(), ["upper::a", "upper::b.text"]);
}

#[test]
fn a_kind_without_a_folder_and_a_missing_root_fail() {
    let empty = folder(&[]);
    assert!(only_failure(&empty, &runner(&empty, upper())).starts_with("there is no folder"));
    let nowhere = Runner::new(Path::new("does/not/exist")).kind(upper());
    assert!(nowhere.run_all()[0].1.clone().unwrap_err().starts_with("cannot read does/not/exist"));
}

#[test]
fn an_output_that_a_file_cannot_hold_is_an_error() {
    let kind = Kind::new("upper", "txt", |_| Ok("a\r\nb\n".into()));
    let folder = folder(&[("upper/a.txt", "//! test: upper\none\n")]);
    let failure = only_failure(&folder, &runner(&folder, kind).bless(true));
    assert_eq!(failure, "upper/a.txt:2: line 1 of the output ends in a carriage return");
}

#[test]
fn a_huge_diff_is_cut() {
    let kind = Kind::new("upper", "txt", |_| Ok("line\n".repeat(100_000)));
    let folder = folder(&[("upper/a.txt", "//! test: upper\none\n")]);
    let failure = only_failure(&folder, &runner(&folder, kind));
    assert!(failure.lines().count() < 220);
}
