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

#[test]
fn a_policy_that_is_loosened_in_the_change_does_not_help_it() {
    let fixture = pins();
    let policy = "//- pindrift.toml\n[policy]\nconfirm = [\"grace@example.org\"]\nproof = [\"tests/test_a.py\"]\nforbidden = [\"as \
        discussed\"]\n";
    let change = |fixture: &Fixture, reason: &str| {
        edit(fixture, "\"tres\"", "\"three\"");
        pindrift(fixture, &["explain", "tests/test_a.py::test_b", "--reason", reason])
    };
    fixture.write(policy);
    fixture.commit("policy");
    fixture.git(&["branch", "-f", "base"]);
    let refusal = change(&fixture, "English, as discussed").refusal(1);
    assert!(refusal.contains("allows no reason with \"as discussed\""), "{refusal}");
    edit(&fixture, "\"three\"", "\"tres\"");
    fixture.write("//- pindrift.toml\n[policy]\n");
    change(&fixture, "English, as discussed").with(0);
    fixture.commit("in English");
    let said = audit(&fixture).with(1);
    for rule in [
        "wants one of grace@example.org",
        "allows no reason with \"as discussed\"",
        "wants a proof for tests/test_a.py#literal:1",
    ] {
        assert!(said.contains(rule), "{rule}: {said}");
    }
    assert!(said.contains("pindrift.toml:1  [policy] is changed here; the one of "), "{said}");
}

#[test]
fn a_rule_of_the_base_that_cannot_be_read_is_told() {
    let fixture = pins();
    fixture.write("//- pindrift.toml\n[policy]\nproof = [\"[\", \"tests/test_a.py\"]\nconfirm = 3\n");
    fixture.commit("policy");
    fixture.git(&["branch", "-f", "base"]);
    fixture.write("//- pindrift.toml\n[policy]\n");
    edit(&fixture, "\"tres\"", "\"three\"");
    pindrift(&fixture, &["explain", "tests/test_a.py::test_b", "--reason", "the words are English"]).with(0);
    fixture.commit("in English");
    let said = audit(&fixture).with(1);
    for told in [
        "this rule held nothing back: \"[\" of `proof` is not a glob; it is left out",
        "this rule held nothing back: `confirm` takes a list of texts; it is left out",
        "the policy at the base wants a proof for tests/test_a.py#literal:1",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
}

#[test]
fn what_is_not_committed_is_told() {
    let fixture = pins();
    edit(&fixture, "\"tres\"", "\"three\"");
    pindrift(&fixture, &["explain", "tests/test_a.py::test_b", "--reason", "the third is English now"]).with(0);
    let said = audit(&fixture).with(0);
    assert!(
        said.contains("The work tree was looked at, and not all of it is committed: .pindrift/amendments/"),
        "{said}"
    );
    assert!(said.contains(" and 1 more\n"), "{said}");
    fixture.commit("decided");
    let said = audit(&fixture).with(0);
    assert!(!said.contains("work tree"), "{said}");
}

#[test]
fn a_page_tells_the_decisions_of_a_pull_request() {
    let fixture = pins();
    edit(&fixture, "\"tres\"", "\"three\"");
    let explain = [
        "explain",
        "tests/test_a.py::test_b",
        "--reason",
        "English since <rule> #7, says @ada",
        "--authority",
        "rule 7",
    ];
    pindrift(&fixture, &explain).with(0);
    edit(&fixture, "def test_a", "@pytest.mark.skip\ndef test_a");
    fixture.commit("in English");
    let page = pindrift(&fixture, &["audit", "--base", "base", "--format", "markdown"]).with(1);
    for part in [
        "### Without a decision\n\n- `tests/test_a.py:6` tests/test\\_a.py::test\\_a sees less than it did (and of one more pin): `pytest.mark.skip`",
        "### drift: English since \\<rule\\> \\#7, says @\u{200b}ada\n\n`tests/test_a.py#literal:1` of `tests/test_a.py::test_b`, by ",
        "- authority: rule 7\n",
        "```diff\n-tres\n+three\n```\n",
    ] {
        assert!(page.contains(part), "{part}\nin {page}");
    }
}

#[test]
fn the_workflow_and_the_hooks_that_are_ready_to_copy_run() {
    let fixture = pins();
    let ours = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| std::fs::read_to_string(ours.join(file)).expect("there");
    let mut lines: Vec<String> = Vec::new();
    let workflow = read(".ci/pull-requests.yml");
    lines.extend(
        workflow
            .lines()
            .filter_map(|line| line.trim().strip_prefix("run: pindrift"))
            .map(|rest| format!("pindrift{rest}")),
    );
    let hooks = read(".pre-commit-hooks.yaml");
    lines.extend(hooks.lines().filter_map(|line| line.trim().strip_prefix("entry: ")).map(str::to_string));
    assert_eq!(lines.len(), 4, "{lines:?}");
    let path = std::path::Path::new(env!("CARGO_BIN_EXE_pindrift")).parent().expect("a folder").display();
    let run = |line: &str| {
        let mut command = std::process::Command::new("sh");
        command.current_dir(fixture.path()).args(["-c", &format!("PATH='{path}':$PATH; {line}")]);
        command
            .env("BASE", "base")
            .env("GITHUB_STEP_SUMMARY", fixture.at("summary.md"))
            .status()
            .expect("sh runs")
            .code()
    };
    for line in &lines {
        assert_eq!(run(line), Some(0), "{line}");
    }
    assert!(fixture.read("summary.md").starts_with("## Pinned behaviour"));
    edit(&fixture, "\"tres\"", "\"three\"");
    let failed: Vec<&String> = lines.iter().filter(|line| run(line) == Some(1)).collect();
    assert_eq!(failed.len(), 2, "{failed:?}");
}
