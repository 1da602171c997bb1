//! What an editor underlines and `check` reports beside its rows. Takes a survey, gives findings.
//! Never knows a protocol.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::code::Unit;
use crate::drift::{self, Difference};
use crate::ledger::{Judgement, Kind, Verdict};
use crate::observations::notes::Note;
use crate::oracles::{self, Baseline, OracleKind, Orphan};
use crate::pins::Trouble;
use crate::places::RelPath;
use crate::rationale;
use crate::roles::Role;
use crate::shelf::is_artefact_name;
use crate::survey::{Case, State, Survey, Workspace};
use crate::switches;
use crate::text::{Span, one_line};

mod reading;

pub use reading::{Reading, reading, treatment};

/// Codes of the protocol's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    Drift,
    /// A person judged a place of it unintended: the code is to be fixed.
    DriftUnintended,
    /// Judged noise of the harness.
    DriftNoise,
    MissingBaseline,
    SpecificationFailed,
    Unconfirmed,
    Unstable,
    StaleRationale,
    UnexplainedBaseline,
    OrphanBaseline,
    /// An option or variable that makes runs rewrite what is recorded.
    UpdatingSwitch,
    /// A test that wrote its own baseline when it was run.
    RewritesOwnOracle,
    Configuration,
}

impl Code {
    pub fn word(self) -> &'static str {
        match self {
            Code::Drift => "drift",
            Code::DriftUnintended => "drift-unintended",
            Code::DriftNoise => "drift-noise",
            Code::MissingBaseline => "missing-baseline",
            Code::SpecificationFailed => "specification-failed",
            Code::Unconfirmed => "unconfirmed",
            Code::Unstable => "unstable",
            Code::StaleRationale => "stale-rationale",
            Code::UnexplainedBaseline => "unexplained-baseline",
            Code::OrphanBaseline => "orphan-baseline",
            Code::UpdatingSwitch => switches::CODE,
            Code::RewritesOwnOracle => "rewrites-own-oracle",
            Code::Configuration => "configuration",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
    Information,
    Hint,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information => "information",
            Severity::Hint => "hint",
        }
    }
}

/// One thing to tell about one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub code: Code,
    pub severity: Severity,
    pub file: RelPath,
    /// 1-based.
    pub line: usize,
    /// What an editor underlines; the whole line where that is not known. Bytes of the file as read.
    pub span: Option<Span>,
    pub message: String,
    pub baseline: Option<RelPath>,
    pub entry: Option<String>,
    /// Ids of the drifts that it speaks of.
    pub drifts: Vec<String>,
    /// Cases, hunks and baselines: file, 1-based line, what is there.
    pub related: Vec<(RelPath, usize, String)>,
}

/// What an editor shows of a survey: one finding a site, by file and line. Without opting in only drifts
/// that fresh observations prove.
pub fn findings(survey: &Survey, workspace: &Workspace) -> Vec<Finding> {
    let mut all = everything(survey, workspace);
    if !workspace.opted_in() {
        all.retain(|finding| matches!(finding.code, Code::Drift | Code::DriftUnintended | Code::DriftNoise));
    }
    all
}

/// Every finding of a survey, as `check` reports them, by file and line.
pub fn everything(survey: &Survey, workspace: &Workspace) -> Vec<Finding> {
    let mut sites: BTreeMap<(&RelPath, usize, usize), Vec<&Case>> = BTreeMap::new();
    for case in survey.cases.iter().filter(|case| case.pin.role != Role::Unlabelled) {
        let pin = &case.pin;
        sites.entry((&pin.file, pin.span.start, pin.span.end)).or_default().push(case);
    }
    let mut all: Vec<Finding> = Vec::new();
    let mut asked = MOST_ASKED;
    for cases in sites.values() {
        let Some(first) = cases.first() else { continue };
        let Some(unit) = workspace.project.unit(&first.pin.file) else { continue };
        all.extend(of_site(cases, unit, &mut |case| unexplained(case, workspace, &mut asked)));
        all.extend(stale_rationale(cases, unit));
    }
    all.extend(survey.orphans.iter().map(of_orphan));
    all.extend(survey.rewriting.iter().filter_map(of_rewriting));
    all.extend(survey.troubles.iter().map(of_trouble));
    all.sort_by(|a, b| (&a.file, a.line, a.code).cmp(&(&b.file, b.line, b.code)));
    all
}

