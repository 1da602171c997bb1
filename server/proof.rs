//! Whether a drift is what somebody wanted: a specification test that expects the new behaviour fails on the base
//! and passes now, while the pin held there and drifts now. Takes a workspace, a pin, a specification test and a
//! revision, gives the four results. Runs the user's tests, because this was asked for: on the base in a folder of
//! its own that goes, now as [`observe`] does.

mod calls;
mod draft;
mod kept;
mod runs;
mod specifications;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::code::{Function, Unit};
use crate::ledger::Proven;
use crate::observe;
use crate::oracles::Refusal;
use crate::past::past;
use crate::pins::{self, Extent, Project};
use crate::places::RelPath;
use crate::roles::{self, Role};
use crate::settings::Personal;
use crate::survey::{Case, State, Workspace};
use crate::syntax::Language;

pub use draft::{AUTHORITY, Draft, draft};
pub use kept::kept;
pub use specifications::{Specification, specifications};

/// What is asked for.
pub struct Request<'a> {
    /// Id of the specification test.
    pub proof: &'a str,
    /// Revision on which it has to fail.
    pub base: &'a str,
    pub personal: Personal,
    pub environment: BTreeMap<String, String>,
    pub cancelled: &'a dyn Fn() -> bool,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Proof {
    pub proven: Proven,
    /// The drift that was there when it was run.
    pub drift: Option<String>,
    /// Why a run gave no result.
    pub problems: Vec<String>,
    /// What a reader should know of the specification.
    pub notes: Vec<String>,
}

/// Runs the specification and the pin on both sides and keeps the results for `accept --proof`.
pub fn prove(workspace: &Workspace, case: &Case, request: &Request) -> Result<Proof, Refusal> {
    let pin = &case.pin;
    if pin.role != Role::Characterization {
        return Err(Refusal(format!(
            "{} is not a characterization test, so there is no drift of it to prove",
            pin.test
        )));
    }
    let Some(git) = workspace.git.as_deref() else {
        return Err(Refusal(
            "this folder is in no git work tree; there is no base on which the proof could fail".into(),
        ));
    };
    let named = specification(workspace, request.proof)?;
    let commit = git.commit(request.base).ok_or_else(|| {
        Refusal(format!("there is no revision `{}` here; fetch it, or name another with --base", request.base))
    })?;
    let mut problems = Vec::new();
    let base = past(&workspace.project.root, git, &commit)?;
    let with = runs::With {
        root: &workspace.project.root,
        personal: &request.personal,
        environment: &request.environment,
        cancelled: request.cancelled,
    };
    let pin_at_base = runs::pin(&base.workspace, case, &with, &mut problems)?;
    let proof_at_base = match runs::brought(workspace, &base.workspace, &named, &mut problems) {
        Some(with_proof) => runs::test(&with_proof, &named, &with, &mut problems),
        None => "not-run",
    };
    drop(base);
    let asked = observe::Request {
        tests: vec![pin.test_base().to_string(), named.id.clone()],
        personal: request.personal.clone(),
        environment: request.environment.clone(),
        cancelled: request.cancelled,
        progress: None,
        repeat: 1,
    };
    let observed = observe::observe(workspace, &asked).map_err(Refusal)?;
    problems.extend(observed.problems.iter().cloned());
    if (request.cancelled)() {
        return Err(Refusal("cancelled before both sides had been run; what was proven before still counts".into()));
    }
    let now = Workspace::open(&workspace.project.root.path).map_err(Refusal)?;
    let survey = now.states(&Extent::All, &|| false).unwrap_or_default();
    let same = |other: &&std::sync::Arc<Case>| other.pin.test == pin.test && other.pin.oracle.key == pin.oracle.key;
    let drifted = survey.cases.iter().find(same);
    let word = |state: State| match state {
        State::Drift => "drift",
        State::Match => "match",
        _ => "not-run",
    };
    let proven = Proven {
        base: commit,
        proof_at_base: proof_at_base.into(),
        pin_at_base: pin_at_base.into(),
        proof_now: runs::outcome(&observed.ended, &named.id, named.language).into(),
        pin_now: drifted.map_or("absent", |case| word(case.state)).into(),
    };
    let mut proof = Proof { proven, drift: None, problems, notes: Vec::new() };
    if let Some(case) = drifted {
        proof.drift = case.drift_id.clone();
        proof.notes.extend(specifications::copied(&now, case, &named.id));
        // What was proven against another base stays proven, while the specification passes.
        let before = kept::kept(&now, case, request.proof).filter(Proven::proves);
        let stays = before.is_some_and(|before| before.base != proof.proven.base)
            && proof.proven.proof_now == "passed"
            && !proof.proven.proves();
        if proof.drift.is_some() && !stays {
            kept::keep(&now, case, request.proof, &proof.proven).map_err(Refusal)?;
        }
    }
    Ok(proof)
}

