//! One test run at the base, in the folder that was laid out for it: how it ended, and how its pin stands. Takes
//! a workspace in that folder, gives a word of [`crate::ledger::Proven`]. Nothing of the user's work tree is run
//! here or written to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Named;
use crate::observations::records::Outcome;
use crate::observe::{self, attribution, cargo, events, interpreter, pytest};
use crate::oracles::{Baseline, Refusal};
use crate::pins::{self, Project};
use crate::places::{RelPath, Root};
use crate::settings::Personal;
use crate::shelf::Read;
use crate::survey::{Case, Survey, Workspace};
use crate::switches;
use crate::syntax::Language;

/// Most that is laid beside the base, in bytes.
const MOST_BROUGHT: usize = 256 << 20;

pub(super) struct With<'a> {
    /// The user's own root: there its environments are.
    pub root: &'a Root,
    pub personal: &'a Personal,
    pub environment: &'a BTreeMap<String, String>,
    pub cancelled: &'a dyn Fn() -> bool,
}

/// What a run said.
struct Said {
    ended: BTreeMap<String, bool>,
    /// Tests of which an assertion failed, nothing before it.
    asserted: BTreeSet<String>,
    pins: Vec<attribution::Said>,
}

/// How a test ended, its cases taken together.
pub(super) fn outcome(ended: &BTreeMap<String, bool>, id: &str, language: Language) -> &'static str {
    let mut found = ended.iter().filter(|(other, _)| is_it(other, id, language)).map(|(_, passed)| *passed).peekable();
    match (found.peek().is_some(), found.all(|passed| passed)) {
        (false, _) => "not-run",
        (true, true) => "passed",
        (true, false) => "failed",
    }
}

fn is_it(other: &str, id: &str, language: Language) -> bool {
    other == id || (language == Language::Python && other.split('[').next() == Some(id) && !id.contains('['))
}

/// How a test ends. One that comes to no comparison (a fixture, a module or a file that the base does not have)
/// says nothing about the code there.
pub(super) fn test(base: &Workspace, named: &Named, with: &With, problems: &mut Vec<String>) -> &'static str {
    let said = run(base, &named.id, &named.file, named.language, with, problems);
    match outcome(&said.ended, &named.id, named.language) {
        "failed" if !said.asserted.iter().any(|other| is_it(other, &named.id, named.language)) => {
            problems.push(format!(
                "at the base {} fails before any of its assertions does, so its failure says nothing about the code there; \
                 let it use only files, fixtures and functions that the base has, or files of its own below tests/",
                named.id
            ));
            "not-run"
        }
        word => word,
    }
}

/// How a pin stands. Refused when it recorded another value there: that one holding says nothing about today's.
pub(super) fn pin(
    base: &Workspace,
    case: &Case,
    with: &With,
    problems: &mut Vec<String>,
) -> Result<&'static str, Refusal> {
    let pin = &case.pin;
    let test = pin.test_base();
    let survey = base.states(&pins::Extent::All, with.cancelled).unwrap_or_default();
    let same = |other: &&Arc<Case>| other.pin.oracle.key == pin.oracle.key && other.pin.test_base() == test;
    let Some(then) = survey.cases.iter().find(same) else { return Ok("absent") };
    let digest = |baseline: &Baseline| match baseline {
        Baseline::Present(recorded) => Some(recorded.content.digest()),
        Baseline::Missing | Baseline::Unreadable(_) => None,
    };
    if digest(&then.baseline) != digest(&case.baseline) {
        return Err(Refusal(format!(
            "{} is another value at the base than today, so the pin holding there says nothing about this drift; name a \
             revision that records today's value with --base",
            pin.oracle.key
        )));
    }
    let wanted = if pin.language == Language::Python { pin.test.as_str() } else { test };
    let said = run(base, wanted, &pin.file, pin.language, with, problems);
    let own = said.pins.iter().filter(|said| said.pin.oracle.key == pin.oracle.key && said.pin.test_base() == test);
    let outcomes: Vec<Outcome> = own.map(|said| said.outcome).collect();
    Ok(match outcome(&said.ended, wanted, pin.language) {
        "passed" => "match",
        "not-run" => "not-run",
        _ if !outcomes.is_empty() && outcomes.iter().all(|outcome| *outcome == Outcome::Match) => "match",
        _ if outcomes.contains(&Outcome::Differs) => "drift",
        _ => "failed",
    })
}

/// The base with the specification of today: its file, and what it needs of the tests that the base does not have.
/// `None` where that would bring code of the product with it.
pub(super) fn brought(
    workspace: &Workspace,
    base: &Workspace,
    named: &Named,
    problems: &mut Vec<String>,
) -> Option<Workspace> {
    if !pins::is_of_tests(&named.file) {
        problems.push(format!(
            "{} is no file of tests alone, so {} cannot be tried on the base without the code of today; move it to a file \
             below tests/",
            named.file, named.id
        ));
        return None;
    }
    let root = &base.project.root;
    // Its data as it is today; code and settings that the base has stay as they are there.
    let is_data = |path: &RelPath| {
        let settings = [".toml", ".cfg", ".ini", ".lock"].iter().any(|end| path.name().ends_with(end));
        Language::of(path.name()).is_none() && !settings
    };
    let of_tests = workspace
        .project
        .shelf
        .files()
        .filter(|path| pins::is_of_tests(path) && (is_data(path) || !base.project.shelf.listed(path)));
    let mut left = MOST_BROUGHT;
    for path in of_tests.chain([&named.file]) {
        let Read::Bytes(bytes) = workspace.project.shelf.disk(path) else { continue };
        let Ok(Some(real)) = root.resolved(path) else { continue };
        let Some(rest) = left.checked_sub(bytes.len()) else {
            problems.push(format!(
                "the files of tests are more than {} MB, so {} was not tried on the base",
                MOST_BROUGHT >> 20,
                named.id
            ));
            return None;
        };
        left = rest;
        let written =
            real.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&real, &bytes));
        if let Err(err) = written {
            problems.push(format!("{path} cannot be laid beside the base: {err}"));
            return None;
        }
    }
    Workspace::load(root.clone(), &|_, _| {}, &|| false)
}

