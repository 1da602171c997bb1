//! Decisions after the fact, other roles, and what the next reader is told: in Python and in Rust.

use sha2::Digest;

use super::{Fixture, amendments, drift, pindrift, report};

const BOTH: &str = r#"
//- pindrift.toml
//- tests/test_tax.py
"""Characterization tests of the tax tables."""
from tax import gross


def test_gross_pins_current_output():
    """Characterization test: pins what the old tables said."""
    assert gross(100) == 119
//- Cargo.toml
[package]
name = "tax"
version = "0.1.0"
edition = "2021"
//- src/lib.rs
pub fn gross(net: u32) -> u32 {
    net
}
//- tests/tables.rs
use tax::gross;

/// Characterization test: pins what the old tables said.
#[test]
fn gross_pins_current_output() {
    assert_eq!(gross(100), 119);
}
"#;

const PYTHON: &str = "tests/test_tax.py::test_gross_pins_current_output";
const RUST: &str = "tables::gross_pins_current_output";
const REASON: [&str; 2] = ["--reason", "the rate is twenty percent from January on"];

fn both() -> Fixture {
    let fixture = Fixture::committed(BOTH);
    fixture.git(&["checkout", "-q", "-b", "change"]);
    fixture
}

fn state(fixture: &Fixture, test: &str) -> String {
    let report = report(fixture);
    let rows = report["assertions"].as_array().expect("rows").iter();
    let of_test: Vec<_> = rows.filter(|row| row["test"] == test).collect();
    assert_eq!(of_test.len(), 1, "{report:#}");
    format!("{} {}", of_test[0]["role"].as_str().expect("a role"), of_test[0]["state"].as_str().expect("a state"))
}

#[test]
fn a_value_changed_by_hand_is_explained_afterwards() {
    for (path, test) in [("tests/test_tax.py", PYTHON), ("tests/tables.rs", RUST)] {
        let fixture = both();
        let refusal = pindrift(&fixture, &["explain", test, "--base", "main", REASON[0], REASON[1]]).refusal(1);
        assert!(refusal.contains("the same recorded value"), "{refusal}");
        fixture.write(&format!("//- {path}\n{}", fixture.read(path).replace("119", "120")));
        fixture.commit("twenty percent");
        let failed = pindrift(&fixture, &["audit", "--base", "main"]).with(1);
        assert!(failed.contains(path) && failed.contains("pindrift explain"), "{failed}");
        let before = fixture.read(path);
        pindrift(&fixture, &["explain", test, "--base", "main", "--reason", "fix tests"]).refusal(1);
        pindrift(&fixture, &["explain", test, "--base", "main", REASON[0], REASON[1]]).with(0);
        assert_eq!(fixture.read(path), before, "the reason changes no value");
        let record = &amendments(&fixture)[0].1;
        for line in ["after-the-fact = true", "kind = \"drift\"", "diff = \"-119\\n+120\\n\""] {
            assert!(record.contains(line), "{line} in {record}");
        }
        fixture.commit("say why");
        pindrift(&fixture, &["audit", "--base", "main"]).with(0);
        let refusal = pindrift(&fixture, &["explain", test, "--base", "main", REASON[0], REASON[1]]).refusal(1);
        assert!(refusal.contains("says why already"), "{refusal}");
    }
}

#[test]
fn a_test_that_states_a_rule_becomes_a_specification_and_is_amended_no_more() {
    for (path, test, written) in [
        (
            "tests/test_tax.py",
            PYTHON,
            "    \"\"\"Specification test: tax act 12; pins what the old tables said.\"\"\"\n",
        ),
        ("tests/tables.rs", RUST, "/// Specification test: tax act 12; pins what the old tables said.\n"),
    ] {
        let fixture = both();
        observe(&fixture, path, test, "120");
        let id = drift(&fixture, test);
        assert_eq!(state(&fixture, test), "characterization drift");
        let call = ["reclassify", test, "--to", "specification", "--authority", "tax act 12", REASON[0], REASON[1]];
        pindrift(&fixture, &call).with(0);
        assert!(fixture.read(path).contains(written), "{}", fixture.read(path));
        assert!(amendments(&fixture)[0].1.contains("kind = \"reclassify\""));
        assert_eq!(state(&fixture, test), "specification failed");
        let refusal = pindrift(&fixture, &["accept", &id, REASON[0], REASON[1]]).refusal(1);
        assert!(refusal.contains("specification"), "{refusal}");
        let again = pindrift(&fixture, &call).refusal(1);
        assert!(again.contains("already"), "{again}");
        pindrift(&fixture, &["reclassify", test, "--to", "characterization", REASON[0], REASON[1]]).with(0);
        assert_eq!(state(&fixture, test), "characterization drift");
    }
}

#[test]
fn a_specification_without_an_authority_says_where_it_is_missing() {
    let fixture = both();
    let out = pindrift(&fixture, &["reclassify", RUST, "--to", "specification", REASON[0], REASON[1]]).with(0);
    assert!(out.contains("tests/tables.rs") && out.contains("authority"), "{out}");
    assert!(fixture.read("tests/tables.rs").contains("<which authority says so?>"));
}