/// What one site has to say: the gravest thing first, the others counted behind it.
fn of_site(cases: &[&Case], unit: &Unit, unexplained: &mut dyn FnMut(&Case) -> bool) -> Option<Finding> {
    let of = |state: State| -> Vec<&Case> { cases.iter().copied().filter(|case| case.state == state).collect() };
    let (failed, drifted, missing) = (of(State::Failed), of(State::Drift), of(State::Missing));
    let said = |verdict: Verdict| -> Vec<&Case> {
        let is_it = |case: &&&Case| case.verdict().is_some_and(|spoken| spoken.verdict == verdict);
        drifted.iter().filter(is_it).copied().collect()
    };
    let (unintended, noise) = (said(Verdict::Unintended), said(Verdict::Noise));
    let (unstable, unreadable) = (of(State::Unstable), of(State::Unreadable));
    let fresh: Vec<&Case> = cases.iter().copied().filter(|case| awaits_a_run(case)).collect();
    let stale =
        |case: &&Case| case.state == State::Unobserved && case.observation.as_ref().is_some_and(|seen| seen.stale);
    let outdated: Vec<&Case> = cases.iter().copied().filter(stale).collect();
    let settled = [&failed, &drifted, &missing, &unreadable, &unstable].iter().all(|cases| cases.is_empty());
    let unexplained: Vec<&Case> = cases.iter().copied().filter(|case| settled && unexplained(case)).collect();
    let all = cases.len();
    let (code, severity, told, mut message) = if !failed.is_empty() {
        let message =
            format!("{}; a specification, so the code is wrong: nothing to accept", counted(&failed, all, "fail"));
        (Code::SpecificationFailed, Severity::Error, failed, message)
    } else if !unintended.is_empty() {
        let message = judged_words(&unintended, "unintended: fix the code, keep what is recorded");
        (Code::DriftUnintended, Severity::Error, unintended, message)
    } else if !drifted.is_empty() && drifted.len() == noise.len() {
        let kinds = noise.first().and_then(|case| case.drift.as_ref()).map(|drift| drift.difference.as_slice());
        let what = kinds.and_then(treatment).map(|what| format!(": {what}")).unwrap_or_default();
        let message = judged_words(&noise, &format!("noise of the harness: fix the harness{what}"));
        (Code::DriftNoise, Severity::Information, noise, message)
    } else if let Some((case, accepted)) = drifted.iter().find_map(|case| Some((*case, case.contradicted()?))) {
        let brief = case.drift.as_ref().map(|drift| format!(": {}", one_line(&drift.brief, 200)));
        let message = format!(
            "The accepted value does not hold{}. It was accepted on {}, and a run gave another value since; make the \
             test repeatable, or look at the code again",
            brief.unwrap_or_default(),
            day(accepted.amendment.at)
        );
        (Code::Unconfirmed, Severity::Error, drifted, message)
    } else if !drifted.is_empty() {
        let advice = drifted.first().and_then(|case| case.drift.as_ref()).map(|drift| advice(&drift.difference));
        let suspected = drifted.iter().any(|case| matches!(case.judgement(), Some((Judgement::SuspectedBug, _))));
        let expected = if suspected { ". It was judged a suspected bug, so it was expected to change" } else { "" };
        let proposed = drifted.iter().find_map(|case| case.proposal.as_ref());
        let proposed = proposed.map(|proposal| format!(". Not decided: {}", proposal.words())).unwrap_or_default();
        let message = format!("{}{expected}. {}{proposed}", drifted_words(&drifted, all), advice.unwrap_or_default());
        (Code::Drift, Severity::Warning, drifted, message)
    } else if !missing.is_empty() {
        (Code::MissingBaseline, Severity::Warning, missing.clone(), missing_words(&missing, all))
    } else if !unreadable.is_empty() {
        let why = match unreadable.first().map(|case| &case.baseline) {
            Some(Baseline::Unreadable(why)) => why.clone(),
            _ => "what is recorded cannot be read".into(),
        };
        (Code::MissingBaseline, Severity::Warning, unreadable, why)
    } else if !unstable.is_empty() {
        let why = unstable.first().and_then(|case| case.disagreement()).unwrap_or_default();
        let message = format!("{}: {why}", counted(&unstable, all, "unstable"));
        (Code::Unstable, Severity::Warning, unstable, message)
    } else if !unexplained.is_empty() {
        let message = unexplained_words(&unexplained);
        (Code::UnexplainedBaseline, Severity::Information, unexplained, message)
    } else if !fresh.is_empty() {
        let since = fresh.first().and_then(|case| case.history.first()).map(|entry| day(entry.amendment.at));
        let message = format!("Accepted on {}, and no run has matched it yet: run the test", since.unwrap_or_default());
        (Code::Unconfirmed, Severity::Information, fresh, message)
    } else if !outdated.is_empty() {
        let message = "What was observed belongs to an older recorded value: observe again".to_string();
        (Code::Unconfirmed, Severity::Hint, outdated, message)
    } else {
        return None;
    };
    let also = |cases: Vec<&Case>, words: &str, own: Code| {
        if cases.is_empty() || code == own { String::new() } else { format!("; {} {words}", cases.len()) }
    };
    if matches!(code, Code::Drift | Code::DriftUnintended | Code::DriftNoise | Code::SpecificationFailed) {
        message.push_str(&also(of(State::Missing), "without a baseline", Code::MissingBaseline));
    }
    let pin = &cases.first()?.pin;
    let one = (told.len() == 1).then(|| told.first()).flatten();
    Some(Finding {
        code,
        severity,
        file: pin.file.clone(),
        line: unit.line(pin.span.start),
        span: Some(pin.span),
        message,
        baseline: one.filter(|case| !in_source(case)).and_then(|case| case.pin.oracle.path.clone()),
        entry: one.and_then(|case| case.pin.oracle.entry.clone()),
        drifts: told.iter().filter_map(|case| case.drift_id.clone()).collect(),
        related: told.iter().filter_map(|case| related(case, unit)).take(MOST_RELATED).collect(),
    })
}

