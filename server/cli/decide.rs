//! `accept`, `record`, `explain`, `reclassify` and `withdraw`: hands what the person said to the amendments
//! and prints what came of it. Every refusal is theirs.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::args::{RoleWord, Shape};
use super::look::{Scope, named};
use super::render::{self, Paint};
use super::{FINE, Outcome, Place, UNUSABLE, WANTS_A_PERSON};
use crate::amendment::{self, Applied, Plan, Request};
use crate::audit;
use crate::changes;
use crate::git;
use crate::ledger::{self, Entry};
use crate::oracles::{FileChange, OracleKind, Refusal};
use crate::pins::Extent;
use crate::places::RelPath;
use crate::roles::Role;
use crate::shelf::Read;
use crate::survey::{Case, State, Survey, Workspace};
use crate::text::one_line;

/// What `accept` was told.
pub struct Accept {
    pub drift: Option<String>,
    pub test: Option<String>,
    pub oracle: Option<String>,
    /// `None`: the one that was given for another drift of the same change.
    pub reason: Option<String>,
    pub proof: Option<String>,
    pub authority: Option<String>,
    pub dry_run: bool,
    pub shape: Shape,
}

pub fn request(workspace: &Workspace, reason: String) -> Request {
    Request {
        drift: None,
        reason,
        authority: None,
        proof: None,
        verdict: None,
        via: "cli".into(),
        author: git::author(workspace.git.as_deref()),
        proposed_by: None,
        confirmed_by: None,
        at: jiff::Timestamp::now(),
    }
}

pub fn everything(workspace: &Workspace) -> Survey {
    workspace.states(&Extent::All, &|| false).unwrap_or_default()
}

fn refused(refusal: Refusal) -> Outcome {
    Outcome::refused(refusal, WANTS_A_PERSON)
}

/// Nothing is open in an editor here.
fn closed(_: &RelPath) -> bool {
    false
}

/// Amends one oracle.
pub fn accept(said: Accept, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(outcome) => return outcome,
    };
    let survey = everything(&scope.workspace);
    let word = said.drift.as_deref().or(said.test.as_deref()).unwrap_or_default();
    let case = match named(&survey, word, said.oracle.as_deref()) {
        Ok(case) => Arc::clone(case),
        Err(unclear) => return unclear.into(),
    };
    // From here on it is this drift, whatever else happens to the files.
    let Some(id) = case.drift_id.clone() else {
        return Outcome::refused(format_args!("{word} has no drift"), WANTS_A_PERSON);
    };
    let offered =
        case.compared().drift.and_then(|drift| changes::offered(&drift.change, &scope.workspace.ledger).cloned());
    let (reason, authority) = match (said.reason, &offered) {
        (Some(reason), Some(entry)) if reason.trim().is_empty() => {
            return Outcome::refused(missing_reason(&id, &case, &entry.amendment), WANTS_A_PERSON);
        }
        (Some(reason), _) => (reason, said.authority),
        (None, Some(entry)) => {
            (entry.amendment.reason.clone(), said.authority.or_else(|| entry.amendment.authority.clone()))
        }
        (None, None) => {
            return Outcome::refused(
                "no drift of the same change was accepted yet, so there is no reason to take over; say it with --reason",
                WANTS_A_PERSON,
            );
        }
    };
    let request =
        Request { drift: Some(id.clone()), authority, proof: said.proof, ..request(&scope.workspace, reason) };
    if said.dry_run {
        return match amendment::plan_accept(&case, &scope.workspace, &request) {
            Ok(plan) => Outcome::new(shown(&plan, &scope.workspace, said.shape, place), FINE),
            Err(refusal) => refused(refusal),
        };
    }
    let more = same_change(&case, &survey);
    match accepted(&id, case, scope.workspace, &request) {
        Ok(applied) => {
            let more = if said.shape == Shape::Text { more } else { String::new() };
            Outcome::new(done(&applied, said.shape) + &more, FINE)
        }
        Err(refusal) => refused(refusal),
    }
}

