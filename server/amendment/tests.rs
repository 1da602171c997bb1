use super::*;
use crate::fixture::Fixture;
use crate::ledger::{Kind, Ledger};
use crate::oracles::digest_of;

fn root(fixture: &Fixture) -> Root {
    Root::of(fixture.path(), fixture.path()).unwrap()
}

fn path(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

fn amendment(oracle: &str) -> Amendment {
    Amendment {
        at: "2026-08-28T21:30:05Z".parse().unwrap(),
        author: "Ada".into(),
        via: "cli".into(),
        proposed_by: None,
        confirmed_by: None,
        kind: Kind::Drift,
        pin: None,
        oracle: oracle.into(),
        framework: None,
        verdict: Some("intended".into()),
        reason: "round half to even".into(),
        authority: None,
        before: Some("sha256:0".into()),
        after: Some("sha256:1".into()),
        proof: None,
        proven: None,
        observed: None,
        diff: None,
        after_the_fact: false,
        withdraws: None,
        to: None,
        hunks: Vec::new(),
        change: None,
        pending: false,
    }
}

fn change(path_: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
    FileChange {
        path: path(path_),
        before: before.map(|text| digest_of(&[text.as_bytes()])),
        after: after.map(|text| text.as_bytes().to_vec()),
        edits: Vec::new(),
    }
}

fn plan(oracle: &str, changes: Vec<FileChange>, artefacts: Vec<FileChange>) -> Plan {
    let amendment = amendment(oracle);
    Plan { changes, artefacts, record: amendment.file(), amendment }
}

/// Every file below the folder but git's, with its text; folders that hold nothing do not count.
fn tree(fixture: &Fixture) -> Vec<(String, String)> {
    fn walk(at: &std::path::Path, top: &std::path::Path, into: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(at).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                if !path.ends_with(".git") {
                    walk(&path, top, into);
                }
            } else {
                let name = path.strip_prefix(top).unwrap().display().to_string();
                into.push((name, String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned()));
            }
        }
    }
    let mut files = Vec::new();
    walk(fixture.path(), fixture.path(), &mut files);
    files.sort();
    files
}

const TWO: &str = "//- tests/golden/a.txt\nold\n//- tests/test_a.py\nassert 1\n//- tests/actual/a.received.txt\nnew\n";

fn of_two() -> Plan {
    plan(
        "tests/golden/a.txt",
        vec![
            change("tests/golden/a.txt", Some("old\n"), Some("new\n")),
            change("tests/test_a.py", Some("assert 1\n"), Some("# why\nassert 1\n")),
        ],
        vec![change("tests/actual/a.received.txt", Some("new\n"), None)],
    )
}

fn nothing_open(_: &RelPath) -> bool {
    false
}