/// Most related places of one finding.
const MOST_RELATED: usize = 20;

fn in_source(case: &Case) -> bool {
    matches!(case.pin.oracle.kind, OracleKind::Literal | OracleKind::Inline)
}

fn related(case: &Case, unit: &Unit) -> Option<(RelPath, usize, String)> {
    let path = case.pin.oracle.path.clone()?;
    let line = match (case.changed_lines.first().or(case.inserted_after.first()), case.pin.oracle.span) {
        (Some(line), _) => (*line).max(1),
        (None, Some(span)) if path == unit.path => unit.line(span.start),
        (None, _) => 1,
    };
    let own_line = in_source(case) && (case.drift.is_none() || line == unit.line(case.pin.span.start));
    if case.baseline == Baseline::Missing || own_line {
        return None;
    }
    let what = case.drift.as_ref().map_or(case.state.word().to_string(), |drift| drift.brief.clone());
    Some((path, line, named(case, what)))
}

/// `case: what`, where there is a case.
fn named(case: &Case, what: String) -> String {
    match &case.pin.case {
        Some(name) => format!("{}: {what}", one_line(name, 60)),
        None => what,
    }
}

fn brief(case: &Case) -> String {
    case.drift.as_ref().map_or_else(|| case.state.word().to_string(), |drift| drift.brief.clone())
}

