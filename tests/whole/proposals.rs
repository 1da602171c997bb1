//! What programs propose and a person confirms: a proposal is shown and never a decision.

use std::os::unix::fs::PermissionsExt as _;

use super::{Fixture, amendments, drift, pindrift, program, report, said};

const BILL: &str = "\
//- pindrift.toml
reviewer = \"touch\"
//- tests/test_bill.py
\"\"\"Characterization test: pins what the bill says.\"\"\"
from pathlib import Path

HERE = Path(__file__).parent


def test_bill():
    text = make()
    (HERE / 'actual' / 'bill.txt').write_text(text)
    assert text == (HERE / 'golden' / 'bill.txt').read_text()
//- tests/golden/bill.txt
net 10.38
owner Ito
//- tests/actual/bill.txt
net 10.39
owner Vega
";

const TEST: &str = "tests/test_bill.py::test_bill";

#[test]
fn a_proposal_is_shown_and_only_a_person_makes_a_decision_of_it() {
    let fixture = Fixture::committed(BILL);
    let id = drift(&fixture, TEST);
    let propose =
        ["propose", &id, "--verdict", "intended", "--reason", "net rounds half up", "--by", "checker", "--line", "2"];
    fixture.write("//- drafted.txt\nnet 10.40\nowner Vega\n");
    let refusal = pindrift(&fixture, &[&propose[..], &["--oracle", "drafted.txt"]].concat()).refusal(1);
    assert!(refusal.contains("the drafted oracle is not what was observed"), "{refusal}");
    std::fs::copy(fixture.at("tests/actual/bill.txt"), fixture.at("drafted.txt")).expect("copied");
    pindrift(&fixture, &[&propose[..], &["--oracle", "drafted.txt"]].concat()).with(0);

    let row = &report(&fixture)["assertions"][0];
    assert_eq!(row["state"], "drift", "a proposal changes nothing");
    assert_eq!(row["proposal"]["verdict"], "intended");
    assert_eq!(row["proposal"]["lines"][0], 2);
    assert_eq!((row["verdict"].as_str(), row["amendment"].as_str()), (None, None));
    let check = pindrift(&fixture, &["check"]).with(1);
    assert!(check.contains("checker proposes intended (look at line 2): net rounds half up"), "{check}");
    assert_eq!(amendments(&fixture).len(), 0);
    assert!(fixture.git(&["status", "--porcelain", ".pindrift"]).is_empty(), "git ignores proposals");
    // Accepting without a reason takes none from a program.
    pindrift(&fixture, &["accept", &id]).refusal(1);
    pindrift(&fixture, &["accept", &id, "--same-reason"]).refusal(1);
    assert_eq!(fixture.read("tests/golden/bill.txt"), "net 10.38\nowner Ito\n");

    let mut confirm = program(&fixture);
    confirm.args(["confirm", &id]).env("GIT_AUTHOR_NAME", "Ann Reader").env("GIT_AUTHOR_EMAIL", "ann@example.org");
    said(&mut confirm).with(0);
    let records = amendments(&fixture);
    assert_eq!(records.len(), 1);
    for line in [
        "proposed-by = \"checker\"",
        "confirmed-by = \"Ann Reader <ann@example.org>\"",
        "author = \"Ann Reader <ann@example.org>\"",
        "reason = \"net rounds half up\"",
        "verdict = \"intended\"",
    ] {
        assert!(records[0].1.contains(line), "{line} in {}", records[0].1);
    }
    assert_eq!(fixture.read("tests/golden/bill.txt"), "net 10.39\nowner Vega\n");
    pindrift(&fixture, &["confirm", TEST]).refusal(1);
}

#[test]
fn a_proposal_about_another_value_is_not_shown() {
    let fixture = Fixture::committed(BILL);
    let id = drift(&fixture, TEST);
    pindrift(&fixture, &["propose", &id, "--verdict", "noise", "--reason", "the owner is random"]).with(0);
    fixture.write("//- tests/actual/bill.txt\nnet 10.41\nowner Vega\n");
    assert_eq!(report(&fixture)["assertions"][0]["proposal"], serde_json::Value::Null);
    let refusal = pindrift(&fixture, &["confirm", TEST]).refusal(1);
    assert!(refusal.contains("no program proposed anything"), "{refusal}");
    assert_eq!(amendments(&fixture).len(), 0);
}

