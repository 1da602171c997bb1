//! Whether oracle and observation differ, where, and in what way. A pure function of two contents.
//! Never reads a file, never knows a framework or a language.

use std::time::Duration;

use similar::DiffOp;

use crate::oracles::{Content, digest_of};
use crate::text::{align, one_line};

mod aligned;
mod edits;
mod kinds;
mod literal;
pub mod moves;
mod shown;
mod structure;

pub use aligned::{Part, Row, Side, rows};
pub use kinds::{Distance, distance};
pub use shown::unified;
pub use structure::{Reading, read};

/// One contiguous changed region; lines are 0-based and end exclusive, within each content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    pub before: std::ops::Range<usize>,
    pub after: std::ops::Range<usize>,
    /// Kinds of this region alone; those of the whole drift where it has one explanation.
    pub difference: Vec<Difference>,
    /// By which a verdict about it is found again on the next run, though ids or times are others then: 12
    /// hexadecimal digits.
    pub shape: String,
}

impl Hunk {
    fn new(before: std::ops::Range<usize>, after: std::ops::Range<usize>) -> Hunk {
        Hunk { before, after, difference: vec![Difference::Behaviour], shape: String::new() }
    }
}

/// Kinds of change, in the order in which they are joined with `+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Difference {
    Behaviour,
    Ordering,
    Volatile,
    LineEndings,
    TrailingSpace,
    FloatDigits,
    /// The same numbers and dates as another country writes them.
    Locale,
    /// The same JSON, YAML, TOML, XML or CSV value, written differently.
    Formatting,
    Digest,
    Binary,
}

impl Difference {
    /// The word of the reports.
    pub fn word(self) -> &'static str {
        match self {
            Difference::Behaviour => "behaviour",
            Difference::Ordering => "ordering",
            Difference::Volatile => "volatile",
            Difference::LineEndings => "line-endings",
            Difference::TrailingSpace => "trailing-space",
            Difference::FloatDigits => "float-digits",
            Difference::Locale => "locale",
            Difference::Formatting => "formatting",
            Difference::Digest => "digest",
            Difference::Binary => "binary",
        }
    }
}

/// Bounds of one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Longest time for the line difference; beyond it a coarser one is given.
    pub deadline: Duration,
    /// Largest side in bytes that is compared line by line.
    pub largest: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { deadline: Duration::from_millis(50), largest: 1 << 20 }
    }
}

/// Oracle and observation differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    pub hunks: Vec<Hunk>,
    /// Never empty. Advice, never a verdict.
    pub difference: Vec<Difference>,
    /// 1-based lines of the recorded content that changed or went.
    pub content_lines: Vec<usize>,
    /// 1-based lines of the recorded content after which something was inserted; 0 is before the first.
    pub inserted_after: Vec<usize>,
    /// Equal for drifts that are the same change (DESIGN, "The same change"): 12 hexadecimal digits.
    pub change: String,
    /// Old → new in one bounded line.
    pub brief: String,
    /// The comparison was cut short because of size; hunks name the first difference only.
    pub bounded: bool,
}

impl Drift {
    /// The kinds of difference joined with `+`.
    pub fn difference_word(&self) -> String {
        words(&self.difference)
    }

    /// Shapes of its places, in order; of what has no places, one for the whole.
    pub fn shapes(&self) -> Vec<&str> {
        if self.hunks.is_empty() || self.bounded {
            return vec![&self.change];
        }
        self.hunks.iter().map(|hunk| hunk.shape.as_str()).collect()
    }
}

/// Kinds joined with `+`.
pub fn words(difference: &[Difference]) -> String {
    difference.iter().map(|kind| kind.word()).collect::<Vec<_>>().join("+")
}

