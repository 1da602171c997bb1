//! The dated rationale comment above a pin: old value, new value, reason.
//!
//! ```python
//! # 2026-08-28: intentional drift. Old: 2.67. New: Decimal('2.6750').
//! # Reason: fix banker's rounding; use Decimal (refactor 42)
//! assert apply_discount(2.675, 0.0) == Decimal('2.6750')
//! ```
//!
//! Takes source texts, gives comments that stand there and edits that put one there; one a site, replaced
//! and never stacked. Comments of this shape written by people are read too. A comment that waits for its
//! reason (the comment flow) carries `[pindrift <drift id>]` and a placeholder: the state is in the text.
//! Never writes a file.

use std::sync::LazyLock;

use regex::Regex;

use crate::code::{ExprKind, Stmt, StmtKind, Unit};
use crate::drift::Drift;
use crate::oracles::Content;
use crate::syntax::Language;
use crate::text::{Span, Text, one_line};

mod filler;

pub use filler::{refuse_name, refuse_reason};

/// What stands where the reason belongs, until a person wrote one.
pub const PLACEHOLDER: &str = "<why may the recorded value change?>";

/// Longest old or new value and longest reason in a comment, in characters; the amendment has the rest.
const VALUE: usize = 60;
const REASON: usize = 1000;
/// Most lines of one comment that are read.
const MOST_LINES: usize = 40;

/// A rationale comment as it stands in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rationale {
    /// Whole lines: from the start of the first to the end of the last, its line end included.
    pub span: Span,
    pub date: jiff::civil::Date,
    pub old: Option<String>,
    pub new: Option<String>,
    /// `None` while the placeholder stands there, or nothing.
    pub reason: Option<String>,
    /// Id of the drift that the comment waits for.
    pub marker: Option<String>,
}

/// What a rationale comment is to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft<'a> {
    pub date: jiff::civil::Date,
    pub old: &'a str,
    pub new: &'a str,
    /// `None`: the placeholder.
    pub reason: Option<&'a str>,
    /// Id of the drift that waits for the reason.
    pub marker: Option<&'a str>,
}

/// One replacement in a source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub span: Span,
    pub text: String,
    /// Where the placeholder stands in the text after the edit.
    pub placeholder: Option<Span>,
}

/// Old and new of a drift as they stand in a comment: the values themselves where they are short, else
/// the first place that changed.
pub fn sides(before: &Content, after: &Content, drift: &Drift) -> (String, String) {
    let short = |content: &Content| match content {
        Content::Text(text) | Content::Value(text) => (!text.trim_end_matches('\n').contains('\n')
            && text.chars().count() <= VALUE)
            .then(|| one_line(text.trim_end_matches('\n'), VALUE)),
        Content::Bytes(_) => None,
    };
    if let (Some(old), Some(new)) = (short(before), short(after))
        && old != new
    {
        return (old, new);
    }
    match drift.brief.split_once(" → ") {
        Some((old, new)) => (old.to_string(), new.to_string()),
        None => ("as recorded before".to_string(), drift.brief.clone()),
    }
}

/// As much of a reason as a comment holds.
pub fn kept(reason: &str) -> String {
    one_line(reason.trim(), REASON)
}

/// The 0-based line above which the comment of a pin stands, with its indentation: that of the innermost
/// statement around the pin that begins its line. `None` where no comment can stand.
pub fn place(unit: &Unit, pin: Span) -> Option<(usize, String)> {
    let mut around = Vec::new();
    for function in unit.functions.iter().filter(|function| function.span.contains(pin)) {
        holding(&function.body, pin, &mut around);
    }
    holding(&unit.top, pin, &mut around);
    around.sort_by_key(|span| span.end - span.start);
    around.into_iter().find_map(|span| {
        let line = unit.text.line_of(span.start);
        let indent = unit.text.as_str().get(unit.text.line_start(line)..span.start)?;
        indent.chars().all(|c| c == ' ' || c == '\t').then(|| (line, indent.to_string()))
    })
}

