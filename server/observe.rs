//! Runs the user's tests and records what the code does now. Takes a workspace and which tests are wanted, gives
//! what was run, what had to be neutralised, and what stood in the way; the observations lie in
//! `.pindrift/observed/` afterwards. The one module that executes code of the workspace: only when a person asks.
//!
//! The project is left as it was: switches that rewrite baselines are kept from the run, every known baseline and
//! source is compared before and after, and what a run changed is put back and told.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::observations::notes;
use crate::observations::records::{Outcome, Record};
use crate::pins::Project;
use crate::places::RelPath;
use crate::settings::Personal;
use crate::shelf::is_artefact_name;
use crate::survey::{Case, Survey, Workspace};
use crate::syntax::Language;
use crate::{oracles, pins, switches};

pub mod attribution;
pub mod cargo;
pub mod events;
pub mod executed;
pub mod guard;
pub mod interpreter;
pub mod keep;
pub mod libtest;
pub mod process;
pub mod pytest;
pub mod rounds;

use attribution::{Attributed, Said};
use events::Event;
use guard::Guard;
use keep::Kept;

/// How long the tests may run when the person set nothing.
pub const LIMIT: Duration = Duration::from_secs(30 * 60);

/// How often a person is told how far a run is.
const LOOK: Duration = Duration::from_millis(700);

/// Is told how many tests ran so far, and which one runs.
pub type Progress<'a> = &'a dyn Fn(usize, &str);

/// What is asked for.
pub struct Request<'a> {
    /// Tests and files, by their ids from the root; all when empty.
    pub tests: Vec<String>,
    pub personal: Personal,
    /// Variables of the environment.
    pub environment: BTreeMap<String, String>,
    /// How often all of them run, each time under other settings; 1: once, as the person has them.
    pub repeat: usize,
    pub cancelled: &'a dyn Fn() -> bool,
    pub progress: Option<Progress<'a>>,
}

/// Kinds of what a run has to tell beside its observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    UpdatingSwitch,
    RewritesOwnOracle,
}

impl Code {
    pub fn word(self) -> &'static str {
        match self {
            Code::UpdatingSwitch => switches::CODE,
            Code::RewritesOwnOracle => "rewrites-own-oracle",
        }
    }
}

/// Something to mend in the project, with its place where there is one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    pub code: Code,
    pub at: Option<(RelPath, usize)>,
    pub message: String,
}

/// What was done.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// Tests that ran.
    pub ran: usize,
    /// Tests that came to their end, and whether they passed.
    pub ended: BTreeMap<String, bool>,
    /// Pins of which something is known now, and those that no run came to.
    pub seen: usize,
    pub not_reached: usize,
    /// What ran them, for the person.
    pub with: Vec<String>,
    pub notes: BTreeSet<Note>,
    /// Those of the notes that are of this run alone: later checks do not know them.
    pub passing: BTreeSet<Note>,
    /// Why a run is not a whole one.
    pub problems: Vec<String>,
    /// Nothing could be run.
    pub unusable: bool,
    /// The output, where it was kept.
    pub log: Option<RelPath>,
}

