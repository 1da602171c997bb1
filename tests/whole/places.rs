//! Never the wrong place: what is pending belongs to a value, not to a line. Between the run and the accept
//! tests are swapped, made equal, or a colleague's newer baseline is checked out: the right one is amended or
//! nothing at all.

use std::collections::BTreeMap;

use super::{Fixture, amendments, observe, pindrift, report, tree};

const REASON: [&str; 2] = ["--reason", "the letters are addressed since rule 7"];

/// Everything but what runs left and the record.
fn sources(fixture: &Fixture) -> BTreeMap<String, Vec<u8>> {
    let mut kept = tree(fixture);
    kept.retain(|path, _| {
        let name = path.rsplit('/').next().unwrap_or(path);
        !path.starts_with(".pindrift/")
            && !name.ends_with(".pending-snap")
            && !name.ends_with(".snap.new")
            && !name.contains(".received.")
            && !path.contains("/actual/")
    });
    kept
}

/// Every drift that is there now is accepted, by its id.
fn accept_all(fixture: &Fixture) -> usize {
    let report = report(fixture);
    let ids: Vec<String> = report["assertions"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| row["drift"].as_str().map(str::to_string))
        .collect();
    ids.iter().filter(|id| pindrift(fixture, &["accept", id, REASON[0], REASON[1]]).status == 0).count()
}

const CRATE: &str = "//- pindrift.toml\ncomment = \"never\"\n//- Cargo.toml\n[package]\nname = \"t\"\nversion = \"0.1.0\"\n\
                     //- src/lib.rs\n//- tests/s.rs\n";

fn test(name: &str, value: &str, literal: &str) -> String {
    format!("#[test]\nfn {name}() {{\n    insta::assert_snapshot!({value}, @\"{literal}\");\n}}\n")
}

fn pending(line: usize, name: &str, value: &str, old: &str, new: &str) -> String {
    format!(
        "{{\"run_id\":\"1-1\",\"line\":{line},\"new\":{{\"module_name\":\"s\",\"snapshot_name\":\"{name}\",\"metadata\":{{\"source\":\
         \"tests/s.rs\",\"assertion_line\":{line},\"expression\":\"{value}\"}},\"snapshot\":\"{new}\"}},\"old\":{{\"module_name\":\
         \"s\",\"metadata\":{{}},\"snapshot\":\"{old}\"}}}}\n"
    )
}

#[test]
fn swapped_inline_tests_keep_their_own_values() {
    let (a, b) = (test("a", "f(1)", "old a"), test("b", "f(2)", "old b"));
    let fixture = Fixture::committed(&format!("{CRATE}{a}{b}"));
    let run = pending(3, "a", "f(1)", "old a", "new a") + &pending(7, "b", "f(2)", "old b", "new b");
    fixture.write(&format!("//- tests/.s.rs.pending-snap\n{run}//- tests/s.rs\n{b}{a}"));
    assert_eq!(accept_all(&fixture), 2);
    assert_eq!(fixture.read("tests/s.rs"), test("b", "f(2)", "new b") + &test("a", "f(1)", "new a"));
}

#[test]
fn equal_inline_tests_are_told_apart_by_their_name_or_left_alone() {
    // The same text and the same change in both; and, in one function, no name tells them apart.
    let (a, b) = (test("a", "f(1)", "old"), test("b", "f(1)", "old"));
    let fixture = Fixture::committed(&format!("{CRATE}{a}{b}"));
    let run = pending(3, "a", "f(1)", "old", "new a") + &pending(7, "b", "f(1)", "old", "new b");
    fixture.write(&format!("//- tests/.s.rs.pending-snap\n{run}//- tests/s.rs\n{b}{a}"));
    assert_eq!(accept_all(&fixture), 2);
    assert_eq!(fixture.read("tests/s.rs"), test("b", "f(1)", "new b") + &test("a", "f(1)", "new a"));

    let line = "    insta::assert_snapshot!(f(1), @\"old\");\n";
    let body = |lines: &str| format!("#[test]\nfn a() {{\n{lines}}}\n");
    let fixture = Fixture::committed(&format!("{CRATE}{}", body(&format!("{line}{line}"))));
    // A line came above them since the run: one of the two lines now names the other pin.
    let run = pending(3, "a", "f(1)", "old", "new 1") + &pending(4, "a-2", "f(1)", "old", "new 2");
    let moved = body(&format!("    let _ = 1;\n{line}{line}"));
    fixture.write(&format!("//- tests/.s.rs.pending-snap\n{run}//- tests/s.rs\n{moved}"));
    accept_all(&fixture);
    let now = fixture.read("tests/s.rs");
    let right = moved.replacen("@\"old\"", "@\"new 1\"", 1).replacen("@\"old\"", "@\"new 2\"", 1);
    assert!(now == right || now == moved, "{now}");
}

