//! pytest with the plugin of Pindrift. Takes a workspace's cases and which tests are wanted, gives what was
//! compared. The plugin is handed over by the command line and the environment; nothing is installed in the
//! project or written to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::attribution;
use super::events::{self, Event, Seen};
use super::interpreter::Interpreter;
use super::process::{self, End};
use crate::pins::{Project, is_test_file};
use crate::places::RelPath;
use crate::roles::Role;
use crate::survey::Case;
use crate::switches;
use crate::syntax::Language;

const PLUGIN: &str = include_str!("pindrift_observe.py");
const NAME: &str = "pindrift_observe";

/// One call of pytest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Folder in which it runs, from the root.
    pub folder: RelPath,
    /// Files and tests, from that folder; none: what its configuration says.
    pub tests: Vec<String>,
}

/// What one call gave.
#[derive(Debug, Default)]
pub struct Ran {
    pub seen: Seen,
    pub command: String,
    pub output: String,
    /// Why it could not run to its end, for the person.
    pub problem: Option<String>,
    /// Nothing was run at all.
    pub unusable: bool,
}

/// Variables of the run beside those of the environment.
pub type Variables = BTreeMap<String, String>;

/// The calls that run the wanted tests (all that have pins, when none is named). Packages with a pytest
/// configuration of their own run in their folder.
pub fn groups(project: &Project, cases: &[Arc<Case>], wanted: &[String]) -> Vec<Group> {
    let mut folders: BTreeMap<RelPath, BTreeSet<String>> = BTreeMap::new();
    let below = |folder: &RelPath, path: &str| match folder.as_str() {
        "" => path.to_string(),
        folder => path.strip_prefix(folder).map_or(path, |rest| rest.trim_start_matches('/')).to_string(),
    };
    for test in wanted {
        let (file, rest) = test.split_once("::").map_or((test.as_str(), None), |(file, rest)| (file, Some(rest)));
        let Some(path) = RelPath::new(file) else { continue };
        if !file.ends_with(".py") && !project.root.absolute(&path).is_dir() {
            continue;
        }
        let folder = configured_folder(project, &path);
        let mut id = below(&folder, path.as_str());
        if let Some(rest) = rest {
            id = format!("{id}::{rest}");
        }
        folders.entry(folder).or_default().insert(if id.is_empty() { ".".into() } else { id });
    }
    if !wanted.is_empty() {
        return folders
            .into_iter()
            .map(|(folder, tests)| Group { folder, tests: tests.into_iter().collect() })
            .collect();
    }
    for case in cases.iter().filter(|case| case.pin.language == Language::Python) {
        let folder = configured_folder(project, &case.pin.file);
        let file = below(&folder, case.pin.file.as_str());
        folders.entry(folder).or_default().insert(file);
    }
    let all: Vec<RelPath> = folders.keys().cloned().collect();
    folders
        .into_iter()
        .map(|(folder, files)| {
            // A folder with others inside it would run theirs too.
            let holds_others = all.iter().any(|other| *other != folder && other.starts_with(&folder));
            Group { folder, tests: if holds_others { files.into_iter().collect() } else { Vec::new() } }
        })
        .collect()
}

/// Nearest folder above with a pytest configuration, else the root.
fn configured_folder(project: &Project, path: &RelPath) -> RelPath {
    let mut folder = path.parent();
    loop {
        let holds = |name: &str, section: &str| {
            let text =
                folder.join(name).filter(|file| project.shelf.listed(file)).and_then(|it| project.shelf.text(&it));
            text.is_some_and(|text| section.is_empty() || text.as_str().contains(section))
        };
        let configured = holds("pytest.ini", "")
            || holds(".pytest.ini", "")
            || holds("pytest.toml", "")
            || holds("pyproject.toml", "[tool.pytest")
            || holds("tox.ini", "[pytest]")
            || holds("setup.cfg", "[tool:pytest]");
        if configured || folder.as_str().is_empty() {
            return folder;
        }
        folder = folder.parent();
    }
}

