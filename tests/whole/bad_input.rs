//! What is broken costs only itself: a clear message, everything else goes on, nothing is lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{Fixture, amendments, drift, pindrift, report, tree};

/// One golden file for each test; `more` is added to the files.
fn goldens(names: &[&str], more: &str) -> Fixture {
    let tests: String =
        names.iter().map(|name| format!("\n\ndef test_{name}():\n    check(\"{name}.txt\")\n")).collect();
    let files: String = names
        .iter()
        .map(|name| format!("//- tests/golden/{name}.txt\n{name} 1\n//- tests/actual/{name}.txt\n{name} 2\n"))
        .collect();
    let fixture = Fixture::committed(&format!(
        "//- pindrift.toml\n//- tests/test_g.py\n\"\"\"Characterization tests.\"\"\"\nfrom pathlib import Path\n\n\
         from code import render\n\nHERE = Path(__file__).parent\n\n\ndef check(name):\n    text = render(name)\n    \
         (HERE / \"actual\" / name).write_text(text)\n    assert text == (HERE / \"golden\" / name).read_text()\n\
         {tests}{files}{more}"
    ));
    for name in names {
        // As a run leaves it: newer than the golden file.
        fixture.write(&format!("//- tests/actual/{name}.txt\n{name} 2\n"));
    }
    fixture
}

const REASON: [&str; 2] = ["--reason", "the label counts from two since the new tariff"];

fn accept(fixture: &Fixture, name: &str) -> super::Said {
    let test = format!("tests/test_g.py::test_{name}");
    pindrift(fixture, &["accept", "--test", &test, REASON[0], REASON[1]])
}

fn state(fixture: &Fixture, name: &str) -> String {
    let report = report(fixture);
    let test = format!("tests/test_g.py::test_{name}");
    let rows = report["assertions"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["test"] == test.as_str()).unwrap_or_else(|| panic!("{test} in {report:#}"));
    row["state"].as_str().expect("a state").to_string()
}

#[test]
fn baselines_that_cannot_be_compared_are_named_and_the_others_go_on() {
    let fixture = goldens(&["gone", "folder", "outside", "huge", "fine"], "");
    let elsewhere = tempfile::tempdir().expect("a folder");
    fs::write(elsewhere.path().join("x.txt"), "outside 1\n").expect("written");
    let golden = |name: &str| fixture.at(&format!("tests/golden/{name}.txt"));
    for name in ["gone", "folder", "outside", "huge"] {
        fs::remove_file(golden(name)).expect("removed");
    }
    fs::create_dir(golden("folder")).expect("made");
    std::os::unix::fs::symlink(elsewhere.path().join("x.txt"), golden("outside")).expect("linked");
    fs::File::create(golden("huge")).and_then(|file| file.set_len(100 << 20)).expect("grown");
    fixture.write("//- tests/actual/huge.txt\nhuge 2\n");

    assert_eq!(state(&fixture, "gone"), "missing");
    for name in ["folder", "outside", "huge"] {
        assert_eq!(state(&fixture, name), "unreadable", "{name}");
        let refusal = accept(&fixture, name).refusal(1);
        assert!(refusal.contains("cannot be read"), "{refusal}");
    }
    assert_eq!(state(&fixture, "fine"), "drift");
    accept(&fixture, "fine").with(0);
    assert_eq!(fixture.read("tests/golden/fine.txt"), "fine 2\n");
    assert_eq!(fs::read_to_string(elsewhere.path().join("x.txt")).expect("there"), "outside 1\n");
    assert_eq!(amendments(&fixture).len(), 1);
}

#[test]
fn encodings_line_ends_and_marks_stay() {
    let fixture = goldens(&["crlf", "bom", "latin", "binary"], "");
    let write = |name: &str, old: &[u8], new: &[u8]| {
        fs::write(fixture.at(&format!("tests/golden/{name}.txt")), old).expect("written");
        fs::write(fixture.at(&format!("tests/actual/{name}.txt")), new).expect("written");
    };
    write("crlf", b"one\r\ntwo\r\n", b"one\r\n2\r\n");
    write("bom", b"\xef\xbb\xbfone\n", b"\xef\xbb\xbf1\n");
    write("latin", b"caf\xe9 1\n", b"caf\xe9 2\n");
    write("binary", b"\0\x01\xff", b"\0\x02\xff");
    for name in ["crlf", "bom", "latin", "binary"] {
        assert!(matches!(state(&fixture, name).as_str(), "drift" | "unreadable"), "{name}");
        let said = accept(&fixture, name);
        let now = fs::read(fixture.at(&format!("tests/golden/{name}.txt"))).expect("there");
        let new = fs::read(fixture.at(&format!("tests/actual/{name}.txt"))).unwrap_or_default();
        match said.status {
            0 => assert_eq!(now, new, "{name}"),
            1 => assert_ne!(now, new, "{name}: {said:?}"),
            _ => panic!("{name}: {said:?}"),
        }
    }
    assert_eq!(fs::read(fixture.at("tests/golden/crlf.txt")).expect("there"), b"one\r\n2\r\n");
}

