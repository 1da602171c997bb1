//! The rows of `pins` and `check`, as the JSON of schema 1 has them. Takes cases and findings, gives
//! plain values that both fronts print. Never compares, never reads a file.

use serde::Serialize;

use crate::changes;
use crate::drift::Difference;
use crate::drift::moves::{self, Moves};
use crate::findings::Finding;
use crate::ledger::{Judgement, Verdict};
use crate::observations::From;
use crate::oracles::Baseline;
use crate::pins::Project;
use crate::roles::Role;
use crate::survey::{Case, State, Survey, Workspace};

/// The whole report. Paths are from the root with `/`; lines and columns 1-based, columns in Unicode
/// scalar values.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub schema: u32,
    pub root: String,
    pub assertions: Vec<Row>,
    pub findings: Vec<FindingRow>,
    /// The drifts by the change that they are.
    pub changes: Vec<ChangeRow>,
    pub summary: Summary,
}

#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub drift: Option<String>,
    pub test: String,
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub asserted_in: Option<Place>,
    pub language: &'static str,
    pub framework: String,
    pub role: &'static str,
    pub judgement: &'static str,
    pub oracle: OracleRow,
    pub state: &'static str,
    pub difference: Option<String>,
    pub changed_lines: Vec<usize>,
    pub inserted_after: Vec<usize>,
    pub content_lines: Vec<usize>,
    pub change: Option<String>,
    pub observed: Option<ObservedRow>,
    pub verdict: Option<String>,
    /// What a program thinks of this drift; never a decision.
    pub proposal: Option<ProposalRow>,
    pub confirmed: bool,
    pub amendment: Option<String>,
    /// Of an unstable pin: what moves from run to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<MovesRow>,
}

#[derive(Debug, Clone, Serialize)]
pub struct MovesRow {
    pub brief: String,
    pub as_set: bool,
    pub places: Vec<MoveRow>,
}