#[test]
fn a_newer_inline_value_is_not_written_over() {
    let fixture = Fixture::committed(&format!("{CRATE}{}", test("a", "f(1)", "old")));
    fixture.write(&format!("//- tests/.s.rs.pending-snap\n{}", pending(3, "a", "f(1)", "old", "new")));
    let shown = super::drift(&fixture, "s::a");
    fixture.write(&format!("//- tests/s.rs\n{}", test("a", "f(1)", "a colleague's")));
    let before = tree(&fixture);
    pindrift(&fixture, &["accept", &shown, REASON[0], REASON[1]]).refusal(1);
    pindrift(&fixture, &["accept", "--test", "s::a", REASON[0], REASON[1]]).refusal(1);
    assert_eq!(tree(&fixture), before);
}

#[test]
fn a_newer_snapshot_file_is_not_written_over() {
    let source = "#[test]\nfn a() {\n    insta::assert_snapshot!(f(1));\n}\n";
    let snap = |text: &str| format!("---\nsource: tests/s.rs\nexpression: f(1)\n---\n{text}\n");
    let fixture = Fixture::committed(&format!("{CRATE}{source}//- tests/snapshots/s__a.snap\n{}", snap("old")));
    fixture.write(&format!("//- tests/snapshots/s__a.snap.new\n{}", snap("new")));
    let shown = super::drift(&fixture, "s::a");
    std::thread::sleep(std::time::Duration::from_millis(20));
    fixture.write(&format!("//- tests/snapshots/s__a.snap\n{}", snap("a colleague's")));
    let before = tree(&fixture);
    pindrift(&fixture, &["accept", &shown, REASON[0], REASON[1]]).refusal(1);
    pindrift(&fixture, &["accept", "--test", "s::a", REASON[0], REASON[1]]).refusal(1);
    assert_eq!(tree(&fixture), before);
}

const PYTHON: &str = r#"
//- pindrift.toml
comment = "never"
//- tests/test_g.py
"""Characterization tests."""
from pathlib import Path

from approvaltests import verify
from code import render

HERE = Path(__file__).parent


def check(name):
    text = render(name)
    (HERE / "actual" / name).write_text(text)
    assert text == (HERE / "golden" / name).read_text()


def test_a():
    check("a.txt")


def test_letter():
    verify(render("letter"))
//- tests/golden/a.txt
old
//- tests/test_g.test_letter.approved.txt
old
"#;

#[test]
fn newer_files_are_not_written_over() {
    for (test, baseline, artefact) in [
        ("test_a", "tests/golden/a.txt", "tests/actual/a.txt"),
        ("test_letter", "tests/test_g.test_letter.approved.txt", "tests/test_g.test_letter.received.txt"),
    ] {
        let fixture = Fixture::committed(PYTHON);
        fixture.write(&format!("//- {artefact}\nnew\n"));
        let test = format!("tests/test_g.py::{test}");
        let shown = super::drift(&fixture, &test);
        std::thread::sleep(std::time::Duration::from_millis(20));
        fixture.write(&format!("//- {baseline}\na colleague's\n"));
        let before = tree(&fixture);
        pindrift(&fixture, &["accept", &shown, REASON[0], REASON[1]]).refusal(1);
        pindrift(&fixture, &["accept", "--test", &test, REASON[0], REASON[1]]).refusal(1);
        assert_eq!(tree(&fixture), before, "{test}");
        assert!(amendments(&fixture).is_empty());
    }
}

#[test]
fn literals_swapped_equal_or_newer_since_the_run() {
    let case =
        |name: &str, call: &str, literal: &str| format!("\n\ndef test_{name}():\n    assert {call} == {literal}\n");
    let head = "\"\"\"Characterization tests.\"\"\"\nfrom code import f\n";
    let fixture = |tests: &str| {
        Fixture::committed(&format!("//- pindrift.toml\ncomment = \"never\"\n//- tests/test_l.py\n{head}{tests}"))
    };
    // Swapped: each keeps its own.
    let swapped = fixture(&(case("a", "f(1)", "1") + &case("b", "f(2)", "1")));
    observe(&swapped, "tests/test_l.py::test_a", "{\"literal\": \"11\"}", "");
    observe(&swapped, "tests/test_l.py::test_b", "{\"literal\": \"22\"}", "");
    swapped.write(&format!("//- tests/test_l.py\n{head}{}{}", case("b", "f(2)", "1"), case("a", "f(1)", "1")));
    assert_eq!(accept_all(&swapped), 2);
    let now = swapped.read("tests/test_l.py");
    assert_eq!(now, format!("{head}{}{}", case("b", "f(2)", "22"), case("a", "f(1)", "11")));
    // A colleague's newer value.
    let newer = fixture(&case("a", "f(1)", "1"));
    observe(&newer, "tests/test_l.py::test_a", "{\"literal\": \"11\"}", "");
    let shown = super::drift(&newer, "tests/test_l.py::test_a");
    newer.write(&format!("//- tests/test_l.py\n{head}{}", case("a", "f(1)", "7")));
    let before = sources(&newer);
    pindrift(&newer, &["accept", &shown, REASON[0], REASON[1]]).refusal(1);
    assert_eq!(accept_all(&newer), 0);
    assert_eq!(sources(&newer), before);
}
