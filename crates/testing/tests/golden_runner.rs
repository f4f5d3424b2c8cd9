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

/// The message of a program that fails and stays as it is, although outputs are accepted.
#[track_caller]
fn failure_that_is_not_blessed(text: &str, kind: Kind) -> String {
    let folder = folder(&[("upper/a.txt", text)]);
    let failure = only_failure(&folder, &runner(&folder, kind).bless(true));
    assert_eq!(read(&folder, "upper/a.txt"), text);
    failure
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
    let refusal = "the output is empty, so nothing would separate this program from the next one, \
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
        ("//! test: upper\n\n", "the file has no program"),
        ("", "the first line has to be `//! test: upper`"),
    ] {
        let folder = folder(&[("upper/a.txt", text)]);
        let failure = only_failure(&folder, &runner(&folder, upper()));
        assert_eq!(failure, format!("upper/a.txt: {message}"), "{text:?}");
    }
}

#[test]
fn a_file_that_is_not_text_is_an_error() {
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
    let picky = upper().check("short", |_, output| match output.len() {
        0..=3 => Ok(()),
        length => Err(Failure::new(format!("{length} bytes"))),
    });
    let failure = failure_that_is_not_blessed("//! test: upper\none\n//> OLD\n", picky);
    assert_eq!(failure, "upper/a.txt:2: check `short`: 4 bytes");
}

