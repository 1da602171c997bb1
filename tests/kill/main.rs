//! An accept that is killed, or that meets an error, at any of its system calls: afterwards every file has
//! its old or its new bytes, the ledger says that something is unfinished exactly when something is, and
//! finishing gives the tree that an undisturbed run gives. The faults are strace's; without strace the
//! tests say so and are skipped.

#[path = "../fixture/mod.rs"]
mod fixture;
mod program;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use fixture::Fixture;
use pindrift::amendment::{self, Plan};
use pindrift::ledger::{Amendment, FINISH, Kind, Ledger};
use pindrift::oracles::{FileChange, digest_of};
use pindrift::places::{RelPath, Root};

const BEFORE: &str =
    "//- tests/golden/a.txt\nold\n//- tests/test_a.py\nassert 1\n//- tests/actual/a.received.txt\nnew\n";
const FOLDER: &str = "PINDRIFT_KILL_FOLDER";
/// Calls that change a file or a folder, or make a change last.
const CALLS: &str = "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,\
                     fchmod,chmod,close,flock,ftruncate";

fn root(folder: &Path) -> Root {
    Root::of(folder, folder).expect("a root")
}

fn change(path: &str, before: &str, after: Option<&str>) -> FileChange {
    FileChange {
        path: RelPath::new(path).expect("inside"),
        before: Some(digest_of(&[before.as_bytes()])),
        after: after.map(|text| text.as_bytes().to_vec()),
        edits: Vec::new(),
    }
}

fn plan() -> Plan {
    let amendment = Amendment {
        at: "2026-08-28T21:30:05Z".parse().expect("a moment"),
        author: "Ada".into(),
        via: "cli".into(),
        proposed_by: None,
        confirmed_by: None,
        kind: Kind::Drift,
        pin: None,
        oracle: "tests/golden/a.txt".into(),
        framework: None,
        verdict: Some("intended".into()),
        reason: "round half to even".into(),
        authority: None,
        before: Some("sha256:0".into()),
        after: Some("sha256:1".into()),
        proof: None,
        proven: None,
        observed: None,
        diff: Some("-old\n+new\n".into()),
        after_the_fact: false,
        withdraws: None,
        to: None,
        hunks: Vec::new(),
        change: None,
        pending: false,
    };
    Plan {
        changes: vec![
            change("tests/golden/a.txt", "old\n", Some("new\n")),
            change("tests/test_a.py", "assert 1\n", Some("# why\nassert 1\n")),
        ],
        artefacts: vec![change("tests/actual/a.received.txt", "new\n", None)],
        record: amendment.file(),
        amendment,
    }
}

/// Not a test: what the others run under strace, in a process of its own.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let applied = amendment::apply(&root(Path::new(&folder)), &plan(), &|_| false);
    if let Err(refusal) = applied {
        eprintln!("refused: {refusal}");
        std::process::exit(7);
    }
}

/// How an accept under strace ended.
struct Run {
    status: Option<i32>,
    said: String,
    /// The fault was put in.
    hit: bool,
}

/// The accept in `folder`, with strace's arguments.
fn accept(folder: &Path, strace: &[String]) -> Run {
    let this = std::env::current_exe().expect("this program");
    let log = tempfile::NamedTempFile::new().expect("a file");
    let out = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(log.path())
        .args(strace)
        .arg(this)
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdin(Stdio::null())
        .output()
        .expect("strace runs");
    let log = std::fs::read_to_string(log.path()).unwrap_or_default();
    Run {
        status: out.status.code(),
        said: String::from_utf8_lossy(&out.stderr).into_owned(),
        hit: out.status.code().is_none() || log.contains("(INJECTED)"),
    }
}

fn has_strace() -> bool {
    let found = Command::new("strace").args(["-o", "/dev/null", "true"]).output().is_ok_and(|out| out.status.success());
    // ./tests/run installs it, and skips nothing.
    assert!(found || !cfg!(feature = "full"), "strace is not here or may not trace");
    if !found {
        eprintln!("skipped: strace is not here or may not trace");
    }
    found
}