/// Runs the tests. An error says why nothing was run, and what to do.
pub fn observe(workspace: &Workspace, request: &Request) -> Result<Observed, String> {
    let project = &workspace.project;
    let survey = workspace.survey(&pins::Extent::All, request.cancelled).unwrap_or_default();
    let groups = pytest::groups(project, &survey.cases, &request.tests);
    let crates = cargo::groups(project, &survey.cases, &request.tests);
    if groups.is_empty() && crates.is_empty() {
        return Err("no test here holds a value against a recorded one, so there is nothing to observe".into());
    }
    let mut out = Observed::default();
    let switches = switches::of_environment(project, request.environment.keys().cloned());
    // Those of the environment are of this run alone.
    out.passing = switches.iter().map(|(_, it)| updating(it.clone())).collect();
    out.notes.extend(switches::configured(project).into_iter().map(updating).chain(out.passing.iter().cloned()));
    let guard = Guard::of(&project.shelf, guarded(workspace, &survey));
    let started = jiff::Timestamp::now();
    let run = format!("{started:.0}-{}", std::process::id());
    let looked = RefCell::new(Instant::now());
    let mut all = Attributed::default();
    let mut output = String::new();
    let mut records = Vec::new();
    let dirty = dirty(workspace, &guard);
    let (rounds, troubles) = rounds::rounds(request.repeat, &request.environment);
    out.problems.extend(troubles);
    for round in &rounds {
        if (request.cancelled)() && out.ran > 0 {
            break;
        }
        let mut under = request.environment.clone();
        under.extend(round.variables.clone());
        let mut all_of_round = Attributed::default();
        for group in &groups {
            let folder = project.root.absolute(&group.folder);
            let variable = |name: &str| request.environment.get(name).cloned();
            let python = match interpreter::interpreter(&project.root.path, &folder, &request.personal, &variable) {
                Ok(python) => python,
                Err(why) => {
                    out.problems.push(why);
                    out.unusable = true;
                    continue;
                }
            };
            let before = out.ran;
            let tick = |folder: &Path| {
                let Some(progress) = request.progress.filter(|_| looked.borrow().elapsed() > LOOK) else { return };
                let (count, last) = so_far(folder);
                progress(before + count, &last);
                *looked.borrow_mut() = Instant::now();
            };
            let setting = pytest::Setting {
                arguments: Vec::new(),
                variables: round.variables.clone(),
                removed: switches.iter().map(|(name, _)| name.clone()).collect(),
                limit: request.personal.time_limit.unwrap_or(LIMIT),
                cancelled: request.cancelled,
                tick: &tick,
            };
            let ran = pytest::run(project, &survey.cases, group, &python, &setting)
                .map_err(|err| format!("the run could not be prepared: {err}"))?;
            out.ran += ran.seen.tests.len();
            out.end(&ran.seen.tests);
            out.unusable |= ran.unusable;
            out.problems.extend(ran.problem.clone());
            output.push_str(&format!("$ {}\n{}\n", ran.command, ran.output));
            let versions = versions(&ran.seen.others);
            let tool = versions.get("pytest").map(|version| format!(", pytest {version}")).unwrap_or_default();
            out.with.push(format!("{python} ({}){tool}", python.why));
            out.notes.extend(neutralised(workspace, &ran.seen, &out.notes));
            let found = attribution::attributed(&survey.cases, &ran.seen.tests, Language::Python, project);
            let environment = environment(versions, &under, &OF_PYTEST);
            let about =
                About { run: &run, command: &ran.command, revision: revision(workspace), dirty: &dirty, environment };
            records.extend(found.said.iter().map(|said| about.record(said)));
            all_of_round.said.extend(found.said);
            all_of_round.behind.extend(found.behind);
            all_of_round.written.extend(found.written);
        }
        for group in &crates {
            let setting = pytest::Setting {
                arguments: Vec::new(),
                variables: round.variables.clone(),
                removed: switches.iter().map(|(name, _)| name.clone()).collect(),
                limit: request.personal.time_limit.unwrap_or(LIMIT),
                cancelled: request.cancelled,
                tick: &|_| {},
            };
            let ran = cargo::run(project, &survey.cases, group, &setting)
                .map_err(|err| format!("cargo could not be run: {err}"))?;
            let tests: usize = ran.binaries.iter().map(|binary| binary.tests.len()).sum();
            out.ran += tests;
            ran.binaries.iter().for_each(|binary| out.end(&binary.tests));
            out.unusable |= ran.unusable;
            out.problems.extend(ran.problem.clone());
            output.push_str(&format!("$ {}\n{}\n", ran.command, ran.output));
            out.with.push(format!(
                "cargo ({})",
                if group.folder.as_str().is_empty() { "the root" } else { group.folder.as_str() }
            ));
            let environment = environment(BTreeMap::new(), &under, &OF_ALL);
            let about =
                About { run: &run, command: &ran.command, revision: revision(workspace), dirty: &dirty, environment };
            let mut said = of_insta(&survey, &ran, project);
            for binary in &ran.binaries {
                let mine: Vec<Arc<Case>> = survey
                    .cases
                    .iter()
                    .filter(|case| case.pin.framework != "insta")
                    .filter(|case| project.crates.package_of(&case.pin.file).is_some_and(|it| it.dir == binary.package))
                    .cloned()
                    .collect();
                said.extend(attribution::attributed(&mine, &binary.tests, Language::Rust, project).said);
            }
            records.extend(said.iter().map(|said| about.record(said)));
            all_of_round.said.extend(said);
        }
        // What one round wrote is not to be compared by the next.
        out.notes.extend(rewritten(&guard, &all_of_round, &survey, workspace));
        all.said.extend(all_of_round.said);
        all.behind.extend(all_of_round.behind);
    }
    for list in [&mut out.problems, &mut out.with] {
        let mut known = BTreeSet::new();
        list.retain(|line| known.insert(line.clone()));
    }
    let records = if rounds.len() > 1 { once(records) } else { records };
    out.not_reached = count(&all.said, |said| said.outcome == Outcome::NotReached);
    out.seen = count(&all.said, |said| said.outcome != Outcome::NotReached);
    let kept = Kept::of(&project.root)?;
    let written = kept
        .log(&output)
        .and_then(|()| kept.texts(&all.behind))
        .and_then(|()| kept.notes(&lasting(out.notes.difference(&out.passing), workspace)))
        .and_then(|()| kept.records(&run, &records));
    written.map_err(|err| format!("{} cannot be written: {err}", crate::observations::records::FOLDER))?;
    out.log = RelPath::new(crate::observations::records::FOLDER).and_then(|folder| folder.join(keep::LOG));
    Ok(out)
}

