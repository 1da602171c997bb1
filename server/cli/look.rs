//! `pins`, `check` and `diff`: what is there to see. Takes a workspace, gives what to print.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::args::{DiffShape, Format, Shape};
use super::render::{self, Paint};
use super::{FINE, Outcome, Place, UNUSABLE, WANTS_A_PERSON};
use crate::amendment;
use crate::drift;
use crate::findings::{self, Finding};
use crate::oracles::{Baseline, Content, FileChange, Pin};
use crate::pins::Extent;
use crate::places::RelPath;
use crate::report::{self, Purpose, Report, Row};
use crate::shelf::Read;
use crate::survey::{self, Case, State, Survey, Workspace};
use crate::text::one_line;

/// A workspace and the part of it that a call is about.
pub struct Scope {
    pub workspace: Workspace,
    /// Paths from the root; empty, with no tests either, means everything.
    only: Vec<RelPath>,
    /// Tests by their ids, those of a class or of all parameters by what their ids begin with.
    tests: Vec<String>,
}

/// Why a word of a call names not exactly one thing.
pub struct Unclear {
    pub message: String,
    status: u8,
}

impl From<Unclear> for Outcome {
    fn from(unclear: Unclear) -> Outcome {
        Outcome::refused(unclear.message, unclear.status)
    }
}

impl Scope {
    /// The workspace that holds all of `paths`, files, folders and tests (the current folder when there are none).
    pub fn of(paths: &[PathBuf], place: &Place) -> Result<Scope, Outcome> {
        let refused = |message: String| Outcome::refused(message, UNUSABLE);
        let first = paths.first().map_or_else(|| place.cwd.clone(), |path| place.cwd.join(path));
        let existing = first.ancestors().find(|path| path.exists()).unwrap_or(&place.cwd);
        let workspace = Workspace::open(existing).map_err(refused)?;
        let (mut only, mut tests) = (Vec::new(), Vec::new());
        for path in paths {
            match path.to_str().filter(|word| word.contains("::") && !place.cwd.join(path).exists()) {
                Some(word) => tests.push(test_from_root(word, &workspace, place)),
                None => only.push(from_root(&workspace, path, place).map_err(refused)?),
            }
        }
        if only.iter().any(|path| path.as_str().is_empty()) {
            only.clear();
            tests.clear();
        }
        let scope = Scope { workspace, only, tests };
        if !scope.tests.is_empty() {
            let pins = survey::pins(&scope.workspace.project, &Extent::All);
            let unknown = scope.tests.iter().find(|word| !pins.iter().any(|pin| is_called(pin, word)));
            if let Some(word) = unknown {
                return Err(refused(no_test(word)));
            }
        }
        Ok(scope)
    }

    /// The cases of the scope, orphans and troubles with them.
    pub fn survey(&self) -> Survey {
        let files: &Extent = &match self.only.iter().all(|path| self.workspace.project.unit(path).is_some()) {
            true if !self.only.is_empty() && self.tests.is_empty() => {
                Extent::Files(self.only.iter().cloned().collect::<BTreeSet<_>>())
            }
            _ => Extent::All,
        };
        let mut survey = self.workspace.survey(files, &|| false).unwrap_or_default();
        // Here no editor is at hand that would save what waits for it.
        survey.troubles.extend(self.workspace.ledger.waiting.iter().cloned());
        survey.cases.retain(|case| {
            self.holds(&case.pin.file)
                || self.tests.iter().any(|word| is_called(&case.pin, word))
                || case.pin.oracle.path.as_ref().is_some_and(|path| self.holds(path))
                || case.pin.asserted_in.as_ref().is_some_and(|(file, _)| self.holds(file))
        });
        survey.orphans.retain(|orphan| self.holds(&orphan.path));
        survey.troubles.retain(|trouble| self.holds(&trouble.file));
        survey
    }

    /// Every finding of the scope.
    pub fn findings(&self, survey: &Survey) -> Vec<Finding> {
        findings::everything(survey, &self.workspace)
    }

    pub fn holds(&self, path: &RelPath) -> bool {
        (self.only.is_empty() && self.tests.is_empty()) || self.only.iter().any(|only| path.starts_with(only))
    }
}

/// A test's id whose file is named from the current folder, by its id from the root.
fn test_from_root(word: &str, workspace: &Workspace, place: &Place) -> String {
    let Some((file, rest)) = word.split_once("::") else { return word.to_string() };
    let listed = RelPath::new(file).is_some_and(|path| workspace.project.shelf.listed(&path));
    match from_root(workspace, file.as_ref(), place) {
        Ok(file) if !listed => format!("{file}::{rest}"),
        _ => word.to_string(),
    }
}

