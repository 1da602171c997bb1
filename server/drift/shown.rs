//! A drift in words and as a diff, bounded. Takes contents and hunks, gives text without control characters.

use similar::TextDiff;

use super::{Difference, Hunk, bytes, edits, textual};
use crate::oracles::Content;
use crate::text::{hidden, one_line};

/// Longest side of a brief, in characters.
const SIDE: usize = 40;
/// Most lines and bytes of a diff that is shown or recorded.
const LINES: usize = 200;
const BYTES: usize = 16 << 10;

/// Old → new in one line: `0.38 → 0.39, and 2 more`. What cannot be seen is said in words.
pub fn brief(
    before: &Content,
    after: &Content,
    old: &[&str],
    new: &[&str],
    hunks: &[Hunk],
    difference: &[Difference],
) -> String {
    let changed: usize = hunks.iter().map(|hunk| hunk.before.len().max(hunk.after.len())).sum();
    let lines = if changed == 1 { "1 line".to_string() } else { format!("{changed} lines") };
    match difference {
        [Difference::LineEndings] if !matches!(before, Content::Value(_)) => {
            let ends = |lines: &[&str]| if lines.iter().any(|line| line.ends_with('\r')) { "CRLF" } else { "LF" };
            let (b, a) = (ends(old), ends(new));
            if b != a {
                return format!("line endings {b} → {a} in {lines}");
            }
            return format!("line endings differ in {lines}");
        }
        [Difference::TrailingSpace] if !matches!(before, Content::Value(_)) => {
            return format!("only trailing blanks differ, in {lines}");
        }
        [Difference::LineEndings, Difference::TrailingSpace] if !matches!(before, Content::Value(_)) => {
            return format!("only line endings and trailing blanks differ, in {lines}");
        }
        [Difference::Ordering] if old.len() > 1 => return format!("{lines} in another order"),
        _ => {}
    }
    let fits = |lines: &[&str]| lines.len() <= 1 && lines.iter().all(|line| line.chars().count() <= SIDE);
    if fits(old) && fits(new) {
        let (b, a) = (old.first().unwrap_or(&""), new.first().unwrap_or(&""));
        if b == a {
            return match (textual(before), textual(after)) {
                (Some(b), Some(a)) if b != a => final_newline(b, a).to_string(),
                _ => format!("{} → {}, another type of value", kind(before), kind(after)),
            };
        }
        return format!("{} → {}", quoted(b), quoted(a));
    }
    let first = hunks.iter().flat_map(|hunk| edits::texts(old, new, hunk)).find(|(b, a)| b != a);
    let Some((b, a)) = first else {
        return match (textual(before), textual(after)) {
            (Some(b), Some(a)) if b != a => final_newline(b, a).to_string(),
            _ => format!("{} → {}, another type of value", kind(before), kind(after)),
        };
    };
    let edits = edits::edits(&b, &a);
    let shown = match edits.first() {
        Some(edit) if edit.before.trim().is_empty() && edit.after.trim().is_empty() => {
            format!("{} → {}", quoted(&b), quoted(&a))
        }
        Some(edit) if edit.before.is_empty() => format!("added {}", quoted(edit.after.trim())),
        Some(edit) if edit.after.is_empty() => format!("removed {}", quoted(edit.before.trim())),
        Some(edit) => format!("{} → {}", quoted(edit.before.trim()), quoted(edit.after.trim())),
        None => format!("{} → {}", quoted(&b), quoted(&a)),
    };
    // Further places: lines where there are several, else edits of the one line.
    let more = if changed > 1 { changed - 1 } else { edits.len().saturating_sub(1) };
    if more == 0 { shown } else { format!("{shown}, and {more} more") }
}

fn final_newline(before: &str, after: &str) -> &'static str {
    if after.len() > before.len() { "a final newline was added" } else { "the final newline is gone" }
}

fn kind(content: &Content) -> &'static str {
    match content {
        Content::Text(_) => "text",
        Content::Value(_) => "value",
        Content::Bytes(_) => "bytes",
    }
}

fn quoted(text: &str) -> String {
    if text.is_empty() { "nothing".into() } else { one_line(text, SIDE) }
}

/// One line of a diff: nothing in it steers a terminal; tabs stay.
fn safe(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\t' => out.push(c),
            '\r' => out.push_str("\\r"),
            c if hidden(c) => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// The difference as unified lines, at most 200 lines and 16 kB; what was left out is said in the last
/// line. With `labels` (of before and after) there are headers and three lines of context, as `patch`
/// reads them; without, only the changed lines, as an amendment keeps them. `before: None` is a new
/// baseline. Bytes and large texts are shown by size and digest.
pub fn unified(before: Option<&Content>, after: &Content, labels: Option<(&str, &str)>) -> String {
    let empty = Content::Text(String::new());
    let old = before.unwrap_or(&empty);
    let (Some(b), Some(a)) = (textual(old), textual(after)) else { return sizes(before, after, labels) };
    if b.len().max(a.len()) > super::Options::default().largest {
        return sizes(before, after, labels);
    }
    let diff = TextDiff::configure().timeout(super::Options::default().deadline).diff_lines(b, a);
    let mut unified = diff.unified_diff();
    unified.context_radius(if labels.is_some() { 3 } else { 0 });
    unified.missing_newline_hint(false);
    let mut out = header(labels);
    let hunks: Vec<_> = unified.iter_hunks().collect();
    let (mut shown, mut left) = (0usize, 0usize);
    for hunk in &hunks {
        if (labels.is_some() || hunks.len() > 1) && shown < LINES && out.len() < BYTES {
            out.push_str(&format!("{}\n", hunk.header()));
        }
        for change in hunk.iter_changes() {
            let value = change.value();
            let body = value.strip_suffix('\n').unwrap_or(value);
            if shown >= LINES || out.len() + body.len() > BYTES {
                left += 1;
                continue;
            }
            shown += 1;
            let sign = match change.tag() {
                similar::ChangeTag::Delete => '-',
                similar::ChangeTag::Insert => '+',
                similar::ChangeTag::Equal => ' ',
            };
            out.push(sign);
            out.push_str(&safe(body));
            out.push('\n');
            if body.len() == value.len() && labels.is_some() {
                out.push_str("\\ No newline at end of file\n");
            }
        }
    }
    if left > 0 {
        out.push_str(&format!("… {left} more lines; {} → {}\n", measure(before), measure(Some(after))));
    }
    out
}

fn header(labels: Option<(&str, &str)>) -> String {
    match labels {
        Some((b, a)) => format!("--- {}\n+++ {}\n", one_line(b, 400), one_line(a, 400)),
        None => String::new(),
    }
}

fn measure(content: Option<&Content>) -> String {
    match content {
        Some(content) => format!("{} bytes {}", bytes(content).len(), content.digest()),
        None => "nothing".into(),
    }
}

fn sizes(before: Option<&Content>, after: &Content, labels: Option<(&str, &str)>) -> String {
    format!("{}-{}\n+{}\n", header(labels), measure(before), measure(Some(after)))
}