/// Notes with a place, for the checks that come after.
fn lasting<'a>(notes: impl Iterator<Item = &'a Note>, workspace: &Workspace) -> Vec<notes::Note> {
    let place = |note: &Note| {
        let (file, line) = note.at.as_ref()?;
        let text = workspace.project.shelf.text(file)?;
        let text = text.as_str().lines().nth(line.checked_sub(1)?)?.trim().to_string();
        let (code, file) = (note.code.word().to_string(), file.to_string());
        Some(notes::Note { code, file, line: *line, message: note.message.clone(), text })
    };
    notes.filter_map(place).collect()
}

/// Of a pin that every round said the same of one record is enough.
fn once(records: Vec<Record>) -> Vec<Record> {
    let key = |record: &Record| (record.file.clone(), record.test.clone(), record.nth, record.oracle.clone());
    let said = |record: &Record| (record.outcome, record.value.clone());
    let mut by_pin: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (nth, record) in records.iter().enumerate() {
        by_pin.entry(key(record)).or_default().push(nth);
    }
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    for of_pin in by_pin.values() {
        let same = of_pin.windows(2).all(|two| match two {
            [a, b] => records.get(*a).map(said) == records.get(*b).map(said),
            _ => true,
        });
        kept.extend(if same { &of_pin[..1] } else { of_pin });
    }
    records.into_iter().enumerate().filter(|(nth, _)| kept.contains(nth)).map(|(_, record)| record).collect()
}

impl Observed {
    /// One that fails in any of several runs has failed.
    fn end(&mut self, tests: &[events::Test]) {
        for (id, passed) in ended(tests) {
            let whole = self.ended.entry(id).or_insert(passed);
            *whole = *whole && passed;
        }
    }
}