/// Accepts the drift with this id: on what is known of it, else on everything read again.
pub fn accepted(id: &str, case: Arc<Case>, workspace: Workspace, request: &Request) -> Result<Applied, Refusal> {
    let root = workspace.project.root.clone();
    let mut first = Some((case, workspace));
    let mut plan = || {
        let known = first.take();
        fresh(&root.path, id, known, |case, workspace| amendment::plan_accept(case, workspace, request))
    };
    amendment::amend(&root, &mut plan, &closed)
}

fn missing_reason(id: &str, case: &Case, accepted: &ledger::Amendment) -> String {
    format!(
        "the reason is missing; the same change as in {} was accepted because: {}; `pindrift accept {id} \
         --same-reason` confirms it here too, --reason gives another",
        case.pin.test,
        one_line(&accepted.reason, 200)
    )
}

/// What is left of the change that was just accepted, and how to go on with it: one decision each.
fn same_change(case: &Case, survey: &Survey) -> String {
    let Some(own) = case.compared().drift else { return String::new() };
    let others: Vec<&Arc<Case>> = survey
        .cases
        .iter()
        .filter(|other| other.state == State::Drift && other.drift_id != case.drift_id)
        .filter(|other| other.compared().drift.is_some_and(|drift| drift.change == own.change))
        .collect();
    let Some((first, id)) = others.first().and_then(|first| Some((first, first.drift_id.as_deref()?))) else {
        return String::new();
    };
    let left = render::count(others.len(), "more drift");
    let is = if others.len() == 1 { "is" } else { "are" };
    format!(
        "{left} {is} the same change; the next is {}. Look at it (`pindrift diff {id}`), then\n    pindrift accept {id} \
         --same-reason\n",
        render::plain(&first.pin.test)
    )
}

/// How often a plan is made again because somebody else writes to the same file meanwhile.
const TRIES: usize = 20;

/// Plans for a drift, on what is known or on everything read again; once more where the test's source
/// changed while the plan was made.
fn fresh(
    root: &std::path::Path,
    id: &str,
    mut known: Option<(Arc<Case>, Workspace)>,
    plan: impl Fn(&Case, &Workspace) -> Result<Plan, Refusal>,
) -> Result<Plan, Refusal> {
    for _ in 1..TRIES {
        let (case, workspace) = match known.take() {
            Some(known) => known,
            None => afresh(root, id)?,
        };
        let planned = plan(&case, &workspace);
        if planned.is_ok() || !outdated(&case, &workspace) {
            return planned;
        }
    }
    let (case, workspace) = afresh(root, id)?;
    plan(&case, &workspace)
}

/// The source of the pin on disk is not the one that was read.
fn outdated(case: &Case, workspace: &Workspace) -> bool {
    let Some(unit) = workspace.project.unit(&case.pin.file) else { return false };
    match workspace.project.shelf.disk(&case.pin.file) {
        Read::Bytes(bytes) => {
            let now = String::from_utf8_lossy(&bytes);
            now.trim_start_matches('\u{feff}') != unit.text.as_str().trim_start_matches('\u{feff}')
        }
        _ => false,
    }
}

/// The case of a drift, everything read again.
fn afresh(root: &std::path::Path, id: &str) -> Result<(Arc<Case>, Workspace), Refusal> {
    let workspace = Workspace::open(root).map_err(Refusal)?;
    let survey = everything(&workspace);
    let case = named(&survey, id, None).map_err(|unclear| Refusal(unclear.message))?;
    Ok((Arc::clone(case), workspace))
}

fn done(applied: &Applied, shape: Shape) -> String {
    match shape {
        Shape::Json => format!(
            "{:#}\n",
            json!({ "accepted": true, "amendment": applied.record.as_str(), "pending": applied.pending })
        ),
        Shape::Text => {
            format!("accepted; recorded in {}\nCommit it together with the change it explains.\n", applied.record)
        }
    }
}

