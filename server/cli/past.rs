//! `log` and `audit`: why baselines are what they are, and whether every change has its decision.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::json;

use super::args::{Format, Shape};
use super::look::{Scope, from_root};
use super::render::{self, Paint};
use super::{FINE, Outcome, Place, UNUSABLE, WANTS_A_PERSON};
use crate::audit::{self, Report};
use crate::ledger::Entry;
use crate::report::FindingRow;

/// The decisions about a baseline, a file or a test, newest first.
pub fn log(what: Option<&str>, suspected: bool, shape: Shape, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(refused) => return refused,
    };
    let path = what.and_then(|what| from_root(&scope.workspace, what.as_ref(), place).ok());
    let path = path.map(|path| path.to_string());
    let about = |entry: &&Arc<Entry>| {
        let amendment = &entry.amendment;
        let Some(what) = what else { return true };
        let holds = |path: &str| {
            let rest = amendment.oracle.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['#', '/']))
                || amendment.pin.as_ref().is_some_and(|pin| pin.file.as_str() == path)
        };
        let base = what.split('[').next().unwrap_or(what);
        holds(what)
            || path.as_deref().is_some_and(holds)
            || amendment.pin.as_ref().is_some_and(|pin| pin.test == what || pin.test == base)
    };
    let entries: Vec<&Arc<Entry>> = scope
        .workspace
        .ledger
        .entries
        .iter()
        .filter(about)
        .filter(|entry| !suspected || entry.amendment.verdict.as_deref() == Some("suspected-bug"))
        .collect();
    let out = match shape {
        Shape::Json => format!(
            "{:#}\n",
            json!({ "schema": 1, "amendments": entries.iter().map(|it| row(it)).collect::<Vec<_>>() })
        ),
        Shape::Text => {
            let paint = Paint(place.colour);
            let mut text: String = entries.iter().map(|entry| lines(entry, paint)).collect();
            for trouble in &scope.workspace.ledger.troubles {
                let _ = writeln!(text, "{}  not read: {}", trouble.file, render::plain(&trouble.message));
            }
            if entries.is_empty() {
                let about = what.map(|what| format!(" about {what}")).unwrap_or_default();
                let _ = writeln!(text, "no decision is recorded{about}");
            }
            text
        }
    };
    Outcome::new(out, FINE)
}

fn row(entry: &Entry) -> serde_json::Value {
    let it = &entry.amendment;
    json!({
        "amendment": entry.path.as_str(),
        "at": it.at.to_string(),
        "author": it.author,
        "via": it.via,
        "kind": it.kind.word(),
        "pin": it.pin.as_ref().map(|pin| json!({ "file": pin.file.as_str(), "test": pin.test, "nth": pin.nth })),
        "oracle": it.oracle,
        "verdict": it.verdict,
        "reason": it.reason,
        "authority": it.authority,
        "before": it.before,
        "after": it.after,
        "proof": it.proof,
        "diff": it.diff,
        "after_the_fact": it.after_the_fact,
        "withdraws": it.withdraws,
        "committed": entry.committed,
        "pending": it.pending,
    })
}

fn lines(entry: &Entry, paint: Paint) -> String {
    let it = &entry.amendment;
    let day = it.at.to_string();
    let day = day.split('T').next().unwrap_or(&day);
    let standing = match (it.pending, entry.committed) {
        (true, _) => ", not finished",
        (false, false) => ", not committed yet",
        _ => "",
    };
    let mut text = format!("{day}  {}  {}\n", paint.strong(&render::plain(&it.oracle)), it.kind.word());
    let late = if it.after_the_fact { " (written after the fact)" } else { "" };
    let _ = writeln!(text, "    {}{late}", render::plain(&it.reason));
    if let Some(authority) = &it.authority {
        let _ = writeln!(text, "    authority: {}", render::plain(authority));
    }
    if let Some(withdrawn) = &it.withdraws {
        let _ = writeln!(text, "    withdraws {withdrawn}");
    }
    for line in it.diff.as_deref().unwrap_or_default().lines().take(12) {
        let line = render::plain_lines(line);
        let line = match line.as_bytes().first() {
            Some(b'+') => paint.added(&line),
            Some(b'-') => paint.removed(&line),
            _ => line,
        };
        let _ = writeln!(text, "    {line}");
    }
    let by = format!("{} by {}{standing}", entry.path, render::plain(&it.author));
    let _ = writeln!(text, "    {}", paint.dim(&by));
    text
}

/// Whether every oracle that changed since the merge base has its decisions.
pub fn audit(base: &str, format: Format, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(refused) => return refused,
    };
    let report = match audit::audit(&scope.workspace, base) {
        Ok(report) => report,
        Err(refusal) => return Outcome::refused(refusal, UNUSABLE),
    };
    let out = match format {
        Format::Json => {
            let passes = report.passes();
            let json = json!({ "schema": 1, "passes": passes, "base": report.base, "looked_at": report.looked_at,
                "items": report.items });
            format!("{json:#}\n")
        }
        Format::Github => render::github(&failures(&report)) + &summary(&report),
        Format::Sarif => render::sarif(&failures(&report)),
        Format::Text => {
            let paint = Paint(place.colour);
            let mut text = String::new();
            for item in &report.items {
                let word = match report.failures().any(|failed| failed == item) {
                    true => paint.severity("error").replace("error", item.outcome.word()),
                    false => item.outcome.word().to_string(),
                };
                let _ = writeln!(text, "{word:<9} {}", paint.strong(&render::plain(&item.oracle)));
                let _ = writeln!(text, "    {}:{}  {}", item.file, item.line, render::plain(&item.message));
                for amendment in &item.amendments {
                    let _ = writeln!(text, "    {}", paint.dim(amendment));
                }
            }
            text + &summary(&report)
        }
    };
    Outcome::new(out, if report.passes() { FINE } else { WANTS_A_PERSON })
}

fn failures(report: &Report) -> Vec<FindingRow> {
    let row = |item: &audit::Item| FindingRow {
        code: "audit",
        severity: "error",
        file: item.file.clone(),
        line: item.line,
        message: format!("{}: {}", item.oracle, item.message),
        baseline: None,
        entry: None,
    };
    report.failures().map(row).collect()
}

fn summary(report: &Report) -> String {
    let failed = report.failures().count();
    let base = report.base.get(..10).unwrap_or(&report.base);
    format!(
        "{} oracles looked at since {base}: {} changed with their decisions, {failed} without\n",
        report.looked_at,
        report.items.len() - failed
    )
}
