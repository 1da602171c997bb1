//! A specification run on the base and now, with real runners: the four results, what they are worth, and what
//! an accept takes.

use super::{Fixture, Said, pindrift, status};

const BASE: &str = "//- pindrift.toml
//- .gitignore
__pycache__/
.pytest_cache/
//- src/billing.py
def net(price):
    return int(price * 100 + 0.5) / 100
//- tests/conftest.py
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / 'src'))
//- tests/test_legacy.py
from billing import net


def test_net_pins_legacy_output():
    assert net(2.665) == 2.67
";

const PIN: &str = "tests/test_legacy.py::test_net_pins_legacy_output";
const SPEC: &str = "tests/test_rules.py::test_half_goes_to_even";

/// The base, then the code changed and a specification written, nothing of it committed.
fn changed(expects: &str, doc: &str) -> Fixture {
    let fixture = Fixture::committed(BASE);
    fixture.git(&["branch", "base"]);
    fixture.write(&format!(
        "//- src/billing.py
from decimal import ROUND_HALF_EVEN, Decimal


def net(price):
    return float(Decimal(str(price)).quantize(Decimal('0.01'), ROUND_HALF_EVEN))
//- tests/test_rules.py
from billing import net


def test_half_goes_to_even():
    \"\"\"{doc}\"\"\"
    assert net(2.665) == {expects}
"
    ));
    fixture
}

fn prove(fixture: &Fixture, proof: &str, base: &str) -> Said {
    pindrift(fixture, &["prove", "--test", PIN, "--proof", proof, "--base", base], &[])
}

fn accept(fixture: &Fixture, more: &[&str]) -> Said {
    let call = ["accept", "--test", PIN, "--reason", "half a cent goes to the even one since rule 7"];
    pindrift(fixture, &[&call, more].concat(), &[])
}

#[test]
fn a_proof_fails_on_the_base_and_passes_now() {
    let fixture = changed("2.66", "Specification test: accounting rule 7.");
    let before = status(&fixture);
    let own = fixture.at(".git/temporary");
    std::fs::create_dir(&own).expect("made");
    let call = ["prove", "--test", PIN, "--proof", SPEC, "--base", "base"];
    let said = pindrift(&fixture, &call, &[("TMPDIR", own.to_str().expect("UTF-8"))]);
    let left = std::fs::read_dir(&own).expect("listed").count();
    assert_eq!(left, 0, "nothing is left behind");
    assert_eq!((said.err.as_str(), said.status), ("", 0), "{}", said.out);
    let lines: Vec<Vec<&str>> = said.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["the", "proof", "failed", "passed", SPEC]);
    assert_eq!(lines[2], ["the", "pin", "match", "drift", PIN]);
    assert!(
        said.out.contains(&format!("tests/test_rules.py:6  {SPEC} expects what was observed: 2.66\n")),
        "{}",
        said.out
    );
    assert!(said.out.contains("proven; `pindrift accept "), "{}", said.out);
    let seen: String = status(&fixture)
        .lines()
        .filter(|line| {
            !line.ends_with("__pycache__/") && !line.ends_with(".pindrift/") && !line.ends_with(".pytest_cache/")
        })
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(seen, before);

    // What is not a proof is not taken for one.
    let other = accept(&fixture, &["--proof", "tests/test_rules.py::test_other"]);
    assert!(other.status == 1 && other.err.contains("was not run as a proof of this drift"), "{}", other.err);
    // One that was changed since is another one.
    let rules = fixture.read("tests/test_rules.py");
    std::fs::write(fixture.at("tests/test_rules.py"), rules.replace("2.66\n", "2.66  # cents\n")).expect("written");
    assert_eq!(accept(&fixture, &["--proof", SPEC]).status, 1);
    std::fs::write(fixture.at("tests/test_rules.py"), rules).expect("written");

    let done = accept(&fixture, &["--proof", SPEC]);
    assert_eq!((done.err.as_str(), done.status), ("", 0));
    let record = done.out.split_whitespace().find(|word| word.ends_with(".toml")).expect("the amendment").to_string();
    let record = fixture.read(&record);
    assert!(record.contains(&format!("proof = \"{SPEC}\"\n")), "{record}");
    let results = "proof-at-base = \"failed\", pin-at-base = \"match\", proof-now = \"passed\", pin-now = \"drift\" }";
    assert!(record.contains(results), "{record}");
}

