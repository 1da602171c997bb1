//! One test run at the base, in the folder that was laid out for it: how it ended, and how its pin stands. Takes
//! a workspace in that folder, gives a word of [`crate::ledger::Proven`]. Nothing of the user's work tree is run
//! here or written to.

use std::collections::{BTreeMap, BTreeSet};

use super::Named;
use crate::observations::records::Outcome;
use crate::observe::{self, attribution, cargo, interpreter, pytest};
use crate::oracles::Pin;
use crate::pins::{self, Project};
use crate::places::{RelPath, Root};
use crate::settings::Personal;
use crate::shelf::Read;
use crate::survey::{Survey, Workspace};
use crate::switches;
use crate::syntax::Language;

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
    pins: Vec<attribution::Said>,
}

/// How a test ended, its cases taken together.
pub(super) fn outcome(ended: &BTreeMap<String, bool>, id: &str, language: Language) -> &'static str {
    let is_it = |other: &str| {
        other == id || (language == Language::Python && other.split('[').next() == Some(id) && !id.contains('['))
    };
    let mut found = ended.iter().filter(|(other, _)| is_it(other)).map(|(_, passed)| *passed).peekable();
    match (found.peek().is_some(), found.all(|passed| passed)) {
        (false, _) => "not-run",
        (true, true) => "passed",
        (true, false) => "failed",
    }
}

/// How a test ends.
pub(super) fn test(base: &Workspace, named: &Named, with: &With, problems: &mut Vec<String>) -> &'static str {
    let said = run(base, &named.id, &named.file, named.language, with, problems);
    outcome(&said.ended, &named.id, named.language)
}

/// How a pin stands.
pub(super) fn pin(base: &Workspace, pin: &Pin, with: &With, problems: &mut Vec<String>) -> &'static str {
    let test = pin.test_base();
    if super::function_of(&base.project, test).is_none() {
        return "absent";
    }
    let wanted = if pin.language == Language::Python { pin.test.as_str() } else { test };
    let said = run(base, wanted, &pin.file, pin.language, with, problems);
    let own = said.pins.iter().filter(|said| said.pin.oracle.key == pin.oracle.key && said.pin.test_base() == test);
    let outcomes: Vec<Outcome> = own.map(|said| said.outcome).collect();
    match outcome(&said.ended, wanted, pin.language) {
        "passed" => "match",
        "not-run" => "not-run",
        _ if !outcomes.is_empty() && outcomes.iter().all(|outcome| *outcome == Outcome::Match) => "match",
        _ if outcomes.contains(&Outcome::Differs) => "drift",
        _ => "failed",
    }
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
    let missing = workspace.project.shelf.files().filter(|path| {
        pins::is_of_tests(path) && Language::of(path.name()).is_some() && !base.project.shelf.listed(path)
    });
    for path in missing.chain([&named.file]) {
        let Read::Bytes(bytes) = workspace.project.shelf.disk(path) else { continue };
        let Ok(Some(real)) = root.resolved(path) else { continue };
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
            Said { ended: BTreeMap::new(), pins: Vec::new() }
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
    Ok((Said { ended: observe::ended(&ran.seen.tests), pins }, ran.problem))
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
    Ok((Said { ended: observe::ended(&tests), pins }, ran.problem))
}