/// A plan for a reader: what each file would become, then the amendment.
fn shown(plan: &Plan, workspace: &Workspace, shape: Shape, place: &Place) -> String {
    let record = String::from_utf8_lossy(&ledger::encode(&plan.amendment).into_bytes()).into_owned();
    let removed = |change: &&FileChange| change.after.is_none();
    let paint = Paint(place.colour && shape == Shape::Text);
    let text = |change: &FileChange| render::patch(change, workspace, paint.0.then_some(paint));
    if shape == Shape::Json {
        let files = |changes: &[FileChange]| {
            changes
                .iter()
                .map(|change| json!({ "path": change.path.as_str(), "removed": change.after.is_none(), "diff": text(change) }))
                .collect::<Vec<_>>()
        };
        return format!(
            "{:#}\n",
            json!({
                "accepted": false,
                "changes": files(&plan.changes),
                "artefacts": files(&plan.artefacts),
                "amendment": plan.record.as_str(),
                "record": record,
            })
        );
    }
    let mut out: String = plan.changes.iter().map(text).collect();
    for change in plan.artefacts.iter().filter(|change| !removed(change)) {
        out.push_str(&text(change));
    }
    for change in plan.artefacts.iter().filter(removed) {
        let _ = writeln!(out, "removed: {}", change.path);
    }
    let _ = write!(out, "new file: {}\n{}", plan.record, render::plain_lines(&record));
    out.push_str("\nNothing was written.\n");
    out
}

/// Finishes what an interrupted call left.
pub fn finish(place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(outcome) => return outcome,
    };
    let finished = match amendment::finish(&scope.workspace.project.root) {
        Ok(finished) => finished,
        Err(refusal) => return refused(refusal),
    };
    let mut outcome = Outcome::default();
    for it in &finished {
        match &it.trouble {
            None => {
                let _ = writeln!(outcome.out, "finished {}", it.record);
            }
            Some(refusal) => {
                let _ = writeln!(outcome.err, "pindrift: {}: {refusal}", it.record);
                outcome.status = WANTS_A_PERSON;
            }
        }
    }
    if finished.is_empty() {
        outcome.out.push_str("nothing was left unfinished\n");
    }
    outcome
}

/// Takes new baselines into the record.
pub fn record(paths: &[PathBuf], reason: String, dry_run: bool, place: &Place) -> Outcome {
    let scope = match Scope::of(paths, place) {
        Ok(scope) => scope,
        Err(outcome) => return outcome,
    };
    let survey = scope.survey();
    let new: Vec<&Arc<Case>> =
        survey.cases.iter().filter(|case| case.state == State::Missing && case.drift_id.is_some()).collect();
    if new.is_empty() {
        return Outcome::new("nothing new: every pin with an observed value has a recorded one\n".into(), FINE);
    }
    let request = request(&scope.workspace, reason);
    // All are planned before any is written: a reason that will not do costs nothing.
    let plans: Result<Vec<Plan>, Refusal> =
        new.iter().map(|case| amendment::plan_record(case, &scope.workspace, &request)).collect();
    let plans = match plans {
        Ok(plans) => plans,
        Err(refusal) => return refused(refusal),
    };
    let mut outcome = Outcome::default();
    for case in &new {
        let _ = writeln!(outcome.out, "new  {}  {}", case.pin.oracle.key, render::plain(&case.pin.test));
    }
    if dry_run {
        outcome.out.push_str("Nothing was written.\n");
        return outcome;
    }
    drop(plans);
    let root = scope.workspace.project.root.clone();
    let ids: Vec<String> = new.iter().filter_map(|case| case.drift_id.clone()).collect();
    let mut done = BTreeSet::new();
    for id in ids {
        let mut plan =
            || fresh(&root.path, &id, None, |case, workspace| amendment::plan_record(case, workspace, &request));
        match amendment::amend(&root, &mut plan, &closed) {
            Ok(applied) => {
                done.insert(applied.record);
            }
            Err(refusal) => {
                let _ = writeln!(outcome.err, "pindrift: {refusal}");
                outcome.status = WANTS_A_PERSON;
            }
        }
    }
    let _ = writeln!(outcome.out, "{} recorded", done.len());
    outcome
}

