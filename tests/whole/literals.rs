//! Plain literals of both languages, accepted from what runs recorded: what is written reads back equal to
//! what was observed, and the language's own compiler takes the file.

use std::path::Path;
use std::process::Command;

use super::{Fixture, amendments, drift, observe, pindrift};

/// Old literal and what a run saw.
const PYTHON: &[(&str, &str)] = &[
    ("1", "2"),
    ("2.67", "2.675"),
    ("-1", "1_000_000"),
    ("True", "False"),
    ("'a'", "'b'"),
    ("\"a\"", "'it\\'s \"quoted\"'"),
    ("'''a\nb'''", "'a\\nc\\n'"),
    ("r'a\\d'", "'tab\\there \\\\ back'"),
    ("b'a'", "b'\\x00\\xff'"),
    ("[1, 2]", "[2, 1, 3]"),
    ("{'a': 1, 'b': [1, 2]}", "{'a': 2, 'b': [], 'c': {'d': None}}"),
    ("(1,)", "(2, 'x')"),
    ("{1, 2}", "{3}"),
    ("'x'", "'\\x1b[31m red \\u202e \\u2028'"),
    ("'x'", "'closes \\'\\'\\' and \"\"\" and */'"),
    ("'x'", "'one\\r\\ntwo'"),
];

const RUST: &[(&str, &str)] = &[
    ("1", "2"),
    ("2.67", "2.675"),
    ("-1", "1000000"),
    ("true", "false"),
    ("'a'", "'\\n'"),
    ("\"a\"", "\"it's \\\"quoted\\\"\""),
    ("\"a\\nb\"", "\"a\\nc\\n\""),
    ("r\"a\\d\"", "\"tab\\there \\\\ back\""),
    ("r#\"a\"#", "\"hash \\\"## end\""),
    ("b\"a\"", "b\"\\x00\\xff\""),
    ("[1, 2, 3]", "[3, 1, 2]"),
    ("vec![\"a\"]", "[\"b\", \"c\\\"\"]"),
    ("(1, \"x\")", "(2, \"y\")"),
    ("\"x\"", "\"\\u{1b}[31m red \\u{202e} \\u{2028}\""),
    ("\"x\"", "\"closes */ and \\\"\\\"\\\" and '''\""),
    ("\"x\"", "\"one\\r\\ntwo\""),
];

fn python(cases: &[(&str, &str)]) -> Fixture {
    let tests: String = cases
        .iter()
        .enumerate()
        .map(|(i, (old, _))| format!("\n\ndef test_{i}():\n    assert value({i}) == {old}\n"))
        .collect();
    Fixture::committed(&format!(
        "//- pindrift.toml\n//- tests/test_v.py\n\"\"\"Characterization tests.\"\"\"\nfrom values import value\n{tests}"
    ))
}

fn rust(cases: &[(&str, &str)]) -> Fixture {
    let tests: String = cases
        .iter()
        .enumerate()
        .map(|(i, (old, _))| format!("\n#[test]\nfn case_{i}() {{\n    assert_eq!(value({i}), {old});\n}}\n"))
        .collect();
    Fixture::committed(&format!(
        "//- pindrift.toml\n[roles]\ncharacterization = [\"tests/**\"]\n//- Cargo.toml\n[package]\nname = \"v\"\nversion = \
         \"0.1.0\"\nedition = \"2021\"\n//- src/lib.rs\n//- tests/v.rs\n//! Pins current behaviour.\n\nuse v::value;\n{tests}"
    ))
}

/// The digest that `after` names in an amendment is that of the literal now in the file.
#[track_caller]
fn reads_back(fixture: &Fixture, test: &str, record: &str) {
    use pindrift::{oracles::Baseline, pins::Extent, survey::Workspace};
    let workspace = Workspace::open(fixture.path()).expect("a workspace");
    let survey = workspace.survey(&Extent::All, &|| false).expect("a survey");
    let case = survey.cases.iter().find(|case| case.pin.test == test).expect("the pin");
    let Baseline::Present(recorded) = &case.baseline else { panic!("{test}: {:?}", case.baseline) };
    assert!(record.contains(&format!("after = \"{}\"", recorded.content.digest())), "{test}: {record}");
}