#[test]
fn the_log_of_a_pin_joins_its_amendments_comments_and_commits() {
    let fixture = Fixture::committed(&format!(
        "//- pindrift.toml\ncomment = \"always\"\n{}\
         //- tests/golden/a.txt\nnet: 1\n//- tests/test_golden.py\n{}",
        BOTH.replace("\n//- pindrift.toml\n", ""),
        "\"\"\"Characterization test: pins the page.\"\"\"\nfrom pathlib import Path\n\nHERE = Path(__file__).parent\n\n\n\
         def check(name):\n    text = page(name)\n    (HERE / \"actual\" / name).write_text(text)\n    \
         assert text == (HERE / \"golden\" / name).read_text()\n\n\ndef test_page():\n    \
         # 2020-02-02: intentional drift. Old: net: 0. New: net: 1.\n    # Reason: the page counts from one\n    \
         check(\"a.txt\")\n",
    ));
    fixture.write("//- tests/actual/a.txt\nnet: 2\n");
    let told = pindrift(&fixture, &["log", "tests/golden/a.txt"]).with(0);
    assert!(told.contains("the page counts from one") && told.contains("net: 0 → net: 1"), "{told}");
    assert!(told.contains("tests/golden/a.txt  commit\n    first\n"), "{told}");

    let id = drift(&fixture, "tests/test_golden.py::test_page");
    pindrift(&fixture, &["accept", &id, "--reason", "the page counts the cover"]).with(0);
    fixture.commit("count the cover");
    let head = fixture.git(&["rev-parse", "HEAD"]);
    for name in ["tests/golden/a.txt", "tests/golden", "tests/test_golden.py", "tests/test_golden.py::test_page"] {
        let told = pindrift(&fixture, &["log", name]).with(0);
        assert_eq!(told.matches("the page counts the cover").count(), 1, "{name}: {told}");
        assert!(told.contains(&format!("in {}", &head[..10])), "the commit of the amendment: {told}");
        assert!(!told.contains("count the cover\n    "), "and that commit only once: {told}");
        assert!(told.contains("commit\n    first\n"), "{told}");
    }
    let json = pindrift(&fixture, &["log", "tests/golden/a.txt", "--format", "json"]).with(0);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["amendments"].as_array().map(Vec::len), Some(1));
    let other = pindrift(&fixture, &["log", PYTHON]).with(0);
    assert!(!other.contains("cover") && !other.contains("page"), "{other}");
}

#[test]
fn the_log_follows_renames_and_the_lines_of_a_literal() {
    let fixture =
        Fixture::committed(&format!("{BOTH}\n//- tests/test_more.py\ndef test_more():\n    assert f() == 1\n"));
    let tell = |name: &str| {
        let told = pindrift(&fixture, &["log", name]).with(0);
        let subjects = told.lines().filter_map(|line| line.strip_prefix("    "));
        subjects.filter(|line| !line.contains(" by ")).map(str::to_string).collect::<Vec<_>>()
    };
    fixture.write("//- tests/test_more.py\nimport os\n\n\ndef test_more():\n    assert f() == 1\n");
    fixture.commit("import what is needed");
    fixture.write("//- tests/test_more.py\nimport os\n\n\ndef test_more():\n    assert f() == 2\n");
    fixture.commit("count from two");
    fixture.git(&["mv", "tests/test_more.py", "tests/test_counts.py"]);
    fixture.commit("name the tests by what they count");
    // Lines above it that are not committed move nothing.
    fixture.write("//- tests/test_counts.py\nimport os\nimport sys\n\n\ndef test_more():\n    assert f() == 2\n");
    let literal = tell("tests/test_counts.py::test_more");
    assert_eq!(literal, ["count from two", "first"], "of its lines alone, through the rename");

    let golden = format!("tests/golden/a.txt\n{}", "a line of the page\n".repeat(20));
    fixture.write(&format!(
        "//- {golden}//- tests/test_golden.py\n\"\"\"Characterization test: pins the page.\"\"\"\nfrom pathlib import Path\n\n\n\
         def test_page():\n    assert page() == (Path(__file__).parent / \"golden\" / \"a.txt\").read_text()\n"
    ));
    fixture.commit("pin the page");
    fixture.git(&["mv", "tests/golden/a.txt", "tests/golden/page.txt"]);
    fixture.commit("call the page a page");
    let test = fixture.read("tests/test_golden.py").replace("a.txt", "page.txt");
    fixture.write(&format!("//- tests/test_golden.py\n{test}"));
    fixture.write(&format!("//- {}one more\n", golden.replace("a.txt", "page.txt")));
    fixture.commit("write one more line");
    let baseline = tell("tests/golden/page.txt");
    assert_eq!(baseline, ["write one more line", "call the page a page", "pin the page"]);
}

/// Records what a run of a literal's test produced.
fn observe(fixture: &Fixture, path: &str, test: &str, value: &str) {
    let digest: String = sha2::Sha256::digest(b"value\x00119").iter().map(|byte| format!("{byte:02x}")).collect();
    let line = serde_json::json!({
        "schema": 1,
        "pin": { "file": path, "test": test, "nth": 1 },
        "oracle": format!("{path}#literal:1"),
        "oracle_digest": format!("sha256:{digest}"),
        "outcome": "differs",
        "value": { "literal": value },
        "at": "2026-01-01T10:00:00Z",
    });
    fixture.write(&format!("//- .pindrift/observed/run.jsonl\n{line}\n"));
}