#[test]
fn a_file_with_conflict_markers_is_not_accepted() {
    let fixture = goldens(&["merge"], "");
    let text = "<<<<<<< ours\nmerge 1\n=======\nmerge 3\n>>>>>>> theirs\n";
    fixture.write(&format!("//- tests/golden/merge.txt\n{text}//- tests/actual/merge.txt\nmerge 2\n"));
    let said = accept(&fixture, "merge");
    assert_eq!(said.status, 1, "{said:?}");
    assert_eq!(fixture.read("tests/golden/merge.txt"), text);
}

#[test]
fn a_read_only_baseline_keeps_its_mode_or_is_refused() {
    let fixture = goldens(&["frozen"], "");
    let golden = fixture.at("tests/golden/frozen.txt");
    fs::set_permissions(&golden, fs::Permissions::from_mode(0o444)).expect("set");
    let said = accept(&fixture, "frozen");
    let mode = fs::metadata(&golden).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o444);
    match said.status {
        0 => assert_eq!(fixture.read("tests/golden/frozen.txt"), "frozen 2\n"),
        1 => assert_eq!(fixture.read("tests/golden/frozen.txt"), "frozen 1\n"),
        _ => panic!("{said:?}"),
    }
}

#[test]
fn a_drift_that_was_shown_and_is_gone_is_refused() {
    let fixture = goldens(&["a"], "");
    let id = drift(&fixture, "tests/test_g.py::test_a");
    fixture.write("//- tests/actual/a.txt\na 3\n");
    let before = tree(&fixture);
    let refusal = pindrift(&fixture, &["accept", &id, REASON[0], REASON[1]]).refusal(1);
    assert!(refusal.contains("changed since"), "{refusal}");
    assert_eq!(tree(&fixture), before);
}

#[test]
fn without_git_there_is_no_accept() {
    let fixture = goldens(&["a"], "");
    fs::remove_dir_all(fixture.at(".git")).expect("removed");
    let refusal = accept(&fixture, "a").refusal(1);
    assert!(refusal.contains("git"), "{refusal}");
    assert_eq!(fixture.read("tests/golden/a.txt"), "a 1\n");
    pindrift(&fixture, &["audit", "--base", "main"]).refusal(2);
}

#[test]
fn a_ledger_or_baseline_that_git_ignores_is_refused() {
    for ignored in [".pindrift/", "tests/golden/"] {
        let fixture = goldens(&["a"], "");
        fixture.git(&["rm", "-q", "-r", "--cached", "tests/golden"]);
        // Named in the settings: a plain comparison with a file that git does not know is no pin.
        let helper = "[[helper]]\ncall = \"check\"\nname = 0\nroot = \"tests/golden\"\n";
        fixture.write(&format!("//- .gitignore\n{ignored}\n//- pindrift.toml\n{helper}"));
        fixture.git(&["add", ".gitignore"]);
        if ignored == ".pindrift/" {
            fixture.git(&["add", "-f", "tests/golden"]);
        }
        fixture.git(&["commit", "-q", "-m", "ignore"]);
        let refusal = accept(&fixture, "a").refusal(1);
        assert!(refusal.contains("ignore"), "{refusal}");
        assert_eq!(fixture.read("tests/golden/a.txt"), "a 1\n");
    }
}

#[test]
fn a_shallow_clone_says_how_deep_to_fetch() {
    let origin = goldens(&["a"], "");
    origin.commit("second");
    origin.commit("third");
    let clone = Fixture::new("");
    let from = format!("file://{}", origin.path().display());
    clone.git(&["clone", "-q", "--depth", "1", &from, "c"]);
    let mut command = super::program(&clone);
    command.current_dir(clone.at("c")).args(["audit", "--base", "origin/main~1"]);
    let refusal = super::said(&mut command).refusal(2);
    assert!(refusal.contains("fetch-depth"), "{refusal}");
}

#[test]
fn broken_settings_queries_and_amendments_are_named_with_their_place() {
    let fixture = goldens(
        &["a"],
        "//- .pindrift/queries/python/own.scm\n(call function: (identifer) @pin)\n\
         //- .pindrift/amendments/2026/01-01-broken-0123456789.toml\nat = \n",
    );
    fixture.write("//- pindrift.toml\ncomment = \"always\"\n[[helper]\ncall = \"x\"\n");
    let report = report(&fixture);
    let findings = report["findings"].as_array().expect("findings");
    for file in
        ["pindrift.toml", ".pindrift/queries/python/own.scm", ".pindrift/amendments/2026/01-01-broken-0123456789.toml"]
    {
        assert!(
            findings.iter().any(|it| it["file"] == file && it["code"] == "configuration" && it["severity"] == "error"),
            "{file} in {findings:#?}"
        );
    }
    assert_eq!(state(&fixture, "a"), "drift", "the rest works on");
    pindrift(&fixture, &["check"]).with(1);
}