const REVIEWER: &str = "#!/usr/bin/env python3
import json, os, sys
drift = json.load(sys.stdin)
lines = [n for n, line in enumerate(drift['after'].splitlines(), 1) if 'owner' in line]
print(json.dumps({'verdict': 'unintended', 'reason': 'the owner changed in ' + os.path.basename(drift['file']), 'lines': lines,
                  'oracle': drift['after'] + os.environ.get('DRAFT', '')}))
";

#[test]
fn the_reviewer_of_the_own_settings_is_asked_and_none_of_the_workspace() {
    let fixture = Fixture::committed(BILL);
    let home = tempfile::tempdir().expect("a home");
    let settings = home.path().join("pindrift");
    std::fs::create_dir(&settings).expect("made");
    let call = |args: &[&str], draft: &str| {
        let mut command = program(&fixture);
        command.args(args).env("XDG_CONFIG_HOME", home.path()).env("DRAFT", draft);
        said(&mut command)
    };
    let refusal = call(&["propose"], "").refusal(1);
    assert!(refusal.contains("no reviewer is configured"), "{refusal}");

    let reviewer = home.path().join("reviewer.py");
    std::fs::write(&reviewer, REVIEWER).expect("written");
    std::fs::set_permissions(&reviewer, std::fs::Permissions::from_mode(0o755)).expect("made executable");
    let config = |program: &str| std::fs::write(settings.join("config.toml"), format!("reviewer = [\"{program}\"]\n"));
    config("./reviewer.py").expect("written");
    let refusal = call(&["propose"], "").refusal(1);
    assert!(refusal.contains("relative path"), "{refusal}");
    config(&reviewer.display().to_string()).expect("written");
    let refusal = call(&["propose"], "more").refusal(1);
    assert!(refusal.contains("the drafted oracle is not what was observed"), "{refusal}");
    assert_eq!(report(&fixture)["assertions"][0]["proposal"], serde_json::Value::Null);

    let out = call(&["propose"], "").with(0);
    assert!(
        out.contains("reviewer.py proposes unintended (look at line 2): the owner changed in test_bill.py"),
        "{out}"
    );
    assert!(call(&["propose"], "").with(0).contains("no drift waits"), "one proposal a drift");
    assert_eq!(amendments(&fixture).len(), 0);
    let id = drift(&fixture, TEST);
    call(&["confirm", &id, "--reason", "the owner must stay, as the contract says"], "").with(0);
    let records = amendments(&fixture);
    assert!(
        records[0].1.contains("verdict = \"unintended\"") && records[0].1.contains("the contract says"),
        "{records:?}"
    );
    assert!(
        records[0].1.contains("proposed-by = \"reviewer.py\"") && records[0].1.contains("confirmed-by"),
        "{records:?}"
    );
    assert_eq!(fixture.read("tests/golden/bill.txt"), "net 10.38\nowner Ito\n");
}

#[test]
fn a_confirmation_carries_the_proof_and_the_authority() {
    let fixture = Fixture::committed(BILL);
    let id = drift(&fixture, TEST);
    let propose = || {
        let said = ["propose", &id, "--verdict", "intended", "--reason", "net rounds half up", "--by", "checker"];
        pindrift(&fixture, &said).with(0);
    };
    propose();
    fixture.write("//- pindrift.toml\n[policy]\nproof = [\"tests/golden/**\"]\n");
    let refusal = pindrift(&fixture, &["confirm", &id]).refusal(1);
    assert!(refusal.contains("the policy of pindrift.toml wants a proof for tests/golden/bill.txt"), "{refusal}");
    let proof = "tests/test_bill.py::test_rounds";
    let refusal = pindrift(&fixture, &["confirm", &id, "--proof", proof]).refusal(1);
    assert!(refusal.contains(&format!("{proof} was not run as a proof of this drift")), "{refusal}");
    assert_eq!(amendments(&fixture).len(), 0);

    fixture.write("//- pindrift.toml\n[policy]\n");
    pindrift(&fixture, &["confirm", &id, "--authority", "rule 7"]).with(0);
    let records = amendments(&fixture);
    assert!(records[0].1.contains("authority = \"rule 7\""), "{records:?}");
}
