//! The gate on insta: content counts, so a refreshed header, a formatter and another checkout's line ends
//! pass; what was accepted with insta's own tool and no reason fails and is named.

use super::{Fixture, amendments, drift, pindrift};

const CRATE: &str = "//- pindrift.toml\n//- Cargo.toml\n[package]\nname = \"t\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
    //- src/lib.rs\n//- tests/s.rs\nuse t::f;\n\n#[test]\nfn file() {\n    insta::assert_snapshot!(f(1));\n}\n\n#[test]\nfn \
    inline() {\n    insta::assert_snapshot!(f(2), @\"old\");\n}\n\
    //- tests/golden.rs\n//! Characterization tests: they pin what is printed today.\n\n#[test]\nfn bytes() {\n    \
    assert_eq!(t::f(3), include_str!(\"golden/a.txt\"));\n}\n//- tests/golden/a.txt\none\ntwo\n\
    //- tests/snapshots/s__file.snap\n---\nsource: tests/s.rs\nexpression: f(1)\n---\none\ntwo\n";

fn suite() -> Fixture {
    let fixture = Fixture::committed(CRATE);
    fixture.git(&["branch", "base"]);
    fixture
}

fn audit(fixture: &Fixture) -> super::Said {
    pindrift(fixture, &["audit", "--base", "base"])
}

#[test]
fn a_refreshed_header_and_a_formatter_pass() {
    let fixture = suite();
    fixture.write(
        "//- tests/snapshots/s__file.snap\n---\nsource: tests/s.rs\nassertion_line: 5\nexpression: \"f(1)\"\nsnapshot_kind: \
         text\n---\none\ntwo\n",
    );
    let source = fixture.read("tests/s.rs");
    let formatted = source.replace("(f(2), @\"old\")", "(\n        f(2),\n        @r\"\n    old\n    \"\n    )");
    assert_ne!(source, formatted);
    std::fs::write(fixture.at("tests/s.rs"), formatted).expect("written");
    fixture.commit("refresh and format");
    audit(&fixture).with(0);
}

#[test]
fn what_was_accepted_without_a_reason_is_named() {
    let fixture = suite();
    // As `cargo insta accept` leaves it.
    let source = fixture.read("tests/s.rs").replace("@\"old\"", "@\"new\"");
    std::fs::write(fixture.at("tests/s.rs"), source).expect("written");
    fixture.write("//- tests/snapshots/s__file.snap\n---\nsource: tests/s.rs\nexpression: f(1)\n---\none\n2\n");
    fixture.commit("accepted with insta's own tool");
    let said = audit(&fixture);
    assert_eq!(said.status, 1, "{said:?}");
    for place in ["tests/snapshots/s__file.snap", "tests/s.rs#literal:1"] {
        assert!(said.out.contains(place), "{place}: {said:?}");
    }
    for what in ["tests/snapshots/s__file.snap", "s::inline"] {
        pindrift(&fixture, &["explain", what, "--base", "base", "--reason", "the second line counts since rule 7"])
            .with(0);
    }
    fixture.commit("explained");
    audit(&fixture).with(0);
}

#[test]
fn a_clone_with_other_line_ends_passes() {
    let fixture = suite();
    fixture.write("//- tests/snapshots/s__file.snap.new\n---\nsource: tests/s.rs\nexpression: f(1)\n---\none\n2\n");
    let id = drift(&fixture, "s::file");
    pindrift(&fixture, &["accept", &id, "--reason", "the second line counts since rule 7"]).with(0);
    fixture.commit("decided");
    audit(&fixture).with(0);
    let clone = Fixture::new("");
    let from = fixture.path().to_str().expect("UTF-8");
    clone.git(&["clone", "-q", "-c", "core.autocrlf=true", from, "c"]);
    assert!(clone.read("c/tests/golden/a.txt").contains("\r\n"));
    let mut command = super::program(&clone);
    command.current_dir(clone.at("c")).args(["audit", "--base", "origin/base"]);
    super::said(&mut command).with(0);
    assert_eq!(amendments(&fixture).len(), 1);
}

#[test]
fn settings_that_broke_close_the_gate() {
    let helper = "[[helper]]\ncall = \"held\"\nname = 0\nvalue = 1\nroot = \"tests/golden\"\n";
    let fixture = Fixture::committed(&format!(
        "//- pindrift.toml\n{helper}//- tests/test_a.py\nfrom made import held, text\n\ndef test_a():\n    held(\"a.txt\", text())\n\
         //- tests/golden/a.txt\none\n"
    ));
    fixture.git(&["branch", "base"]);
    fixture.write("//- tests/golden/a.txt\ntwo\n");
    audit(&fixture).with(1);
    std::fs::write(fixture.at("pindrift.toml"), helper.replace("call", "cal")).expect("written");
    let said = audit(&fixture).with(1);
    assert!(said.contains("pindrift.toml") && said.contains("until it is mended"), "{said}");
    assert!(said.contains("0 changed with their decisions, 3 without"), "{said}");
}

const PINS: &str = "//- pindrift.toml\n//- app.py\ndef f(n):\n    return n\n//- tests/test_a.py\n\"\"\"Characterization tests: they pin \
    current behaviour.\"\"\"\nimport pytest\nfrom app import f\n\n\ndef test_a():\n    assert f(1) == \"uno\"\n    assert f(2) == \
    \"dos\"\n\n\ndef test_b():\n    assert f(3) == \"tres\"\n";

fn pins() -> Fixture {
    let fixture = Fixture::committed(PINS);
    fixture.git(&["branch", "base"]);
    fixture
}

fn edit(fixture: &Fixture, old: &str, new: &str) {
    let source = fixture.read("tests/test_a.py");
    assert!(source.contains(old), "{source}");
    std::fs::write(fixture.at("tests/test_a.py"), source.replace(old, new)).expect("written");
}

#[test]
fn a_pin_goes_on_the_record() {
    let fixture = pins();
    edit(&fixture, "    assert f(1) == \"uno\"\n", "");
    fixture.commit("shorter");
    let said = audit(&fixture).with(1);
    assert!(said.contains("test_a does not hold this value against tests/test_a.py#literal:1 any more"), "{said}");
    let retire =
        ["retire", "tests/test_a.py::test_a", "--base", "base", "--reason", "the first case is gone since rule 7"];
    pindrift(&fixture, &retire).with(0);
    assert_eq!(amendments(&fixture).len(), 1, "the other pin of the test stays");
    audit(&fixture).with(0);
    // The next one has the same number in its test.
    fixture.commit("retired");
    fixture.git(&["branch", "-f", "base"]);
    edit(&fixture, "    assert f(2) == \"dos\"\n", "    f(2)\n");
    audit(&fixture).with(1);
    pindrift(&fixture, &retire).with(0);
    audit(&fixture).with(0);
}

#[test]
fn a_test_that_sees_less_has_its_reason() {
    let fixture = pins();
    edit(&fixture, "def test_b", "@pytest.mark.skip\ndef test_b");
    fixture.commit("flaky");
    let said = audit(&fixture).with(1);
    assert!(said.contains("tests/test_a.py:11  tests/test_a.py::test_b sees less than it did"), "{said}");
    let explain =
        |test: &str, reason: &str| pindrift(&fixture, &["explain", test, "--base", "base", "--reason", reason]);
    explain("tests/test_a.py::test_b", "").refusal(1);
    explain("tests/test_a.py::test_b", "the service of rule 7 is down until May").with(0);
    let said = audit(&fixture).with(0);
    assert!(said.contains("the service of rule 7 is down until May"), "{said}");
    // It speaks of that one alone.
    edit(&fixture, "def test_a", "@pytest.mark.skip\ndef test_a");
    audit(&fixture).with(1);
    edit(&fixture, "@pytest.mark.skip\ndef test_a", "def test_a");
    edit(&fixture, "@pytest.mark.skip\n", "@pytest.mark.xfail\n");
    audit(&fixture).with(1);
}

#[test]
fn what_moved_on_both_sides_is_decided_anew() {
    let fixture = pins();
    let change = |new: &str| {
        edit(&fixture, "\"tres\"", new);
        pindrift(&fixture, &["explain", "tests/test_a.py::test_b", "--reason", "the third is in another language now"])
            .with(0);
        fixture.commit("third");
    };
    change("\"three\"");
    audit(&fixture).with(0);
    fixture.git(&["checkout", "-q", "base"]);
    change("\"drei\"");
    fixture.git(&["checkout", "-q", "main"]);
    let said = audit(&fixture).with(1);
    assert!(said.contains("tests/test_a.py:12  changed here and on base since they parted at"), "{said}");
}
