//! What can be done about the place under the cursor. Takes a survey and a place, gives actions as plain
//! data: a title, a kind, and a command with its argument or edits of the source. Offers nothing that
//! would be refused. Never changes anything, never knows a protocol.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::amendment::{self, Request};
use crate::ledger::{Entry, Judgement, Kind, Verdict};
use crate::oracles::{Baseline, Content, Pin};
use crate::places::RelPath;
use crate::proof;
use crate::rationale::{self, Draft};
use crate::roles::Role;
use crate::survey::{Case, State, Survey, Workspace};
use crate::text::{Span, Text, one_line};

/// Most actions at one place.
pub const MOST: usize = 6;

/// Kinds, as the protocol names them.
pub mod kind {
    pub const ACCEPT: &str = "quickfix.pindrift.accept";
    pub const EXPLAIN: &str = "quickfix.pindrift.explain";
    pub const WITHDRAW: &str = "quickfix.pindrift.withdraw";
    pub const RATIONALE: &str = "quickfix.pindrift.rationale";
    pub const RECLASSIFY: &str = "refactor.rewrite.pindrift.reclassify";
    pub const DECIDE: &str = "quickfix.pindrift.decide";
    pub const JUDGE: &str = "refactor.rewrite.pindrift.judge";
    pub const SPECIFY: &str = "refactor.pindrift.specify";
    pub const OBSERVE: &str = "source.pindrift.observe";
    pub const ALL: [&str; 9] = [ACCEPT, EXPLAIN, WITHDRAW, RATIONALE, RECLASSIFY, DECIDE, JUDGE, SPECIFY, OBSERVE];
}

#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    pub title: String,
    pub kind: &'static str,
    pub does: Does,
    /// Ids of the drifts that it is about.
    pub drifts: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Does {
    /// A command of the protocol with its one argument.
    Command { id: &'static str, argument: Value },
    /// Replacements in one source text, by bytes.
    Edit { file: RelPath, edits: Vec<(Span, String)> },
}

/// A file and what is selected in it, in bytes of its text as read.
#[derive(Debug, Clone)]
pub struct At<'a> {
    pub file: &'a RelPath,
    pub text: &'a Text,
    pub span: Span,
}

impl At<'_> {
    /// First and last 0-based line of the selection.
    fn lines(&self) -> (usize, usize) {
        (self.text.line_of(self.span.start), self.text.line_of(self.span.end))
    }

    fn touches(&self, span: Span) -> bool {
        let (first, last) = self.lines();
        let end = span.end.saturating_sub(1).max(span.start);
        self.text.line_of(span.start) <= last && first <= self.text.line_of(end)
    }
}

/// The cases at a place: pins whose call, literal or rationale comment stands there; in a baseline the
/// pins that are held against it, those of the changed lines first.
pub fn cases_at<'s>(survey: &'s Survey, workspace: &Workspace, at: &At) -> Vec<&'s Arc<Case>> {
    let unit = workspace.project.unit(at.file);
    let (first, last) = at.lines();
    let mut here: Vec<&Arc<Case>> = Vec::new();
    for case in &survey.cases {
        let pin = &case.pin;
        let in_source = pin.file == *at.file
            && (at.touches(pin.span)
                || unit.and_then(|unit| rationale::find(unit, pin.span)).is_some_and(|note| at.touches(note.span)));
        let holds = pin.oracle.path.as_ref() == Some(at.file);
        let in_literal = holds && pin.oracle.span.is_some_and(|span| at.touches(span));
        let in_baseline = holds
            && pin.oracle.span.is_none()
            && (case.changed_lines.is_empty() && case.inserted_after.is_empty()
                || case.changed_lines.iter().chain(&case.inserted_after).any(|line| {
                    let line = line.saturating_sub(1);
                    first <= line && line <= last
                }));
        if in_source || in_literal || in_baseline {
            here.push(case);
        }
    }
    here
}

