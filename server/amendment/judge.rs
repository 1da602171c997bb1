//! Decisions that change no file but the record: a judgement of pinned behaviour, a verdict about places of
//! a drift, the end of a pin. Takes a case and what the person said, gives a plan. Never writes.

use super::Plan;
use super::plan::{Request, draft_of, reason, recordable};
use crate::ledger::{self, Amendment, Judgement, Kind, Verdict};
use crate::oracles::{Baseline, Pin, Refusal};
use crate::roles::Role;
use crate::survey::{Case, Workspace};
use crate::text::one_line;

/// Says what a person thinks of the recorded behaviour of a pin.
pub fn plan_judge(pin: &Pin, workspace: &Workspace, to: Judgement, request: &Request) -> Result<Plan, Refusal> {
    if pin.role != Role::Characterization {
        return Err(Refusal(format!(
            "{} is not a characterization test; only what code does today, right or wrong, is judged. Label it first \
             (`pindrift reclassify`)",
            pin.test
        )));
    }
    let amendment = Amendment {
        verdict: Some(to.word().into()),
        diff: None,
        ..draft_of(pin, request, reason(&request.reason, &pin.test, workspace)?, Kind::Judgement, None, None)
    };
    recorded(amendment, workspace)
}

/// Says of places of a drift that the recorded value stays: the code or the harness is to be fixed.
/// `hunks`: 1-based, as the diff counts them; empty means all.
pub fn plan_verdict(
    case: &Case,
    workspace: &Workspace,
    verdict: Verdict,
    hunks: &[usize],
    request: &Request,
) -> Result<Plan, Refusal> {
    let case = &case.compared();
    let test = &case.pin.test;
    let (Some(drift), true) = (&case.drift, case.acceptable()) else {
        return Err(Refusal(format!("{test} has no drift of a characterization that could be judged; look again")));
    };
    if request.drift.as_ref().is_some_and(|shown| Some(shown) != case.drift_id.as_ref()) {
        return Err(Refusal(format!("{test} drifted differently by now; look at it again, then judge what you see")));
    }
    let shapes = drift.shapes();
    let chosen: Vec<String> = if hunks.is_empty() {
        shapes.iter().map(|shape| shape.to_string()).collect()
    } else {
        let mut chosen = Vec::new();
        for nth in hunks {
            let shape = nth.checked_sub(1).and_then(|at| shapes.get(at)).ok_or_else(|| {
                Refusal(format!("{test} drifted in {} places, and {nth} is none of them", shapes.len()))
            })?;
            chosen.push(shape.to_string());
        }
        chosen
    };
    let mut hunks = chosen;
    hunks.sort();
    hunks.dedup();
    let other = |shape: &String| ledger::verdict(&case.history, shape).filter(|(said, _)| *said != verdict);
    if let Some((said, entry)) = hunks.iter().find_map(other) {
        let amendment = &entry.amendment;
        return Err(Refusal(format!(
            "{test}: {} judged this {} already ({}); take that back first, with its reason: `pindrift withdraw {}`",
            one_line(&amendment.author, 60),
            said.word(),
            one_line(&amendment.reason, 120),
            entry.path.name()
        )));
    }
    let shown = case.shown();
    let before = shown.as_ref().and_then(|shown| shown.before.as_ref());
    let amendment = Amendment {
        verdict: Some(verdict.word().into()),
        hunks,
        // What the recorded content is does not change, so there is no way from one to another.
        before: None,
        after: None,
        diff: shown.as_ref().map(|shown| crate::ledger::diff(before, Some(&shown.after))),
        ..draft_of(&case.pin, request, reason(&request.reason, &case.pin.test, workspace)?, Kind::Verdict, None, None)
    };
    recorded(amendment, workspace)
}

/// Ends a pin on the record: its test or its baseline may go, or has gone.
pub fn plan_retire(pin: &Pin, baseline: &Baseline, workspace: &Workspace, request: &Request) -> Result<Plan, Refusal> {
    if pin.role != Role::Characterization {
        return Err(Refusal(format!("{} is not a characterization test; it can go without a record", pin.test)));
    }
    let content = match baseline {
        Baseline::Present(recorded) => Some(recorded.content.digest()),
        _ => None,
    };
    // Literals of a test are counted anew when one goes: the same key may be another one by now.
    let retired = |entry: &&std::sync::Arc<crate::ledger::Entry>| {
        entry.amendment.kind == Kind::Retire && entry.amendment.before == content
    };
    if let Some(entry) = workspace.ledger.history(pin).iter().find(retired) {
        return Err(Refusal(format!("{} is retired already, by {}; it can go", pin.test, entry.path.name())));
    }
    let before = match baseline {
        Baseline::Present(recorded) => Some(&recorded.content),
        _ => None,
    };
    let amendment = Amendment {
        verdict: None,
        before: before.map(crate::oracles::Content::digest),
        after: None,
        ..draft_of(pin, request, reason(&request.reason, &pin.test, workspace)?, Kind::Retire, before, None)
    };
    recorded(amendment, workspace)
}

/// Says why the test of a pin sees less than it did. `what`: one line each, `shapes`: as the gate knows them.
pub fn plan_comparison(
    pin: &Pin,
    what: &[String],
    shapes: &[String],
    workspace: &Workspace,
    request: &Request,
) -> Result<Plan, Refusal> {
    let mut hunks = shapes.to_vec();
    hunks.sort();
    hunks.dedup();
    let mut lines = what.to_vec();
    lines.dedup();
    let amendment = Amendment {
        verdict: None,
        hunks,
        diff: Some(lines.iter().map(|line| format!("+{line}\n")).collect()),
        ..draft_of(pin, request, reason(&request.reason, &pin.test, workspace)?, Kind::Comparison, None, None)
    };
    recorded(amendment, workspace)
}

fn recorded(amendment: Amendment, workspace: &Workspace) -> Result<Plan, Refusal> {
    let amendment = workspace.ledger.apart(amendment);
    let record = amendment.file();
    recordable(workspace, &[&record])?;
    Ok(Plan { changes: Vec::new(), artefacts: Vec::new(), amendment, record })
}
