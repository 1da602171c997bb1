//! `propose` and `confirm`: a program leaves what it thinks of a drift, a person makes a decision of it. Hands what
//! was said to the proposals and the amendments. Every refusal is theirs.

use std::sync::Arc;

use super::args::ProposedVerdict;
use super::look::{Scope, named};
use super::{FINE, Outcome, Place, UNUSABLE, WANTS_A_PERSON, decide, render};
use crate::amendment::{self, Request};
use crate::ledger::Verdict;
use crate::proposals::{self, Answer, Proposal};
use crate::reviewer;
use crate::settings::Personal;
use crate::survey::{Case, State};

/// What `propose` was told.
pub struct Propose {
    pub drift: Option<String>,
    pub verdict: Option<ProposedVerdict>,
    pub reason: String,
    pub by: Option<String>,
    pub lines: Vec<usize>,
    pub oracle: Option<std::path::PathBuf>,
    /// Print the drift as the reviewer gets it.
    pub show: bool,
}

/// Leaves a proposal: the one that was said, else that of the configured reviewer, for a drift or for all that have
/// none.
pub fn propose(said: Propose, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(outcome) => return outcome,
    };
    let survey = scope.survey();
    let cases: Vec<Arc<Case>> = match &said.drift {
        Some(word) => match named(&survey, word, None) {
            Ok(case) => vec![Arc::clone(case)],
            Err(unclear) => return unclear.into(),
        },
        None if said.verdict.is_some() => {
            return Outcome::refused("name the drift that the verdict is about; `pindrift check` lists them", UNUSABLE);
        }
        None => {
            let open =
                |case: &&Arc<Case>| case.state == State::Drift && case.proposal.is_none() && case.verdict().is_none();
            survey.cases.iter().filter(open).cloned().collect()
        }
    };
    if said.show {
        let told: Vec<String> =
            cases.iter().filter_map(|case| reviewer::told(case)).map(|told| format!("{told:#}\n")).collect();
        return Outcome::new(told.concat(), FINE);
    }
    let personal = Personal::read();
    let root = &scope.workspace.project.root;
    let mut out = String::new();
    for case in &cases {
        let proposal = match said.verdict {
            Some(verdict) => of_call(&said, verdict, case),
            None => reviewer::ask(case, &personal, &|| false),
        };
        let left = proposal.and_then(|proposal| Ok((proposals::leave(root, &proposal)?, proposal)));
        match left {
            Ok((_, proposal)) => {
                let test = render::plain(&case.pin.test);
                out.push_str(&format!("{}  {test}\n    {}\n", proposal.drift, render::plain(&proposal.words())));
            }
            Err(why) => return Outcome { out, ..Outcome::refused(why, WANTS_A_PERSON) },
        }
    }
    if cases.is_empty() {
        out.push_str("no drift waits for a proposal\n");
    } else {
        out.push_str("A proposal decides nothing; `pindrift confirm ID` or `pindrift review` does.\n");
    }
    Outcome::new(out, FINE)
}

fn of_call(said: &Propose, verdict: ProposedVerdict, case: &Case) -> Result<Proposal, String> {
    let (Some(id), Some(shown)) = (&case.drift_id, case.shown()) else {
        return Err(format!("{} has no drift", case.pin.test));
    };
    let oracle = match &said.oracle {
        Some(path) => {
            Some(std::fs::read_to_string(path).map_err(|err| format!("{} cannot be read: {err}", path.display()))?)
        }
        None => None,
    };
    let verdict = match verdict {
        ProposedVerdict::Intended => "intended",
        ProposedVerdict::Unintended => "unintended",
        ProposedVerdict::Noise => "noise",
    };
    let answer = Answer { verdict: verdict.into(), reason: said.reason.clone(), lines: said.lines.clone(), oracle };
    Proposal::of(answer, id, &shown.after, said.by.as_deref().unwrap_or("a program"))
}

/// What `confirm` was told.
pub struct Confirm {
    pub drift: String,
    /// Another reason than the draft.
    pub reason: Option<String>,
    pub proof: Option<String>,
    pub authority: Option<String>,
}

/// Makes a decision of a proposal: with its draft of the reason, or with another one.
pub fn confirm(said: Confirm, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(outcome) => return outcome,
    };
    let survey = decide::everything(&scope.workspace);
    let case = match named(&survey, &said.drift, None) {
        Ok(case) => Arc::clone(case),
        Err(unclear) => return unclear.into(),
    };
    let (Some(proposal), Some(id)) = (case.proposal.clone(), case.drift_id.clone()) else {
        let message = format!(
            "no program proposed anything about {}; decide on it with `pindrift accept` or `verdict`",
            case.pin.test
        );
        return Outcome::refused(message, WANTS_A_PERSON);
    };
    let root = scope.workspace.project.root.clone();
    let verdict = Verdict::of(&proposal.verdict);
    if verdict.is_some() && said.proof.is_some() {
        let message =
            format!("the proposal is {}, which a proof says nothing about; leave --proof out", proposal.verdict);
        return Outcome::refused(message, WANTS_A_PERSON);
    }
    let reason = said.reason.unwrap_or(proposal.reason.clone());
    let request = Request {
        proof: said.proof,
        authority: said.authority,
        ..confirmed(decide::request(&scope.workspace, reason), &proposal, &id)
    };
    let applied = match verdict {
        None => decide::accepted(&id, case, scope.workspace, &request),
        Some(verdict) => amendment::plan_verdict(&case, &scope.workspace, verdict, &[], &request)
            .and_then(|plan| amendment::apply(&root, &plan, &|_| false)),
    };
    match applied {
        Ok(applied) => {
            proposals::done(&root, &id);
            Outcome::new(format!("confirmed as {}; recorded in {}\n", proposal.verdict, applied.record), FINE)
        }
        Err(refusal) => Outcome::refused(refusal, WANTS_A_PERSON),
    }
}

/// The request of a person who confirms what a program proposed.
pub fn confirmed(request: Request, proposal: &Proposal, drift: &str) -> Request {
    Request {
        drift: Some(drift.to_string()),
        confirmed_by: Some(request.author.clone()),
        proposed_by: Some(proposal.by.clone()),
        ..request
    }
}
