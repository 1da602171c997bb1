//! `audit`: whether every change has its decisions, as text, JSON, annotations, SARIF, or Markdown for a pull
//! request. Takes the call, prints what the gate says. Decides nothing.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::json;

use super::args::GateFormat;
use super::look::Scope;
use super::render::{self, Paint};
use super::{FINE, Outcome, Place, UNUSABLE, WANTS_A_PERSON};
use crate::audit::{self, Report};
use crate::ledger::{Entry, Ledger};
use crate::report::FindingRow;
use crate::text::one_line;

/// Longest diff that stands in a summary, in lines.
const LONGEST: usize = 40;

/// Whether every oracle that changed since the merge base has its decisions.
pub fn audit(base: &str, format: GateFormat, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(refused) => return refused,
    };
    let report = match audit::audit(&scope.workspace, base) {
        Ok(report) => report,
        Err(refusal) => return Outcome::refused(refusal, UNUSABLE),
    };
    let out = match format {
        GateFormat::Json => {
            let passes = report.passes();
            let json = json!({ "schema": 1, "passes": passes, "base": report.base, "looked_at": report.looked_at,
                "items": report.items, "decisions": report.decisions, "uncommitted": report.uncommitted });
            format!("{json:#}\n")
        }
        GateFormat::Github => render::github(&failures(&report)) + &summary(&report, render::plain),
        GateFormat::Sarif => render::sarif(&failures(&report)),
        GateFormat::Markdown => markdown(&report, &scope.workspace.ledger),
        GateFormat::Text => {
            let paint = Paint(place.colour);
            let mut text = String::new();
            for item in &report.items {
                let word = match report.failures().any(|failed| failed == item) {
                    true => paint.severity("error").replace("error", item.outcome.word()),
                    false => item.outcome.word().to_string(),
                };
                let _ = writeln!(text, "{word:<9} {}", paint.strong(&render::plain(&item.oracle)));
                let _ = writeln!(
                    text,
                    "    {}:{}  {}",
                    render::plain(item.file.as_ref()),
                    item.line,
                    render::plain(&item.message)
                );
                for amendment in &item.amendments {
                    let _ = writeln!(text, "    {}", paint.dim(&render::plain(amendment.as_ref())));
                }
            }
            text + &summary(&report, render::plain)
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

/// `path`: how a path is written where this is printed.
fn summary(report: &Report, path: fn(&str) -> String) -> String {
    let of = |outcomes: &[audit::Outcome]| report.items.iter().filter(|item| outcomes.contains(&item.outcome)).count();
    let base = report.base.get(..10).unwrap_or(&report.base);
    let decided = of(&[audit::Outcome::Explained, audit::Outcome::Reverted]);
    let others = [(audit::Outcome::New, "new"), (audit::Outcome::Removed, "removed"), (audit::Outcome::Moved, "moved")];
    let others: String = others
        .into_iter()
        .map(|(outcome, word)| (of(&[outcome]), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!(", {count} {word}"))
        .collect();
    let mut text = String::new();
    if let Some(first) = report.uncommitted.first() {
        let more = match report.uncommitted.len() {
            1 => String::new(),
            many => format!(" and {} more", many - 1),
        };
        let first = path(first.as_ref());
        let _ = writeln!(text, "The work tree was looked at, and not all of it is committed: {first}{more}");
    }
    let _ = writeln!(
        text,
        "{} looked at since {base}: {decided} changed with their decisions, {} without{others}",
        render::count(report.looked_at, "oracle"),
        report.failures().count()
    );
    text
}

/// A page for the people who read a pull request: what needs them first, then each decision with its reason.
fn markdown(report: &Report, ledger: &Ledger) -> String {
    let mut out = String::from("## Pinned behaviour\n\n");
    let failures: Vec<&audit::Item> = report.failures().collect();
    if !failures.is_empty() {
        out.push_str("### Without a decision\n\n");
        for item in failures {
            let _ = writeln!(out, "- {} {}", code(&format!("{}:{}", item.file, item.line)), words(&item.message));
        }
        out.push('\n');
    }
    let decisions: Vec<&Arc<Entry>> = report.decisions.iter().filter_map(|path| ledger.entry(path)).collect();
    if decisions.is_empty() {
        out.push_str("No decision is part of this change.\n\n");
    }
    for entry in decisions {
        let it = &entry.amendment;
        let test = it.pin.as_ref().map_or(it.oracle.as_str(), |pin| pin.test.as_str());
        let _ = writeln!(out, "### {}: {}\n", it.kind.word(), words(&it.reason));
        let _ = writeln!(out, "{} of {}, by {}", code(&it.oracle), code(test), words(name(&it.author)));
        let mut more = |label: &str, text: Option<&str>| {
            if let Some(text) = text {
                let _ = writeln!(out, "- {label}: {}", words(text));
            }
        };
        more("verdict", it.verdict.as_deref().filter(|_| it.kind != crate::ledger::Kind::Drift));
        more("authority", it.authority.as_deref());
        more("drafted by", it.proposed_by.as_deref());
        more("proof", it.proof.as_deref());
        let proven = it.proven.as_ref().map(|it| {
            format!(
                "at {} the proof {} and the pin was {}; now it {} and the pin is {}",
                it.base.get(..10).unwrap_or(&it.base),
                it.proof_at_base,
                it.pin_at_base,
                it.proof_now,
                it.pin_now
            )
        });
        more("proven", proven.as_deref());
        if let Some(diff) = it.diff.as_deref().filter(|diff| !diff.is_empty()) {
            let lines: Vec<&str> = diff.lines().collect();
            let longest = lines.iter().map(|line| ticks(line)).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            let _ = writeln!(out, "\n{fence}diff");
            for line in lines.iter().take(LONGEST) {
                let _ = writeln!(out, "{}", render::plain_lines(line));
            }
            if lines.len() > LONGEST {
                let _ = writeln!(out, " ({} lines more)", lines.len() - LONGEST);
            }
            let _ = writeln!(out, "{fence}");
        }
        let _ = writeln!(out, "\n{}\n", code(entry.path.as_str()));
    }
    out + &summary(report, code)
}

/// A name without its mail address: a page on the web shows it to everybody.
fn name(author: &str) -> &str {
    author.split('<').next().map(str::trim).filter(|name| !name.is_empty()).unwrap_or(author)
}

/// Longest run of backticks.
fn ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A text that stands as it is, whatever is in it.
fn code(text: &str) -> String {
    let text = one_line(text, 300);
    let fence = "`".repeat(ticks(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Words of a person or of a program, so that they are no Markdown and mention nobody. What stands between
/// backticks stays code.
fn words(text: &str) -> String {
    let text = one_line(text, 600);
    let parts: Vec<&str> = text.split('`').collect();
    let paired = parts.len() % 2 == 1;
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        if paired && at % 2 == 1 {
            out.push_str(&code(part));
            continue;
        }
        for c in part.chars() {
            match c {
                '\\' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '#' => out.extend(['\\', c]),
                '@' => out.push_str("@\u{200b}"),
                c => out.push(c),
            }
        }
        if !paired && at + 1 < parts.len() {
            out.push_str("\\`");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_gives_the_terminal_and_the_runner_no_orders() {
        let path = || "a\u{1b}[2J\n::error::x".to_string();
        let report = Report {
            base: "0123456789ab".into(),
            looked_at: 1,
            items: Vec::new(),
            decisions: Vec::new(),
            uncommitted: vec![path()],
        };
        let said = summary(&report, render::plain);
        assert!(said.contains("committed: a\\u{1b}[2J\\n::error::x\n"), "{said}");
        assert_eq!(said.lines().count(), 2, "{said}");
        let said = summary(&report, code);
        assert!(!said.contains('\u{1b}') && said.lines().count() == 2, "{said}");
    }

    #[test]
    fn what_people_write_is_no_markdown() {
        assert_eq!(words("see #7, <b>*now*</b> @ada"), "see \\#7, \\<b\\>\\*now\\*\\</b\\> @\u{200b}ada");
        assert_eq!(words("call `a_b` and `"), "call \\`a\\_b\\` and \\`");
        assert_eq!(words("call `a_b`, then"), "call `a_b`, then");
        assert_eq!(code("a`b``c`"), "``` a`b``c` ```");
        assert_eq!(name("Ada <ada@example.org>"), "Ada");
    }
}
