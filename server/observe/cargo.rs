//! `cargo test`, in the person's own target folder, profile and features. Takes a workspace's cases and which
//! tests are wanted, gives what each test binary compared. insta writes what it would record into a folder of
//! the run; nothing lands in the project.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde::Deserialize;

use super::events::Test;
use super::guard::Guard;
use super::interpreter::on_path;
use super::libtest;
use super::process::{self, End};
use super::pytest::Setting;
use super::rounds::ORDER;
use crate::pins::Project;
use crate::places::{RelPath, Root};
use crate::shelf::{Read, Shelf};
use crate::survey::Case;
use crate::switches;
use crate::syntax::Language;

/// Most of the output of one binary that is kept, in bytes.
const MOST: u64 = 64 << 20;

/// One call of `cargo test`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Folder of the workspace's manifest, from the root.
    pub folder: RelPath,
    /// First parts of test ids; none: all targets.
    pub targets: BTreeSet<String>,
    /// Full ids.
    pub tests: Vec<String>,
}

/// One test binary that ran.
#[derive(Debug, Clone)]
pub struct Binary {
    /// Folder of its package, from the root.
    pub package: RelPath,
    pub tests: Vec<Test>,
}

/// What one call gave.
#[derive(Debug, Default)]
pub struct Ran {
    pub binaries: Vec<Binary>,
    pub command: String,
    pub version: Option<String>,
    pub output: String,
    pub problem: Option<String>,
    pub unusable: bool,
    /// Where insta put what it would record; laid out as the project is.
    pub pending: Option<tempfile::TempDir>,
    /// Snapshot files that insta compared, from the root.
    pub referenced: BTreeSet<RelPath>,
}

