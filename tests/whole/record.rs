//! New baselines: listed first, one reason for all; a changed one is never among them.

use super::{Fixture, amendments, pindrift};

const NEW: &str = r#"
//- pindrift.toml
//- tests/test_labels.py
"""Characterization tests: they pin the labels as they are printed today."""
from pathlib import Path

from labels import render

HERE = Path(__file__).parent


def check(name):
    text = render(name)
    (HERE / "actual" / f"{name}.txt").write_text(text)
    assert text == (HERE / "golden" / f"{name}.txt").read_text()


def test_small():
    check("small")


def test_large():
    check("large")


def test_known():
    check("known")
//- tests/golden/known.txt
known 1
//- tests/actual/known.txt
known 2
//- tests/actual/small.txt
small
//- tests/actual/large.txt
large
"#;

#[test]
fn only_new_ones_are_recorded() {
    let fixture = Fixture::committed(NEW);
    fixture.write("//- tests/actual/known.txt\nknown 2\n//- tests/actual/small.txt\nsmall\n");
    let dry = pindrift(&fixture, &["record", "--reason", "first record of the labels", "--dry-run"]).with(0);
    assert!(dry.contains("tests/golden/small.txt") && dry.contains("tests/golden/large.txt"), "{dry}");
    assert!(!dry.contains("known.txt"), "{dry}");
    assert!(!fixture.at("tests/golden/small.txt").exists());
    pindrift(&fixture, &["record"]).refusal(1);
    assert!(amendments(&fixture).is_empty());

    let out = pindrift(&fixture, &["record", "--reason", "first record of the labels"]).with(0);
    assert!(out.ends_with("2 recorded\n"), "{out}");
    assert_eq!(fixture.read("tests/golden/small.txt"), "small\n");
    assert_eq!(fixture.read("tests/golden/large.txt"), "large\n");
    assert_eq!(fixture.read("tests/golden/known.txt"), "known 1\n");
    let records = amendments(&fixture);
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|(_, text)| text.contains("kind = \"new\"")), "{records:?}");
    assert!(pindrift(&fixture, &["record", "--reason", "first record of the labels"]).with(0).contains("nothing new"));
}