#[test]
fn sources_that_cannot_be_parsed_cost_only_themselves() {
    let fixture = goldens(&["a"], "");
    fixture.write("//- tests/test_broken.py\ndef test_x(:\n    assert f( == 1\n    check(\"b.txt\"\n");
    let deep = format!("def test_deep():\n    assert f({}1{}) == 2\n", "(".repeat(10_000), ")".repeat(10_000));
    fs::write(fixture.at("tests/test_deep.py"), deep).expect("written");
    let deep = format!("#[test]\nfn deep() {{ assert_eq!(f({}1{}), 2); }}\n", "[".repeat(10_000), "]".repeat(10_000));
    fs::write(fixture.at("tests/deep.rs"), deep).expect("written");
    let line = "def test_many():\n    assert f(1) == 1\n";
    fs::write(fixture.at("tests/test_big.py"), line.repeat((20 << 20) / line.len())).expect("written");
    fs::write(fixture.at("tests/test_bytes.py"), b"def test_b():\n    assert f('\xff\xfe') == 1\n").expect("written");
    assert_eq!(state(&fixture, "a"), "drift");
    accept(&fixture, "a").with(0);
}

#[test]
fn broken_artefacts_of_insta_are_no_observation_and_no_loss() {
    let fixture = Fixture::committed(
        "//- pindrift.toml\n//- Cargo.toml\n[package]\nname = \"t\"\nversion = \"0.1.0\"\n//- src/lib.rs\n//- tests/s.rs\n\
         #[test]\nfn a() {\n    insta::assert_snapshot!(f());\n}\n\n#[test]\nfn b() {\n    \
         insta::assert_snapshot!(f(), @\"old\");\n}\n\
         //- tests/snapshots/s__a.snap\n---\nsource: [tests/s.rs\nno end of the header\n",
    );
    fixture.write(
        "//- tests/snapshots/s__a.snap.new\n---\nsource: tests/s.rs\n---\nnew\n\
         //- tests/snapshots/s__deleted_test.snap.new\n---\nsource: tests/s.rs\n---\nnew\n\
         //- tests/.s.rs.pending-snap\n{\"run_id\":\"1-1\",\"line\":8,\"new\":{\"module_name\":\"s\",\"snapsh",
    );
    let before = tree(&fixture);
    let report = report(&fixture);
    assert!(report["assertions"].as_array().expect("rows").len() >= 2, "{report:#}");
    let inline = report["assertions"].as_array().expect("rows").iter().find(|row| row["test"] == "s::b");
    assert_ne!(inline.expect("the inline pin")["state"], "drift");
    for test in ["s::a", "s::b"] {
        let said = pindrift(&fixture, &["accept", "--test", test, REASON[0], REASON[1]]);
        assert!(said.status == 1 || (said.status == 0 && test == "s::a"), "{said:?}");
    }
    let after = tree(&fixture);
    assert_eq!(after["tests/.s.rs.pending-snap"], before["tests/.s.rs.pending-snap"]);
    assert_eq!(after["tests/s.rs"], before["tests/s.rs"]);
    assert_eq!(after["tests/snapshots/s__deleted_test.snap.new"], before["tests/snapshots/s__deleted_test.snap.new"]);
}

#[test]
fn hostile_reasons_and_values_are_data() {
    let fixture = goldens(&["a"], "");
    let reason =
        format!("closes */ and \"\"\" and ''' with \u{1b}[2J \u{202e} and\r\n a line, {}", "long ".repeat(2000));
    let test = "tests/test_g.py::test_a";
    let said = pindrift(&fixture, &["accept", "--test", test, "--reason", &reason]);
    match said.status {
        0 => {
            let source = fixture.read("tests/test_g.py");
            assert!(!source.contains('\u{1b}') && !source.contains('\u{202e}') && !source.contains('\r'), "{source}");
            let (_, record) = amendments(&fixture).remove(0);
            assert!(!record.contains('\u{1b}') && !record.contains('\u{202e}'), "{record}");
            record.parse::<toml::Table>().expect("TOML");
            let log = pindrift(&fixture, &["log"]).with(0);
            assert!(!log.contains('\u{1b}') && !log.contains('\u{202e}'), "{log}");
        }
        1 => assert!(amendments(&fixture).is_empty()),
        _ => panic!("{said:?}"),
    }
}

#[test]
fn two_dozen_accepts_at_once_are_all_there() {
    let names: Vec<String> = (0..24).map(|i| format!("n{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let fixture = goldens(&names, "");
    std::thread::scope(|scope| {
        let calls: Vec<_> = names
            .chunks(6)
            .map(|names| {
                let fixture = &fixture;
                scope.spawn(move || names.iter().for_each(|name| drop(accept(fixture, name).with(0))))
            })
            .collect();
        calls.into_iter().for_each(|call| call.join().expect("all accepted"));
    });
    for name in &names {
        assert_eq!(fixture.read(&format!("tests/golden/{name}.txt")), format!("{name} 2\n"));
    }
    assert_eq!(amendments(&fixture).len(), 24);
    let source = fixture.read("tests/test_g.py");
    assert_eq!(source.matches(REASON[1]).count(), 24, "{source}");
}