/// Tests that passed, and those that failed or could not be set up.
pub fn ended(tests: &[events::Test]) -> BTreeMap<String, bool> {
    let called = |test: &events::Test| test.reports().any(|(when, outcome, _)| when == "call" && outcome == "passed");
    let known = tests.iter().filter_map(|test| match test.is("failed") {
        true => Some((test.id.clone(), false)),
        false => called(test).then(|| (test.id.clone(), true)),
    });
    known.collect()
}

/// What insta would record, and which snapshots it compared and found to hold.
fn of_insta(survey: &Survey, ran: &cargo::Ran, project: &Project) -> Vec<Said> {
    let redirected = ran.pending.as_ref().and_then(|pending| cargo::redirected(project, pending.path()).ok());
    let Some(redirected) = redirected else { return Vec::new() };
    let cases = survey.cases.iter().filter(|case| case.pin.framework == "insta" && case.pin.oracle.path.is_some());
    cases.filter_map(|case| attribution::of_artefact(case, &redirected, project, &ran.referenced)).collect()
}

fn count(said: &[Said], is: impl Fn(&Said) -> bool) -> usize {
    let key = |said: &Said| (said.pin.file.clone(), said.pin.test.clone(), said.pin.nth);
    said.iter().filter(|said| is(said)).map(key).collect::<BTreeSet<_>>().len()
}

fn updating(switch: switches::Switch) -> Note {
    Note { code: Code::UpdatingSwitch, at: switch.at, message: switch.message }
}

/// Tests that have begun, and the last of them.
fn so_far(folder: &Path) -> (usize, String) {
    let tests = events::read(folder).tests;
    (tests.len(), tests.last().map(|test| test.id.clone()).unwrap_or_default())
}

/// Files that a run must not change: sources, and whatever is known to be recorded.
fn guarded(workspace: &Workspace, survey: &Survey) -> BTreeSet<RelPath> {
    let project = &workspace.project;
    let mut paths: BTreeSet<RelPath> =
        project.shelf.files().filter(|path| switches::is_source(path)).cloned().collect();
    let mut artefacts: BTreeSet<RelPath> = BTreeSet::new();
    for case in &survey.cases {
        let oracle = &case.pin.oracle;
        paths.extend(oracle.path.iter().chain(&oracle.candidates).cloned());
        if let Some(framework) = oracles::framework(&case.pin.framework) {
            artefacts.extend(framework.artefacts(&case.pin, project).into_iter().map(|artefact| artefact.path));
        }
    }
    paths.extend(survey.orphans.iter().map(|orphan| orphan.path.clone()));
    paths.retain(|path| !artefacts.contains(path) && !is_artefact_name(path.name()));
    paths
}

/// Guarded files that are not what the revision holds.
fn dirty(workspace: &Workspace, guard: &Guard) -> Vec<RelPath> {
    let Some(git) = &workspace.git else { return Vec::new() };
    guard.paths().filter(|path| git.is_tracked(path) && !git.tracked_unmodified(path)).take(100).cloned().collect()
}

fn revision(workspace: &Workspace) -> Option<String> {
    workspace.git.as_ref().and_then(|git| git.head())
}

fn versions(events: &[Event]) -> BTreeMap<String, String> {
    let session = events.iter().find_map(|event| match event {
        Event::Session { pytest, python } => Some([("pytest", pytest), ("python", python)]),
        _ => None,
    });
    session.into_iter().flatten().map(|(name, version)| (name.to_string(), version.clone())).collect()
}

/// What a value may depend on, in any language.
const OF_ALL: [&str; 3] = ["TZ", "LANG", "LC_ALL"];
/// The same, and what only Python and the plugin read.
const OF_PYTEST: [&str; 5] = ["TZ", "LANG", "LC_ALL", "PYTHONHASHSEED", rounds::ORDER];

/// Of what a value may depend on, what is set.
fn environment(
    mut versions: BTreeMap<String, String>,
    of: &BTreeMap<String, String>,
    names: &[&str],
) -> BTreeMap<String, String> {
    for name in names {
        if let Some(value) = of.get(*name) {
            versions.insert(name.to_string(), value.chars().take(100).collect());
        }
    }
    versions
}

