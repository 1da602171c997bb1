//! Hard values in `expect!`, `expect_file!`, `str!` and `file!`: one copy updated by expect-test and snapbox, the other
//! by `pindrift accept` one by one and without comments, of values that were handed over as observed. The trees are
//! equal, and the tests are green then. Run by ./tests/run, because cargo fetches the two crates.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pindrift::oracles::Content;

#[path = "identity/mod.rs"]
mod identity;

use identity::{commit, copy, different, put, run, run_with, tree};

/// Values that hold wherever they are kept: old and new of each.
const HARD: &[(&str, &str)] = &[
    ("plain", "changed"),
    ("a \"quoted\" word", "two \"quoted\" \"words\""),
    ("hash \"# end", "hashes \"## and \"### end"),
    ("#start", "##\"#start"),
    ("back\\slash", "back\\\\slash \\n no line"),
    ("tab\there", "tab\t\there"),
    ("one\ntwo", "one\n2\nthree"),
    ("one\ntwo\n", "one\n\n\nthree\n"),
    ("bell \u{1b}[31mred", "bell \u{1b}[32mgreen\u{7}"),
    ("something", ""),
    ("smile", "smile 😀 ünï \u{200b}"),
    ("flush\n    more", "flush\n  less\n"),
    ("ends with newline\n", "ends with two\n\n"),
    ("]] and }", "[[ \"]]\" )}"),
    ("nul", "nul \0 inside"),
    ("x", "\nstarts with a newline"),
];

/// Values that a Rust literal, or the indentation around one, cannot keep.
const NEVER: &[&str] =
    &["one\r\ntwo", "lone \r return", "  all\n  indented", "a blank\n   \nline", "turned \u{202e} text"];

const EXPECT: usize = 100;
const SNAPBOX: usize = 100;

fn value(i: usize, new: bool) -> String {
    let (old, changed) = HARD[i % HARD.len()];
    let text = if new { changed } else { old };
    match i / HARD.len() {
        0 => text.to_string(),
        round if round % 5 == 3 => (0..100).map(|line| format!("{line} {text}\n")).collect(),
        round => format!("{round} {text}"),
    }
}

fn library(new: bool) -> BTreeMap<String, String> {
    let mut lib = "pub fn value(i: usize) -> &'static str {\n    match i {\n".to_string();
    for i in 0..EXPECT + SNAPBOX {
        let _ = writeln!(lib, "        {i} => {:?},", value(i, new));
    }
    for (i, never) in NEVER.iter().enumerate() {
        let _ = writeln!(lib, "        {} => {:?},", 1000 + i, if new { never } else { "plain" });
    }
    lib.push_str("        _ => \"\",\n    }\n}\n");
    BTreeMap::from([("src/lib.rs".to_string(), lib)])
}

fn tests() -> BTreeMap<String, String> {
    let manifest = "[package]\nname = \"hard\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dev-dependencies]\n\
                    expect-test = \"=1.5.1\"\nsnapbox = \"=1.2.2\"\n\n[workspace]\n\n[profile.dev]\ndebug = false\n";
    let mut expects = "use expect_test::{expect, expect_file, Expect};\nuse hard::value;\n\nfn check(actual: &str, \
                       expected: Expect) {\n    expected.assert_eq(actual);\n}\n"
        .to_string();
    for i in 0..EXPECT {
        let body = match i % 5 {
            0 => format!("#[test]\nfn e{i}() {{\n    expect![].assert_eq(value({i}));\n}}\n"),
            1 => format!(
                "mod m{i} {{\n    use super::*;\n    #[test]\n    fn e{i}() {{\n        check(\n            value({i}),\n            expect![[\"\"]],\n        );\n    }}\n}}\n"
            ),
            2 => format!(
                "#[test]\nfn e{i}() {{\n    let mut want = expect![r#\"\"#];\n    want.indent(false);\n    want.assert_eq(value({i}));\n}}\n"
            ),
            3 => format!("#[test]\nfn e{i}() {{ check(value({i}), expect! {{ \"\" }}) }}\n"),
            _ => format!("#[test]\nfn e{i}() {{\n    expect_file![\"data/e{i}.txt\"].assert_eq(value({i}));\n}}\n"),
        };
        let _ = write!(expects, "\n{body}");
    }
    let mut values = "use hard::value;\nuse snapbox::{assert_data_eq, file, prelude::*, str};\n".to_string();
    for i in EXPECT..EXPECT + SNAPBOX {
        let body = match i % 4 {
            0 => format!("#[test]\nfn s{i}() {{\n    assert_data_eq!(value({i}), str![].raw());\n}}\n"),
            1 => format!(
                "mod m{i} {{\n    use super::*;\n    #[test]\n    fn s{i}() {{\n        assert_data_eq!(\n            value({i}),\n            str![[\"\"]].raw()\n        );\n    }}\n}}\n"
            ),
            2 => format!(
                "#[test]\nfn s{i}() {{ snapbox::Assert::new().action_env(\"SNAPSHOTS\").eq(value({i}), str![[\"\"]].raw()); }}\n"
            ),
            _ => {
                format!("#[test]\nfn s{i}() {{\n    assert_data_eq!(value({i}), file![\"data/s{i}.txt\"].raw());\n}}\n")
            }
        };
        let _ = write!(values, "\n{body}");
    }
    let mut never = "use expect_test::expect;\nuse hard::value;\n".to_string();
    for i in 1000..1000 + NEVER.len() {
        let _ = write!(never, "\n#[test]\nfn n{i}() {{\n    expect![].assert_eq(value({i}));\n}}\n");
    }
    BTreeMap::from([
        ("Cargo.toml".to_string(), manifest.to_string()),
        ("pindrift.toml".to_string(), "comment = \"never\"\n".to_string()),
        ("tests/expects.rs".to_string(), expects),
        ("tests/values.rs".to_string(), values),
        ("tests/never.rs".to_string(), never),
        ("tests/data/keep".to_string(), String::new()),
    ])
}