/// The word is the test's id, that of all its parameters, or that of a class or module around it.
fn is_called(pin: &Pin, word: &str) -> bool {
    pin.test == word
        || pin.test_base() == word
        || pin.test.strip_prefix(word).is_some_and(|rest| rest.starts_with("::"))
}

pub fn no_test(word: &str) -> String {
    format!("no pinned test is called {word}; `pindrift pins` lists them")
}

/// The oracles of a test, for one who named another.
pub fn no_oracle<'a>(word: &str, key: &str, cases: impl Iterator<Item = &'a Case>) -> Option<String> {
    let keys: BTreeSet<&str> = cases.map(|case| case.pin.oracle.key.as_str()).collect();
    let list: String = keys.iter().map(|key| format!("\n  {key}")).collect();
    (!keys.is_empty()).then(|| format!("{word} has no oracle {key}; it has:{list}"))
}

/// A path of the command line as a path from the root.
pub fn from_root(workspace: &Workspace, path: &std::path::Path, place: &Place) -> Result<RelPath, String> {
    let root = &workspace.project.root;
    let whole = place.cwd.join(path);
    if let Ok(real) = whole.canonicalize()
        && let Some(found) = root.relative(&real)
    {
        return Ok(found);
    }
    let cwd = place.cwd.canonicalize().unwrap_or_else(|_| place.cwd.clone());
    let found = root.relative(&cwd).and_then(|from| path.to_str().and_then(|path| from.join(path)));
    match found {
        Some(found) if whole.exists() || workspace.project.shelf.listed(&found) => Ok(found),
        Some(found) => Err(format!("{found} does not exist in {}", root.path.display())),
        None => Err(format!(
            "{} lies outside {}; call pindrift once for each workspace",
            path.display(),
            root.path.display()
        )),
    }
}

/// Every pin.
pub fn pins(paths: &[PathBuf], shape: Shape, place: &Place) -> Outcome {
    let scope = match Scope::of(paths, place) {
        Ok(scope) => scope,
        Err(refused) => return refused,
    };
    let survey = scope.survey();
    let findings = scope.findings(&survey);
    let report = report::report(&survey, &findings, &scope.workspace, Purpose::Pins);
    let out = match shape {
        Shape::Json => as_json(&report),
        Shape::Text => {
            let paint = Paint(place.colour);
            let mut text: String = report.assertions.iter().map(|row| render::pin_line(row, paint)).collect();
            text.push_str(&troubles(&survey));
            let files = report.assertions.iter().map(|row| &row.file).collect::<BTreeSet<_>>().len();
            text.push_str(&format!(
                "{} in {}\n",
                render::count(report.assertions.len(), "pin"),
                render::count(files, "file")
            ));
            text
        }
    };
    Outcome::new(out, FINE)
}

fn troubles(survey: &Survey) -> String {
    let place = |at: Option<(usize, usize)>| at.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
    survey
        .troubles
        .iter()
        .map(|it| format!("{}{}  not read: {}\n", it.file, place(it.at), render::plain(&it.message)))
        .collect()
}

fn as_json(report: &Report) -> String {
    serde_json::to_string_pretty(report).map(|text| text + "\n").unwrap_or_default()
}

/// What an editor would underline.
pub fn check(paths: &[PathBuf], observed: bool, strict: bool, format: Format, place: &Place) -> Outcome {
    let scope = match Scope::of(paths, place) {
        Ok(scope) => scope,
        Err(refused) => return refused,
    };
    let survey = scope.survey();
    let findings = scope.findings(&survey);
    let report = report::report(&survey, &findings, &scope.workspace, Purpose::Check);
    let wants = report::needs_a_person(&report, scope.workspace.opted_in(), observed, strict);
    let status = if wants { WANTS_A_PERSON } else { FINE };
    let out = match format {
        Format::Json => as_json(&report),
        Format::Github => render::github(&report.findings) + &format!("{}\n", report.summary),
        Format::Sarif => render::sarif(&report.findings),
        Format::Text => check_text(&report, &survey, scope.workspace.opted_in(), observed, place),
    };
    Outcome::new(out, status)
}

