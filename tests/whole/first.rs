//! What somebody meets who uses the program for the first time: how things are named, what a refusal says.

use super::{Fixture, drift, observe, pindrift, said};

const SUITE: &str = r#"
//- pindrift.toml
//- tests/test_pages.py
"""Characterization test: pins the pages."""
from pathlib import Path

HERE = Path(__file__).parent


def check(name):
    text = page(name)
    (HERE / "actual" / name).write_text(text)
    assert text == (HERE / "golden" / name).read_text()


def test_two():
    check("one.txt")
    check("an other.txt")


class TestNet:
    def test_net(self):
        assert net(3) == 2.67

    def test_names(self):
        assert names() == ["a", "b"]
//- tests/golden/one.txt
1
2
//- tests/golden/an other.txt
3
"#;

const NET: &str = "tests/test_pages.py::TestNet::test_net";
const NAMES: &str = "tests/test_pages.py::TestNet::test_names";
const TWO: &str = "tests/test_pages.py::test_two";
const WHY: [&str; 2] = ["--reason", "net prices are rounded by rule 7"];

fn suite() -> Fixture {
    let fixture = Fixture::committed(SUITE);
    fixture.write("//- tests/actual/one.txt\n1\n2.5\n//- tests/actual/an other.txt\n33");
    observe(&fixture, NET, r#"{"literal": "2.675"}"#, "");
    fixture
}

#[test]
fn an_oracle_that_a_test_does_not_have_is_answered_with_those_it_has() {
    let fixture = suite();
    let call = ["accept", "--test", TWO, "--oracle", "tests/golden/three.txt", WHY[0], WHY[1]];
    let refusal = pindrift(&fixture, &call).refusal(2);
    assert_eq!(
        refusal,
        format!(
            "pindrift: {TWO} has no oracle tests/golden/three.txt; it has:\n  tests/golden/an other.txt\n  \
             tests/golden/one.txt\n"
        )
    );
    let judged = ["judge", TWO, "deliberate", "--oracle", "tests/golden/three.txt", WHY[0], WHY[1]];
    assert_eq!(pindrift(&fixture, &judged).refusal(2), refusal);
    let none = pindrift(&fixture, &["accept", "--test", "tests/test_pages.py::test_none", WHY[0], WHY[1]]).refusal(2);
    assert!(none.contains("no drift and no pinned test is called"), "{none}");
}

#[test]
fn a_name_that_nothing_has_ends_every_call_alike() {
    let fixture = suite();
    let none = "tests/test_pages.py::test_none";
    for call in [
        vec!["diff", none],
        vec!["accept", "--test", none, WHY[0], WHY[1]],
        vec!["verdict", none, "noise", WHY[0], WHY[1]],
        vec!["judge", none, "contract", WHY[0], WHY[1]],
        vec!["explain", none, WHY[0], WHY[1]],
        vec!["reclassify", none, "--to", "specification", WHY[0], WHY[1]],
        vec!["retire", none, WHY[0], WHY[1]],
        vec!["withdraw", "0123456789", WHY[0], WHY[1]],
        vec!["check", none],
        vec!["pins", none],
        vec!["check", "tests/test_none.py"],
    ] {
        let refusal = pindrift(&fixture, &call).refusal(2);
        assert_eq!(refusal.lines().count(), 1, "{call:?}: {refusal}");
    }
    // Something that was there and is gone is a refused decision.
    pindrift(&fixture, &["accept", "0123456789ab", WHY[0], WHY[1]]).refusal(1);
}

#[test]
fn the_patch_of_a_drift_is_one_that_git_applies() {
    let fixture = suite();
    let out = pindrift(&fixture, &["check", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out.out).expect("JSON");
    let rows = report["assertions"].as_array().expect("rows");
    let ids: Vec<&str> = rows.iter().filter_map(|row| row["drift"].as_str()).collect();
    assert_eq!(ids.len(), 3, "{report:#}");
    let patches: Vec<String> =
        ids.iter().map(|id| pindrift(&fixture, &["diff", id, "--format", "patch"]).with(0)).collect();
    for (nth, patch) in patches.iter().enumerate() {
        fixture.write(&format!("//- .git/patch{nth}\n"));
        std::fs::write(fixture.at(&format!(".git/patch{nth}")), patch).expect("written");
        fixture.git(&["apply", &format!(".git/patch{nth}")]);
    }
    assert_eq!(fixture.read("tests/golden/one.txt"), "1\n2.5\n");
    assert_eq!(fixture.read("tests/golden/an other.txt"), "33");
    assert!(fixture.read("tests/test_pages.py").contains("assert net(3) == 2.675\n"));
    assert!(!fixture.at(".pindrift/amendments").exists());
}

#[test]
fn a_new_baseline_has_a_patch_too() {
    let fixture = suite();
    std::fs::remove_file(fixture.at("tests/golden/one.txt")).expect("removed");
    let out = pindrift(&fixture, &["check", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out.out).expect("JSON");
    let rows = report["assertions"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["state"] == "missing").expect("a missing one");
    let patch = pindrift(&fixture, &["diff", row["drift"].as_str().expect("an id"), "--format", "patch"]);
    assert_eq!(patch.with(0), "--- /dev/null\n+++ b/tests/golden/one.txt\n@@ -0,0 +1,2 @@\n+1\n+2.5\n");
}

#[test]
fn what_nothing_tells_of_is_named_with_the_call_that_would() {
    let fixture = suite();
    let out = pindrift(&fixture, &["check", "--require-observed"]).with(1);
    let wanted = format!(
        "tests/test_pages.py:23  {NAMES}\n    unobserved, tests/test_pages.py:23 (literal); `pindrift observe {NAMES}` \
         runs it\n"
    );
    assert!(out.contains(&wanted), "{out}");
    assert!(!pindrift(&fixture, &["check"]).with(1).contains("unobserved,"));
    for call in [vec!["accept", "--test", NAMES, WHY[0], WHY[1]], vec!["diff", NAMES]] {
        let refusal = pindrift(&fixture, &call).refusal(1);
        assert!(refusal.contains(&format!("`pindrift observe {NAMES}` runs it")), "{refusal}");
    }
}

#[test]
fn tests_are_named_where_paths_are() {
    let fixture = suite();
    let pins = pindrift(&fixture, &["pins", NET]).with(0);
    assert!(pins.ends_with("1 pin in 1 file\n"), "{pins}");
    let of_class = pindrift(&fixture, &["pins", "tests/test_pages.py::TestNet"]).with(0);
    assert!(of_class.ends_with("2 pins in 1 file\n"), "{of_class}");
    let checked = pindrift(&fixture, &["check", TWO]).with(1);
    assert!(checked.ends_with("2 drifts (2 distinct changes), 0 missing, 0 match, 0 unobserved\n"), "{checked}");
    pindrift(&fixture, &["check", NAMES]).with(0);
    let mut below = super::program(&fixture);
    let named =
        said(below.current_dir(fixture.at("tests")).args(["pins", "test_pages.py::TestNet::test_net", "golden"]));
    assert!(named.with(0).ends_with("3 pins in 1 file\n"));
}

#[test]
fn what_was_judged_noise_is_counted() {
    let fixture = suite();
    let id = drift(&fixture, NET);
    pindrift(&fixture, &["verdict", &id, "noise", "--reason", "the rate comes from a live service"]).with(0);
    let out = pindrift(&fixture, &["check"]).with(1);
    let last = "3 drifts (3 distinct changes, 1 judged noise), 0 missing, 0 match, 1 unobserved\n";
    assert!(out.ends_with(last), "{out}");
    assert_eq!(super::report(&fixture)["summary"]["noise"], 1);
}

#[test]
fn a_binary_file_that_is_compared_as_text_says_what_to_do() {
    let fixture = suite();
    std::fs::write(fixture.at("tests/golden/one.txt"), b"\x89PNG\r\n\x1a\n\0\0").expect("written");
    let refusal =
        pindrift(&fixture, &["accept", "--test", TWO, "--oracle", "tests/golden/one.txt", WHY[0], WHY[1]]).refusal(1);
    assert!(refusal.contains("tests/golden/one.txt: it is binary (byte 0x89 in line 1)"), "{refusal}");
    assert!(refusal.contains("compare bytes in the test"), "{refusal}");
}