/// Writes the reason after the fact.
pub fn explain(what: &str, base: Option<&str>, reason: String, authority: Option<String>, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(outcome) => return outcome,
    };
    let survey = everything(&scope.workspace);
    let path = RelPath::new(what);
    let path = super::look::from_root(&scope.workspace, what.as_ref(), place).ok().or(path);
    let about = |case: &&Arc<Case>| {
        let pin = &case.pin;
        pin.test == what
            || pin.test_base() == what
            || pin.oracle.key == what
            || (pin.oracle.path.is_some() && pin.oracle.path == path)
    };
    let mut seen = BTreeSet::new();
    let cases: Vec<&Arc<Case>> = survey
        .cases
        .iter()
        .filter(about)
        .filter(|case| match case.pin.oracle.kind {
            OracleKind::Literal | OracleKind::Inline => {
                seen.insert((case.pin.oracle.key.clone(), case.pin.test_base().to_string()))
            }
            _ => seen.insert((case.pin.oracle.key.clone(), String::new())),
        })
        .collect();
    let request = Request { authority, ..request(&scope.workspace, reason) };
    let plan = |case: &Case| amendment::plan_explain(case, &scope.workspace, base, &request);
    let mut plans: Vec<(&Arc<Case>, Result<Plan, Refusal>)> = cases.iter().map(|case| (*case, plan(case))).collect();
    if plans.iter().any(|(_, plan)| plan.is_ok()) {
        plans.retain(|(_, plan)| plan.is_ok());
    } else if let Some(outcome) = explain_comparison(what, base, &scope.workspace, &request) {
        return outcome;
    }
    match plans.len() {
        0 => Outcome::refused(
            format_args!("no pin and no baseline is called {what}; `pindrift pins` lists them"),
            UNUSABLE,
        ),
        1 => match plans
            .swap_remove(0)
            .1
            .and_then(|plan| amendment::apply(&scope.workspace.project.root, &plan, &closed))
        {
            Ok(applied) => Outcome::new(format!("explained; recorded in {}\n", applied.record), FINE),
            Err(refusal) => refused(refusal),
        },
        several => {
            let keys: BTreeSet<&str> = plans.iter().map(|(case, _)| case.pin.oracle.key.as_str()).collect();
            let list: String = keys.iter().map(|key| format!("\n  {key}")).collect();
            Outcome::refused(
                format_args!("{what} holds {several} baselines that changed; explain one at a time:{list}"),
                WANTS_A_PERSON,
            )
        }
    }
}

/// The reason why a test sees less than it did, where what it holds is the same; `None` when it does not.
fn explain_comparison(what: &str, base: Option<&str>, workspace: &Workspace, request: &Request) -> Option<Outcome> {
    let git = workspace.git.as_deref()?;
    let base = match base {
        Some(base) => git.merge_base(base).ok()?,
        None => git.head()?,
    };
    let past = crate::past::past(&workspace.project.root, git, &base).ok()?;
    let of_test = |pin: &crate::oracles::Pin| pin.test == what || pin.test_base() == what;
    let weaker: Vec<audit::Weaker> =
        audit::weaker(&past.workspace, workspace).into_iter().filter(|weaker| of_test(&weaker.pin)).collect();
    let pin = &weaker.first()?.pin;
    let all = |of: fn(&audit::Weaker) -> &Vec<String>| weaker.iter().flat_map(of).cloned().collect::<Vec<_>>();
    let (told, shapes) = (all(|weaker| &weaker.what), all(|weaker| &weaker.shapes));
    let done = amendment::plan_comparison(pin, &told, &shapes, workspace, request)
        .and_then(|plan| amendment::apply(&workspace.project.root, &plan, &closed));
    Some(match done {
        Ok(applied) => Outcome::new(format!("explained why {what} sees less; recorded in {}\n", applied.record), FINE),
        Err(refusal) => refused(refusal),
    })
}

