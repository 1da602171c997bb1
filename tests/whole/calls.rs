//! The words of the command line and its ends.

use super::{Fixture, pindrift, program, said};

const EMPTY: &str = "//- README\nnothing here\n";

#[test]
fn every_call_is_in_the_help() {
    let fixture = Fixture::new(EMPTY);
    let help = pindrift(&fixture, &["--help"]).with(0);
    for word in ["server", "demo", "pins", "check", "diff", "accept", "record", "explain", "reclassify"] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(word)), "{word} in {help}");
    }
    for word in [
        "review", "withdraw", "log", "audit", "doctor", "verdict", "judge", "retire", "observe", "propose", "confirm",
        "prove",
    ] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(word)), "{word} in {help}");
    }
}

#[test]
fn a_bad_call_is_one_line_and_two() {
    let fixture = Fixture::new(EMPTY);
    let bad: [&[&str]; 5] =
        [&["chekc"], &["check", "--format", "xml"], &["accept"], &["audit"], &["check", "no/such/file.py"]];
    for args in bad {
        let refusal = pindrift(&fixture, args).refusal(2);
        assert_eq!(refusal.lines().count(), 1, "{refusal}");
    }
}

#[test]
fn an_empty_folder_has_nothing_to_say() {
    let fixture = Fixture::new(EMPTY);
    assert_eq!(pindrift(&fixture, &["check"]).with(0), "0 drifts, 0 missing, 0 match, 0 unobserved\n");
    assert_eq!(pindrift(&fixture, &["check", "--format", "github"]).with(0).lines().count(), 1);
    let sarif: serde_json::Value =
        serde_json::from_str(&pindrift(&fixture, &["check", "--format", "sarif"]).with(0)).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let json: serde_json::Value =
        serde_json::from_str(&pindrift(&fixture, &["pins", "--format", "json"]).with(0)).expect("JSON");
    assert_eq!(json["schema"], 1);
    pindrift(&fixture, &["doctor"]).with(0);
    assert!(pindrift(&fixture, &["log"]).with(0).contains("no decision is recorded"));
}

#[test]
fn a_reader_that_hangs_up_is_no_error() {
    let fixture = Fixture::new(&format!(
        "//- tests/test_many.py\n{}",
        (0..3000).map(|i| format!("def test_{i}():\n    assert f({i}) == {i}\n")).collect::<String>()
    ));
    let mut command = std::process::Command::new("sh");
    command.current_dir(fixture.path()).args(["-c", "\"$0\" pins 2>err | head -n 1; cat err"]);
    let said = said(command.arg(env!("CARGO_BIN_EXE_pindrift")));
    assert!(said.out.lines().count() <= 1 && !said.out.contains("Broken pipe"), "{said:?}");
}

#[test]
fn a_path_outside_is_refused() {
    let inside = Fixture::committed(EMPTY);
    let outside = Fixture::committed("//- a.py\n");
    let path = outside.at("a.py");
    let both = ["check", "README", path.to_str().expect("UTF-8")];
    let refusal = pindrift(&inside, &both).refusal(2);
    assert!(refusal.contains("outside"), "{refusal}");
}

#[test]
fn the_demo_is_a_real_workspace_and_takes_only_an_empty_folder() {
    let fixture = Fixture::new(EMPTY);
    let refusal = pindrift(&fixture, &["demo", "."]).refusal(2);
    assert!(refusal.contains("not empty"), "{refusal}");
    let out = pindrift(&fixture, &["demo", "d"]).with(0);
    assert!(out.contains("3 drifts (3 distinct changes)"), "{out}");
    for word in ["behaviour", "ordering", "float-digits", "Neovim", "VS Code", "Helix"] {
        assert!(out.contains(word), "{word} in {out}");
    }
    let mut log = program(&fixture);
    log.current_dir(fixture.at("d")).args(["log"]);
    assert!(said(&mut log).with(0).contains("VAT is rounded half up"));
    let git = |args: &[&str]| {
        let out = std::process::Command::new("git").current_dir(fixture.at("d")).args(args).output().expect("git");
        String::from_utf8(out.stdout).expect("UTF-8")
    };
    assert_eq!(git(&["log", "--format=%an"]).lines().collect::<Vec<_>>(), ["Dana Demo"; 3]);
    assert_eq!(git(&["status", "--porcelain"]), "?? tests/actual/\n");
    let mut audit = program(&fixture);
    audit.current_dir(fixture.at("d")).args(["audit", "--base", "HEAD~2"]);
    said(&mut audit).with(0);
    for (id, status) in [("tests/test_discount.py::test_apply_discount_pins_legacy_output", 0), ("none", 2)] {
        let mut accept = program(&fixture);
        accept.current_dir(fixture.at("d"));
        let said = said(accept.args(["accept", "--test", id, "--reason", "round half up, as the price list says"]));
        assert_eq!(said.status, status, "{said:?}");
    }
    let test = fixture.read("d/tests/test_discount.py");
    assert!(test.contains("assert apply_discount(2.675, 0.0) == 2.68\n"), "{test}");
    assert!(test.contains("Reason: round half up, as the price list says"), "{test}");
}

/// The settings say which file a call is about; how it is compared is read where the helper can be read.
#[test]
fn a_helper_of_the_settings_is_still_read() {
    let settings = "[[helper]]\ncall = \"check_golden\"\nname = 0\nvalue = 1\nroot = \"tests/golden\"\n";
    let fixture = Fixture::committed(&format!(
        "//- pindrift.toml\n{settings}//- tests/golden/month.csv\nold\n//- tests/test_month.py\n\
         from pathlib import Path\nfrom shop import month\n\n\ndef check_golden(name, actual):\n    \
         assert actual == (Path(__file__).parent / \"golden\" / name).read_text()\n    assert actual.count(\";\") == 2\n\n\n\
         def test_month():\n    check_golden(\"month.csv\", month())\n\n\n\
         def test_named():\n    check_golden(name=\"month.csv\", actual=month())\n"
    ));
    let pins = pindrift(&fixture, &["pins", "--format", "json"]).with(0);
    let pins: serde_json::Value = serde_json::from_str(&pins).expect("JSON");
    let rows: Vec<String> = pins["assertions"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| format!("{} {} {}", row["line"], row["oracle"]["path"], row["asserted_in"]))
        .collect();
    let within = "{\"file\":\"tests/test_month.py\",\"line\":6}";
    assert_eq!(
        rows,
        [format!("11 \"tests/golden/month.csv\" {within}"), format!("15 \"tests/golden/month.csv\" {within}")]
    );
    fixture.write(&format!(
        "//- tests/test_month.py\n{}",
        fixture.read("tests/test_month.py").replace("actual ==", "actual in")
    ));
    fixture.commit("hold less");
    let told = pindrift(&fixture, &["audit", "--base", "HEAD~1"]).with(1);
    assert!(told.contains("tests/golden/month.csv"), "{told}");
}