/// Actions at a place, the most likely first, at most [`MOST`]. `prompts`: the front asks for a reason
/// itself; without that nothing is offered that only a typed reason can do.
pub fn actions(survey: &Survey, workspace: &Workspace, at: &At, prompts: bool) -> Vec<Action> {
    let here = cases_at(survey, workspace, at);
    let mut all: Vec<Action> = Vec::new();
    all.extend(here.iter().filter_map(|case| accept(case, workspace)).take(MOST - 2));
    all.extend(here.iter().filter_map(|case| confirm(case, workspace)).take(1));
    let site = |case: &&&Arc<Case>| case.pin.file == *at.file;
    all.extend(here.iter().filter_map(|case| withdraw(case, workspace)).take(1));
    all.extend(here.iter().filter(|_| prompts).filter_map(|case| explain(case, workspace)).take(1));
    all.extend(here.iter().filter(site).filter_map(|case| document(case, workspace)).take(1));
    if let Some(case) = here.iter().find(site) {
        all.extend(reclassify(case, workspace));
    }
    if prompts {
        all.extend(here.iter().find(|case| case.acceptable()).into_iter().flat_map(|case| decide(case)));
        all.extend(here.iter().filter(site).find(|case| case.drift.is_none()).into_iter().flat_map(|case| judge(case)));
    }
    all.extend(here.iter().filter(site).filter_map(|case| specify(case, workspace)).take(1));
    // A run is always at hand, whatever else there is to decide.
    all.truncate(MOST - 1);
    all.extend(here.iter().find(site).map(|case| observe(case)));
    all
}

/// A request with a reason that nobody gave: enough to know whether a plan would be refused.
pub fn trial(drift: Option<String>) -> Request {
    Request {
        drift,
        reason: "what a person will write when they decide".into(),
        authority: None,
        proof: None,
        verdict: None,
        via: "editor".into(),
        author: "somebody".into(),
        proposed_by: None,
        confirmed_by: None,
        at: jiff::Timestamp::now(),
    }
}

fn accept(case: &Case, workspace: &Workspace) -> Option<Action> {
    if !case.acceptable() {
        return None;
    }
    let id = case.drift_id.clone()?;
    amendment::plan_accept(case, workspace, &trial(Some(id.clone()))).ok()?;
    let which = case.pin.case.as_ref().map(|case| format!("{}: ", one_line(case, 30))).unwrap_or_default();
    let title = match case.state {
        State::Missing => {
            let name = case.pin.oracle.entry.clone().or_else(|| case.pin.oracle.path.as_ref().map(RelPath::to_string));
            format!("Record new baseline: {which}{}…", one_line(&name.unwrap_or_default(), 60))
        }
        _ => format!("Accept drift: {which}{}…", one_line(&case.drift.as_ref()?.brief, 60)),
    };
    Some(Action {
        title,
        kind: kind::ACCEPT,
        does: Does::Command { id: "pindrift.accept", argument: json!({ "drift": id }) },
        drifts: vec![id],
    })
}

/// Makes a decision of what a program proposed.
fn confirm(case: &Case, workspace: &Workspace) -> Option<Action> {
    let (proposal, id) = case.proposal.as_ref().zip(case.drift_id.clone()).filter(|_| case.acceptable())?;
    if proposal.verdict == "intended" {
        amendment::plan_accept(case, workspace, &trial(Some(id.clone()))).ok()?;
    }
    Some(Action {
        title: format!(
            "Confirm as {}, as {} proposes: {}",
            proposal.verdict,
            one_line(&proposal.by, 20),
            one_line(&proposal.reason, 50)
        ),
        kind: kind::ACCEPT,
        does: Does::Command { id: "pindrift.confirm", argument: json!({ "drift": id }) },
        drifts: vec![id],
    })
}