fn holding(stmts: &[Stmt], pin: Span, out: &mut Vec<Span>) {
    for stmt in stmts.iter().filter(|stmt| stmt.span.contains(pin)) {
        out.push(stmt.span);
        match &stmt.kind {
            StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::With { body, .. } => {
                holding(body, pin, out)
            }
            StmtKind::If { then, otherwise, .. } => {
                holding(then, pin, out);
                holding(otherwise, pin, out);
            }
            StmtKind::Block(parts) => parts.iter().for_each(|part| holding(part, pin, out)),
            _ => stmt.walk(&mut |expr| {
                if let ExprKind::Closure { body, .. } | ExprKind::Block(body) = &expr.kind {
                    out.extend(body.iter().map(|stmt| stmt.span).filter(|span| span.contains(pin)));
                }
            }),
        }
    }
}

/// The rationale comment that stands directly above a pin.
pub fn find(unit: &Unit, pin: Span) -> Option<Rationale> {
    let (line, _) = place(unit, pin)?;
    let mut first = line;
    while first > 0 && line - first < MOST_LINES && body(unit.text.line(first - 1), unit.language).is_some() {
        first -= 1;
    }
    // Of several the nearest counts.
    (first..line).rev().find_map(|start| read(&unit.text, unit.language, start))
}

/// Every comment in a text that waits for its reason.
pub fn waiting(text: &Text, language: Language) -> Vec<Rationale> {
    if !text.as_str().contains("pindrift") {
        return Vec::new();
    }
    (0..text.line_count())
        .filter_map(|line| read(text, language, line))
        .filter(|rationale| rationale.marker.is_some())
        .collect()
}

/// The edit that puts the comment above a pin, in place of the one that stands there. Its lines end as the
/// line of the pin does and are at most `longest` characters long where words allow it. `None` where no
/// comment can stand.
pub fn edit(unit: &Unit, pin: Span, draft: &Draft, longest: Option<usize>) -> Option<Edit> {
    let (line, indent) = place(unit, pin)?;
    let span = match find(unit, pin) {
        Some(there) => there.span,
        None => Span::new(unit.text.line_start(line), unit.text.line_start(line)),
    };
    let whole = unit.text.as_str().get(unit.text.line_start(line)..unit.text.line_start(line + 1)).unwrap_or("");
    let end = if whole.ends_with("\r\n") { "\r\n" } else { "\n" };
    let longest = longest.unwrap_or(match unit.language {
        Language::Python => 88,
        Language::Rust => 100,
    });
    let text = render(draft, unit.language, &indent, longest, end);
    let placeholder = draft.reason.is_none().then(|| text.find(PLACEHOLDER)).flatten();
    Some(Edit {
        span,
        placeholder: placeholder.map(|at| Span::new(span.start + at, span.start + at + PLACEHOLDER.len())),
        text,
    })
}

/// The lines of the comment, each with indentation and line end.
fn render(draft: &Draft, language: Language, indent: &str, longest: usize, end: &str) -> String {
    let sign = match language {
        Language::Python => "#",
        Language::Rust => "//",
    };
    let width = longest.saturating_sub(indent.chars().count() + sign.len() + 1).max(30);
    let mut head = format!(
        "{}: intentional drift. Old: {}. New: {}.",
        draft.date,
        one_line(draft.old.trim(), VALUE),
        one_line(draft.new.trim(), VALUE)
    );
    if let Some(marker) = draft.marker {
        head.push_str(&format!(" [pindrift{TIED}{}]", one_line(marker, 20)));
    }
    let reason = format!("Reason: {}", draft.reason.map_or(PLACEHOLDER.to_string(), kept));
    // The placeholder is one selection, so it stays on one line.
    let reason = if draft.reason.is_none() { vec![reason] } else { wrapped(&reason, width) };
    wrapped(&head, width).into_iter().chain(reason).map(|line| format!("{indent}{sign} {line}{end}")).collect()
}

/// A blank at which no line is broken: the marker stays whole.
const TIED: char = '\u{1}';

/// Lines of at most `width` characters where blanks allow it; all but the first are set in by two.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.trim().is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut line, "  ".into()));
            line.push_str(word);
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.push(line);
    lines.into_iter().map(|line| line.replace(TIED, " ")).collect()
}