/// Compares what is recorded with what was observed; `None` when they are equal.
pub fn drift(before: &Content, after: &Content, options: Options) -> Option<Drift> {
    if before == after {
        return None;
    }
    let (Some(b), Some(a)) = (textual(before), textual(after)) else {
        return Some(binary(before, after));
    };
    let alike = std::mem::discriminant(before) == std::mem::discriminant(after);
    let structured = matches!((before, after), (Content::Value(_), Content::Value(_)));
    let difference = if alike && b != a { kinds::of(b, a, structured) } else { vec![Difference::Behaviour] };
    if b.len().max(a.len()) > options.largest {
        return Some(first_difference(b, a, difference));
    }
    let (old, new) = (lines(b), lines(a));
    let mut hunks = match hunks(&old, &new, difference.contains(&Difference::Ordering), options.deadline) {
        hunks if hunks.is_empty() => last_line(&old, &new),
        hunks => hunks,
    };
    explain(&mut hunks, &old, &new, &difference, structured);
    let shapes: Vec<String> = hunks.iter().map(|hunk| shape(hunk, &old, &new)).collect();
    hunks.iter_mut().zip(shapes).for_each(|(hunk, shape)| hunk.shape = shape);
    let content_lines = hunks.iter().flat_map(|hunk| hunk.before.clone()).map(|line| line + 1).collect();
    let inserted_after = hunks.iter().filter(|hunk| hunk.before.is_empty()).map(|hunk| hunk.before.start).collect();
    Some(Drift {
        change: edits::change(&old, &new, &hunks),
        brief: shown::brief(before, after, &old, &new, &hunks, &difference),
        hunks,
        difference,
        content_lines,
        inserted_after,
        bounded: false,
    })
}

/// The same for an oracle that is only a digest. `texts` are the texts behind the two digests, where both
/// are known: they give kind, change and words; lines and hunks stay those of the digest.
pub fn digest_drift(
    before: &Content,
    after: &Content,
    texts: Option<(&Content, &Content)>,
    options: Options,
) -> Option<Drift> {
    let of_digests = drift(before, after, options)?;
    let Some(of_texts) = texts.and_then(|(old, new)| drift(old, new, options)) else {
        return Some(Drift { difference: vec![Difference::Digest], ..of_digests });
    };
    Some(Drift {
        hunks: of_digests.hunks,
        content_lines: of_digests.content_lines,
        inserted_after: Vec::new(),
        ..of_texts
    })
}

/// The content as text, where it is one: bytes that are UTF-8 without NUL are.
fn textual(content: &Content) -> Option<&str> {
    match content {
        Content::Text(text) | Content::Value(text) => Some(text),
        Content::Bytes(bytes) => std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')),
    }
}

/// Lines without their `\n`; a `\r` stays. A final newline opens no further line.
fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    lines
}

/// Most regions that are explained one by one.
const EXPLAINED: usize = 200;

/// Says of each region what kind it is. Where one explanation holds for the whole drift it holds for each;
/// lines that only moved from one region to another are in another order.
fn explain(hunks: &mut [Hunk], old: &[&str], new: &[&str], difference: &[Difference], structured: bool) {
    if difference != [Difference::Behaviour] {
        hunks.iter_mut().for_each(|hunk| hunk.difference = difference.to_vec());
        return;
    }
    if hunks.len() < 2 || hunks.len() > EXPLAINED {
        return;
    }
    let part = |lines: &[&str], range: &std::ops::Range<usize>| {
        lines.get(range.clone()).unwrap_or_default().iter().map(|line| format!("{line}\n")).collect::<String>()
    };
    let sides: Vec<(String, String)> =
        hunks.iter().map(|hunk| (part(old, &hunk.before), part(new, &hunk.after))).collect();
    for (i, hunk) in hunks.iter_mut().enumerate() {
        let Some((gone, came)) = sides.get(i) else { continue };
        let moved = |gone: &str, came: &str| {
            sides.iter().enumerate().any(|(j, other)| j != i && other.0 == came && other.1 == gone)
        };
        if gone.is_empty() != came.is_empty() && moved(gone, came) {
            hunk.difference = vec![Difference::Ordering];
        } else if !gone.is_empty() && !came.is_empty() {
            hunk.difference = kinds::of(gone, came, structured);
        }
    }
}

/// Behaviour by its edits and where they stand, noise by what is left when it is taken out.
fn shape(hunk: &Hunk, old: &[&str], new: &[&str]) -> String {
    let part = |lines: &[&str], range: &std::ops::Range<usize>| lines.get(range.clone()).unwrap_or_default().join("\n");
    let kind = words(&hunk.difference);
    if hunk.difference == [Difference::Behaviour] {
        return short(&[kind.as_bytes(), b"\0", edits::change(old, new, std::slice::from_ref(hunk)).as_bytes()]);
    }
    let side = if hunk.before.is_empty() { part(new, &hunk.after) } else { part(old, &hunk.before) };
    short(&[kind.as_bytes(), b"\0", kinds::without(&side, &hunk.difference).as_bytes()])
}