/// Runs one group.
pub fn run(
    project: &Project,
    cases: &[Arc<Case>],
    group: &Group,
    interpreter: &Interpreter,
    with: &Setting,
) -> std::io::Result<Ran> {
    let temporary = tempfile::Builder::new().prefix("pindrift-observe-").tempdir()?;
    let out = temporary.path().join("out");
    std::fs::create_dir(&out)?;
    std::fs::write(temporary.path().join(format!("{NAME}.py")), PLUGIN)?;
    let plan = temporary.path().join("plan.json");
    std::fs::write(&plan, plan_of(project, cases, &out).to_string())?;
    let mut command = Command::new(&interpreter.program);
    command.args(&interpreter.before).args(["-m", "pytest", "-p", NAME]);
    command.args(["-o", "enable_assertion_pass_hook=true", "--assert=rewrite", "--maxfail=0"]);
    command.args(&with.arguments).args(&group.tests);
    command.current_dir(project.root.absolute(&group.folder));
    for name in &with.removed {
        command.env_remove(name);
    }
    command.envs(&with.variables);
    let given = with.variables.get("PYTHONPATH").map(Into::into).or_else(|| std::env::var_os("PYTHONPATH"));
    let given = given.filter(|given: &std::ffi::OsString| !given.is_empty());
    let folders = std::iter::once(temporary.path().to_path_buf()).chain(given.iter().flat_map(std::env::split_paths));
    command.env("PYTHONPATH", std::env::join_paths(folders).unwrap_or_default()).env("PINDRIFT_PLAN", &plan);
    let mut ran = Ran { command: shown(interpreter, group), ..Ran::default() };
    let mut tick = || (with.tick)(&out);
    let (end, output) = match process::run(&mut command, with.limit, with.cancelled, &mut tick) {
        Ok(ended) => ended,
        Err(err) => {
            ran.problem = Some(format!("{interpreter} ({}) cannot be started: {err}", interpreter.why));
            ran.unusable = true;
            return Ok(ran);
        }
    };
    ran.seen = events::read(&out);
    ran.output = output;
    (ran.problem, ran.unusable) = problem(&ran, &end, interpreter);
    Ok(ran)
}

/// How a group is run.
pub struct Setting<'a> {
    pub arguments: Vec<String>,
    pub variables: Variables,
    /// Variables that are kept from the run.
    pub removed: Vec<String>,
    pub limit: Duration,
    pub cancelled: &'a dyn Fn() -> bool,
    /// Called now and then with the folder that the plugin writes to.
    pub tick: &'a dyn Fn(&Path),
}

fn shown(interpreter: &Interpreter, group: &Group) -> String {
    let mut words = vec![interpreter.to_string(), "-m pytest".into()];
    words.extend(group.tests.iter().cloned());
    words.join(" ")
}

/// What the plugin has to know.
fn plan_of(project: &Project, cases: &[Arc<Case>], out: &Path) -> serde_json::Value {
    let python: Vec<Arc<Case>> = cases
        .iter()
        .filter(|case| case.pin.language == Language::Python && case.pin.role != Role::Unlabelled)
        .cloned()
        .collect();
    let places = attribution::places(&python, project);
    let modules: BTreeSet<String> = places
        .keys()
        .filter_map(|file| RelPath::new(file))
        .filter(|file| !is_test_file(file))
        .flat_map(|file| module_names(&file))
        .collect();
    let baselines: BTreeSet<&str> = python
        .iter()
        .filter_map(|case| case.pin.oracle.path.as_ref())
        .filter(|path| Language::of(path.name()).is_none())
        .map(RelPath::as_str)
        .collect();
    json!({
        "root": project.root.path,
        "places": places,
        "baselines": baselines,
        "modules": modules,
        "variables": switches::patterns(project),
        "out": out,
        "cache": cache(),
    })
}

