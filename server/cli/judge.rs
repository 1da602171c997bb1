//! `verdict`, `judge` and `retire`: decisions that leave every file but the record as it is. Hands what the
//! person said to the amendments and prints what came of it. Every refusal is theirs.

use std::collections::BTreeSet;

use super::args::{JudgementWord, VerdictWord};
use super::look::{Scope, named, no_oracle, no_test};
use super::{FINE, Outcome, Place, UNUSABLE, WANTS_A_PERSON, decide};
use crate::amendment::{self, Plan};
use crate::audit;
use crate::ledger::{Judgement, Verdict};
use crate::oracles::{Baseline, Pin, Refusal};
use crate::pins::Extent;
use crate::survey::{Case, Survey, Workspace};

/// Keeps the oracle of a drift: the code or the harness is to be fixed.
pub fn verdict(drift: &str, verdict: VerdictWord, hunks: &[usize], reason: String, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(outcome) => return outcome,
    };
    let workspace = &scope.workspace;
    let survey = decide::everything(workspace);
    let case = match named(&survey, drift, None) {
        Ok(case) => case,
        Err(unclear) => return unclear.into(),
    };
    let (verdict, what) = match verdict {
        VerdictWord::Unintended => (Verdict::Unintended, "unintended: fix the code, the recorded value stays"),
        VerdictWord::Noise => (Verdict::Noise, "noise: fix the harness, the recorded value stays"),
    };
    let request = amendment::Request { drift: case.drift_id.clone(), ..decide::request(workspace, reason) };
    let plan = amendment::plan_verdict(case, workspace, verdict, hunks, &request);
    done(plan, workspace, &format!("{} is judged {what}", case.pin.test))
}

/// Says what a person thinks of pinned behaviour.
pub fn judge(test: &str, to: JudgementWord, oracle: Option<&str>, reason: String, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(outcome) => return outcome,
    };
    let workspace = &scope.workspace;
    let survey = decide::everything(workspace);
    let cases: Vec<&Case> =
        of_test(&survey, test).filter(|case| oracle.is_none_or(|key| case.pin.oracle.key == key)).collect();
    let keys: BTreeSet<&str> = cases.iter().map(|case| case.pin.oracle.key.as_str()).collect();
    let Some(case) = cases.first() else {
        let other = oracle.and_then(|key| no_oracle(test, key, of_test(&survey, test)));
        return Outcome::refused(other.unwrap_or_else(|| no_test(test)), UNUSABLE);
    };
    if keys.len() > 1 {
        let list: String = keys.iter().map(|key| format!("\n  {key}")).collect();
        return Outcome::refused(
            format_args!("{test} holds {} oracles; name one with --oracle:{list}", keys.len()),
            WANTS_A_PERSON,
        );
    }
    let to = match to {
        JudgementWord::Deliberate => Judgement::Deliberate,
        JudgementWord::SuspectedBug => Judgement::SuspectedBug,
        JudgementWord::Contract => Judgement::Contract,
        JudgementWord::Unjudged => Judgement::Unjudged,
    };
    let plan = amendment::plan_judge(&case.pin, workspace, to, &decide::request(workspace, reason));
    done(plan, workspace, &format!("{} of {test} is {} now", case.pin.oracle.key, to.phrase()))
}

/// Ends pins on the record: those of a test or a baseline, here or at a revision that still had them.
pub fn retire(what: &str, base: Option<&str>, reason: String, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(outcome) => return outcome,
    };
    let workspace = &scope.workspace;
    let request = decide::request(workspace, reason);
    let mut plans = ended(&decide::everything(workspace), what, workspace, &request);
    if (plans.is_empty() || base.is_some())
        && let Some(git) = workspace.git.as_deref()
    {
        let revision = base.unwrap_or("HEAD");
        match crate::past::past(&workspace.project.root, git, revision) {
            Ok(past) => {
                let gone = audit::ended(&past.workspace, workspace);
                let about = |pin: &Pin| is_of_test(pin, what) || holds(pin, what);
                plans = distinct(gone.iter().filter(|(pin, _)| about(pin)), workspace, &request);
                if plans.is_empty() {
                    let survey = past.workspace.states(&Extent::All, &|| false).unwrap_or_default();
                    plans = ended(&survey, what, workspace, &request);
                }
            }
            Err(refusal) if base.is_some() => return Outcome::refused(refusal, UNUSABLE),
            Err(_) => {}
        }
    }
    if plans.is_empty() {
        return Outcome::refused(
            format_args!(
                "{what} is no pinned test and no baseline, here or in the last commit; name an older revision with --base"
            ),
            UNUSABLE,
        );
    }
    let mut out = String::new();
    for (pin, plan) in plans {
        let outcome = done(plan, workspace, &format!("{} of {} is retired", pin.oracle.key, pin.test));
        if outcome.status != FINE {
            return Outcome { out, ..outcome };
        }
        out.push_str(&outcome.out);
    }
    Outcome::new(out, FINE)
}

/// One plan an oracle of what was named.
fn ended(
    survey: &Survey,
    what: &str,
    workspace: &Workspace,
    request: &amendment::Request,
) -> Vec<(Pin, Result<Plan, Refusal>)> {
    let mut cases: Vec<&Case> = of_test(survey, what).collect();
    if cases.is_empty() {
        cases = survey.cases.iter().map(|case| &**case).filter(|case| holds(&case.pin, what)).collect();
    }
    let named: Vec<(Pin, Baseline)> = cases.iter().map(|case| (case.pin.clone(), case.baseline.clone())).collect();
    distinct(named.iter(), workspace, request)
}

fn distinct<'a>(
    named: impl Iterator<Item = &'a (Pin, Baseline)>,
    workspace: &Workspace,
    request: &amendment::Request,
) -> Vec<(Pin, Result<Plan, Refusal>)> {
    let mut seen = BTreeSet::new();
    named
        .filter(|(pin, _)| seen.insert((pin.test_base(), pin.oracle.key.as_str())))
        .map(|(pin, baseline)| (pin.clone(), amendment::plan_retire(pin, baseline, workspace, request)))
        .collect()
}

fn holds(pin: &Pin, what: &str) -> bool {
    pin.oracle.path.as_ref().is_some_and(|path| path.as_str() == what) || pin.oracle.key == what
}

fn is_of_test(pin: &Pin, test: &str) -> bool {
    pin.test == test || pin.test_base() == test
}

fn of_test<'a>(survey: &'a Survey, test: &'a str) -> impl Iterator<Item = &'a Case> {
    survey.cases.iter().map(|case| &**case).filter(move |case| is_of_test(&case.pin, test))
}

fn done(plan: Result<Plan, Refusal>, workspace: &Workspace, what: &str) -> Outcome {
    match plan.and_then(|plan| amendment::apply(&workspace.project.root, &plan, &|_| false)) {
        Ok(applied) => Outcome::new(format!("{what}; recorded in {}\n", applied.record), FINE),
        Err(refusal) => Outcome::refused(refusal, WANTS_A_PERSON),
    }
}
