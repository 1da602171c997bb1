//! What an accept says where a specification test speaks of the pin's call, or seems to.

use crate::amendment::{Request, plan_accept};
use crate::fixture::Fixture;
use crate::pins::Extent;
use crate::survey::Workspace;

/// What refuses the accept of the one drift.
fn refusal(notation: &str) -> Option<String> {
    let fixture = Fixture::committed(notation);
    let workspace = Workspace::open(fixture.path()).unwrap();
    let survey = workspace.survey(&Extent::All, &|| false).unwrap();
    let case = survey.cases.iter().find(|case| case.drift_id.is_some()).expect("a drift");
    let request = Request {
        drift: case.drift_id.clone(),
        reason: "the name is spelled out since rule 7".into(),
        authority: None,
        proof: None,
        verdict: None,
        via: "cli".into(),
        author: "Ada <ada@example.org>".into(),
        proposed_by: None,
        confirmed_by: None,
        at: "2026-08-28T21:30:05Z".parse().unwrap(),
    };
    plan_accept(case, &workspace, &request).err().map(|refusal| refusal.0)
}

const PAIRS: &str = "//- pindrift.toml\n[pairs]\n\"tests/golden/*\" = \"tests/actual/*\"\n//- tests/golden/a.txt\none\n//- \
                     tests/actual/a.txt\ntwo\n//- pkg.py\ndef make(n):\n    return n\n\n\ndef total(n):\n    return \
                     n\n//- other.py\ndef make(n):\n    return n\n\n\ndef total(n):\n    return n\n";

fn golden(pin: &str, specification: &str) -> Option<String> {
    let indented = |body: &str| body.lines().map(|line| format!("    {line}\n")).collect::<String>();
    refusal(&format!(
        "{PAIRS}//- tests/test_a.py\n\"\"\"Characterization tests: pin current behaviour.\"\"\"\nfrom pathlib import \
         Path\nfrom pkg import make, total\nG = Path(__file__).parent / \"golden\"\n\ndef test_small(size):\n{}    assert \
         total(order) == (G / \"a.txt\").read_text()\n//- tests/test_spec.py\nimport other\nimport pkg\nfrom pkg import \
         make, total\n\ndef test_rule(size):\n    \"\"\"Specification test: rule 7.\"\"\"\n{}",
        indented(pin),
        indented(specification)
    ))
}

#[test]
fn a_specification_of_the_same_call_that_expects_something_else_refuses_the_accept() {
    for specification in [
        "assert total(make(3)) == 'nine\\n'",
        "order = make(3)\nassert total(order) == 'nine\\n'",
        "n = 3\nmine = pkg.make( n )\nassert pkg.total(mine) == 'nine\\n'",
    ] {
        let why = golden("order = make(3)", specification).expect(specification);
        assert!(why.contains("is a specification test of the same call and expects 'nine\\n'"), "{why}");
    }
}

#[test]
fn a_specification_of_another_call_refuses_nothing() {
    for (pin, specification) in [
        ("order = make(3)", "order = make(700)\nassert total(order) == 'nine\\n'"),
        ("order = make(3)", "order = other.make(3)\ntotal = other.total\nassert total(order) == 'nine\\n'"),
        ("order = make(3)", "assert other.total(make(3)) == 'nine\\n'"),
        ("order = make('a b')", "order = make('ab')\nassert total(order) == 'nine\\n'"),
        // What only a run knows.
        ("order = make(size)", "order = make(size)\nassert total(order) == 'nine\\n'"),
        ("order = make(3)", "order = make(3)\norder.add(5)\nassert total(order) == 'nine\\n'"),
        ("order = make(3)", "order = make(3)\nif size:\n    order = make(4)\nassert total(order) == 'nine\\n'"),
        ("order = make(3)", "with pkg.prices(2):\n    assert total(make(3)) == 'nine\\n'"),
    ] {
        assert_eq!(golden(pin, specification), None, "{pin} and {specification}");
    }
}

#[test]
fn what_a_framework_spells_its_own_way_is_not_held_against_a_literal() {
    let insta = "//- Cargo.toml\n[package]\nname = \"a\"\nversion = \"0.1.0\"\n[dev-dependencies]\ninsta = \"1\"\n//- \
                 src/lib.rs\npub fn name(n: i32) -> &'static str {\n    \"four\"\n}\n//- tests/pins.rs\n//! \
                 Characterization tests: they pin current behaviour.\n\n#[test]\nfn small() {\n    \
                 insta::assert_debug_snapshot!(a::name(3));\n}\n//- tests/snapshots/pins__small.snap\n---\nsource: \
                 tests/pins.rs\nexpression: a::name(3)\n---\n\"three\"\n//- \
                 tests/snapshots/pins__small.snap.new\n---\nsource: tests/pins.rs\nassertion_line: 5\nexpression: \
                 a::name(3)\n---\n\"four\"\n//- tests/rules.rs\n/// Specification test: rule 7.\n#[test]\nfn rule() {\n    \
                 assert_eq!(a::name(3), \"four\");\n}\n";
    assert_eq!(refusal(insta), None);
    let stripped = format!(
        "{PAIRS}//- tests/test_a.py\n\"\"\"Characterization tests: pin current behaviour.\"\"\"\nfrom pathlib import \
         Path\nfrom pkg import total\nG = Path(__file__).parent / \"golden\"\n\ndef test_small():\n    assert total(3) == (G \
         / \"a.txt\").read_text().strip()\n//- tests/test_spec.py\nfrom pkg import total\n\ndef test_rule():\n    \
         \"\"\"Specification test: rule 7.\"\"\"\n    assert total(3) == 'two'\n"
    );
    assert_eq!(refusal(&stripped), None);
}
