//! What programs read of `check` and `audit`: annotations, SARIF, exit statuses.

use serde_json::Value;

use super::{Fixture, pindrift};

const PAGES: &str = r#"
//- pindrift.toml
//- tests/test_pages.py
"""Characterization test: pins the pages."""
from pathlib import Path

HERE = Path(__file__).parent


def check(name):
    text = page(name)
    (HERE / "actual" / name).write_text(text)
    assert text == (HERE / "golden" / name).read_text()


def test_first():
    check("a, b.txt")
//- tests/golden/a, b.txt
net: 100%
"#;

fn drifted() -> Fixture {
    let fixture = Fixture::committed(PAGES);
    fixture.write("//- tests/actual/a, b.txt\nnet: 99%\n");
    fixture
}

#[test]
fn annotations_are_one_line_each_and_the_summary_closes_them() {
    let fixture = drifted();
    let out = pindrift(&fixture, &["check", "--format", "github"]).with(1);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 2, "{out}");
    assert!(lines[0].starts_with("::warning file=tests/test_pages.py,line=14,title=pindrift drift::"), "{out}");
    assert!(lines[0].contains("net: 100%25 → net: 99%25") || lines[0].contains("100%25"), "{out}");
    assert_eq!(lines[1], "1 drift (1 distinct change), 0 missing, 0 match, 0 unobserved");
    fixture.write("//- tests/golden/a, b.txt\nnet: 99%\n");
    fixture.commit("regenerate");
    pindrift(&fixture, &["check", "--format", "github"]).with(0);
}

/// What the schema of SARIF 2.1.0 demands of the parts that are used, and what code scanning demands more.
fn is_sarif(text: &str) -> Vec<Value> {
    let report: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(report["version"], "2.1.0");
    assert!(report["$schema"].as_str().is_some_and(|schema| schema.contains("sarif") && schema.contains("2.1.0")));
    let runs = report["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 1);
    let driver = &runs[0]["tool"]["driver"];
    assert_eq!(driver["name"], "pindrift");
    let rules: Vec<&str> =
        driver["rules"].as_array().expect("rules").iter().map(|rule| rule["id"].as_str().expect("an id")).collect();
    let results = runs[0]["results"].as_array().expect("results");
    for result in results {
        let rule = result["ruleId"].as_str().expect("a rule");
        assert!(rules.contains(&rule), "{rule} is not among {rules:?}");
        assert!(matches!(result["level"].as_str(), Some("none" | "note" | "warning" | "error")), "{result}");
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{result}");
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().expect("a URI");
        assert!(!uri.is_empty() && uri.chars().all(|c| c.is_ascii_alphanumeric() || "/-._~%".contains(c)), "{uri}");
        assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 0), "{result}");
    }
    results.clone()
}

#[test]
fn code_scanners_can_read_check_and_audit() {
    let fixture = drifted();
    let results = is_sarif(&pindrift(&fixture, &["check", "--format", "sarif"]).with(1));
    assert_eq!(results.len(), 1, "{results:#?}");
    assert_eq!((&results[0]["ruleId"], &results[0]["level"]), (&"drift".into(), &"warning".into()));
    fixture.git(&["checkout", "-q", "-b", "change"]);
    std::fs::rename(fixture.at("tests/actual/a, b.txt"), fixture.at("tests/golden/a, b.txt")).expect("renamed");
    fixture.commit("regenerate");
    let results = is_sarif(&pindrift(&fixture, &["audit", "--base", "main", "--format", "sarif"]).with(1));
    assert_eq!((&results[0]["ruleId"], &results[0]["level"]), (&"audit".into(), &"error".into()));
    let lines = pindrift(&fixture, &["audit", "--base", "main", "--format", "github"]).with(1);
    assert!(lines.starts_with("::error file="), "{lines}");
}

#[test]
fn what_a_status_counts_is_chosen_by_the_caller() {
    let fixture = Fixture::committed(PAGES);
    pindrift(&fixture, &["check"]).with(0);
    pindrift(&fixture, &["check", "--require-observed"]).with(1);
    pindrift(&fixture, &["check", "--strict"]).with(0);
    // A comment whose "New" is not what is pinned is a warning.
    let test = fixture.read("tests/test_pages.py");
    let comment = "    # 2020-02-02: intentional drift. Old: 90%. New: 70%.\n    # Reason: rule 7\n    check(\"";
    fixture.write(&format!("//- tests/test_pages.py\n{}", test.replace("    check(\"", comment)));
    fixture.commit("a comment");
    let out = pindrift(&fixture, &["check"]).with(0);
    assert!(out.contains("warning[stale-rationale]"), "{out}");
    pindrift(&fixture, &["check", "--strict"]).with(1);
    let (old, new) = (fixture.at("tests/golden/a, b.txt"), fixture.at("tests/golden/b.txt"));
    std::fs::rename(old, new).expect("renamed");
    let out = pindrift(&fixture, &["check"]).with(1);
    assert!(out.ends_with("0 drifts, 1 missing, 0 match, 0 unobserved\n"), "{out}");
}