fn counted(told: &[&Case], all: usize, verb: &str) -> String {
    match (told, all) {
        ([one], 1) => brief(one),
        ([one], _) => format!("1 of {all} cases {verb}: {}", named(one, brief(one))),
        (more, _) => {
            let first = more.first().map(|case| brief(case)).unwrap_or_default();
            format!("{} of {all} cases {verb}: {first} …", more.len())
        }
    }
}

/// `0.38 → 0.39, and 2 more (behaviour, 2 hunks)`; `3 of 5 cases drifted, 2 distinct changes: 0.38 → 0.39 …`.
fn drifted_words(drifted: &[&Case], all: usize) -> String {
    let drifts: Vec<&drift::Drift> = drifted.iter().filter_map(|case| case.drift.as_ref()).collect();
    let changes: BTreeSet<&str> = drifts.iter().map(|drift| drift.change.as_str()).collect();
    let (Some(first), true) = (drifts.first(), all > 1) else {
        let Some(drift) = drifts.first() else { return "Drifted from what is recorded".into() };
        let hunks = if drift.hunks.len() > 1 { format!(", {} hunks", drift.hunks.len()) } else { String::new() };
        return format!("{} ({}{hunks})", drift.brief, drift.difference_word());
    };
    if let ([case], [drift]) = (drifted, &drifts[..]) {
        return format!("1 of {all} cases drifted: {} ({})", named(case, drift.brief.clone()), drift.difference_word());
    }
    let distinct = if changes.len() > 1 { format!(", {} distinct changes", changes.len()) } else { String::new() };
    format!("{} of {all} cases drifted{distinct}: {} … ({})", drifted.len(), first.brief, first.difference_word())
}

/// `0.38 → 0.39, judged unintended: … (Ann: the tax table did not change)`.
fn judged_words(cases: &[&Case], as_what: &str) -> String {
    let Some(case) = cases.first() else { return String::new() };
    let who = case.verdict().map(|spoken| {
        let said = &spoken.entry.amendment;
        format!(" ({}: {})", one_line(&said.author, 40), one_line(&said.reason, 80))
    });
    let more = if cases.len() > 1 { format!(", and {} more", cases.len() - 1) } else { String::new() };
    format!("{}{more}; judged {as_what}{}", brief(case), who.unwrap_or_default())
}