fn accept_each(fixture: &Fixture, cases: &[(&str, &str)], name: impl Fn(usize) -> String) {
    for (i, (old, new)) in cases.iter().enumerate() {
        let test = name(i);
        observe(fixture, &test, &format!("{{\"literal\": {}}}", serde_json::Value::from(*new)), "");
        let known = amendments(fixture);
        let id = drift(fixture, &test);
        let said = pindrift(fixture, &["accept", &id, "--reason", "the values are the new ones since rule 7"]);
        assert_eq!(said.status, 0, "{old} → {new}: {said:?}");
        let all = amendments(fixture);
        let (_, record) = all.iter().find(|one| !known.contains(one)).expect("a record");
        reads_back(fixture, &test, record);
    }
}

fn compiles_python(file: &Path) {
    let out = Command::new("python3").args(["-m", "py_compile"]).arg(file).output().expect("python3");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

/// The test file as a crate of its own, with a `value` that fits every comparison's type.
fn compiles_rust(fixture: &Fixture, file: &str) {
    let source = fixture.read(file).replace("use v::value;", "");
    let source = format!(
        "{source}\nstruct Any;\nimpl<T> PartialEq<T> for Any {{ fn eq(&self, _: &T) -> bool {{ true }} }}\n\
         impl std::fmt::Debug for Any {{ fn fmt(&self, _: &mut std::fmt::Formatter) -> std::fmt::Result {{ Ok(()) }} }}\n\
         fn value(_: u32) -> Any {{ Any }}\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let whole = folder.path().join("v.rs");
    std::fs::write(&whole, source).expect("written");
    let rustc = Command::new("rustc")
        .args(["--edition", "2021", "--test", "--emit=metadata", "-D", "text_direction_codepoint_in_literal"])
        .arg("--out-dir")
        .arg(folder.path())
        .arg(&whole)
        .output();
    let Ok(out) = rustc else { return eprintln!("skipped: rustc is not here") };
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn python_literals_read_back_and_compile() {
    let fixture = python(PYTHON);
    accept_each(&fixture, PYTHON, |i| format!("tests/test_v.py::test_{i}"));
    let source = fixture.read("tests/test_v.py");
    assert!(!source.contains(['\u{1b}', '\u{202e}', '\u{2028}', '\r']), "{source:?}");
    compiles_python(&fixture.at("tests/test_v.py"));
    // And the values are those that were observed.
    let mut check = "import ast\nsource = open('tests/test_v.py').read()\nnow = [n.comparators[0] for n in \
                     ast.walk(ast.parse(source)) if isinstance(n, ast.Compare)]\n"
        .to_string();
    for (i, (_, new)) in PYTHON.iter().enumerate() {
        check.push_str(&format!("assert ast.literal_eval(now[{i}]) == {new}, {i}\n"));
    }
    let out = Command::new("python3").current_dir(fixture.path()).args(["-c", &check]).output().expect("python3");
    assert!(out.status.success(), "{}\n{source}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn rust_literals_read_back_and_compile() {
    let fixture = rust(RUST);
    accept_each(&fixture, RUST, |i| format!("v::case_{i}"));
    let source = fixture.read("tests/v.rs");
    assert!(!source.contains(['\u{1b}', '\u{202e}', '\u{2028}', '\r']), "{source:?}");
    compiles_rust(&fixture, "tests/v.rs");
}

#[test]
fn what_no_literal_can_hold_is_refused_and_nothing_is_written() {
    for (fixture, test, file, value) in [
        (python(&[("1", "")]), "tests/test_v.py::test_0", "tests/test_v.py", "<Price object at 0x7f>"),
        (rust(&[("1", "")]), "v::case_0", "tests/v.rs", "Price { net: 1 }"),
    ] {
        observe(&fixture, test, &format!("{{\"literal\": {}}}", serde_json::Value::from(value)), "");
        let before = fixture.read(file);
        let said = pindrift(&fixture, &["accept", "--test", test, "--reason", "the values are new since rule 7"]);
        said.refusal(1);
        assert_eq!(fixture.read(file), before);
        assert!(amendments(&fixture).is_empty());
    }
}

#[test]
fn a_run_that_saw_the_recorded_value_matches_whatever_reads_the_file() {
    // Compared as text, as JSON, as a number, as lines; each with a value as its run writes it down.
    let fixture = Fixture::committed(
        "//- pindrift.toml\n//- tests/test_g.py\n\"\"\"Characterization tests.\"\"\"\nimport json\nfrom pathlib import Path\n\n\
         from code import run\n\nGOLDEN = Path(__file__).parent / \"golden\"\n\n\ndef test_text():\n    assert run(1) == \
         (GOLDEN / \"a.txt\").read_text()\n\n\ndef test_json():\n    assert run(2) == json.loads((GOLDEN / \
         \"b.json\").read_text())\n\n\ndef test_number():\n    assert run(3) == float((GOLDEN / \
         \"c.txt\").read_text())\n\n\ndef test_lines():\n    assert run(4) == (GOLDEN / \
         \"d.txt\").read_text().splitlines()\n//- tests/golden/a.txt\none\ntwo\n//- tests/golden/b.json\n{\"b\": [1, \
         2],\n \"a\": null}\n//- tests/golden/c.txt\n2.50\n//- tests/golden/d.txt\none\ntwo\n",
    );
    for (test, value) in [
        ("text", r#"{"text": "one\ntwo\n"}"#),
        ("json", r#"{"literal": "{'a': None, 'b': [1, 2]}"}"#),
        ("number", r#"{"literal": "2.5"}"#),
        ("lines", r#"{"literal": "['one', 'two']"}"#),
    ] {
        let test = format!("tests/test_g.py::test_{test}");
        observe(&fixture, &test, value, "");
        let report = super::report(&fixture);
        let rows = report["assertions"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["test"] == test.as_str()).expect("a row");
        assert_eq!(row["state"], "match", "{row:#}");
    }
}

/// Reasons that try to leave the comment, the literal or the record.
fn hostile() -> Vec<String> {
    let mut all: Vec<String> = [
        "ends the line\r\nassert False, 'injected'",
        "ends the line\ras old systems do",
        "closes */ and /* opens",
        "closes \"\"\" and ''' both",
        "a \u{1b}[2J screen and \u{202e}backwards",
        "next\u{85}line, line\u{2028}separator, paragraph\u{2029}separator",
        "a null \0 and a bell \u{7} inside",
        "ends in a backslash \\",
        "\u{feff}a mark first",
    ]
    .map(String::from)
    .to_vec();
    all.push(format!("ten kilobytes {}", "of reasons ".repeat(930)));
    all
}

#[test]
fn hostile_reasons_leave_sources_that_compile_and_records_that_read_back() {
    let reasons = hostile();
    let cases: Vec<(&str, &str)> = reasons.iter().map(|_| ("1", "2")).collect();
    for (fixture, file, name) in
        [(python(&cases), "tests/test_v.py", "tests/test_v.py::test_"), (rust(&cases), "tests/v.rs", "v::case_")]
    {
        for (i, reason) in reasons.iter().enumerate() {
            let test = format!("{name}{i}");
            observe(&fixture, &test, "{\"literal\": \"2\"}", "");
            let mut command = super::program(&fixture);
            // A null cannot be an argument of a program.
            let reason = reason.replace('\0', " ");
            let said = super::said(command.args(["accept", "--test", &test, "--reason", &reason]));
            assert_eq!(said.status, 0, "{reason:?}: {said:?}");
        }
        let source = fixture.read(file);
        assert!(
            !source.contains(['\u{1b}', '\u{202e}', '\u{2028}', '\u{2029}', '\u{85}', '\u{7}', '\r']),
            "{source:?}"
        );
        match file.ends_with(".py") {
            true => compiles_python(&fixture.at(file)),
            false => compiles_rust(&fixture, file),
        }
        assert!(!source.lines().any(|line| line.trim_start().starts_with("assert False")), "{source}");
        let records = amendments(&fixture);
        assert_eq!(records.len(), reasons.len());
        for (path, text) in &records {
            assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{2028}', '\u{85}', '\r', '\u{7}']), "{text:?}");
            let amendment = pindrift::ledger::decode(text).unwrap_or_else(|why| panic!("{path}: {why:?}"));
            assert_eq!(pindrift::ledger::encode(&amendment), *text);
            assert_eq!(amendment.file().as_str(), path);
            let said = |reason: &str| reason.split_whitespace().collect::<Vec<_>>().join(" ");
            let given = reasons.iter().map(|reason| reason.replace('\0', " "));
            let lines = |text: &str| said(&text.replace(['\u{85}', '\u{2028}', '\u{2029}'], " "));
            assert!(given.clone().any(|given| lines(&given) == lines(&amendment.reason)), "{:?}", amendment.reason);
        }
        let log = pindrift(&fixture, &["log"]).with(0);
        assert!(!log.contains(['\u{1b}', '\u{202e}', '\u{7}', '\r']), "{log:?}");
    }
}