/// What all records of one run have in common.
struct About<'a> {
    run: &'a str,
    command: &'a str,
    revision: Option<String>,
    dirty: &'a [RelPath],
    environment: BTreeMap<String, String>,
}

impl About<'_> {
    fn record(&self, said: &Said) -> Record {
        Record {
            path: RelPath::default(),
            file: said.pin.file.clone(),
            test: said.pin.test_base().to_string(),
            nth: said.pin.nth,
            oracle: said.pin.oracle.key.clone(),
            oracle_digest: said.oracle_digest.clone(),
            assertion: said.assertion.clone(),
            outcome: said.outcome,
            value: said.value.clone(),
            preimage: said.preimage.clone(),
            aged: false,
            lossy: said.lossy,
            at: Some(jiff::Timestamp::now()),
            run: Some(self.run.to_string()),
            command: Some(self.command.to_string()),
            revision: self.revision.clone(),
            dirty: self.dirty.to_vec(),
            environment: self.environment.clone(),
        }
    }
}

/// Switches that the plugin met and that no place of the configuration was named for yet.
fn neutralised(workspace: &Workspace, seen: &events::Seen, known: &BTreeSet<Note>) -> Vec<Note> {
    let inside = seen.tests.iter().flat_map(|test| &test.events);
    let mut notes = BTreeSet::new();
    for event in seen.others.iter().chain(inside) {
        let (name, what) = match event {
            Event::Option { name } => (name.replace('_', "-"), "option"),
            Event::Variable { name } => (name.clone(), "variable"),
            _ => continue,
        };
        // One that stands in a configuration has been named with its place.
        let configured =
            |note: &&Note| note.at.is_some() && note.message.contains(if what == "option" { "`" } else { &name });
        if known.iter().any(|note| configured(&note)) {
            continue;
        }
        let at = if what == "variable" { switches::place_of(&workspace.project, &name) } else { None };
        let message = match (what, &at) {
            ("option", _) => format!(
                "the option `{name}` rewrites what is recorded; it was turned off here. Look in PYTEST_ADDOPTS and the configuration"
            ),
            _ => format!("{name} is set while tests run and makes them rewrite what is recorded; it was taken out"),
        };
        notes.insert(Note { code: Code::UpdatingSwitch, at, message });
    }
    notes.into_iter().collect()
}

/// Puts back what the run changed, and says which test did it.
fn rewritten(guard: &Guard, all: &Attributed, survey: &Survey, workspace: &Workspace) -> Vec<Note> {
    let mut notes = Vec::new();
    for touched in guard.restore() {
        let path = &touched.path;
        let undone = match &touched.left {
            None => "; it was put back".to_string(),
            Some(why) => format!("; it could not be put back: {why}"),
        };
        let did = touched.done.word();
        let first = all.written.iter().find(|(_, written, _)| written == path);
        let (at, message) = match first {
            Some((test, _, at)) => {
                let place = at.as_ref().and_then(|(file, line)| Some((RelPath::new(file)?, *line)));
                let place = place.or_else(|| pinned(survey, path, workspace));
                (place, format!("{test} {did} {path}, the baseline that it is held against{undone}"))
            }
            None => (pinned(survey, path, workspace), format!("the run {did} {path}{undone}")),
        };
        notes.push(Note { code: Code::RewritesOwnOracle, at: at.or_else(|| Some((path.clone(), 1))), message });
    }
    notes
}

/// Where a pin of that oracle is.
fn pinned(survey: &Survey, path: &RelPath, workspace: &Workspace) -> Option<(RelPath, usize)> {
    let of_path = |case: &&Arc<Case>| case.pin.oracle.path.as_ref() == Some(path) && case.pin.file != *path;
    let pin = &survey.cases.iter().find(of_path)?.pin;
    Some((pin.file.clone(), workspace.project.unit(&pin.file)?.line(pin.span.start)))
}
