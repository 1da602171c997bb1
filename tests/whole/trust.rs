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
    (programs_of(log.path()), said)
}

/// Runs the server under strace through an open, a hover, the actions and a history; what it started.
fn served(fixture: &Fixture) -> Vec<String> {
    use std::io::{BufRead as _, Read as _, Write as _};
    let log = tempfile::NamedTempFile::new().expect("a file");
    let program = super::program(fixture).get_program().to_os_string();
    let mut server = std::process::Command::new("strace")
        .current_dir(fixture.path())
        .args(["-f", "-qq", "-e", "trace=execve", "-o"])
        .arg(log.path())
        .arg(program)
        .arg("server")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("strace runs");
    let mut to = server.stdin.take().expect("a pipe");
    let mut from = std::io::BufReader::new(server.stdout.take().expect("a pipe"));
    let mut say = |message: serde_json::Value| {
        let body = message.to_string();
        write!(to, "Content-Length: {}\r\n\r\n{body}", body.len()).and_then(|()| to.flush()).expect("sent");
    };
    let mut answer = |id: u64| loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(from.read_line(&mut line).expect("a line") > 0, "the server is there");
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().expect("a number"),
                None if line == "\r\n" => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body).expect("a body");
        let message: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        if message["id"] == id && message.get("method").is_none() {
            return message;
        }
    };
    let root = format!("file://{}", fixture.path().canonicalize().expect("a path").display());
    let uri = format!("{root}/tests/test_a.py");
    let text = fixture.read("tests/test_a.py");
    let line = text.lines().position(|line| line.contains("assert text ==")).expect("the pin");
    let position = serde_json::json!({ "line": line, "character": 11 });
    let document = serde_json::json!({ "uri": uri });
    let folders = serde_json::json!([{ "uri": root, "name": "w" }]);
    let literals = serde_json::json!({ "codeActionKind": { "valueSet": [""] } });
    let capabilities =
        serde_json::json!({ "textDocument": { "codeAction": { "codeActionLiteralSupport": literals } } });
    let opened = serde_json::json!({ "uri": uri, "languageId": "python", "version": 1, "text": text });
    let range = serde_json::json!({ "start": position, "end": position });
    let argument = serde_json::json!({ "uri": uri, "line": line });
    let asked = [
        ("initialize", serde_json::json!({ "capabilities": capabilities, "workspaceFolders": folders })),
        ("textDocument/hover", serde_json::json!({ "textDocument": document, "position": position })),
        (
            "textDocument/codeAction",
            serde_json::json!({ "textDocument": document, "range": range, "context": { "diagnostics": [] } }),
        ),
        ("workspace/executeCommand", serde_json::json!({ "command": "pindrift.history", "arguments": [argument] })),
    ];
    for (id, (method, params)) in (1u64..).zip(asked) {
        say(serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = answer(id);
        assert!(!answer["result"].is_null(), "{method}: {answer}");
        if method == "initialize" {
            say(serde_json::json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
            let params = serde_json::json!({ "textDocument": opened });
            say(serde_json::json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params }));
            // The scan looks at git too.
            std::thread::sleep(std::time::Duration::from_secs(2));
        }
    }
    say(serde_json::json!({ "jsonrpc": "2.0", "id": 9, "method": "shutdown" }));
    answer(9);
    say(serde_json::json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert!(server.wait().expect("an end").success());
    programs_of(log.path())
}

/// The programs that were started, without the traced one itself.
fn programs_of(log: &std::path::Path) -> Vec<String> {
    std::fs::read_to_string(log)
        .expect("a trace")
        .lines()
        .filter(|line| line.ends_with("= 0"))
        .filter_map(|line| line.split("execve(\"").nth(1)?.split('"').next().map(str::to_string))
        .skip(1)
        .collect()
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
    let programs = served(&fixture);
    let other: Vec<&String> = programs.iter().filter(|path| !path.ends_with("/git")).collect();
    assert!(!programs.is_empty() && other.is_empty(), "the server started {other:?}");
    let canaries: Vec<String> = std::fs::read_dir(fixture.path())
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("canary-"))
        .collect();
    assert_eq!(canaries, Vec::<String>::new());
    assert_eq!(fixture.read("tests/golden/a.txt"), "two\n");
}
