//! `observe`: runs the tests and records what they produce. Takes the call, gives what `check` would say then.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::args::Shape;
use super::look::{self, Scope};
use super::{Outcome, Place, UNUSABLE};
use crate::observe::{self, Note, Observed, Request};
use crate::report;
use crate::settings::Personal;

/// Runs the tests, all or those named, as often as is asked for.
pub fn observe(tests: &[String], repeat: usize, shape: Shape, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(refused) => return refused,
    };
    let workspace = &scope.workspace;
    let mut wanted = Vec::new();
    for test in tests {
        match id(test, &scope, place) {
            Ok(test) => wanted.push(test),
            Err(message) => return Outcome::refused(message, UNUSABLE),
        }
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Without the handler the run ends with this process; nothing is lost but its records.
        let _ = signal_hook::flag::register(signal, interrupted.clone());
    }
    let personal = Personal::read();
    let mut err: String = personal.troubles.iter().map(|trouble| format!("pindrift: {trouble}\n")).collect();
    let request = Request {
        tests: wanted,
        personal,
        environment: std::env::vars().collect(),
        repeat,
        cancelled: &|| interrupted.load(Ordering::Relaxed),
        progress: None,
    };
    let observed = match observe::observe(workspace, &request) {
        Ok(observed) => observed,
        Err(message) => return Outcome::refused(message, UNUSABLE),
    };
    for problem in &observed.problems {
        err.push_str(&format!("pindrift: {}\n", crate::text::one_line(problem, 1000)));
    }
    if let (true, Some(log)) = (!observed.problems.is_empty(), &observed.log) {
        err.push_str(&format!("pindrift: the whole output is in {log}\n"));
    }
    let checked = look::check(&[], false, false, super::args::Format::Text, place);
    let status = if observed.unusable && observed.ran == 0 { UNUSABLE } else { checked.status };
    let out = match shape {
        Shape::Json => as_json(&observed, place),
        // What has a place, `check` tells too.
        Shape::Text => text(&observed, workspace.opted_in()) + &checked.out,
    };
    Outcome { out, err, status }
}

/// A test as the call names it, by its id from the root.
fn id(test: &str, scope: &Scope, place: &Place) -> Result<String, String> {
    let (file, rest) = test.split_once("::").map_or((test, None), |(file, rest)| (file, Some(rest)));
    let path = match scope.workspace.project.shelf.listed(&crate::places::RelPath::new(file).unwrap_or_default()) {
        true => file.to_string(),
        false => look::from_root(&scope.workspace, Path::new(file), place)?.to_string(),
    };
    Ok(rest.map_or(path.clone(), |rest| format!("{path}::{rest}")))
}

fn text(observed: &Observed, told: bool) -> String {
    let mut text = String::new();
    for with in &observed.with {
        text.push_str(&format!("with {with}\n"));
    }
    for note in observed.notes.iter().filter(|note| note.at.is_none() || !told || observed.passing.contains(note)) {
        text.push_str(&format!("{}{}: {}\n", place_of(note), note.code.word(), note.message));
    }
    let tests = super::render::count(observed.ran, "test");
    text.push_str(&format!(
        "{tests} ran, {} observed, {} not reached\n",
        super::render::count(observed.seen, "pin"),
        observed.not_reached
    ));
    text
}

fn place_of(note: &Note) -> String {
    note.at.as_ref().map(|(file, line)| format!("{file}:{line}  ")).unwrap_or_default()
}

fn as_json(observed: &Observed, place: &Place) -> String {
    let summary = match Scope::of(&[], place) {
        Ok(scope) => report::summary(&scope.survey(), report::Purpose::Check),
        Err(_) => report::Summary::default(),
    };
    let findings: Vec<_> = observed
        .notes
        .iter()
        .map(|note| {
            let (file, line) = note.at.as_ref().map_or((None, None), |(file, line)| (Some(file.to_string()), Some(*line)));
            json!({ "code": note.code.word(), "severity": "warning", "file": file, "line": line, "message": note.message })
        })
        .collect();
    let report = json!({
        "schema": 1,
        "ran": observed.ran,
        "observed": observed.seen,
        "not_reached": observed.not_reached,
        "with": observed.with,
        "problems": observed.problems,
        "findings": findings,
        "log": observed.log.as_ref().map(|log| log.to_string()),
        "summary": summary,
    });
    format!("{report:#}\n")
}
