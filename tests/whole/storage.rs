//! A disk that is full and folders that may not be written: a message that says what to do, nothing lost.
//! The system's own limits are used; where they cannot be set the test says so and is skipped.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{Fixture, amendments, drift, observe, pindrift, said, tree};

const GOLDEN: &str = r#"
//- pindrift.toml
//- tests/test_g.py
"""Characterization tests."""
from pathlib import Path

from code import render

HERE = Path(__file__).parent


def check(name):
    text = render(name)
    (HERE / "actual" / name).write_text(text)
    assert text == (HERE / "golden" / name).read_text()


def test_a():
    check("a.txt")
//- tests/golden/a.txt
old
"#;

const ACCEPT: [&str; 5] =
    ["accept", "--test", "tests/test_g.py::test_a", "--reason", "the label counts from two since rule 7"];

/// The program with limits set by the shell before it starts.
fn limited(fixture: &Fixture, limits: &str, folder: &std::path::Path) -> super::Said {
    let mut command = super::program(fixture);
    let program = command.get_program().to_os_string();
    let environment: Vec<_> = command
        .get_envs()
        .map(|(name, value)| (name.to_os_string(), value.map(|value| value.to_os_string())))
        .collect();
    command = Command::new("sh");
    for (name, value) in environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(folder).args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")]).arg(program).args(ACCEPT);
    said(&mut command)
}

#[test]
fn a_file_that_may_not_grow_is_refused_and_nothing_is_lost() {
    let fixture = Fixture::committed(GOLDEN);
    let large = "new line\n".repeat(20_000);
    fixture.write(&format!("//- tests/actual/a.txt\n{large}"));
    let before = tree(&fixture);
    // 512-byte blocks; the signal of the limit is ignored, so that the write fails as on a full disk.
    let said = limited(&fixture, "trap '' XFSZ; ulimit -f 16", fixture.path());
    let refusal = said.refusal(1);
    assert!(refusal.contains("nothing was changed") || refusal.contains("was not changed"), "{refusal}");
    assert_eq!(tree(&fixture), before);
    pindrift(&fixture, &ACCEPT).with(0);
    assert_eq!(fixture.read("tests/golden/a.txt"), large);
}

#[test]
fn a_full_disk_is_named_and_nothing_is_lost() {
    let place = Fixture::new("");
    let disk = place.at("disk");
    std::fs::create_dir(&disk).expect("made");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(&disk).output();
    if !mounted.is_ok_and(|out| out.status.success()) {
        return eprintln!("skipped: no file system may be mounted here");
    }
    let outcome = std::panic::catch_unwind(|| {
        let source = Fixture::committed(GOLDEN);
        let large = "new line\n".repeat(20_000);
        source.write(&format!("//- tests/actual/a.txt\n{large}"));
        let copied = Command::new("sh").arg("-c").arg("cp -a \"$0\"/. \"$1\"").arg(source.path()).arg(&disk).status();
        assert!(copied.expect("cp").success());
        // No room is left but for small files.
        let room = std::fs::File::create(disk.join("filler")).expect("created");
        let block = vec![1u8; 4096];
        while std::io::Write::write_all(&mut &room, &block).is_ok() {}
        let spare = std::fs::metadata(disk.join("filler")).expect("there").len().saturating_sub(64 << 10);
        room.set_len(spare).expect("shrunk");
        let said = limited(&source, "true", &disk);
        let refusal = said.refusal(1);
        assert!(refusal.contains("the disk is full") && refusal.contains("free some space"), "{refusal}");
        assert_eq!(std::fs::read_to_string(disk.join("tests/golden/a.txt")).expect("there"), "old\n");
        assert_eq!(std::fs::read_to_string(disk.join("tests/actual/a.txt")).expect("there"), large);
        assert!(!disk.join(".pindrift/amendments").exists());
        drop(room);
        std::fs::remove_file(disk.join("filler")).expect("removed");
        assert_eq!(limited(&source, "true", &disk).with(0).lines().count(), 2);
        assert_eq!(std::fs::read_to_string(disk.join("tests/golden/a.txt")).expect("there"), large);
    });
    let _ = Command::new("umount").arg(&disk).status();
    outcome.unwrap_or_else(|why| std::panic::resume_unwind(why));
}

/// The program as a user who may not write everything.
fn unprivileged(fixture: &Fixture) -> Option<super::Said> {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|out| out.stdout == b"0\n");
    if !is_root {
        return Some(pindrift(fixture, &ACCEPT));
    }
    let command = super::program(fixture);
    let mut drop = Command::new("setpriv");
    drop.current_dir(fixture.path())
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(command.get_program())
        .args(ACCEPT)
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "safe.directory")
        .env("GIT_CONFIG_VALUE_0", "*");
    let works = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(command.get_program())
        .arg("--version")
        .output();
    if !works.is_ok_and(|out| out.status.success()) {
        eprintln!("skipped: another user cannot start the program here");
        return None;
    }
    Some(said(&mut drop))
}

