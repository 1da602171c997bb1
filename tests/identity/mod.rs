//! What the tests share that hold an accept against a framework's own updater: folders, programs, trees.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn put(folder: &Path, files: &BTreeMap<String, String>) {
    for (path, text) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
}

pub fn tool(name: &str) -> PathBuf {
    let tools = std::env::var_os("PINDRIFT_TOOLS").map(PathBuf::from);
    let tools = tools.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools"));
    tools.join("bin").join(name)
}

pub fn run(folder: &Path, target: &Path, program: &Path, args: &[&str]) -> std::process::Output {
    run_with(folder, target, program, args, &[])
}

/// The same with variables of the environment.
pub fn run_with(
    folder: &Path,
    target: &Path,
    program: &Path,
    args: &[&str],
    variables: &[(&str, &str)],
) -> std::process::Output {
    Command::new(program)
        .current_dir(folder)
        .args(args)
        .env("CARGO_TARGET_DIR", target)
        .env("INSTA_WORKSPACE_ROOT", folder)
        .env_remove("CI")
        .env_remove("INSTA_UPDATE")
        .env_remove("INSTA_FORCE_PASS")
        .env_remove("CARGO_MANIFEST_DIR")
        .env_remove("UPDATE_EXPECT")
        .env_remove("SNAPSHOTS")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs(variables.iter().copied())
        .output()
        .unwrap_or_else(|err| panic!("{}: {err}; ./tests/run installs it", program.display()))
}

/// Every file but git's, the build's and the record.
pub fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut tree = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).expect("a folder").flatten() {
            let name = entry.path().strip_prefix(folder).expect("inside").display().to_string();
            if matches!(name.as_str(), ".git" | ".pindrift" | "target" | "Cargo.lock" | "pindrift.toml") {
                continue;
            }
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                tree.insert(name, std::fs::read(entry.path()).expect("a file"));
            }
        }
    }
    tree
}

pub fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp");
    assert!(done.success());
}

/// Makes a folder a git work tree with one commit of everything.
pub fn commit(folder: &Path, target: &Path) {
    for args in [
        ["init", "-q", "-b", "main"].as_slice(),
        &["config", "user.name", "Test Person"],
        &["config", "user.email", "test@example.org"],
        &["add", "-A"],
        &["commit", "-q", "-m", "recorded"],
    ] {
        assert!(run(folder, target, Path::new("git"), args).status.success(), "git {args:?}");
    }
}

/// Where two trees differ: the file and its first other line.
pub fn different(theirs: &BTreeMap<String, Vec<u8>>, ours: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in theirs.keys().chain(ours.keys()).collect::<std::collections::BTreeSet<_>>() {
        if theirs.get(name) != ours.get(name) {
            let show = |bytes: Option<&Vec<u8>>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            let (a, b) = (show(theirs.get(name)), show(ours.get(name)));
            let line = match (&a, &b) {
                (Some(a), Some(b)) => {
                    let at = a.lines().zip(b.lines()).position(|(a, b)| a != b).unwrap_or(0);
                    format!("line {}: {:?} / {:?}", at + 1, a.lines().nth(at), b.lines().nth(at))
                }
                _ => format!("only {}", if a.is_some() { "the framework's" } else { "pindrift's" }),
            };
            found.push(format!("{name}: {line}"));
        }
    }
    found
}