/// Files with their bytes, git's own left out.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(at: &Path, top: &Path, into: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(at).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with(".git") {
                walk(&path, top, into);
            } else if path.is_file() {
                let name = path.strip_prefix(top).expect("below").display().to_string();
                into.insert(name, std::fs::read(&path).expect("a file"));
            }
        }
    }
    let mut files = BTreeMap::new();
    walk(folder, folder, &mut files);
    files
}

/// After a disturbance: old or new bytes, an unfinished amendment exactly when something is half done, and
/// a way to the undisturbed tree.
fn check(folder: &Path, undisturbed: &BTreeMap<String, Vec<u8>>, untouched: &BTreeMap<String, Vec<u8>>, when: &str) {
    let now = tree(folder);
    for (file, old, new) in [
        ("tests/golden/a.txt", Some("old\n"), Some("new\n")),
        ("tests/test_a.py", Some("assert 1\n"), Some("# why\nassert 1\n")),
        ("tests/actual/a.received.txt", Some("new\n"), None),
    ] {
        let bytes = now.get(file).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert!(bytes.as_deref() == old || bytes.as_deref() == new, "{when}: {file} is torn: {bytes:?}");
    }
    let ledger = Ledger::read(&root(folder), None);
    let unfinished = ledger.pending().count() > 0;
    assert_eq!(ledger.troubles.len(), usize::from(unfinished), "{when}: {:?}", ledger.troubles);
    assert!(ledger.troubles.iter().all(|trouble| trouble.message.contains(FINISH)), "{when}: {:?}", ledger.troubles);
    let project = |tree: &BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
        tree.iter()
            .filter(|(name, _)| !name.starts_with(".pindrift/unfinished/"))
            .map(|(n, b)| (n.clone(), b.clone()))
            .collect()
    };
    if unfinished {
        assert_eq!(ledger.entries[0].amendment.reason, "round half to even", "{when}");
        let finished = amendment::finish(&root(folder)).expect("finished");
        assert!(finished.iter().all(|one| one.trouble.is_none()), "{when}: {finished:?}");
    } else {
        let done = project(&now);
        assert!(done == *undisturbed || done == *untouched, "{when}: half done and nobody says so: {:?}", done.keys());
        if done == *untouched {
            amendment::apply(&root(folder), &plan(), &|_| false).expect("the next try works");
        } else {
            amendment::finish(&root(folder)).expect("nothing to finish");
        }
    }
    assert_eq!(tree(folder), *undisturbed, "{when}");
}

/// Puts a fault into each of the calls in turn, once at each of their occurrences.
fn disturbed(fault: &str, calls: &str, at_least: usize) {
    if !has_strace() {
        return;
    }
    let untouched = tree(Fixture::committed(BEFORE).path());
    let plain = Fixture::committed(BEFORE);
    assert_eq!(accept(plain.path(), &[]).status, Some(0));
    let undisturbed = tree(plain.path());
    let hits = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for call in calls.split(',').map(str::trim) {
            let (hits, undisturbed, untouched) = (&hits, &undisturbed, &untouched);
            scope.spawn(move || {
                for nth in 1..500 {
                    let fixture = Fixture::committed(BEFORE);
                    let (trace, inject) = (format!("trace={call}"), format!("inject={call}:{fault}:when={nth}"));
                    let run = accept(fixture.path(), &["-e".into(), trace, "-e".into(), inject]);
                    check(
                        fixture.path(),
                        undisturbed,
                        untouched,
                        &format!("{fault} at {call} {nth}: {:?} {}", run.status, run.said),
                    );
                    if !run.hit {
                        assert_eq!(run.status, Some(0));
                        break;
                    }
                    hits.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    let hits = hits.into_inner();
    assert!(hits >= at_least, "only {hits} disturbances took effect");
}

#[test]
fn killed_at_every_call() {
    disturbed("signal=KILL", CALLS, 60);
}

#[test]
fn the_disk_is_full_at_every_call() {
    disturbed("error=ENOSPC", "write,fsync,rename,mkdir,fchmod", 15);
}