#[test]
fn what_may_not_be_written_is_named_and_nothing_is_lost() {
    for closed in ["tests/golden", ".pindrift"] {
        let fixture = Fixture::committed(GOLDEN);
        fixture.write("//- tests/actual/a.txt\nnew\n//- .pindrift/observed/.gitignore\n*\n");
        let modes = |mode: u32, shut: u32| {
            for folder in ["", "tests", "tests/golden", ".pindrift", ".pindrift/observed"] {
                let mode = if folder == closed { shut } else { mode };
                std::fs::set_permissions(fixture.at(folder), std::fs::Permissions::from_mode(mode)).expect("set");
            }
            for file in ["tests/test_g.py", "tests/golden/a.txt"] {
                std::fs::set_permissions(fixture.at(file), std::fs::Permissions::from_mode(0o666)).expect("set");
            }
        };
        modes(0o777, 0o555);
        let before = tree(&fixture);
        let said = unprivileged(&fixture);
        let after = tree(&fixture);
        modes(0o755, 0o755);
        let Some(said) = said else { return };
        let refusal = said.refusal(1);
        assert!(refusal.contains("no permission") && refusal.contains(closed), "{closed}: {refusal}");
        assert_eq!(after, before, "{closed}");
    }
}

#[test]
fn a_decision_that_waits_for_an_editor_is_told_with_what_to_do() {
    let fixture = Fixture::committed(GOLDEN);
    fixture.write("//- tests/actual/a.txt\nnew\n");
    let id = drift(&fixture, ACCEPT[2]);
    {
        use pindrift::{amendment, pins::Extent, survey::Workspace};
        let workspace = Workspace::open(fixture.path()).expect("a workspace");
        let survey = workspace.survey(&Extent::All, &|| false).expect("a survey");
        let case = survey.cases.iter().find(|case| case.drift_id.as_ref() == Some(&id)).expect("the drift");
        let request = amendment::Request {
            drift: Some(id.clone()),
            reason: ACCEPT[4].into(),
            authority: None,
            proof: None,
            verdict: None,
            via: "vscode".into(),
            author: "Ada".into(),
            proposed_by: None,
            confirmed_by: None,
            at: "2026-08-28T21:30:05Z".parse().expect("a moment"),
        };
        let plan = amendment::plan_accept(case, &workspace, &request).expect("a plan");
        let open = |path: &pindrift::places::RelPath| path.as_str() == "tests/test_g.py";
        let applied = amendment::apply(&workspace.project.root, &plan, &open).expect("begun");
        assert!(applied.pending);
    }
    let told = pindrift(&fixture, &["check"]).out;
    assert!(
        told.contains("waits for an editor to save its file") && told.contains("pindrift accept --finish"),
        "{told}"
    );
    assert!(amendments(&fixture).is_empty());
    pindrift(&fixture, &["accept", "--finish"]).with(0);
    assert_eq!(fixture.read("tests/golden/a.txt"), "new\n");
    assert_eq!(amendments(&fixture).len(), 1);
    let told = pindrift(&fixture, &["check"]).out;
    assert!(!told.contains("--finish"), "{told}");
}

#[test]
fn a_digest_is_accepted_only_with_the_texts_behind_both() {
    use sha2::Digest as _;
    let hash = |text: &str| sha2::Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let test = "tests/test_d.py::test_week";
    let suite = format!(
        "//- pindrift.toml\n//- tests/test_d.py\n\"\"\"Characterization tests.\"\"\"\nimport hashlib\nfrom pathlib import \
         Path\n\nfrom code import report\n\nGOLDEN = Path(__file__).parent / \"golden\"\n\n\ndef pinned(name):\n    digest = \
         hashlib.sha256(report(name).encode()).hexdigest()\n    assert digest == (GOLDEN / \
         f\"{{name}}.sha256\").read_text().strip()\n\n\ndef test_week():\n    pinned(\"week\")\n//- \
         tests/golden/week.sha256\n{}\n",
        hash("hours 1\n")
    );
    let accept = |fixture: &Fixture| {
        pindrift(fixture, &["accept", "--test", test, "--reason", "two more hours are counted since rule 7"])
    };
    let value = format!("{{\"text\": \"{}\"}}", hash("hours 2\n"));
    let told = ", \"preimage\": \"hours 2\\n\"";
    // Neither, one, a text that is not the one behind the digest.
    for (beside, preimage) in [
        (None, ""),
        (None, told),
        (Some("hours 1\n"), ""),
        (Some("hours 0\n"), told),
        (Some("hours 1\n"), ", \"preimage\": \"hours 3\\n\""),
    ] {
        let fixture = Fixture::committed(&suite);
        if let Some(text) = beside {
            fixture.write(&format!("//- tests/golden/week.txt\n{text}"));
        }
        observe(&fixture, test, &value, preimage);
        let before = tree(&fixture);
        let refusal = accept(&fixture).refusal(1);
        assert!(refusal.contains("digest") && refusal.contains("text"), "{refusal}");
        assert_eq!(tree(&fixture), before, "{beside:?} {preimage}");
    }
    let fixture = Fixture::committed(&suite);
    fixture.write("//- tests/golden/week.txt\nhours 1\n");
    observe(&fixture, test, &value, told);
    let diff = pindrift(&fixture, &["accept", "--test", test, "--reason", "two more hours are counted", "--dry-run"]);
    assert!(diff.with(0).contains("-hours 1\\n+hours 2\\n"));
    accept(&fixture).with(0);
    assert_eq!(fixture.read("tests/golden/week.sha256"), hash("hours 2\n") + "\n");
    assert!(amendments(&fixture)[0].1.contains("-hours 1\\n+hours 2\\n"));
}