fn check_text(report: &Report, survey: &Survey, opted_in: bool, observed: bool, place: &Place) -> String {
    let paint = Paint(place.colour);
    let mut text = String::new();
    // Drifts that are the same change stand together, below the first of them.
    let wanted = || report.assertions.iter().filter(|row| report::wants_a_person(row, opted_in));
    let change_of = |row: &'_ Row| row.change.clone().filter(|_| row.state == "drift");
    let mut alike: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in wanted() {
        change_of(row).into_iter().for_each(|change| alike.entry(change).or_default().push(row));
    }
    let offers: BTreeMap<&str, &str> =
        report.changes.iter().filter_map(|row| Some((row.change.as_str(), row.reason.as_deref()?))).collect();
    for row in wanted() {
        let group = match change_of(row) {
            // Told below the first of them.
            Some(change) if !alike.contains_key(&change) => continue,
            Some(change) => alike.remove_entry(&change),
            None => None,
        };
        let case = row.drift.as_deref().and_then(|id| by_id(survey, id));
        let drift = case.and_then(|case| case.drift.as_ref());
        let brief = drift.map(|drift| drift.brief.as_str()).or(row.moves.as_ref().map(|moves| moves.brief.as_str()));
        text.push_str(&render::drift_lines(row, brief, paint));
        if let Some(proposal) = case.and_then(|case| case.proposal.as_ref()) {
            text.push_str(&format!("    {}\n", render::plain(&proposal.words())));
        }
        if let Some((change, rows)) = group {
            text.push_str(&render::same_change(rows.get(1..).unwrap_or_default(), paint));
            text.extend(offers.get(change.as_str()).map(|reason| render::offered(reason)));
        }
    }
    for finding in report.findings.iter().filter(|finding| opted_in && !report::told_by_rows(finding)) {
        text.push_str(&render::finding_lines(finding, paint));
    }
    if observed {
        text.extend(report.assertions.iter().filter(|row| report::is_unobserved(row)).map(|row| {
            let case = survey.cases.iter().find(|case| case.pin.test == row.test && case.pin.file.as_str() == row.file);
            render::unobserved_line(row, case.map(|case| amendment::run(&case.pin)).as_deref(), paint)
        }));
    }
    text.push_str(&format!("{}\n", report.summary));
    text
}

/// The case with that drift.
pub fn by_id<'a>(survey: &'a Survey, id: &str) -> Option<&'a Arc<Case>> {
    survey.cases.iter().find(|case| case.drift_id.as_deref() == Some(id))
}

/// The one case that a drift's id or a test names, or why there is not one.
pub fn named<'a>(survey: &'a Survey, word: &str, oracle: Option<&str>) -> Result<&'a Arc<Case>, Unclear> {
    let unusable = |message| Err(Unclear { message, status: UNUSABLE });
    let refused = |message| Err(Unclear { message, status: WANTS_A_PERSON });
    if oracle.is_none()
        && let Some(case) = by_id(survey, word)
    {
        return Ok(case);
    }
    let of_test: Vec<&Arc<Case>> = survey
        .cases
        .iter()
        .filter(|case| is_test(case, word))
        .filter(|case| oracle.is_none_or(|key| case.pin.oracle.key == key))
        .collect();
    let drifted: Vec<&Arc<Case>> = of_test.iter().copied().filter(|case| case.drift_id.is_some()).collect();
    match (drifted.as_slice(), of_test.len()) {
        ([case], _) => Ok(case),
        ([], 0) if word.len() == 12 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) => refused(format!(
            "no drift {word} here now: the oracle, the observed value or the pin changed since it was shown; \
             `pindrift check` lists the present ones"
        )),
        ([], 0) => {
            let others = survey.cases.iter().map(|case| &**case).filter(|case| is_test(case, word));
            let unknown = || format!("no drift and no pinned test is called {word}; `pindrift check` lists the drifts");
            unusable(oracle.and_then(|key| no_oracle(word, key, others)).unwrap_or_else(unknown))
        }
        ([], _) => refused(match of_test.iter().find_map(|case| without_drift(case)) {
            Some(why) => format!("{word} has no drift: {why}"),
            None => format!("{word} has no drift"),
        }),
        (several, _) => {
            let list: String = several
                .iter()
                .map(|case| {
                    let id = case.drift_id.as_deref().unwrap_or("-");
                    format!("\n  {id}  {}  {}", case.pin.test, case.pin.oracle.key)
                })
                .collect();
            refused(format!("{word} names {} drifts; give one id:{list}", several.len()))
        }
    }
}