#[test]
fn what_passed_before_proves_nothing() {
    let fixture = changed("2.66", "Specification test: accounting rule 7.");
    fixture.commit("the change");
    let said = prove(&fixture, SPEC, "HEAD");
    assert_eq!(said.status, 1);
    assert!(said.out.contains(&format!("no proof: {SPEC} passed at ")), "{}", said.out);
    let refused = accept(&fixture, &["--proof", SPEC]);
    assert!(
        refused.status == 1 && refused.err.contains("so it says nothing about what changed since"),
        "{}",
        refused.err
    );
    assert_eq!(accept(&fixture, &[]).status, 0);
}

#[test]
fn a_specification_that_expects_something_else_refuses_the_accept() {
    let fixture = changed("2.665", "Specification test: accounting rule 7.");
    let said = prove(&fixture, SPEC, "base");
    assert_eq!(said.status, 1);
    assert!(said.out.contains("expects something else than what was observed: 2.665"), "{}", said.out);
    assert!(said.out.contains("fails now, so the code does not do what it expects"), "{}", said.out);
    let refused = accept(&fixture, &[]);
    assert_eq!(refused.status, 1);
    assert!(
        refused.err.contains(&format!(
            "{SPEC} (tests/test_rules.py:6) is a specification test of the same call and expects 2.665"
        )),
        "{}",
        refused.err
    );
}

#[test]
fn a_value_that_was_copied_without_authority_is_pointed_at() {
    let fixture = changed("2.66", "Specification test.");
    let said = prove(&fixture, SPEC, "base");
    assert!(
        said.out.contains("was written with this change, expects exactly what was observed and names no authority"),
        "{}",
        said.out
    );
    // A test that does not say that it is one proves nothing.
    let fixture = changed("2.66", "Half a cent.");
    let said = prove(&fixture, SPEC, "base");
    assert!(said.status == 2 && said.err.contains("does not say that it is a specification test"), "{}", said.err);
}

#[test]
fn a_proof_in_rust() {
    let base = "//- pindrift.toml
//- .gitignore
target/
//- Cargo.toml
[package]
name = \"billing\"
version = \"0.1.0\"
edition = \"2021\"
//- src/lib.rs
pub fn net(cents: f64) -> i64 {
    (cents + 0.5).floor() as i64
}
//- tests/legacy.rs
/// Characterization test: pins current behaviour.
#[test]
fn pinned() {
    assert_eq!(billing::net(266.5), 267);
}
";
    let fixture = Fixture::committed(base);
    fixture.git(&["branch", "base"]);
    fixture.write(
        "//- src/lib.rs
pub fn net(cents: f64) -> i64 {
    cents.round_ties_even() as i64
}
//- tests/rules.rs
/// Specification test: accounting rule 7.
#[test]
fn half_goes_to_even() {
    assert_eq!(billing::net(266.5), 266);
}
",
    );
    let call = ["prove", "--test", "legacy::pinned", "--proof", "rules::half_goes_to_even", "--base", "base"];
    let said = pindrift(&fixture, &call, &[]);
    assert_eq!((said.err.as_str(), said.status), ("", 0), "{}", said.out);
    let lines: Vec<Vec<&str>> = said.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["the", "proof", "failed", "passed", "rules::half_goes_to_even"]);
    assert_eq!(lines[2], ["the", "pin", "match", "drift", "legacy::pinned"]);
    let accept = [
        "accept",
        "--test",
        "legacy::pinned",
        "--proof",
        "rules::half_goes_to_even",
        "--reason",
        "to the even one since rule 7",
    ];
    let done = pindrift(&fixture, &accept, &[]);
    assert_eq!((done.err.as_str(), done.status), ("", 0));
}

#[test]
fn a_specification_is_run_on_the_base_with_its_data() {
    let fixture = changed("want()", "Specification test: accounting rule 7.");
    let source = "from pathlib import Path\n\nfrom billing import net\n\n\ndef want():\n    return \
                  float((Path(__file__).parent / 'want.txt').read_text())\n\n\ndef \
                  test_half_goes_to_even():\n    \"\"\"Specification test: accounting rule 7.\"\"\"\n    assert \
                  net(2.665) == want()\n";
    fixture.write(&format!("//- tests/want.txt\n2.66\n//- tests/test_rules.py\n{source}"));
    let said = prove(&fixture, SPEC, "base");
    assert_eq!((said.err.as_str(), said.status), ("", 0), "{}", said.out);

    // The same value on both sides of the change: what failed before for want of the file proves nothing.
    fixture.write(&format!(
        "//- tests/want.txt\n2.0\n//- tests/test_rules.py\n{}",
        source.replace("net(2.665)", "net(2.0)")
    ));
    let said = prove(&fixture, SPEC, "base");
    assert_eq!(said.status, 1, "{}", said.out);
    assert!(said.out.contains(&format!("no proof: {SPEC} passed at ")), "{}", said.out);
}