/// Why the results are no proof; `None` when they are.
pub fn lacks(proven: &Proven, proof: &str) -> Option<String> {
    let base = proven.base.get(..10).unwrap_or(&proven.base);
    Some(match proven {
        _ if proven.proves() => return None,
        Proven { proof_at_base, .. } if proof_at_base == "passed" => {
            format!("{proof} passed at {base} too, so it says nothing about what changed since")
        }
        Proven { proof_now, .. } if proof_now == "failed" => {
            format!("{proof} fails now, so the code does not do what it expects; fix the code")
        }
        Proven { proof_at_base, proof_now, .. } if proof_at_base != "failed" || proof_now != "passed" => {
            format!("{proof} was not run at {base} and now")
        }
        Proven { pin_at_base, .. } if pin_at_base != "match" => {
            format!("the pin did not hold at {base} ({pin_at_base}); name the revision before the change with --base")
        }
        _ => format!("the pin does not drift now ({}); there is nothing to prove", proven.pin_now),
    })
}

/// A specification test as it was named.
pub(crate) struct Named {
    pub id: String,
    pub file: RelPath,
    pub language: Language,
}

/// The test of that id, when it says that it is a specification.
fn specification(workspace: &Workspace, id: &str) -> Result<Named, Refusal> {
    let project = &workspace.project;
    let Some((unit, function)) = function_of(project, id) else {
        return Err(Refusal(format!("no test here is called {id}; name it as its runner does")));
    };
    if roles::labelled(unit, Some(function), &project.settings) != Some(Role::Specification) {
        return Err(Refusal(format!(
            "{id} does not say that it is a specification test, so it proves nothing; label it with its authority \
             (`pindrift reclassify {id} --to specification --authority …`)"
        )));
    }
    Ok(Named { id: id.to_string(), file: unit.path.clone(), language: unit.language })
}

/// The test function of an id, its parameters left out.
pub(crate) fn function_of<'a>(project: &'a Project, id: &str) -> Option<(&'a Unit, &'a Function)> {
    let base = id.split('[').next().unwrap_or(id);
    let units = project.files.values().map(|facts| &facts.unit);
    let in_file = units.filter(|unit| unit.language == Language::Rust || base.starts_with(unit.path.as_str()));
    in_file
        .flat_map(|unit| unit.functions.iter().map(move |function| (unit, function)))
        .filter(|(unit, function)| base.ends_with(&function.name) && pins::sites::is_test(unit, function))
        .find(|(unit, function)| test_id(project, unit, function) == base)
}

/// The id of a test as its runner prints it.
pub(crate) fn test_id(project: &Project, unit: &Unit, function: &Function) -> String {
    match unit.language {
        Language::Python => {
            let parts = [unit.path.as_str()].into_iter().chain(function.path.iter().map(String::as_str));
            parts.chain([function.name.as_str()]).collect::<Vec<_>>().join("::")
        }
        Language::Rust => {
            let scopes = &function.path;
            match project.crates.modules(&project.shelf, &unit.path).first() {
                Some(module) => module.test_id(scopes, &function.name),
                None => function.name.clone(),
            }
        }
    }
}