fn names(fixture: &Fixture) -> Vec<String> {
    tree(fixture).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn an_applied_plan_leaves_its_files_its_amendment_and_nothing_else() {
    let fixture = Fixture::committed(TWO);
    let plan = of_two();
    let applied = apply(&root(&fixture), &plan, &nothing_open).unwrap();
    assert_eq!(applied, Applied { record: plan.record.clone(), pending: false, edits: vec![] });
    assert_eq!(names(&fixture), [plan.record.as_str(), "tests/golden/a.txt", "tests/test_a.py"]);
    assert_eq!(fixture.read("tests/golden/a.txt"), "new\n");
    assert_eq!(fixture.read("tests/test_a.py"), "# why\nassert 1\n");
    assert!(!fixture.at(".pindrift/unfinished").exists());
}

#[test]
fn a_file_that_changed_since_refuses_and_nothing_is_written() {
    for (file, text) in
        [("tests/golden/a.txt", "newer\n"), ("tests/test_a.py", "assert 2\n"), ("tests/golden/a.txt", "new\n")]
    {
        let fixture = Fixture::committed(TWO);
        fixture.write(&format!("//- {file}\n{text}"));
        let before = tree(&fixture);
        let refusal = apply(&root(&fixture), &of_two(), &nothing_open).unwrap_err();
        assert!(refusal.0.contains(file) && refusal.0.contains("changed since"), "{refusal}");
        assert_eq!(tree(&fixture), before);
    }
}

#[test]
fn what_cannot_be_written_refuses_and_nothing_is_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = Fixture::committed(TWO);
    let before = tree(&fixture);
    std::fs::set_permissions(fixture.at("tests/test_a.py"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let refusal = apply(&root(&fixture), &of_two(), &nothing_open).unwrap_err();
    assert!(refusal.0.contains("tests/test_a.py is read-only") && refusal.0.contains("chmod"), "{refusal}");
    assert_eq!(tree(&fixture), before);

    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("a.txt"), "old\n").unwrap();
    let fixture = Fixture::committed(TWO);
    std::fs::remove_file(fixture.at("tests/golden/a.txt")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("a.txt"), fixture.at("tests/golden/a.txt")).unwrap();
    let refusal = apply(&root(&fixture), &of_two(), &nothing_open).unwrap_err();
    assert!(refusal.0.contains("leads out of the workspace"), "{refusal}");
    assert_eq!(std::fs::read_to_string(outside.path().join("a.txt")).unwrap(), "old\n");
    assert_eq!(fixture.read("tests/test_a.py"), "assert 1\n");
}

#[test]
fn the_mode_stays_and_a_link_inside_the_root_stays_a_link() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = Fixture::committed(TWO);
    std::fs::rename(fixture.at("tests/golden/a.txt"), fixture.at("real.txt")).unwrap();
    std::os::unix::fs::symlink("../../real.txt", fixture.at("tests/golden/a.txt")).unwrap();
    std::fs::set_permissions(fixture.at("real.txt"), std::fs::Permissions::from_mode(0o755)).unwrap();
    apply(&root(&fixture), &of_two(), &nothing_open).unwrap();
    assert!(fixture.at("tests/golden/a.txt").symlink_metadata().unwrap().is_symlink());
    assert_eq!(fixture.read("real.txt"), "new\n");
    assert_eq!(std::fs::metadata(fixture.at("real.txt")).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_file_that_an_editor_has_open_waits_for_its_save() {
    let open = |file: &RelPath| file.as_str() == "tests/test_a.py";
    let literal = || {
        plan(
            "tests/test_a.py#literal:1",
            vec![change("tests/test_a.py", Some("assert 1\n"), Some("assert 2\n"))],
            vec![change("tests/actual/a.received.txt", Some("new\n"), None)],
        )
    };
    let fixture = Fixture::committed(TWO);
    let root = root(&fixture);
    let applied = apply(&root, &literal(), &open).unwrap();
    assert!(applied.pending);
    assert_eq!(applied.edits.len(), 1);
    assert_eq!(fixture.read("tests/test_a.py"), "assert 1\n");
    let entries = || Ledger::read(&root, None).entries;
    assert!(entries()[0].amendment.pending);
    let ledger = Ledger::read(&root, None);
    assert!(ledger.troubles.is_empty() && ledger.waiting[0].message.contains(FINISH), "{ledger:?}");
    assert_eq!(entries()[0].path, applied.record);
    assert_eq!(fixture.git(&["status", "--porcelain"]), "", "a pending record is nobody else's");

    // The same place cannot be decided on twice.
    assert!(apply(&root, &literal(), &open).unwrap_err().0.contains(FINISH));
    // Taken, and not saved: still pending. Closed without a save: no record.
    assert!(advance(&root, &applied.record).unwrap().pending);
    let settled = settle(&root, None, &path("tests/test_a.py"), &[], &nothing_open).unwrap();
    assert_eq!(settled[0].outcome, Outcome::Dropped);
    assert!(entries().is_empty());
    assert_eq!(fixture.git(&["status", "--porcelain"]), "");

    // Saved: in the ledger.
    let applied = apply(&root, &literal(), &open).unwrap();
    fixture.write("//- tests/test_a.py\nassert 2\n");
    let settled = settle(&root, None, &path("tests/test_a.py"), &[], &open).unwrap();
    assert_eq!(settled[0].outcome, Outcome::Finished);
    assert!(!entries()[0].amendment.pending);
    assert_eq!(names(&fixture), [applied.record.as_str(), "tests/golden/a.txt", "tests/test_a.py"]);
}

#[test]
fn an_editor_that_refuses_leaves_nothing() {
    let open = |file: &RelPath| file.as_str() == "tests/test_a.py";
    let fixture = Fixture::committed(TWO);
    let root = root(&fixture);
    let before = tree(&fixture);
    let applied = apply(&root, &of_two(), &open).unwrap();
    abandon(&root, &applied.record).unwrap();
    assert_eq!(tree(&fixture), before);
    // A golden file with its comment in an open source: written as soon as the editor took the comment.
    let applied = apply(&root, &of_two(), &open).unwrap();
    assert_eq!(fixture.read("tests/golden/a.txt"), "old\n");
    assert!(!advance(&root, &applied.record).unwrap().pending);
    assert_eq!(fixture.read("tests/golden/a.txt"), "new\n");
    assert_eq!(fixture.read("tests/test_a.py"), "assert 1\n");
    assert!(fixture.at(applied.record.as_str()).exists());
}

#[test]
fn finishing_stops_at_what_somebody_changed_and_loses_no_reason() {
    let open = |file: &RelPath| file.as_str() == "tests/test_a.py";
    let fixture = Fixture::committed(TWO);
    let root = root(&fixture);
    let applied = apply(&root, &of_two(), &open).unwrap();
    fixture.write("//- tests/golden/a.txt\nsomebody's\n");
    let finished = finish(&root).unwrap();
    let trouble = finished[0].trouble.as_ref().unwrap();
    assert!(trouble.0.contains("tests/golden/a.txt changed"), "{trouble}");
    assert_eq!(fixture.read("tests/golden/a.txt"), "somebody's\n");
    assert_eq!(fixture.read("tests/test_a.py"), "assert 1\n", "all or nothing");
    assert_eq!(Ledger::read(&root, None).entries[0].amendment.reason, "round half to even");
    fixture.write("//- tests/golden/a.txt\nold\n");
    assert_eq!(finish(&root).unwrap(), [Finished { record: applied.record, trouble: None }]);
    assert_eq!(fixture.read("tests/test_a.py"), "# why\nassert 1\n");
    assert_eq!(finish(&root).unwrap(), []);
}

#[test]
fn many_at_once_into_one_folder_and_one_source_are_all_there() {
    let mut notation = String::from("//- tests/test_a.py\n");
    (0..24).for_each(|n| notation.push_str(&format!("# {n}\n")));
    (0..24).for_each(|n| notation.push_str(&format!("//- tests/golden/{n}.txt\nold {n}\n")));
    let fixture = Fixture::committed(&notation);
    let root = root(&fixture);
    std::thread::scope(|scope| {
        for n in 0..24 {
            let (root, fixture) = (&root, &fixture);
            scope.spawn(move || {
                let mut again = || {
                    let source = fixture.read("tests/test_a.py");
                    let new = source.replace(&format!("# {n}\n"), &format!("# {n}\n# why {n}\n"));
                    Ok(plan(
                        &format!("tests/golden/{n}.txt"),
                        vec![
                            change(
                                &format!("tests/golden/{n}.txt"),
                                Some(&format!("old {n}\n")),
                                Some(&format!("new {n}\n")),
                            ),
                            change("tests/test_a.py", Some(&source), Some(&new)),
                        ],
                        vec![],
                    ))
                };
                amend(root, &mut again, &nothing_open).unwrap();
            });
        }
    });
    let wanted: String = (0..24).map(|n| format!("# {n}\n# why {n}\n")).collect();
    assert_eq!(fixture.read("tests/test_a.py"), wanted);
    (0..24).for_each(|n| assert_eq!(fixture.read(&format!("tests/golden/{n}.txt")), format!("new {n}\n")));
    assert_eq!(Ledger::read(&root, None).entries.len(), 24);
    assert_eq!(names(&fixture).len(), 49);
}
