//! The set of token edits that says whether two drifts are the same change. A number stands as its
//! decimals and its direction, any other token as its text; a date is one token.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use similar::DiffOp;

use super::{Hunk, kinds, short};
use crate::text::align;

/// Most bytes of changed lines that are taken apart; beyond it the lines themselves are the change.
const LARGEST: usize = 256 << 10;

/// One edit, where it stands: tokens of the old and of the new text.
pub struct Edit<'a> {
    pub before: &'a str,
    pub after: &'a str,
}

/// 12 hexadecimal digits, equal for drifts that are the same change.
pub fn change(old: &[&str], new: &[&str], hunks: &[Hunk]) -> String {
    let size: usize = hunks.iter().flat_map(|hunk| texts(old, new, hunk)).map(|(b, a)| b.len() + a.len()).sum();
    let mut set = BTreeSet::new();
    for (before, after) in hunks.iter().flat_map(|hunk| texts(old, new, hunk)) {
        if size > LARGEST {
            set.insert(format!("{before}\u{1}{after}"));
        } else {
            set.extend(edits(&before, &after).iter().map(Edit::shape));
        }
    }
    let all: Vec<String> = set.into_iter().collect();
    short(&[all.join("\u{0}").as_bytes()])
}

/// The texts of a hunk that belong together: line by line where there are as many, else all at once.
pub fn texts(old: &[&str], new: &[&str], hunk: &Hunk) -> Vec<(String, String)> {
    let part = |lines: &[&str], range: &Range<usize>| -> Vec<String> {
        lines.get(range.clone()).unwrap_or_default().iter().map(|line| line.to_string()).collect()
    };
    let (before, after) = (part(old, &hunk.before), part(new, &hunk.after));
    if before.len() == after.len() {
        return before.into_iter().zip(after).collect();
    }
    vec![(before.join("\n"), after.join("\n"))]
}

/// The token edits between two texts, in order. White space counts only where nothing else differs.
pub fn edits<'a>(before: &'a str, after: &'a str) -> Vec<Edit<'a>> {
    let (b, a) = (tokens(before), tokens(after));
    let visible = |tokens: &[Range<usize>], text: &str| -> Vec<Range<usize>> {
        tokens.iter().filter(|token| !text[(*token).clone()].trim().is_empty()).cloned().collect()
    };
    let seen = between(before, after, &visible(&b, before), &visible(&a, after));
    if seen.is_empty() { between(before, after, &b, &a) } else { seen }
}

fn between<'a>(before: &'a str, after: &'a str, b: &[Range<usize>], a: &[Range<usize>]) -> Vec<Edit<'a>> {
    let words = |text: &'a str, tokens: &[Range<usize>]| -> Vec<&'a str> {
        tokens.iter().map(|token| &text[token.clone()]).collect()
    };
    let (old, new) = (words(before, b), words(after, a));
    let ops = align(&old, &new, Duration::from_millis(20));
    // A deletion directly beside an insertion is one replacement.
    let mut regions: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let (o, n) = (op.old_range(), op.new_range());
        match regions.last_mut() {
            Some((lo, ln)) if lo.end == o.start && ln.end == n.start => {
                lo.end = o.end;
                ln.end = n.end;
            }
            _ => regions.push((o, n)),
        }
    }
    let mut out = Vec::new();
    for (o, n) in regions {
        let span = |text: &'a str, tokens: &[Range<usize>], range: Range<usize>| -> &'a str {
            match (tokens.get(range.start), range.end.checked_sub(1).and_then(|last| tokens.get(last))) {
                (Some(first), Some(last)) if range.start < range.end => &text[first.start..last.end],
                _ => "",
            }
        };
        if o.len() == n.len() {
            for (i, j) in o.zip(n) {
                out.push(Edit { before: old.get(i).unwrap_or(&""), after: new.get(j).unwrap_or(&"") });
            }
        } else {
            out.push(Edit { before: span(before, b, o), after: span(after, a, n) });
        }
    }
    out.retain(|edit| edit.before != edit.after);
    out
}

impl Edit<'_> {
    fn shape(&self) -> String {
        let decimals = |text: &str| text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        match (number(self.before), number(self.after)) {
            (Some(b), Some(a)) => {
                let direction = if a > b {
                    "up"
                } else if a < b {
                    "down"
                } else {
                    "same"
                };
                format!("#{}:{}:{direction}", decimals(self.before), decimals(self.after))
            }
            _ => format!("{}\u{1}{}", self.before, self.after),
        }
    }
}

fn number(token: &str) -> Option<f64> {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let plain = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    token.parse().ok().filter(|_| plain)
}

/// Byte ranges of the tokens: dates and times, numbers, words, blanks, single other characters.
pub(super) fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut dates = kinds::dates(text).into_iter().peekable();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        while dates.peek().is_some_and(|date| date.start < at) {
            dates.next();
        }
        if dates.peek().is_some_and(|date| date.start == at) {
            at = dates.next().map_or(at + c.len_utf8(), |date| date.end);
        } else if c.is_whitespace() {
            at = end(text, at, char::is_whitespace);
        } else if c.is_alphanumeric() || c == '_' {
            at = word(text, at);
        } else if c == '-' && negative(text, at) {
            at = word(text, at + 1);
        } else {
            at += c.len_utf8();
        }
        out.push(start..at);
    }
    out
}

fn end(text: &str, at: usize, holds: impl Fn(char) -> bool) -> usize {
    text[at..].find(|c| !holds(c)).map_or(text.len(), |len| at + len)
}

/// A minus is a sign when a digit follows and nothing that could be subtracted from stands before.
fn negative(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    text[at + 1..].starts_with(|c: char| c.is_ascii_digit())
        && !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, ')' | ']' | '_' | '.'))
}

/// End of a word, or of a number with its decimals.
fn word(text: &str, at: usize) -> usize {
    let mut to = end(text, at, |c| c.is_alphanumeric() || c == '_');
    if text[at..to].bytes().all(|byte| byte.is_ascii_digit()) && text[to..].starts_with('.') {
        let decimals = end(text, to + 1, |c| c.is_ascii_digit());
        let next = text[decimals..].chars().next();
        if decimals > to + 1 && !next.is_some_and(|c| c.is_alphanumeric() || c == '.') {
            to = decimals;
        }
    }
    to
}