/// Says what kind of test this is.
pub fn reclassify(test: &str, to: RoleWord, reason: String, authority: Option<String>, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(outcome) => return outcome,
    };
    let survey = everything(&scope.workspace);
    let Some(case) = survey.cases.iter().find(|case| case.pin.test == test || case.pin.test_base() == test) else {
        return Outcome::refused(super::look::no_test(test), UNUSABLE);
    };
    let to = match to {
        RoleWord::Characterization => Role::Characterization,
        RoleWord::Specification => Role::Specification,
    };
    let request = Request { authority, ..request(&scope.workspace, reason) };
    let plan = match amendment::plan_reclassify(&case.pin, &scope.workspace, to, &request) {
        Ok(plan) => plan,
        Err(refusal) => return refused(refusal),
    };
    let holds = |text: &str| text.contains(amendment::AUTHORITY);
    let open = plan.changes.iter().any(|change| change.edits.iter().any(|(_, text)| holds(text)));
    let done = amendment::apply(&scope.workspace.project.root, &plan, &closed);
    match done {
        Ok(applied) => {
            let mut text = format!("{test} is a {} test now; recorded in {}\n", to.word(), applied.record);
            if open {
                let _ = writeln!(
                    text,
                    "Write in {} which authority says so, where {} stands.",
                    case.pin.file,
                    amendment::AUTHORITY
                );
            }
            Outcome::new(text, FINE)
        }
        Err(refusal) => refused(refusal),
    }
}

/// Undoes an amendment.
pub fn withdraw(name: &str, reason: String, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(outcome) => return outcome,
    };
    let workspace = &scope.workspace;
    let entry = match entry(workspace, name) {
        Ok(entry) => entry,
        Err(outcome) => return outcome,
    };
    match taken_back(workspace, entry.path.as_str(), &request(workspace, reason)) {
        Ok(record) => Outcome::new(format!("withdrawn; recorded in {record}\n"), FINE),
        Err(refusal) => refused(refusal),
    }
}

/// Withdraws the amendment of this path; gives the path of the one that says so.
pub fn taken_back(workspace: &Workspace, path: &str, request: &Request) -> Result<RelPath, Refusal> {
    let entry = workspace.ledger.entry(path).ok_or_else(|| Refusal(format!("there is no amendment {path}")))?;
    let survey = everything(workspace);
    let case = survey.cases.iter().find(|case| entry.amendment.is_about(&case.pin)).ok_or_else(|| {
        Refusal(format!("the pin of {} is not there any more, so there is nothing to take back", entry.path))
    })?;
    let plan = amendment::plan_withdraw(entry, case, workspace, request)?;
    Ok(amendment::apply(&workspace.project.root, &plan, &closed)?.record)
}

/// The amendment of a path, a file name, or the digits at the end of its name.
fn entry<'a>(workspace: &'a Workspace, name: &str) -> Result<&'a Arc<Entry>, Outcome> {
    let ledger = &workspace.ledger;
    let by_digits = || {
        let wanted = name.trim_start_matches('-');
        let found: Vec<&Arc<Entry>> = ledger
            .entries
            .iter()
            .filter(|entry| entry.path.stem().rsplit('-').next().is_some_and(|digits| digits == wanted))
            .collect();
        match found.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    };
    let name_only = name.rsplit('/').next().unwrap_or(name);
    ledger.entry(name).or_else(|| ledger.entry(name_only)).or_else(by_digits).ok_or_else(|| {
        Outcome::refused(format_args!("there is no amendment {name}; `pindrift log` lists them"), UNUSABLE)
    })
}