/// The oracle stays: the code or the harness is to be fixed. One drift at a time, and not twice the same.
fn decide(case: &Case) -> Vec<Action> {
    let Some(id) = case.drift_id.clone().filter(|_| case.state == State::Drift && case.verdict().is_none()) else {
        return Vec::new();
    };
    let both = [(Verdict::Unintended, "unintended change"), (Verdict::Noise, "harness noise")];
    both.into_iter()
        .map(|(verdict, what)| Action {
            title: format!("Keep the oracle: {what}…"),
            kind: kind::DECIDE,
            does: Does::Command { id: "pindrift.verdict", argument: json!({ "drift": id, "verdict": verdict.word() }) },
            drifts: vec![id.clone()],
        })
        .collect()
}

/// Runs the tests of a pin's function: only when a person asks for it.
fn observe(case: &Case) -> Action {
    Action {
        title: "Run this test and record what it produces".to_string(),
        kind: kind::OBSERVE,
        does: Does::Command { id: "pindrift.observe", argument: run(&case.pin) },
        drifts: case.drift_id.iter().cloned().collect(),
    }
}

/// The argument of `pindrift.observe` for the test of a pin.
pub fn run(pin: &Pin) -> Value {
    json!({ "tests": [pin.test_base()], "file": pin.file.as_str() })
}

/// What a person may think of the recorded behaviour, but for what is thought already.
fn judge(case: &Case) -> Vec<Action> {
    let pin = &case.pin;
    if pin.role != Role::Characterization || pin.oracle.key.is_empty() {
        return Vec::new();
    }
    let now = case.judgement().map(|(judged, _)| judged);
    [Judgement::SuspectedBug, Judgement::Deliberate, Judgement::Contract]
        .into_iter()
        .filter(|judged| Some(*judged) != now)
        .map(|judged| Action {
            title: format!("Mark as {}…", judged.phrase().trim_start_matches("a ")),
            kind: kind::JUDGE,
            does: Does::Command {
                id: "pindrift.judge",
                argument: json!({
                    "file": pin.file.as_str(), "test": pin.test, "oracle": pin.oracle.key, "judgement": judged.word(),
                }),
            },
            drifts: Vec::new(),
        })
        .collect()
}

/// The newest decision about a case that changed its content and is not committed yet.
pub fn uncommitted(case: &Case) -> Option<&Arc<Entry>> {
    let latest = case.history.iter().find(|entry| entry.amendment.changes_content())?;
    let open = !latest.committed && !latest.amendment.pending;
    (open && matches!(latest.amendment.kind, Kind::Drift | Kind::New)).then_some(latest)
}

fn withdraw(case: &Case, workspace: &Workspace) -> Option<Action> {
    let entry = uncommitted(case)?;
    amendment::plan_withdraw(entry, case, workspace, &trial(None)).ok()?;
    Some(Action {
        title: format!("Withdraw this acceptance: {}", one_line(&entry.amendment.reason, 50)),
        kind: kind::WITHDRAW,
        does: Does::Command { id: "pindrift.withdraw", argument: json!({ "amendment": entry.path.as_str() }) },
        drifts: Vec::new(),
    })
}

/// The content changed since the last decision about it, and no decision says why.
pub fn unexplained(case: &Case) -> bool {
    let Baseline::Present(recorded) = &case.baseline else { return false };
    let latest = case.history.iter().find(|entry| entry.amendment.changes_content());
    latest.is_some_and(|entry| {
        !entry.amendment.pending && entry.amendment.after.as_deref() != Some(recorded.content.digest().as_str())
    })
}

fn explain(case: &Case, workspace: &Workspace) -> Option<Action> {
    if !unexplained(case) {
        return None;
    }
    amendment::plan_explain(case, workspace, None, &trial(None)).ok()?;
    let pin = &case.pin;
    Some(Action {
        title: format!("Write the reason now: {}", one_line(&pin.oracle.key, 60)),
        kind: kind::EXPLAIN,
        does: Does::Command {
            id: "pindrift.explain",
            argument: json!({ "file": pin.file.as_str(), "test": pin.test, "oracle": pin.oracle.key }),
        },
        drifts: Vec::new(),
    })
}