#[test]
fn values_are_never_blessed() {
    let text = "//! test: upper\none\n//> OLD\n";
    let failure = failure_that_is_not_blessed(text, upper().never_blessed());
    assert!(failure.ends_with("are not blessed; see the header for their origin"), "{failure}");
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
    assert!(only_failure(&empty, &runner(&empty, upper())).starts_with("missing folder"));
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

/// A kind that gives each function in capitals, with the prelude `v 1` and a prefix for the body.
fn by_function() -> Kind {
    let handler = |case: &Case| {
        let prefix = case.header("prefix").unwrap_or("");
        let body = case.program.strip_prefix("v 1\n").ok_or("the prelude is missing")?;
        let kept = body.trim().split("\n\n").filter(|function| !function.contains("gone"));
        let functions: Vec<String> =
            kept.map(|f| f.replace("one", &format!("{prefix}ONE"))).collect();
        Ok(format!("v 1\n\n{}\n", functions.join("\n\n")))
    };
    Kind::new("upper", "txt", handler).by_function("v 1").key("prefix").check(
        "the output has the prelude",
        |_, output| match output.starts_with("v 1\n") {
            true => Ok(()),
            false => Err(Failure::new("it does not")),
        },
    )
}

#[test]
fn keys_above_a_function_are_for_it_alone() {
    let text = "//! test: upper\n//! prefix: =\nv 1\n\nfunc @a() {\n  one\n}\n//> func @a() {\n//>   =ONE\n//> }\n\n\
        //! prefix: +\nfunc @a() {\n  one\n}\n//> func @a() {\n//>   +ONE\n//> }\n\n\
        func @c() {\n  one\n}\n//> func @c() {\n//>   =ONE\n//> }\n";
    let folder = folder(&[("upper/a.txt", text)]);
    all_pass(&runner(&folder, by_function()));
    all_pass(&runner(&folder, by_function()).bless(true));
    assert_eq!(read(&folder, "upper/a.txt"), text);
    let cases = by_function().cases(&folder.path().join("upper/a.txt")).unwrap();
    let found: Vec<_> = cases.iter().map(|c| (c.first_line, c.header("prefix"))).collect();
    assert_eq!(found, [(4, Some("=")), (13, Some("+")), (19, Some("="))]);
    assert_eq!(cases[1].program, "v 1\nfunc @a() {\n  one\n}\n");
    assert_eq!(cases[1].headers.len(), 1, "the key of the header is replaced");
}

#[test]
fn blessing_puts_each_output_below_its_function() {
    let text = "//! test: upper\nv 1\n\nfunc @a() {\n  one\n}\n\n// Above b.\nfunc @b() { one }\n//> OLD\n\n\
        //! prefix: +\nfunc @c() { one }\n\nfunc @d() { one }";
    let folder = folder(&[("upper/a.txt", text)]);
    all_pass(&runner(&folder, by_function()).bless(true));
    let blessed = "//! test: upper\nv 1\n\nfunc @a() {\n  one\n}\n//> func @a() {\n//>   ONE\n//> }\n\n\
        // Above b.\nfunc @b() { one }\n//> // Above b.\n//> func @b() { ONE }\n\n\
        //! prefix: +\nfunc @c() { one }\n//> func @c() { +ONE }\n\n\
        func @d() { one }\n//> func @d() { ONE }\n";
    assert_eq!(read(&folder, "upper/a.txt"), blessed);
    all_pass(&runner(&folder, by_function()));
    all_pass(&runner(&folder, by_function()).bless(true));
    assert_eq!(read(&folder, "upper/a.txt"), blessed);
}

#[test]
fn functions_that_belong_together_have_one_block() {
    for (program, output) in [
        (
            "func @a() { one }\n\nfunc @b() { call @a }\n",
            "func @a() { ONE }\n\nfunc @b() { call @a }",
        ),
        ("func @a() { gone }\n\nfunc @b() { one }\n", "func @b() { ONE }"),
    ] {
        let folder = folder(&[("upper/a.txt", &format!("//! test: upper\nv 1\n{program}"))]);
        all_pass(&runner(&folder, by_function()).bless(true));
        let lines: String =
            output.lines().map(|line| format!("//> {line}").trim_end().to_owned() + "\n").collect();
        assert_eq!(read(&folder, "upper/a.txt"), format!("//! test: upper\nv 1\n{program}{lines}"));
        all_pass(&runner(&folder, by_function()));
    }
    // A longer name that begins like another is not a reference to it.
    let folder = folder(&[(
        "upper/a.txt",
        "//! test: upper\nv 1\nfunc @a() { one }\n\nfunc @ab() { one }\n",
    )]);
    all_pass(&runner(&folder, by_function()).bless(true));
    let blessed = "//! test: upper\nv 1\nfunc @a() { one }\n//> func @a() { ONE }\n\nfunc @ab() { one }\n//> func @ab() { ONE }\n";
    assert_eq!(read(&folder, "upper/a.txt"), blessed);
}

#[test]
fn the_output_of_another_function_or_prelude_is_noticed() {
    let folder = folder(&[("upper/a.txt", "//! test: upper\nfunc @a() { one }\n")]);
    let failure = only_failure(&folder, &runner(&folder, by_function()).bless(true));
    assert_eq!(failure, "upper/a.txt: line 2: the line below the header has to be `v 1`");
    let text = "//! test: upper\nv 1\nfunc @a() { one }\n//> func @b() { ONE }\n";
    fs::write(folder.path().join("upper/a.txt"), text).unwrap();
    let failure = only_failure(&folder, &runner(&folder, by_function()));
    assert!(failure.contains("-func @b() { ONE }\n+func @a() { ONE }"), "{failure}");
    let text = "//! test: upper\nv 1\n\n//! prefx: +\nfunc @a() { one }\n";
    fs::write(folder.path().join("upper/a.txt"), text).unwrap();
    let failure = only_failure(&folder, &runner(&folder, by_function()));
    assert_eq!(failure, "upper/a.txt: line 4: unknown header `prefx`; did you mean `prefix`?");
}

/// A kind that reports each `bad`, `worse` (with its last column) and `odd` (with a note), and a text without `end`.
fn diagnostics() -> Kind {
    let handler = |case: &Case| {
        let mut out = String::new();
        for (number, line) in (1..).zip(case.program.lines()) {
            let words = ["bad", "worse", "odd"].into_iter();
            for (at, word) in words.flat_map(|word| line.match_indices(word)) {
                let last = if word == "worse" { format!("-{}", at + 5) } else { String::new() };
                out += &format!("{number}:{}{last}: error: {word}\n", at + 1);
                out += if word == "odd" { "  help: make it even\n" } else { "" };
            }
        }
        if !case.program.contains("end") {
            out += &format!("{}:1: error: no end\n", case.program.lines().count() + 1);
        }
        Ok(out)
    };
    Kind::new("upper", "txt", handler).diagnostics_on_their_lines()
}

const DIAGNOSTICS: &str = "//! test: upper
  bad  //~ error: bad
  worse  //~ 3-7: error: worse
  so bad  //~ 6: error: bad
  odd
//~ error: odd
//~   help: make it even
bad and bad
//~ error: bad
//~ 9: error: bad
end
// -----

good
bad  //~ error: bad
//> 4:1: error: no end
// -----
end bad  //~ 5: error: bad
";

#[test]
fn diagnostics_are_on_their_lines() {
    let folder = folder(&[("upper/a.txt", DIAGNOSTICS)]);
    all_pass(&runner(&folder, diagnostics()));
    let cases = diagnostics().cases(&folder.path().join("upper/a.txt")).unwrap();
    let programs: Vec<&str> = cases.iter().map(|case| case.program.as_str()).collect();
    let first = "  bad\n  worse\n  so bad\n  odd\nbad and bad\nend\n";
    assert_eq!(programs, [first, "\ngood\nbad\n", "end bad\n"]);
}

#[test]
fn blessing_puts_diagnostics_on_their_lines() {
    let bare = "//! test: upper\n  bad\n  worse\n  so bad  //~ error: old\n//~ 7: error: older\n  odd\nbad and bad\nend\n//> old\n\n\
        good\nbad\n// -----\nend bad";
    let folder = folder(&[("upper/a.txt", bare)]);
    for _ in 0..2 {
        all_pass(&runner(&folder, diagnostics()).bless(true));
        assert_eq!(read(&folder, "upper/a.txt"), DIAGNOSTICS);
    }
    let windows = DIAGNOSTICS.replace('\n', "\r\n");
    fs::write(folder.path().join("upper/a.txt"), &windows).unwrap();
    all_pass(&runner(&folder, diagnostics()).bless(true));
    assert_eq!(read(&folder, "upper/a.txt"), windows);
}

#[test]
fn a_diagnostic_elsewhere_fails() {
    for (right, wrong, shown) in [
        ("  bad  //~ error", "  bad  //~ 2: error", "-1:2: error: bad\n+1:3: error: bad"),
        (
            "  bad  //~ error: bad\n",
            "  bad\n//~ 6: error: bad\n",
            "-1:6: error: bad\n+1:3: error: bad",
        ),
        ("//~ 3-7: error", "//~ 3-8: error", "-2:3-8: error: worse\n+2:3-7: error: worse"),
        ("end bad  //~ 5: error: bad", "end bad", "+1:5: error: bad"),
        ("//~   help: make it even\n", "", "+  help: make it even"),
    ] {
        assert!(DIAGNOSTICS.contains(right));
        let folder = folder(&[("upper/a.txt", &DIAGNOSTICS.replacen(right, wrong, 1))]);
        let failure = only_failure(&folder, &runner(&folder, diagnostics()));
        assert!(failure.contains(shown), "{failure}");
    }
    for (text, message) in [
        ("//! test: upper\n//~ error: bad\nend\n", "line 2: a diagnostic without a line above"),
        ("//! test: upper\n// -----\nend\n", "line 2: `// -----` without a program above"),
    ] {
        let folder = folder(&[("upper/a.txt", text)]);
        let failure = only_failure(&folder, &runner(&folder, diagnostics()));
        assert_eq!(failure, format!("upper/a.txt: {message}"));
    }
}