/// Names under which a module may be imported: `tests.support`, `support`.
fn module_names(file: &RelPath) -> Vec<String> {
    let path = file.as_str().strip_suffix(".py").unwrap_or(file.as_str());
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    let parts: Vec<&str> = path.split('/').collect();
    (0..parts.len()).filter_map(|from| Some(parts.get(from..)?.join("."))).collect()
}

/// Folder for the bytecode of rewritten asserts; it differs from that of plain runs.
fn cache() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(folder.join("pindrift/bytecode"))
}

/// Why a run is not a whole one, and whether nothing ran at all.
fn problem(ran: &Ran, end: &End, interpreter: &Interpreter) -> (Option<String>, bool) {
    let python = format!("{interpreter} ({})", interpreter.why);
    let began = ran.seen.others.iter().any(|event| matches!(event, Event::Session { .. }));
    let tests = ran.seen.tests.len();
    let kept = match tests {
        0 => "nothing was observed".to_string(),
        1 => "1 test was observed until then".to_string(),
        many => format!("{many} tests were observed until then"),
    };
    let said = last_line(&ran.output);
    let collection: Vec<&str> = ran
        .seen
        .others
        .iter()
        .filter_map(|event| match event {
            Event::Collect { id, .. } => Some(id.as_str()),
            _ => None,
        })
        .collect();
    match end {
        End::Cancelled => (Some(format!("cancelled; {kept}")), false),
        End::TooLong(limit) => {
            let open = ran.seen.tests.iter().rfind(|test| !test.ended);
            let at = open.map(|test| format!(" in {}", test.id)).unwrap_or_default();
            let seconds = limit.as_secs();
            let message =
                format!("stopped{at} after {seconds} s, the time limit; {kept}. Your setting `time-limit` allows more");
            (Some(message), false)
        }
        End::Exited(_) if !began && ran.output.contains("No module named pytest") => {
            let message = format!("{python} has no pytest; install it there, or activate the environment that has it");
            (Some(message), true)
        }
        End::Exited(status) if !began => {
            (Some(format!("pytest did not begin with {python}, {}: {said}", ended(*status))), true)
        }
        End::Exited(status) => match (status.code(), collection.as_slice()) {
            (_, [first, rest @ ..]) => {
                let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
                (Some(format!("{first}{more} cannot be collected: {}; {kept}", collect_error(ran))), tests == 0)
            }
            (Some(0 | 1), _) => (None, false),
            (Some(5), _) => (Some("pytest found no tests here".into()), true),
            (Some(4), _) => (Some(format!("pytest refused its arguments: {said}")), true),
            _ => {
                let open = ran.seen.tests.iter().rfind(|test| !test.ended);
                let at = open.map(|test| format!(" in {}", test.id)).unwrap_or_default();
                (Some(format!("pytest ended{at}, {}; {kept}: {said}", ended(*status))), tests == 0)
            }
        },
    }
}

fn ended(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "in an unknown way".into(),
    }
}

fn collect_error(ran: &Ran) -> String {
    let message = ran.seen.others.iter().find_map(|event| match event {
        Event::Collect { message, .. } => Some(message.as_str()),
        _ => None,
    });
    last_line(message.unwrap_or_default())
}

/// The last line that says something.
fn last_line(text: &str) -> String {
    let said = |line: &&str| line.chars().any(char::is_alphanumeric);
    let line = text.lines().rev().map(str::trim).find(said).unwrap_or("it said nothing");
    crate::text::one_line(line.strip_prefix("E ").map_or(line, str::trim), 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_may_be_imported_from_any_folder_above() {
        let names = |path: &str| module_names(&RelPath::new(path).unwrap());
        assert_eq!(names("tests/deep/support.py"), ["tests.deep.support", "deep.support", "support"]);
        assert_eq!(names("tests/helpers/__init__.py"), ["tests.helpers", "helpers"]);
    }
}