/// The other role; an unlabelled test may be given either, the likelier one is offered.
fn reclassify(case: &Case, workspace: &Workspace) -> Option<Action> {
    let pin = &case.pin;
    let (to, title) = match pin.role {
        Role::Characterization => (Role::Specification, "Reclassify as specification test"),
        Role::Specification | Role::Unlabelled => (Role::Characterization, "Label as characterization test"),
    };
    let nothing_said = Request { reason: String::new(), ..trial(None) };
    amendment::plan_reclassify(pin, workspace, to, &nothing_said).ok()?;
    Some(Action {
        title: title.into(),
        kind: kind::RECLASSIFY,
        does: Does::Command {
            id: "pindrift.reclassify",
            argument: json!({ "file": pin.file.as_str(), "test": pin.test_base(), "to": to.word() }),
        },
        drifts: Vec::new(),
    })
}

/// The dated comment with its values filled in: it documents and accepts nothing.
fn document(case: &Case, workspace: &Workspace) -> Option<Action> {
    let pin = &case.pin;
    if pin.role != Role::Characterization || pin.shared_site {
        return None;
    }
    let unit = workspace.project.unit(&pin.file)?;
    let latest = case.history.iter().find(|entry| entry.amendment.changes_content());
    let today = jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now()).date();
    let (old, new, reason, date);
    match (&case.drift, &case.observation, &case.baseline, latest) {
        (Some(drift), Some(_), Baseline::Present(_), _) => {
            let shown = case.shown()?;
            (old, new) = rationale::sides(shown.before.as_ref()?, &shown.after, drift);
            (reason, date) = (None, today);
        }
        (None, _, Baseline::Present(recorded), Some(entry)) => {
            let is_it = entry.amendment.after.as_deref() == Some(recorded.content.digest().as_str());
            if !is_it || rationale::find(unit, pin.span).is_some() {
                return None;
            }
            (old, new) = of_record(entry, &recorded.content)?;
            reason = Some(entry.amendment.reason.as_str());
            date = jiff::tz::Offset::UTC.to_datetime(entry.amendment.at).date();
        }
        _ => return None,
    }
    if rationale::find(unit, pin.span).is_some_and(|there| there.marker.is_some()) {
        return None;
    }
    let draft = Draft { date, old: &old, new: &new, reason, marker: None };
    let edit = rationale::edit(unit, pin.span, &draft, workspace.project.settings.line_length)?;
    Some(Action {
        title: "Insert dated rationale".into(),
        kind: kind::RATIONALE,
        does: Does::Edit { file: pin.file.clone(), edits: vec![(edit.span, edit.text)] },
        drifts: case.drift_id.iter().cloned().collect(),
    })
}

/// A specification test of the same call, the observed value in it and its authority left to a person.
fn specify(case: &Case, workspace: &Workspace) -> Option<Action> {
    let id = case.drift_id.clone().filter(|_| case.acceptable() && case.state == State::Drift)?;
    if !proof::specifications(workspace, case).is_empty() {
        return None;
    }
    let draft = proof::draft(&workspace.project, case)?;
    Some(Action {
        title: "Write a specification test of this call".into(),
        kind: kind::SPECIFY,
        does: Does::Edit { file: draft.file, edits: vec![(Span::new(draft.at, draft.at), draft.text)] },
        drifts: vec![id],
    })
}

fn of_record(entry: &Entry, now: &Content) -> Option<(String, String)> {
    let diff = entry.amendment.diff.as_deref()?;
    let side = |sign: char| {
        let lines: Vec<&str> = diff.lines().filter_map(|line| line.strip_prefix(sign)).collect();
        lines.first().map(|line| one_line(line, 60))
    };
    let new = match now {
        Content::Text(text) | Content::Value(text) if !text.trim_end().contains('\n') => one_line(text.trim_end(), 60),
        _ => side('+')?,
    };
    Some((side('-').unwrap_or_else(|| "nothing".into()), new))
}