/// A change of text, which a patch can tell.
fn is_text(change: &FileChange, workspace: &Workspace) -> bool {
    let text = |bytes: &[u8]| !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
    let before = match workspace.project.shelf.disk(&change.path) {
        Read::Bytes(bytes) => text(&bytes),
        _ => true,
    };
    before && change.after.as_deref().is_none_or(text)
}

fn is_test(case: &Case, word: &str) -> bool {
    case.pin.test == word || case.pin.test_base() == word
}

/// Why a case has no drift that could be decided on, where that is not because all is well.
fn without_drift(case: &Case) -> Option<String> {
    match (&case.baseline, case.state) {
        (Baseline::Unreadable(why), _) => Some(format!("what is recorded cannot be read: {why}")),
        (_, State::Unobserved) => {
            Some(format!("nothing on disk tells what it does now; `{}` runs it", amendment::run(&case.pin)))
        }
        _ => case.disagreement().map(|why| format!("it is unstable: {why}")),
    }
}

/// One drift.
pub fn diff(of: &str, shape: DiffShape, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(refused) => return refused,
    };
    let survey = scope.survey();
    let case = match named(&survey, of, None) {
        Ok(case) => case,
        Err(unclear) => return unclear.into(),
    };
    let (Some(drift), Some(shown)) = (&case.drift, case.shown()) else {
        return Outcome::refused(format_args!("{of} has no drift"), WANTS_A_PERSON);
    };
    let before = shown.before.as_ref().map(render::as_text).unwrap_or_default();
    let after = render::as_text(&shown.after);
    let key = &case.pin.oracle.key;
    let out = match shape {
        DiffShape::Json => format!(
            "{:#}\n",
            json!({
                "schema": 1,
                "drift": case.drift_id,
                "test": case.pin.test,
                "oracle": key,
                "difference": report::difference(&drift.difference),
                "before": { "label": "recorded", "text": before },
                "after": { "label": "observed", "text": after },
                "hunks": drift.hunks.iter().map(|hunk| json!({
                    "before": [hunk.before.start + 1, hunk.before.end - hunk.before.start],
                    "after": [hunk.after.start + 1, hunk.after.end - hunk.after.start],
                    "difference": drift::words(&hunk.difference),
                })).collect::<Vec<_>>(),
                "values": drift::read(&before, &after).map(|read| read.changes.iter().map(|change| json!({
                    "path": change.path, "before": change.before, "after": change.after,
                })).collect::<Vec<_>>()).unwrap_or_default(),
            })
        ),
        DiffShape::Patch => match amendment::oracle_alone(case, &scope.workspace) {
            Ok(changes) if changes.iter().all(|change| is_text(change, &scope.workspace)) => {
                let shown = std::io::stdout().is_terminal().then_some(Paint(false));
                changes.iter().map(|change| render::patch(change, &scope.workspace, shown)).collect()
            }
            Ok(_) => return Outcome::refused(format_args!("{key} is no text, so it has no patch"), WANTS_A_PERSON),
            Err(refusal) => return Outcome::refused(refusal, WANTS_A_PERSON),
        },
        DiffShape::Text => {
            let paint = Paint(place.colour);
            let row = report::row(case, &scope.workspace.project, Purpose::Check);
            let mut text = render::drift_lines(&row, None, paint);
            // A value has no line end to speak of.
            let value = matches!(shown.after, Content::Value(_));
            let line = |text: &str| if value { format!("{text}\n") } else { text.to_string() };
            let names = (&*format!("recorded {key}"), "observed");
            text.push_str(&render::diff(&line(&before), &line(&after), names, paint));
            let read = findings::reading(case);
            for value in &read.values {
                text.push_str(&format!("    {value}\n"));
            }
            for line in [read.size, read.places, read.distance].into_iter().flatten() {
                text.push_str(&format!("{line}\n"));
            }
            if let Some(proposal) = &case.proposal {
                text.push_str(&format!("{}\n", render::plain(&proposal.words())));
            }
            let advice = match case.verdict() {
                _ if case.state == State::Failed => {
                    "A specification: its value comes from an authority, so the code is wrong and nothing can be accepted".into()
                }
                Some(spoken) => {
                    let said = &spoken.entry.amendment;
                    format!("Judged {} by {}: {}", spoken.verdict.word(), said.author, said.reason)
                }
                None => findings::advice(&drift.difference),
            };
            text.push_str(&format!("{}\n", one_line(&advice, 400)));
            if let Some(treatment) = findings::treatment(&drift.difference) {
                text.push_str(&format!("What helps: {treatment}\n"));
            }
            text
        }
    };
    Outcome::new(out, FINE)
}