/// What the decision table advises for these kinds. Advice, never a verdict.
pub fn advice(difference: &[Difference]) -> String {
    let what: Vec<&str> = difference
        .iter()
        .filter_map(|kind| match kind {
            Difference::Ordering => Some("the order"),
            Difference::Volatile => Some("ids or times"),
            Difference::LineEndings => Some("line endings"),
            Difference::TrailingSpace => Some("trailing blanks"),
            Difference::FloatDigits => Some("the last digits of floats"),
            Difference::Locale => Some("the way of writing numbers or dates"),
            Difference::Formatting => Some("the layout"),
            _ => None,
        })
        .collect();
    let list = match what.as_slice() {
        [] => String::new(),
        [one] => one.to_string(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    };
    match difference {
        [Difference::Digest] => {
            "Only a digest is recorded and the text behind it is not known: compare both outputs before you decide"
                .into()
        }
        [Difference::Binary] => "Binary content: open both before you decide".into(),
        _ if list.is_empty() => {
            "Accept with a reason if this is the intended fix and nothing else; otherwise fix the code".into()
        }
        _ => format!("Only {list} changed: probably noise, so fix the test harness and keep what is recorded"),
    }
}

fn missing_words(missing: &[&Case], all: usize) -> String {
    let Some(case) = missing.first() else { return String::new() };
    let oracle = &case.pin.oracle;
    let what = match (&oracle.path, &oracle.entry) {
        _ if in_source(case) => "Nothing is recorded here yet".to_string(),
        (Some(path), Some(entry)) => format!("No baseline: {path} has no entry {}", one_line(entry, 80)),
        (Some(path), None) => format!("No baseline: there is no {path}"),
        (None, _) => "No baseline".into(),
    };
    let many = if all > 1 { format!(" ({} of {all} cases)", missing.len()) } else { String::new() };
    let next = match &case.drift {
        Some(drift) => {
            let new =
                drift.brief.strip_prefix("nothing → ").or(drift.brief.strip_prefix("added ")).unwrap_or(&drift.brief);
            format!(". Observed: {new}. Record it as new, with a reason")
        }
        None => "; run the test to see what would be recorded".into(),
    };
    format!("{what}{many}{next}")
}

/// Accepted by an amendment that is not committed yet, and nothing fresh was observed since. What was
/// committed went through a run somewhere; it is not told again in every clone.
fn awaits_a_run(case: &Case) -> bool {
    let latest = case.history.iter().find(|entry| entry.amendment.changes_content());
    !case.confirmed
        && case.state == State::Unobserved
        && latest.is_some_and(|entry| !entry.committed && entry.amendment.kind != Kind::Withdraw)
}

/// Most files whose committed bytes git is asked for in one look.
const MOST_ASKED: usize = 50;

/// The recorded content is not what the last amendment left; or, without any, not what HEAD holds. Content
/// counts, not bytes: a refreshed header changes nothing.
fn unexplained(case: &Case, workspace: &Workspace, asked: &mut usize) -> bool {
    let Baseline::Present(recorded) = &case.baseline else { return false };
    let now = recorded.content.digest();
    let latest = case.history.iter().find(|entry| entry.amendment.changes_content());
    if let Some(entry) = latest {
        return !entry.amendment.pending && entry.amendment.after.as_deref().is_some_and(|after| after != now);
    }
    let (Some(git), Some(path)) = (workspace.git.as_deref(), &case.pin.oracle.path) else { return false };
    if in_source(case) || *asked == 0 || !workspace.opted_in() || !git.is_tracked(path) || git.tracked_unmodified(path)
    {
        return false;
    }
    *asked -= 1;
    let Some(committed) = git.blob("HEAD", path) else { return false };
    let mut then = workspace.project.clone();
    then.shelf = then.shelf.with_bytes(path.clone(), committed);
    let before = oracles::framework(&case.pin.framework).map(|framework| framework.baseline(&case.pin, &then));
    matches!(before, Some(Baseline::Present(before)) if before.content.digest() != now)
}

fn unexplained_words(cases: &[&Case]) -> String {
    let latest = cases.first().and_then(|case| case.history.iter().find(|entry| entry.amendment.changes_content()));
    let since = latest.map(|entry| format!("the amendment of {}", day(entry.amendment.at)));
    let since = since.unwrap_or("the last commit".into());
    format!("What is recorded changed since {since}, and nothing says why: write the reason now")
}

fn day(at: jiff::Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

/// The comment above a pin names a value that is not pinned any more.
fn stale_rationale(cases: &[&Case], unit: &Unit) -> Option<Finding> {
    let case = cases.first()?;
    let rationale = rationale::find(unit, case.pin.span).filter(|rationale| !rationale.waits())?;
    let new = rationale.new.clone()?;
    let gone = cases.iter().all(|case| match &case.baseline {
        Baseline::Present(recorded) => rationale.holds(&recorded.content) == Some(false),
        _ => false,
    });
    gone.then(|| {
        let start = unit.text.line_of(rationale.span.start);
        let body = unit.text.line_span(start);
        let indent = unit.text.slice(body).len() - unit.text.slice(body).trim_start().len();
        Finding {
            code: Code::StaleRationale,
            severity: Severity::Warning,
            file: unit.path.clone(),
            line: start + 1,
            span: Some(Span::new(body.start + indent, body.end)),
            message: format!(
                "This comment calls {} the new value, and that is not what is pinned below; write why it changed again, \
                 or remove the comment",
                one_line(&new, 60)
            ),
            baseline: None,
            entry: None,
            drifts: Vec::new(),
            related: Vec::new(),
        }
    })
}

fn of_orphan(orphan: &Orphan) -> Finding {
    let what = match &orphan.entry {
        Some(entry) => format!("The entry {}", one_line(entry, 80)),
        None => "This baseline".to_string(),
    };
    Finding {
        code: Code::OrphanBaseline,
        severity: Severity::Information,
        file: orphan.path.clone(),
        line: orphan.line.max(1),
        span: None,
        message: format!(
            "{what} is held by no test ({}): remove it if its test is gone, or mend the name that should lead to it",
            orphan.framework
        ),
        baseline: Some(orphan.path.clone()),
        entry: orphan.entry.clone(),
        drifts: Vec::new(),
        related: Vec::new(),
    }
}

fn of_rewriting(note: &Note) -> Option<Finding> {
    let code = [Code::UpdatingSwitch, Code::RewritesOwnOracle].into_iter().find(|code| code.word() == note.code)?;
    Some(Finding {
        code,
        severity: Severity::Warning,
        file: RelPath::new(&note.file)?,
        line: note.line.max(1),
        span: None,
        message: one_line(&note.message, 400),
        baseline: None,
        entry: None,
        drifts: Vec::new(),
        related: Vec::new(),
    })
}

fn of_trouble(trouble: &Trouble) -> Finding {
    let file = &trouble.file;
    let path = file.as_str();
    let severity = if path.starts_with(".pindrift/observed/") || is_artefact_name(file.name()) {
        Severity::Warning
    } else if path.starts_with(".pindrift/") || path.ends_with(".scm") || file.name() == "pindrift.toml" {
        Severity::Error
    } else {
        Severity::Information
    };
    Finding {
        code: Code::Configuration,
        severity,
        file: file.clone(),
        line: trouble.at.map_or(1, |(line, _)| line.max(1)),
        span: None,
        message: match trouble.at {
            Some((_, column)) if column > 1 => format!("{} (column {column})", trouble.message),
            _ => trouble.message.clone(),
        },
        baseline: None,
        entry: None,
        drifts: Vec::new(),
        related: Vec::new(),
    }
}

/// The changed lines of a baseline, for an editor that has it open: one finding a hunk.
pub fn in_baseline(survey: &Survey, workspace: &Workspace, baseline: &RelPath) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    let held = |case: &&Arc<Case>| {
        case.pin.oracle.path.as_ref() == Some(baseline)
            && !in_source(case)
            && matches!(case.state, State::Drift | State::Failed)
    };
    for case in survey.cases.iter().filter(held) {
        let (Some(drift), Baseline::Present(recorded)) = (&case.drift, &case.baseline) else { continue };
        let pin = &case.pin;
        let first = recorded.first_line.max(1);
        let lines: Vec<usize> = match drift.hunks.as_slice() {
            [] => vec![first],
            _ if pin.oracle.kind == OracleKind::Digest => vec![first],
            hunks => hunks
                .iter()
                .map(|hunk| {
                    first + if hunk.before.is_empty() { hunk.before.start.saturating_sub(1) } else { hunk.before.start }
                })
                .collect(),
        };
        let many = lines.len();
        for (nth, line) in lines.into_iter().enumerate() {
            let place = if many > 1 { format!(" (hunk {} of {many})", nth + 1) } else { String::new() };
            let pinned = workspace.project.unit(&pin.file).map_or(1, |unit| unit.line(pin.span.start));
            let failed = case.state == State::Failed;
            let finding = Finding {
                code: if failed { Code::SpecificationFailed } else { Code::Drift },
                severity: if failed { Severity::Error } else { Severity::Warning },
                file: baseline.clone(),
                line,
                span: None,
                message: format!("{}: {}{place} ({})", pin.test, drift.brief, drift.difference_word()),
                baseline: Some(baseline.clone()),
                entry: pin.oracle.entry.clone(),
                drifts: case.drift_id.iter().cloned().collect(),
                related: vec![(pin.file.clone(), pinned, format!("pinned by {}", pin.test))],
            };
            all.push(finding);
        }
    }
    all
}

#[cfg(test)]
pub(crate) mod tests;