/// What follows the comment sign on a line that is a comment alone; doc comments are none.
fn body(line: &str, language: Language) -> Option<&str> {
    let line = line.trim_start();
    match language {
        Language::Python => line.strip_prefix('#'),
        Language::Rust => line.strip_prefix("//").filter(|rest| !rest.starts_with(['/', '!'])),
    }
}

static HEAD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^ ?(\d{4}-\d{2}-\d{2})(?::|,|\.| -| –| —)? (.*)$").ok());
static MARKER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\s*\[\s*pindrift\s+([0-9a-f]{12})\s*\]").ok());
static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?is)^(?P<what>.*?)(?:\bold:\s*(?P<old>.*?)[.;,]?\s+new:\s*(?P<new>.*?))?[.;,]?\s*(?:(?:\breason|\bwhy):\s*(?P<reason>.*))?$",
    )
    .ok()
});

/// The rationale comment that begins on a line.
fn read(text: &Text, language: Language, start: usize) -> Option<Rationale> {
    let first = HEAD.as_ref()?.captures(body(text.line(start), language)?)?;
    let date: jiff::civil::Date = first.get(1)?.as_str().parse().ok()?;
    let mut joined = first.get(2)?.as_str().trim_end().to_string();
    let mut last = start;
    let has_reason = |text: &str| text.to_lowercase().contains("reason:");
    for line in start + 1..(start + MOST_LINES).min(text.line_count()) {
        let Some(rest) = body(text.line(line), language) else { break };
        let dated = HEAD.as_ref()?.is_match(rest);
        if rest.trim().is_empty() || dated {
            break;
        }
        // After the reason began, only what continues it belongs to it.
        let set_in = rest.starts_with("  ") || rest.starts_with('\t');
        let goes_on = rest.trim_start().starts_with(|c: char| c.is_lowercase() || c == '(')
            && text.line(last).trim_end().chars().count() > 60;
        if has_reason(&joined) && !set_in && !goes_on {
            break;
        }
        joined.push(' ');
        joined.push_str(rest.trim());
        last = line;
    }
    let marker = MARKER.as_ref()?.captures(&joined).and_then(|found| Some(found.get(1)?.as_str().to_string()));
    let plain = MARKER.as_ref()?.replace_all(&joined, "");
    let parts = PARTS.as_ref()?.captures(&plain)?;
    let part = |name: &str| parts.name(name).map(|part| part.as_str().trim()).filter(|part| !part.is_empty());
    let what = part("what").unwrap_or("").to_lowercase();
    let (old, new) = (part("old"), part("new"));
    if !what.contains("drift") && (old.is_none() || new.is_none()) {
        return None;
    }
    // The lines after the values that name no reason are another comment.
    if !has_reason(&joined) && last > start {
        last = start;
    }
    let reason = part("reason").filter(|reason| !reason.contains(PLACEHOLDER));
    Some(Rationale {
        span: Span::new(text.line_start(start), text.line_start(last + 1)),
        date,
        old: old.map(|old| old.trim_end_matches('.').to_string()),
        new: new.map(|new| new.trim_end_matches('.').to_string()),
        reason: reason.map(str::to_string),
        marker,
    })
}

impl Rationale {
    /// Whether the comment still waits for a reason or for the accept.
    pub fn waits(&self) -> bool {
        self.marker.is_some()
    }

    /// Whether what it calls new is still recorded: `None` when that cannot be told.
    pub fn holds(&self, recorded: &Content) -> Option<bool> {
        let (Content::Text(text) | Content::Value(text)) = recorded else { return None };
        let bare = |text: &str| -> String {
            one_line(text, usize::MAX)
                .chars()
                .filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '\\'))
                .collect()
        };
        let new = self.new.as_deref()?;
        let new = new.split_once(", and ").map_or(new, |(new, _)| new);
        let cut = new.trim_end_matches('…');
        let text = bare(text);
        if text.contains(&bare(cut)) {
            return Some(true);
        }
        // People write more than the value, in brackets after it; a sentence decides nothing.
        let mut words = cut.split_whitespace();
        let word = bare(words.next()?);
        let alone = words.next().is_none_or(|next| next.starts_with('('));
        if alone && !word.is_empty() { Some(text.contains(&word)) } else { None }
    }
}

#[cfg(test)]
mod tests;
