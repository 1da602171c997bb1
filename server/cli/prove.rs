//! `prove`: runs a specification test and a pin on an older revision and now. Takes the call, prints the four
//! results and what they are worth.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::args::Shape;
use super::look::Scope;
use super::{FINE, Outcome, Place, UNUSABLE, WANTS_A_PERSON, decide, render};
use crate::proof::{self, Proof, Request, Specification};
use crate::settings::Personal;
use crate::survey::Case;

/// What `prove` was told.
pub struct Said {
    pub test: String,
    pub oracle: Option<String>,
    pub proof: String,
    pub base: String,
    pub shape: Shape,
}

pub fn prove(said: &Said, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(outcome) => return outcome,
    };
    let survey = decide::everything(&scope.workspace);
    let of_test: Vec<&Arc<Case>> = survey
        .cases
        .iter()
        .filter(|case| case.pin.test == said.test || case.pin.test_base() == said.test)
        .filter(|case| said.oracle.as_ref().is_none_or(|key| case.pin.oracle.key == *key))
        .collect();
    let case = match of_test.as_slice() {
        [] => {
            let message = format_args!("no pinned test is called {}; `pindrift pins` lists them", said.test);
            return Outcome::refused(message, WANTS_A_PERSON);
        }
        [one] => *one,
        several => {
            let list: String =
                several.iter().map(|case| format!("\n  {}  {}", case.pin.test, case.pin.oracle.key)).collect();
            return Outcome::refused(
                format_args!("{} holds {} values; name one with --oracle:{list}", said.test, several.len()),
                WANTS_A_PERSON,
            );
        }
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Without the handler the run ends with this process; the temporary folder stays then.
        let _ = signal_hook::flag::register(signal, interrupted.clone());
    }
    let request = Request {
        proof: &said.proof,
        base: &said.base,
        personal: Personal::read(),
        environment: std::env::vars().collect(),
        cancelled: &|| interrupted.load(Ordering::Relaxed),
    };
    let proof = match proof::prove(&scope.workspace, case, &request) {
        Ok(proof) => proof,
        Err(refusal) => return Outcome::refused(refusal, UNUSABLE),
    };
    let lacks = proof::lacks(&proof.proven, &said.proof);
    let others = match Scope::of(&[], place) {
        Ok(scope) => {
            let survey = decide::everything(&scope.workspace);
            let now =
                survey.cases.iter().find(|it| it.pin.test == case.pin.test && it.pin.oracle.key == case.pin.oracle.key);
            now.map(|case| proof::specifications(&scope.workspace, case)).unwrap_or_default()
        }
        Err(_) => Vec::new(),
    };
    let contradicted = others.iter().any(|other| other.holds == Some(false));
    let status = if lacks.is_none() && !contradicted { FINE } else { WANTS_A_PERSON };
    let out = match said.shape {
        Shape::Json => as_json(&proof, lacks.as_deref(), &others),
        Shape::Text => text(said, &proof, lacks.as_deref(), &others),
    };
    let err = proof.problems.iter().map(|it| format!("pindrift: {}\n", crate::text::one_line(it, 1000))).collect();
    Outcome { out, err, status }
}

fn text(said: &Said, proof: &Proof, lacks: Option<&str>, others: &[Specification]) -> String {
    let proven = &proof.proven;
    let base = proven.base.get(..10).unwrap_or(&proven.base);
    let mut out = String::new();
    let _ = writeln!(out, "{:<11} {:<10} now", "", base);
    let _ = writeln!(
        out,
        "{:<11} {:<10} {}  {}",
        "the proof",
        proven.proof_at_base,
        proven.proof_now,
        render::plain(&said.proof)
    );
    let _ =
        writeln!(out, "{:<11} {:<10} {}  {}", "the pin", proven.pin_at_base, proven.pin_now, render::plain(&said.test));
    for other in others {
        let word = match other.holds {
            Some(true) => "expects what was observed",
            Some(false) => "expects something else than what was observed",
            None => "speaks of the same call",
        };
        let _ = writeln!(
            out,
            "{}:{}  {} {word}: {}",
            render::plain(other.file.as_str()),
            other.line,
            render::plain(&other.test),
            render::plain(&other.expects)
        );
    }
    for note in &proof.notes {
        let _ = writeln!(out, "{}", render::plain(note));
    }
    match (lacks, &proof.drift) {
        (Some(why), _) => {
            let _ = writeln!(out, "no proof: {}", render::plain(why));
        }
        (None, Some(drift)) => {
            let _ = writeln!(
                out,
                "proven; `pindrift accept {drift} --proof {} --reason \"…\"` records it",
                render::plain(&said.proof)
            );
        }
        (None, None) => {}
    }
    out
}

fn as_json(proof: &Proof, lacks: Option<&str>, others: &[Specification]) -> String {
    let proven = &proof.proven;
    let specifications: Vec<_> = others
        .iter()
        .map(|it| json!({ "test": it.test, "file": it.file.as_str(), "line": it.line, "expects": it.expects, "holds": it.holds }))
        .collect();
    let report = json!({
        "schema": 1,
        "proven": lacks.is_none(),
        "why": lacks,
        "base": proven.base,
        "proofAtBase": proven.proof_at_base,
        "pinAtBase": proven.pin_at_base,
        "proofNow": proven.proof_now,
        "pinNow": proven.pin_now,
        "drift": proof.drift,
        "specifications": specifications,
        "notes": proof.notes,
        "problems": proof.problems,
    });
    format!("{report:#}\n")
}