#[test]
fn a_failure_before_any_assertion_proves_nothing() {
    let source = "from billing import net\n\n\ndef test_half_goes_to_even(want):\n    \"\"\"Specification test: \
                  accounting rule 7.\"\"\"\n    assert net(2.665) == want\n";
    let conftest = "import sys\nfrom pathlib import Path\n\nimport pytest\n\nsys.path.insert(0, \
                    str(Path(__file__).parent.parent / 'src'))\n\n\n@pytest.fixture\ndef want():\n    return 2.66\n";
    let read = "from pathlib import Path\n\nfrom billing import net\n\n\ndef \
                test_half_goes_to_even():\n    \"\"\"Specification test: accounting rule 7.\"\"\"\n    want = \
                float((Path(__file__).parent.parent / 'rates' / 'want.txt').read_text())\n    assert net(2.665) == want\n";
    for files in [
        format!("//- tests/conftest.py\n{conftest}//- tests/test_rules.py\n{source}"),
        format!("//- rates/want.txt\n2.66\n//- tests/test_rules.py\n{read}"),
    ] {
        let fixture = changed("2.66", "Specification test: accounting rule 7.");
        fixture.write(&files);
        let said = prove(&fixture, SPEC, "base");
        assert_eq!(said.status, 1, "{}", said.out);
        assert!(said.err.contains("fails before any of its assertions does"), "{}", said.err);
        assert!(said.out.contains("no proof: "), "{}", said.out);
        let refused = accept(&fixture, &["--proof", SPEC]);
        assert_eq!(refused.status, 1, "{}", refused.out);
    }
}

#[test]
fn a_pin_that_the_base_does_not_have_did_not_hold_there() {
    let prepared = |pinned: &str| {
        let fixture = Fixture::committed(BASE);
        fixture.git(&["branch", "base"]);
        fixture.write(&format!(
            "//- src/billing.py\nfrom decimal import ROUND_HALF_EVEN, Decimal\n\n\ndef net(price):\n    return \
             float(Decimal(str(price)).quantize(Decimal('0.01'), ROUND_HALF_EVEN))\n//- tests/test_legacy.py\nfrom \
             billing import net\n\n\ndef test_net_pins_legacy_output():\n{pinned}//- tests/test_rules.py\nfrom billing \
             import net\n\n\ndef test_half_goes_to_even():\n    \"\"\"Specification test: accounting rule \
             7.\"\"\"\n    assert net(2.665) == 2.66\n"
        ));
        fixture
    };
    // Added to the same test since.
    let fixture = prepared("    assert net(1.0) == 1.0\n    assert net(2.665) == 2.67\n");
    let said = pindrift(
        &fixture,
        &["prove", "--test", PIN, "--oracle", "tests/test_legacy.py#literal:2", "--proof", SPEC, "--base", "base"],
        &[],
    );
    assert!(said.status != 0 && said.out.contains("(absent)"), "{}{}", said.out, said.err);
    // The same place with another value.
    let fixture = prepared("    assert net(2.665) == 2.68\n");
    let said = prove(&fixture, SPEC, "base");
    assert!(
        said.status == 2 && said.err.contains("is another value at the base than today"),
        "{}{}",
        said.out,
        said.err
    );
}

#[test]
fn what_only_python_reads_is_not_told_of_a_rust_run() {
    let fixture = Fixture::committed(
        "//- pindrift.toml\n//- .gitignore\ntarget/\n//- Cargo.toml\n[package]\nname = \"a\"\nversion = \
         \"0.1.0\"\nedition = \"2021\"\n//- src/lib.rs\npub fn n() -> i64 {\n    2\n}\n//- tests/pins.rs\n/// \
         Characterization test: pins current behaviour.\n#[test]\nfn pinned() {\n    assert_eq!(a::n(), 1);\n}\n",
    );
    let said = pindrift(&fixture, &["observe", "--repeat", "2"], &[]);
    let mut told = String::new();
    for entry in std::fs::read_dir(fixture.at(".pindrift/observed")).expect("observed").flatten() {
        told.push_str(&std::fs::read_to_string(entry.path()).unwrap_or_default());
    }
    assert!(told.contains("pinned") && !told.contains("PYTHONHASHSEED"), "{}{}{told}", said.out, said.err);
}