/// The changed regions. With as many lines on both sides they are compared by position where that explains
/// the difference with no more lines, and always where only their order changed.
fn hunks(old: &[&str], new: &[&str], ordering: bool, deadline: Duration) -> Vec<Hunk> {
    let by_diff: Vec<Hunk> = align(old, new, deadline)
        .iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| Hunk::new(op.old_range(), op.new_range()))
        .collect();
    if old.len() != new.len() {
        return joined(by_diff);
    }
    let mut by_place: Vec<Hunk> = Vec::new();
    for line in (0..old.len()).filter(|line| old.get(*line) != new.get(*line)) {
        match by_place.last_mut() {
            Some(hunk) if hunk.before.end == line => {
                hunk.before.end += 1;
                hunk.after.end += 1;
            }
            _ => by_place.push(Hunk::new(line..line + 1, line..line + 1)),
        }
    }
    let touched = |hunks: &[Hunk]| hunks.iter().map(|hunk| hunk.before.len().max(hunk.after.len())).sum::<usize>();
    if ordering || touched(&by_place) <= touched(&by_diff) { by_place } else { joined(by_diff) }
}

/// Neighbouring regions as one.
fn joined(hunks: Vec<Hunk>) -> Vec<Hunk> {
    let mut out: Vec<Hunk> = Vec::new();
    for hunk in hunks {
        match out.last_mut() {
            Some(last) if last.before.end == hunk.before.start && last.after.end == hunk.after.start => {
                last.before.end = hunk.before.end;
                last.after.end = hunk.after.end;
            }
            _ => out.push(hunk),
        }
    }
    out
}

/// All lines are equal: only the final newline differs, or the kind of value.
fn last_line(old: &[&str], new: &[&str]) -> Vec<Hunk> {
    vec![Hunk::new(old.len().saturating_sub(1)..old.len(), new.len().saturating_sub(1)..new.len())]
}

fn bytes(content: &Content) -> &[u8] {
    match content {
        Content::Text(text) | Content::Value(text) => text.as_bytes(),
        Content::Bytes(bytes) => bytes,
    }
}

/// 12 hexadecimal digits of a digest over the parts.
fn short(parts: &[&[u8]]) -> String {
    digest_of(parts).chars().skip("sha256:".len()).take(12).collect()
}

fn binary(before: &Content, after: &Content) -> Drift {
    let (b, a) = (bytes(before), bytes(after));
    let at = b.iter().zip(a).take_while(|(b, a)| b == a).count();
    Drift {
        hunks: Vec::new(),
        difference: vec![Difference::Binary],
        content_lines: Vec::new(),
        inserted_after: Vec::new(),
        change: short(&[b, b"\0", a]),
        brief: format!("{} bytes → {} bytes, different from byte {} on", b.len(), a.len(), at + 1),
        bounded: false,
    }
}

/// What is said of contents too large to be compared line by line.
fn first_difference(before: &str, after: &str, difference: Vec<Difference>) -> Drift {
    let at = before.bytes().zip(after.bytes()).take_while(|(b, a)| b == a).count();
    let line = before.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count();
    let there = |text: &str| {
        let whole = text.split('\n').nth(line).unwrap_or("");
        one_line(whole.strip_suffix('\r').unwrap_or(whole).trim(), 40)
    };
    let region = |text: &str| if at < text.len() { line..line + 1 } else { line..line };
    let hunk = Hunk { difference: difference.clone(), ..Hunk::new(region(before), region(after)) };
    Drift {
        content_lines: hunk.before.clone().map(|line| line + 1).collect(),
        inserted_after: if hunk.before.is_empty() { vec![line] } else { Vec::new() },
        hunks: vec![hunk],
        difference,
        change: short(&[before.as_bytes(), b"\0", after.as_bytes()]),
        brief: format!(
            "{} kB → {} kB, first difference in line {}: {} → {}",
            before.len() >> 10,
            after.len() >> 10,
            line + 1,
            there(before),
            there(after)
        ),
        bounded: true,
    }
}

#[cfg(test)]
mod tests;