/// Lines of the content that move together, of what kind they are, and the variables that they move with.
#[derive(Debug, Clone, Serialize)]
pub struct MoveRow {
    pub lines: Vec<usize>,
    pub kind: &'static str,
    pub with: Vec<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProposalRow {
    pub by: String,
    pub verdict: String,
    pub reason: String,
    /// Suspicious lines of the observed content.
    pub lines: Vec<usize>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Place {
    pub file: String,
    pub line: usize,
}

#[derive(Debug, Clone, Serialize)]
pub struct OracleRow {
    pub kind: &'static str,
    pub path: Option<String>,
    pub entry: Option<String>,
    /// Line on which a literal, inline text or entry begins.
    pub line: Option<usize>,
    pub candidates: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ObservedRow {
    pub from: &'static str,
    pub path: String,
    pub at: Option<String>,
    pub command: Option<String>,
    pub revision: Option<String>,
    pub stale: bool,
}

#[derive(Debug, Clone, Serialize)]
pub struct FindingRow {
    pub code: &'static str,
    pub severity: &'static str,
    pub file: String,
    pub line: usize,
    pub message: String,
    pub baseline: Option<String>,
    pub entry: Option<String>,
}

/// Drifts that are the same change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangeRow {
    pub change: String,
    pub brief: String,
    pub difference: String,
    pub drifts: Vec<String>,
    /// The reason given for another drift of the same change, to be confirmed one by one.
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub drifts: usize,
    pub distinct: usize,
    /// Drifts among them that somebody judged noise.
    pub noise: usize,
    pub missing: usize,
    #[serde(rename = "match")]
    pub matched: usize,
    pub unobserved: usize,
}

/// What the rows are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Every pin, nothing compared: only `missing` and `unobserved`.
    Pins,
    /// Unlabelled literals left out: they have no drift.
    Check,
}

/// Rows in file, line, test and oracle order.
pub fn report(survey: &Survey, findings: &[Finding], workspace: &Workspace, purpose: Purpose) -> Report {
    let project = &workspace.project;
    let assertions: Vec<Row> = survey
        .cases
        .iter()
        .filter(|case| purpose == Purpose::Pins || case.pin.role != Role::Unlabelled)
        .map(|case| row(case, project, purpose))
        .collect();
    let summary = summary(survey, purpose);
    let findings = findings.iter().map(finding_row).collect();
    let changes = match purpose {
        Purpose::Check => change_rows(survey, workspace),
        Purpose::Pins => Vec::new(),
    };
    Report { schema: 1, root: project.root.path.display().to_string(), assertions, findings, changes, summary }
}

/// The distinct changes of a survey, each with its drifts.
pub fn change_rows(survey: &Survey, workspace: &Workspace) -> Vec<ChangeRow> {
    changes::distinct(survey, &workspace.ledger)
        .into_iter()
        .map(|group| ChangeRow {
            change: group.change.to_string(),
            brief: group.drift.brief.clone(),
            difference: group.drift.difference_word(),
            drifts: group.members.iter().filter_map(|case| case.drift_id.clone()).collect(),
            reason: group.offered.map(|entry| entry.amendment.reason.clone()),
        })
        .collect()
}

/// Counts of the last line of `check`.
pub fn summary(survey: &Survey, purpose: Purpose) -> Summary {
    let mut summary = Summary::default();
    let mut changes = std::collections::BTreeSet::new();
    for case in &survey.cases {
        if purpose == Purpose::Check && case.pin.role == Role::Unlabelled {
            continue;
        }
        match shown_state(case, purpose) {
            State::Drift => {
                summary.drifts += 1;
                changes.extend(case.drift.as_ref().map(|drift| drift.change.clone()));
                summary.noise += usize::from(case.verdict().is_some_and(|spoken| spoken.verdict == Verdict::Noise));
            }
            State::Missing => summary.missing += 1,
            State::Match => summary.matched += 1,
            State::Unobserved | State::NotReached => summary.unobserved += 1,
            _ => {}
        }
    }
    summary.distinct = changes.len();
    summary
}

impl std::fmt::Display for Summary {
    /// `5 drifts (3 distinct changes), 1 missing, 212 match, 40 unobserved`
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let plural = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        write!(f, "{}", plural(self.drifts, "drift", "drifts"))?;
        if self.drifts > 0 {
            write!(f, " ({}", plural(self.distinct, "distinct change", "distinct changes"))?;
            if self.noise > 0 {
                write!(f, ", {} judged noise", self.noise)?;
            }
            write!(f, ")")?;
        }
        write!(f, ", {} missing, {} match, {} unobserved", self.missing, self.matched, self.unobserved)
    }
}

fn shown_state(case: &Case, purpose: Purpose) -> State {
    match purpose {
        Purpose::Check => case.state,
        Purpose::Pins if case.baseline == Baseline::Missing => State::Missing,
        Purpose::Pins => State::Unobserved,
    }
}

/// The row is something to decide or to mend. Without opting in only a drift that a fresh artefact proves.
pub fn wants_a_person(row: &Row, opted_in: bool) -> bool {
    match row.state {
        "drift" => row.verdict.as_deref() != Some("noise"),
        "failed" | "missing" | "unstable" | "unreadable" => opted_in,
        _ => false,
    }
}

/// No run and no artefact tells what the code does now.
pub fn is_unobserved(row: &Row) -> bool {
    matches!(row.state, "unobserved" | "not-reached")
}

/// The finding says again what a row of its place says with more.
pub fn told_by_rows(finding: &FindingRow) -> bool {
    matches!(
        finding.code,
        "drift" | "drift-unintended" | "drift-noise" | "missing-baseline" | "specification-failed" | "unstable"
    )
}

/// The gate of `check`. `observed`: a pin of which nothing is known needs a person too. `strict`: so does
/// a warning.
pub fn needs_a_person(report: &Report, opted_in: bool, observed: bool, strict: bool) -> bool {
    report.assertions.iter().any(|row| wants_a_person(row, opted_in) || (observed && is_unobserved(row)))
        || report.findings.iter().any(|finding| {
            opted_in
                && !told_by_rows(finding)
                && (finding.severity == "error" || (strict && finding.severity == "warning"))
        })
}