/// The calls that run the wanted tests.
pub fn groups(project: &Project, cases: &[Arc<Case>], wanted: &[String]) -> Vec<Group> {
    let mut groups: BTreeMap<RelPath, Group> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.pin.language == Language::Rust) {
        let Some(package) = project.crates.package_of(&case.pin.file) else { continue };
        let id = case.pin.test_base();
        let asked = wanted.iter().any(|test| test == id || *test == case.pin.test || test == case.pin.file.as_str());
        if !wanted.is_empty() && !asked {
            continue;
        }
        let folder = package.workspace.clone();
        let group =
            groups.entry(folder.clone()).or_insert(Group { folder, targets: BTreeSet::new(), tests: Vec::new() });
        if asked {
            group.targets.extend(id.split("::").next().map(str::to_string));
            if !group.tests.contains(&id.to_string()) {
                group.tests.push(id.to_string());
            }
        }
    }
    groups.into_values().collect()
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    manifest_path: String,
    target: Option<MessageTarget>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct MessageTarget {
    kind: Vec<String>,
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Runs one group.
pub fn run(project: &Project, cases: &[Arc<Case>], group: &Group, with: &Setting) -> std::io::Result<Ran> {
    let folder = project.root.absolute(&group.folder);
    let path = |name: &str| std::env::var(name).ok();
    let mut ran = Ran { command: shown(group), ..Ran::default() };
    let Some(cargo) = on_path("cargo", &path) else {
        ran.problem = Some("cargo was not found on PATH; the Rust tests were not run".into());
        ran.unusable = true;
        return Ok(ran);
    };
    let temporary = tempfile::Builder::new().prefix("pindrift-observe-").tempdir()?;
    let out = temporary.path().join("out");
    std::fs::create_dir(&out)?;
    let pending = tempfile::Builder::new().prefix("pindrift-pending-").tempdir()?;
    prepare(project, cases, pending.path())?;
    let references = temporary.path().join("references");
    let removed = removed(project, with);
    let script = temporary.path().join("run.sh");
    let insta = [
        ("INSTA_UPDATE", "new".to_string()),
        ("INSTA_FORCE_PASS", "1".to_string()),
        ("INSTA_OUTPUT", "none".to_string()),
        ("INSTA_PENDING_DIR", pending.path().join(group.folder.as_str()).display().to_string()),
        ("INSTA_SNAPSHOT_REFERENCES_FILE", references.display().to_string()),
    ];
    std::fs::write(&script, runner(&removed, &insta))?;
    let beside = Guard::of(&project.shelf, beside(cases));
    let command = |more: &[String]| {
        let mut command = Command::new(&cargo);
        command.arg("test").args(["--no-fail-fast"]).args(targets(group)).args(more).current_dir(&folder);
        for name in
            removed.iter().map(String::as_str).chain(["RUST_TEST_NOCAPTURE", "CARGO_TERM_COLOR", "RUSTFLAGS_EXTRA"])
        {
            command.env_remove(name);
        }
        command.envs(&with.variables);
        // The order of the tests is that in which they are begun; one thread makes another one of it.
        if with.variables.contains_key(ORDER) {
            command.env("RUST_TEST_THREADS", "1");
        }
        command
    };
    let (end, printed) = process::run(
        &mut command(&["--no-run".into(), "--message-format=json".into()]),
        with.limit,
        with.cancelled,
        &mut || {},
    )?;
    let binaries = built(&printed);
    if end != End::Exited(std::process::ExitStatus::default()) {
        ran.output = rendered(&printed);
        ran.problem = Some(match end {
            End::Exited(_) => format!("the tests do not compile: {}", first_error(&ran.output)),
            End::TooLong(limit) => format!("building the tests took longer than {} s, the time limit", limit.as_secs()),
            End::Cancelled => "cancelled while the tests were built".into(),
        });
        ran.unusable = true;
        return Ok(ran);
    }
    let runner = format!(
        "target.\"cfg(all())\".runner=[\"sh\",{:?},{:?}]",
        script.display().to_string(),
        out.display().to_string()
    );
    let mut more = vec!["--config".to_string(), runner];
    if !group.tests.is_empty() {
        more.extend(["--".to_string(), "--exact".to_string()]);
        more.extend(group.tests.iter().filter_map(|id| id.split_once("::")).map(|(_, name)| name.to_string()));
    }
    let mut running = command(&more);
    running.env("RUST_BACKTRACE", "0").env("SIMILAR_ASSERTS_MAX_STRING_LENGTH", "0").envs(insta);
    let mut tick = || (with.tick)(&out);
    let (end, output) = process::run(&mut running, with.limit, with.cancelled, &mut tick)?;
    ran.problem = match end {
        End::Exited(_) => None,
        End::TooLong(limit) => {
            Some(format!("stopped after {} s, the time limit; what had ended until then was kept", limit.as_secs()))
        }
        End::Cancelled => Some("cancelled; what had ended until then was kept".into()),
    };
    ran.output = output;
    collect(project, &beside, pending.path())?;
    for (path, target, package) in binaries {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let Ok(bytes) = std::fs::read(out.join(format!("{name}.txt"))) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        ran.output.push_str(&text);
        let place = |printed: &str| {
            let whole = Path::new(printed);
            let whole = if whole.is_absolute() { whole.to_path_buf() } else { folder.join(whole) };
            project.root.relative(&whole).map(|path| path.to_string())
        };
        let Some(package) = Path::new(&package).parent().and_then(|dir| project.root.relative(dir)) else { continue };
        ran.binaries.push(Binary { package, tests: libtest::tests(&text, &target, &place) });
    }
    if ran.binaries.is_empty() && ran.problem.is_none() {
        ran.problem = Some(format!("cargo ran no test binary: {}", first_error(&ran.output)));
    }
    let listed = std::fs::read_to_string(&references).unwrap_or_default();
    ran.referenced = listed.lines().filter_map(|path| project.root.relative(Path::new(path))).collect();
    ran.pending = Some(pending);
    Ok(ran)
}

/// The artefacts of insta as they would lie in the project.
pub fn redirected(project: &Project, pending: &Path) -> std::io::Result<Project> {
    let path = pending.canonicalize()?;
    let root = Root { path, ..project.root.clone() };
    Ok(Project { shelf: Shelf::new(root.clone()), root, ..project.clone() })
}

/// insta tells of inline snapshots that hold only where a pending file is there already.
fn prepare(project: &Project, cases: &[Arc<Case>], pending: &Path) -> std::io::Result<()> {
    let inline = cases.iter().filter(|case| case.pin.framework == "insta" && case.pin.oracle.entry.is_none());
    let sources: BTreeSet<&RelPath> =
        inline.filter_map(|case| case.pin.oracle.path.as_ref()).filter(|path| path.name().ends_with(".rs")).collect();
    for source in sources {
        let _ = project;
        let folder = pending.join(source.parent().as_str());
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(format!(".{}.pending-snap", source.name())), "")?;
    }
    Ok(())
}

/// Where insta leaves what it would record where it knows of no other folder, as 1.43 does.
fn beside(cases: &[Arc<Case>]) -> BTreeSet<RelPath> {
    let insta =
        cases.iter().filter(|case| case.pin.framework == "insta").filter_map(|case| case.pin.oracle.path.as_ref());
    let beside = |path: &RelPath| match path.name().ends_with(".rs") {
        true => path.parent().join(&format!(".{}.pending-snap", path.name())),
        false => path.parent().join(&format!("{}.new", path.name())),
    };
    insta.filter_map(beside).collect()
}