fn run(
    base: &Workspace,
    test: &str,
    file: &RelPath,
    language: Language,
    with: &With,
    problems: &mut Vec<String>,
) -> Said {
    let survey = base.states(&pins::Extent::All, with.cancelled).unwrap_or_default();
    let result = match language {
        Language::Python => python(base, &survey, test, with),
        Language::Rust => rust(base, &survey, test, file, with),
    };
    match result {
        Ok((said, problem)) => {
            problems.extend(problem.map(|problem| format!("at the base: {problem}")));
            said
        }
        Err(why) => {
            problems.push(format!("at the base: {why}"));
            Said { ended: BTreeMap::new(), asserted: BTreeSet::new(), pins: Vec::new() }
        }
    }
}

type Ran = Result<(Said, Option<String>), String>;

fn setting<'a>(project: &Project, variables: BTreeMap<String, String>, with: &'a With) -> pytest::Setting<'a> {
    // What rewrites a baseline would make any pin hold.
    let switches = switches::of_environment(project, with.environment.keys().cloned());
    pytest::Setting {
        arguments: Vec::new(),
        variables,
        removed: switches.into_iter().map(|(name, _)| name).collect(),
        limit: with.personal.time_limit.unwrap_or(observe::LIMIT),
        cancelled: with.cancelled,
        tick: &|_| {},
    }
}

fn python(base: &Workspace, survey: &Survey, test: &str, with: &With) -> Ran {
    let project = &base.project;
    let groups = pytest::groups(project, &survey.cases, &[test.to_string()]);
    let group = groups.first().ok_or_else(|| format!("{test} is no test of pytest"))?;
    let variable = |name: &str| with.environment.get(name).cloned();
    let folder = with.root.absolute(&group.folder);
    let python = interpreter::interpreter(&with.root.path, &folder, with.personal, &variable)?;
    // Before what is installed for the work tree, lest the code of today stands in for that of the base.
    let mut paths: Vec<std::path::PathBuf> = [group.folder.join("src"), Some(group.folder.clone())]
        .into_iter()
        .flatten()
        .map(|it| project.root.absolute(&it))
        .collect();
    paths.retain(|path| path.is_dir());
    paths.extend(with.environment.get("PYTHONPATH").iter().flat_map(std::env::split_paths));
    let paths = std::env::join_paths(paths).ok().and_then(|paths| paths.into_string().ok());
    let variables = paths.map(|paths| ("PYTHONPATH".to_string(), paths)).into_iter().collect();
    let ran = pytest::run(project, &survey.cases, group, &python, &setting(project, variables, with))
        .map_err(|err| err.to_string())?;
    let pins = attribution::attributed(&survey.cases, &ran.seen.tests, Language::Python, project).said;
    let asserted =
        ran.seen.tests.iter().filter(|test| test.failed_by_assertion()).map(|test| test.id.clone()).collect();
    Ok((Said { ended: observe::ended(&ran.seen.tests), asserted, pins }, ran.problem))
}

fn rust(base: &Workspace, survey: &Survey, test: &str, file: &RelPath, with: &With) -> Ran {
    let project = &base.project;
    let package = project.crates.package_of(file).ok_or_else(|| format!("{file} is in no package"))?;
    // The same versions as in the work tree, where the base does not say.
    if let Some(lock) = package.workspace.join("Cargo.lock").filter(|lock| !project.shelf.listed(lock)) {
        let _ = std::fs::copy(with.root.absolute(&lock), project.root.absolute(&lock));
    }
    let targets = BTreeSet::from([test.split("::").next().unwrap_or(test).to_string()]);
    let group = cargo::Group { folder: package.workspace.clone(), targets, tests: vec![test.to_string()] };
    let target = project.root.path.join("target").display().to_string();
    let variables = BTreeMap::from([("CARGO_TARGET_DIR".to_string(), target)]);
    let ran = cargo::run(project, &survey.cases, &group, &setting(project, variables, with))
        .map_err(|err| err.to_string())?;
    let tests: Vec<_> = ran.binaries.iter().flat_map(|binary| binary.tests.iter().cloned()).collect();
    let pins = attribution::attributed(&survey.cases, &tests, Language::Rust, project).said;
    let asserted = tests.iter().filter(|test| test.failed_by_assertion() || stopped_at_one(test, project));
    let asserted = asserted.map(|test| test.id.clone()).collect();
    Ok((Said { ended: observe::ended(&tests), asserted, pins }, ran.problem))
}

/// It panicked on a line that asserts, with a message of the test's own.
fn stopped_at_one(test: &events::Test, project: &Project) -> bool {
    let asserts = |(file, line): &events::At| {
        let text = RelPath::new(file).and_then(|file| project.shelf.text(&file))?;
        let line = text.as_str().lines().nth(line.checked_sub(1)?)?;
        Some(line.contains("assert"))
    };
    let broke = |event: &events::Event| match event {
        events::Event::Broke { at, .. } => at.first().and_then(asserts).unwrap_or(false),
        _ => false,
    };
    test.is("failed") && test.events.iter().any(broke)
}
