//! insta: file and inline snapshots in one crate, accepted one by one; what is pending stays right.

use super::{Fixture, amendments, drift, pindrift, rows};

const CRATE: &str = r##"
//- pindrift.toml
//- Cargo.toml
[package]
name = "tariff"
version = "0.1.0"
edition = "2021"
//- src/lib.rs
pub fn letter(name: &str) -> String {
    format!("To {name}\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn letter_text() {
        insta::assert_snapshot!(super::letter("Ida"));
    }
}
//- src/snapshots/tariff__tests__letter_text.snap
---
source: src/lib.rs
expression: "super::letter(\"Ida\")"
---
Dear Ida
//- tests/lines.rs
use tariff::letter;

#[test]
fn three_in_one() {
    insta::assert_snapshot!(letter("a"), @"old 1");
    insta::assert_snapshot!(letter("b"), @"old 2");
    insta::assert_snapshot!(letter("c"), @"old 3");
}
"##;

const RUN: &str = r##"
//- src/snapshots/tariff__tests__letter_text.snap.new
---
source: src/lib.rs
assertion_line: 9
expression: "super::letter(\"Ida\")"
---
To Ida
//- tests/.lines.rs.pending-snap
{"run_id":"1796073401-1","line":5,"new":{"module_name":"lines","snapshot_name":"three_in_one","metadata":{"source":"tests/lines.rs","assertion_line":5,"expression":"letter(\"a\")"},"snapshot":"To a"},"old":{"module_name":"lines","metadata":{},"snapshot":"old 1"}}
{"run_id":"1796073401-1","line":6,"new":{"module_name":"lines","snapshot_name":"three_in_one-2","metadata":{"source":"tests/lines.rs","assertion_line":6,"expression":"letter(\"b\")"},"snapshot":"To b"},"old":{"module_name":"lines","metadata":{},"snapshot":"old 2"}}
{"run_id":"1796073401-1","line":7,"new":{"module_name":"lines","snapshot_name":"three_in_one-3","metadata":{"source":"tests/lines.rs","assertion_line":7,"expression":"letter(\"c\")"},"snapshot":"To c"},"old":{"module_name":"lines","metadata":{},"snapshot":"old 3"}}
"##;

fn tariff() -> Fixture {
    let fixture = Fixture::committed(CRATE);
    fixture.write(RUN);
    fixture
}

/// The ids of the inline drifts, by the line of their pin.
fn inline(fixture: &Fixture) -> Vec<(u64, String)> {
    let report = super::report(fixture);
    let rows = report["assertions"].as_array().expect("rows");
    rows.iter()
        .filter(|row| row["file"] == "tests/lines.rs" && row["drift"].is_string())
        .map(|row| (row["line"].as_u64().expect("a line"), row["drift"].as_str().expect("an id").to_string()))
        .collect()
}

#[test]
fn snapshots_in_files_and_in_the_source_are_seen() {
    let rows = rows(&tariff());
    let drifts = rows.lines().filter(|line| line.contains(" drift ")).count();
    assert_eq!(drifts, 4, "{rows}");
    assert!(
        rows.contains("lib::tests::letter_text:9 drift behaviour src/snapshots/tariff__tests__letter_text.snap:5"),
        "{rows}"
    );
    assert!(rows.contains("lines::three_in_one:6 drift behaviour tests/lines.rs"), "{rows}");
}

#[test]
fn a_file_snapshot_gets_its_new_text_and_header_and_the_pending_file_goes() {
    let fixture = tariff();
    let id = drift(&fixture, "lib::tests::letter_text");
    pindrift(&fixture, &["accept", &id, "--reason", "letters are addressed, not greeted"]).with(0);
    let snap = fixture.read("src/snapshots/tariff__tests__letter_text.snap");
    assert_eq!(snap, "---\nsource: src/lib.rs\nexpression: \"super::letter(\\\"Ida\\\")\"\n---\nTo Ida\n");
    assert!(!fixture.at("src/snapshots/tariff__tests__letter_text.snap.new").exists());
    assert_eq!(amendments(&fixture).len(), 1);
    assert!(
        fixture.read("src/lib.rs").contains("letters are addressed, not greeted"),
        "the comment stands above the pin"
    );
}

#[test]
fn one_of_three_inline_snapshots_moves_and_the_others_stay_themselves() {
    let fixture = tariff();
    let (line, id) = inline(&fixture).remove(0);
    assert_eq!(line, 5);
    pindrift(&fixture, &["accept", &id, "--reason", "letters are addressed, not greeted"]).with(0);
    let source = fixture.read("tests/lines.rs");
    assert!(source.contains("letter(\"a\"), @\"To a\""), "{source}");
    assert!(source.contains("letter(\"b\"), @\"old 2\"") && source.contains("letter(\"c\"), @\"old 3\""), "{source}");
    // Two lines of comment moved the other two; their pending entries moved with them.
    let pending = fixture.read("tests/.lines.rs.pending-snap");
    let place = |text: &str| source.lines().position(|line| line.contains(text)).expect("the pin") + 1;
    for (entry, value) in [("three_in_one-2", "letter(\"b\")"), ("three_in_one-3", "letter(\"c\")")] {
        let line = pending.lines().find(|line| line.contains(entry)).expect("still pending");
        assert!(line.contains(&format!("\"line\":{}", place(value))), "{line} in\n{source}");
    }
    let left = inline(&fixture);
    assert_eq!(left.len(), 2);
    for (_, id) in left {
        pindrift(&fixture, &["accept", &id, "--reason", "letters are addressed, not greeted"]).with(0);
    }
    let source = fixture.read("tests/lines.rs");
    for (value, text) in [("a", "To a"), ("b", "To b"), ("c", "To c")] {
        assert!(source.contains(&format!("letter(\"{value}\"), @\"{text}\"")), "{source}");
    }
}

#[test]
fn swapped_pins_are_told_apart_or_refused() {
    let fixture = tariff();
    let ids: Vec<String> = inline(&fixture).into_iter().map(|(_, id)| id).collect();
    let swapped = fixture
        .read("tests/lines.rs")
        .replace("letter(\"a\"), @\"old 1\"", "X")
        .replace("letter(\"b\"), @\"old 2\"", "letter(\"a\"), @\"old 1\"");
    let swapped = swapped.replace('X', "letter(\"b\"), @\"old 2\"");
    std::fs::write(fixture.at("tests/lines.rs"), &swapped).expect("written");
    let said = pindrift(&fixture, &["accept", &ids[0], "--reason", "letters are addressed, not greeted"]);
    let now = fixture.read("tests/lines.rs");
    match said.status {
        0 => assert!(now.contains("letter(\"a\"), @\"To a\"") && now.contains("letter(\"b\"), @\"old 2\""), "{now}"),
        1 => assert_eq!(now, swapped),
        _ => panic!("{said:?}"),
    }
}