/// One row. `Purpose::Pins` leaves out everything that a comparison gave.
pub fn row(case: &Case, project: &Project, purpose: Purpose) -> Row {
    let pin = &case.pin;
    let (line, column) = place(project, &pin.file, pin.span.start);
    let compared = purpose == Purpose::Check;
    let drift = case.drift.as_ref().filter(|_| compared);
    let latest = case.history.first();
    let accepted = case.history.iter().find(|entry| entry.amendment.changes_content());
    Row {
        drift: case.drift_id.clone().filter(|_| compared),
        test: pin.test.clone(),
        file: pin.file.to_string(),
        line,
        column,
        asserted_in: pin
            .asserted_in
            .as_ref()
            .map(|(file, span)| Place { file: file.to_string(), line: place(project, file, span.start).0 }),
        language: pin.language.word(),
        framework: pin.framework.clone(),
        role: pin.role.word(),
        judgement: case.judgement().map_or(Judgement::Unjudged, |(judged, _)| judged).word(),
        oracle: OracleRow {
            kind: pin.oracle.kind.word(),
            path: pin.oracle.path.as_ref().map(|path| path.to_string()),
            entry: pin.oracle.entry.clone(),
            line: match (&pin.oracle.path, pin.oracle.span) {
                (Some(path), Some(span)) => Some(place(project, path, span.start).0),
                _ => None,
            },
            candidates: pin.oracle.candidates.iter().map(|path| path.to_string()).collect(),
        },
        state: shown_state(case, purpose).word(),
        difference: drift.map(|drift| difference(&drift.difference)),
        changed_lines: if compared { case.changed_lines.clone() } else { Vec::new() },
        inserted_after: if compared { case.inserted_after.clone() } else { Vec::new() },
        content_lines: drift.map(|drift| drift.content_lines.clone()).unwrap_or_default(),
        change: drift.map(|drift| drift.change.clone()),
        observed: case.observation.as_ref().filter(|_| compared).map(|seen| ObservedRow {
            from: match seen.from {
                From::Artefact => "artefact",
                From::Run => "run",
            },
            path: seen.path.to_string(),
            at: seen.at.map(|at| at.to_string()),
            command: seen.command.clone(),
            revision: seen.revision.clone(),
            stale: seen.stale,
        }),
        verdict: match case.verdict().filter(|_| compared) {
            Some(spoken) => Some(spoken.verdict.word().to_string()),
            None if drift.is_some() => None,
            None => accepted.and_then(|entry| entry.amendment.verdict.clone()),
        },
        proposal: case.proposal.as_ref().filter(|_| compared).map(|proposal| ProposalRow {
            by: proposal.by.clone(),
            verdict: proposal.verdict.clone(),
            reason: proposal.reason.clone(),
            lines: proposal.lines.clone(),
        }),
        confirmed: case.confirmed,
        amendment: latest.map(|entry| entry.path.to_string()),
        moves: case.moves.as_ref().filter(|_| compared).map(moves_row),
    }
}

fn moves_row(moves: &Moves) -> MovesRow {
    let place = |place: &moves::Place| MoveRow {
        lines: place.lines.clone(),
        kind: place.kind.word(),
        with: place.with.clone(),
    };
    MovesRow { brief: moves.words(), as_set: moves.as_set, places: moves.places.iter().map(place).collect() }
}

fn finding_row(finding: &Finding) -> FindingRow {
    FindingRow {
        code: finding.code.word(),
        severity: finding.severity.word(),
        file: finding.file.to_string(),
        line: finding.line,
        message: finding.message.clone(),
        baseline: finding.baseline.as_ref().map(|path| path.to_string()),
        entry: finding.entry.clone(),
    }
}

/// `ordering+trailing-space`.
pub fn difference(kinds: &[Difference]) -> String {
    kinds.iter().map(|kind| kind.word()).collect::<Vec<_>>().join("+")
}

fn place(project: &Project, file: &crate::places::RelPath, byte: usize) -> (usize, usize) {
    match project.unit(file) {
        Some(unit) => (unit.text.line_of(byte) + 1, unit.text.column(byte)),
        // A file that only a framework reads.
        None if byte == 0 => (1, 1),
        None => project.shelf.text(file).map_or((1, 1), |text| (text.line_of(byte) + 1, text.column(byte))),
    }
}