/// The number in a test's name.
fn number(test: &str) -> usize {
    test.rsplit("::").next().and_then(|name| name[1..].parse().ok()).expect("a number")
}

/// A record of what a run saw, as `.pindrift/observed` holds it.
fn record(row: &serde_json::Value) -> String {
    let (file, test) = (row["file"].as_str().expect("file"), row["test"].as_str().expect("test"));
    let oracle = match row["oracle"]["kind"].as_str() {
        Some("inline") => format!("{file}#literal:1"),
        _ => row["oracle"]["path"].as_str().expect("a path").to_string(),
    };
    let i = number(test);
    let (old, new) = match i.checked_sub(1000) {
        Some(never) => ("plain".to_string(), NEVER[never].to_string()),
        None => (value(i, false), value(i, true)),
    };
    let record = serde_json::json!({
        "schema": 1,
        "pin": {"file": file, "test": test, "nth": 1},
        "oracle": oracle,
        "oracle_digest": Content::Text(old).digest(),
        "value": {"text": new},
        "at": "2026-08-28T10:00:00Z",
    });
    format!("{record}\n")
}

#[test]
fn accepted_or_updated_the_trees_are_equal() {
    let base = tempfile::tempdir().expect("a folder");
    let target = base.path().join("target");
    // Both are run at the same place: their binaries know it.
    let (place, theirs, ours) = (base.path().join("place"), base.path().join("theirs"), base.path().join("ours"));
    std::fs::create_dir(&place).expect("made");
    let cargo = PathBuf::from(env!("CARGO"));
    let test = |names: &[&str], variables: &[(&str, &str)]| {
        let mut args = vec!["test", "--quiet", "--no-fail-fast"];
        names.iter().for_each(|name| args.extend(["--test", name]));
        run_with(&place, &target, &cargo, &args, variables)
    };
    let update = [("UPDATE_EXPECT", "1"), ("SNAPSHOTS", "overwrite")];
    let said = |out: &std::process::Output| {
        format!("{}\n{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
    };

    put(&place, &tests());
    put(&place, &library(false));
    test(&[], &update);
    let out = test(&[], &[]);
    assert!(out.status.success(), "the recorded state is not green: {}", said(&out));
    put(&place, &library(true));
    commit(&place, &target);
    copy(&place, &ours);

    let out = test(&[], &update);
    assert!(out.status.success(), "{}", said(&out));
    std::fs::rename(&place, &theirs).expect("moved");
    std::fs::rename(&ours, &place).expect("moved");

    let pindrift = Path::new(env!("CARGO_BIN_EXE_pindrift"));
    let rows = || -> Vec<serde_json::Value> {
        let out = run(&place, &target, pindrift, &["check", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        report["assertions"].as_array().expect("rows").clone()
    };
    let known = rows();
    assert_eq!(known.len(), EXPECT + SNAPBOX + NEVER.len());
    let records: String = known.iter().map(record).collect();
    put(&place, &BTreeMap::from([(".pindrift/observed/handed.jsonl".to_string(), records)]));
    let mut refused: Vec<(usize, String)> = Vec::new();
    for row in rows() {
        let (test, Some(id)) = (number(row["test"].as_str().expect("test")), row["drift"].as_str()) else {
            panic!("no drift: {row}");
        };
        let out = run(&place, &target, pindrift, &["accept", id, "--reason", "the values are harder now, on purpose"]);
        if !out.status.success() {
            refused.push((test, String::from_utf8_lossy(&out.stderr).trim().to_string()));
        }
    }
    let (unexpected, expected): (Vec<_>, Vec<_>) = refused.into_iter().partition(|(test, _)| *test < 1000);
    let mut trees = [tree(&theirs), tree(&place)];
    trees.iter_mut().for_each(|tree| drop(tree.remove("tests/never.rs")));
    let different = different(&trees[0], &trees[1]);
    assert!(
        unexpected.is_empty() && different.is_empty(),
        "refused {unexpected:#?}\ndifferent {}:\n{}",
        different.len(),
        different.iter().take(20).cloned().collect::<Vec<_>>().join("\n")
    );
    assert_eq!(expected.len(), NEVER.len(), "values that cannot hold were accepted: {expected:#?}");
    let out = test(&["expects", "values"], &[]);
    assert!(out.status.success(), "{}", said(&out));
}
