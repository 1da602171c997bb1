//! A repository is untrusted input: looking at it starts nothing but git, and git starts nothing at all.
//! Needs strace, which ./tests/run installs.

use std::os::unix::fs::PermissionsExt;

use super::{Fixture, said};

/// A work tree whose every hook would leave a canary.
fn hostile() -> Fixture {
    let fixture = Fixture::committed(
        r#"
//- pindrift.toml
//- conftest.py
open("canary-conftest", "w").close()
//- build.rs
fn main() { std::fs::write("canary-build", "").unwrap(); }
//- Cargo.toml
[package]
name = "t"
version = "0.1.0"
build = "build.rs"
//- .cargo/config.toml
[target.x86_64-unknown-linux-gnu]
runner = "sh -c 'touch canary-runner'"
//- src/lib.rs
//- .gitattributes
* filter=bad diff=bad
//- tests/test_a.py
"""Characterization tests."""
from pathlib import Path

HERE = Path(__file__).parent


def test_a():
    text = render()
    (HERE / "actual" / "a.txt").write_text(text)
    assert text == (HERE / "golden" / "a.txt").read_text()
//- tests/golden/a.txt
one
//- tests/actual/a.txt
one
"#,
    );
    let canary = fixture.at("canary.sh");
    std::fs::write(&canary, format!("#!/bin/sh\ntouch {}/canary-git\ncat\n", fixture.path().display()))
        .expect("written");
    std::fs::set_permissions(&canary, std::fs::Permissions::from_mode(0o755)).expect("set");
    let canary = canary.display().to_string();
    for key in [
        "core.sshCommand",
        "core.fsmonitor",
        "core.pager",
        "gpg.program",
        "filter.bad.clean",
        "filter.bad.smudge",
        "diff.bad.textconv",
        "diff.external",
        "core.alternateRefsCommand",
    ] {
        fixture.git(&["config", key, &canary]);
    }
    fixture.git(&["config", "log.showSignature", "true"]);
    fixture.git(&["config", "remote.origin.url", "ssh://nowhere.invalid/x"]);
    fixture.git(&["config", "remote.origin.promisor", "true"]);
    fixture.git(&["config", "extensions.partialClone", "origin"]);
    fixture.write("//- tests/actual/a.txt\ntwo\n");
    for file in std::fs::read_dir(fixture.path()).expect("a folder").flatten() {
        if file.file_name().to_string_lossy().starts_with("canary-") {
            std::fs::remove_file(file.path()).expect("removed");
        }
    }
    fixture
}

/// Runs the program under strace; every program that it or its children started, and what it printed.
fn started(fixture: &Fixture, args: &[&str]) -> (Vec<String>, super::Said) {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut command = super::program(fixture);
    let program = command.get_program().to_os_string();
    let mut traced = std::process::Command::new("strace");
    traced.current_dir(fixture.path());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    command.args(args);
    traced.args(["-f", "-qq", "-e", "trace=execve", "-o"]).arg(log.path()).arg(program).args(args);
    let said = said(&mut traced);
    let text = std::fs::read_to_string(log.path()).expect("a trace");
    let programs = text
        .lines()
        .filter(|line| line.ends_with("= 0"))
        .filter_map(|line| line.split("execve(\"").nth(1)?.split('"').next().map(str::to_string))
        .skip(1)
        .collect();
    (programs, said)
}

#[test]
fn looking_and_deciding_start_nothing_but_git() {
    let fixture = hostile();
    let calls: [&[&str]; 9] = [
        &["check"],
        &["pins"],
        &["doctor"],
        &["diff", "tests/test_a.py::test_a"],
        &["accept", "--test", "tests/test_a.py::test_a", "--reason", "two is what the tariff says", "--dry-run"],
        &["accept", "--test", "tests/test_a.py::test_a", "--reason", "two is what the tariff says"],
        &["log"],
        &["log", "tests/golden/a.txt"],
        &["audit", "--base", "HEAD"],
    ];
    for args in calls {
        let (programs, said) = started(&fixture, args);
        assert!(said.status < 2, "{args:?}: {said:?}");
        let other: Vec<&String> =
            programs.iter().filter(|path| !path.ends_with("/git") && !path.contains("/git-core/")).collect();
        assert!(other.is_empty(), "{args:?} started {other:?}");
    }
    let canaries: Vec<String> = std::fs::read_dir(fixture.path())
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("canary-"))
        .collect();
    assert_eq!(canaries, Vec::<String>::new());
    assert_eq!(fixture.read("tests/golden/a.txt"), "two\n");
}