/// What the run left beside the sources goes to the folder of the run, and the project is as it was.
fn collect(project: &Project, beside: &Guard, pending: &Path) -> std::io::Result<()> {
    let shelf = Shelf::bare(project.root.clone());
    let now: Vec<(RelPath, Read)> = beside.paths().map(|path| (path.clone(), shelf.disk(path))).collect();
    let touched = beside.restore();
    for (path, read) in now {
        let Read::Bytes(bytes) = read else { continue };
        if touched.iter().any(|touched| touched.path == path) {
            let to = pending.join(path.as_str());
            std::fs::create_dir_all(to.parent().unwrap_or(pending))?;
            std::fs::write(to, &bytes)?;
        }
    }
    Ok(())
}

/// Variables that would make the tests rewrite what is recorded, those of cargo's own `[env]` too.
fn removed(project: &Project, with: &Setting) -> Vec<String> {
    let read = switches::read_by(project).into_iter().map(|(name, _)| name);
    let known = [
        "UPDATE_EXPECT",
        "SNAPSHOTS",
        "TRYCMD",
        "TRYBUILD",
        "INSTA_FORCE_UPDATE",
        "INSTA_FORCE_UPDATE_SNAPSHOTS",
        "GOLDIE_UPDATE",
        "UPDATE_GOLDENFILES",
    ];
    let mut names: BTreeSet<String> = with.removed.iter().cloned().chain(read).collect();
    names.extend(known.iter().map(|name| name.to_string()));
    names.retain(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    names.into_iter().collect()
}

/// Each binary's output goes to a file of its own, bounded; its variables are set here, behind cargo's.
fn runner(removed: &[String], set: &[(&str, String)]) -> String {
    let mut variables: String = removed.iter().map(|name| format!("unset {name}\n")).collect();
    for (name, value) in set {
        variables.push_str(&format!("export {name}='{}'\n", value.replace('\'', "'\\''")));
    }
    format!(
        "out=$1; shift\n{variables}\
         name=$(basename \"$1\")\n\
         {{ \"$@\" 2>&1; echo $? >\"$out/$name.rc\"; }} | {{ head -c {MOST} >\"$out/$name.txt\"; cat >/dev/null; }}\n\
         exit \"$(cat \"$out/$name.rc\")\"\n"
    )
}

fn targets(group: &Group) -> Vec<String> {
    if group.targets.is_empty() {
        return vec!["--workspace".into(), "--tests".into()];
    }
    let mut words = vec!["--workspace".to_string()];
    for target in &group.targets {
        match target.as_str() {
            "lib" => words.push("--lib".into()),
            name => words.extend(["--test".to_string(), name.to_string()]),
        }
    }
    words
}

/// Test binaries with the first part of their ids and their package's manifest.
fn built(printed: &str) -> Vec<(PathBuf, String, String)> {
    let messages = printed.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    messages
        .filter(|message| message.reason == "compiler-artifact" && message.profile.as_ref().is_some_and(|it| it.test))
        .filter_map(|message| {
            let target = message.target?;
            let library = target.kind.iter().any(|kind| kind.ends_with("lib") || kind == "proc-macro");
            let name = if library { "lib".to_string() } else { target.name };
            Some((message.executable?, name, message.manifest_path))
        })
        .collect()
}

/// What the compiler said, without the messages of machines.
fn rendered(printed: &str) -> String {
    let mut text = String::new();
    for line in printed.lines() {
        match serde_json::from_str::<serde_json::Value>(line) {
            Ok(message) if message.is_object() => {
                text.push_str(message["message"]["rendered"].as_str().unwrap_or_default());
            }
            _ => text.push_str(&format!("{line}\n")),
        }
    }
    text
}

fn first_error(text: &str) -> String {
    let line = text
        .lines()
        .find(|line| line.starts_with("error"))
        .or_else(|| text.lines().rfind(|line| !line.trim().is_empty()));
    crate::text::one_line(line.unwrap_or("it said nothing"), 200)
}

fn shown(group: &Group) -> String {
    let mut words = vec!["cargo test --no-fail-fast".to_string()];
    words.extend(targets(group));
    if !group.tests.is_empty() {
        words.push("-- --exact".into());
        words.extend(group.tests.iter().filter_map(|id| id.split_once("::")).map(|(_, name)| name.to_string()));
    }
    words.join(" ")
}
