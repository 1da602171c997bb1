//! What an amendment keeps of a change: unified lines, bounded, from which one content can be made of the
//! other; and two changes of one content put together, as a clean merge does. Pure functions of texts.

use std::ops::Range;
use std::time::Duration;

use similar::DiffOp;

use crate::oracles::{Content, digest_of};
use crate::text::align;

/// Longest diff that is kept whole, in bytes.
pub const LARGEST_DIFF: usize = 32 << 10;
const CONTEXT: usize = 3;
const NO_NEWLINE: &str = "\\ No newline at end of file";
const BUDGET: Duration = Duration::from_millis(500);

/// Changed regions of a list of lines (0-based, of the old one) with their new lines; apart and in order.
pub type Edits = Vec<(Range<usize>, Vec<String>)>;

/// The change as an amendment keeps it. One line on each side: `-old` and `+new`. More: unified hunks with
/// their `@@` lines. Bytes, and what is longer than [`LARGEST_DIFF`]: sizes and digests, from which
/// nothing can be made.
pub fn diff(before: Option<&Content>, after: Option<&Content>) -> String {
    let (Some(old), Some(new)) = (lines_of(before), lines_of(after)) else { return sizes(before, after) };
    let one = |lines: &[&str]| lines.len() <= 1;
    let mut out = String::new();
    if one(&old) && one(&new) && same_end(&old, &new) {
        for (sign, lines) in [('-', &old), ('+', &new)] {
            for line in lines {
                out.push(sign);
                out.push_str(line.strip_suffix('\n').unwrap_or(line));
                out.push('\n');
            }
        }
        // Without the `@@` line the final newline is not told; it is one of the two that the digest knows.
        return if out.len() > LARGEST_DIFF { sizes(before, after) } else { out };
    }
    let ops = align(&old, &new, BUDGET);
    for group in similar::group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (olds, news) =
            (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        out.push_str(&format!("@@ -{} +{} @@\n", counted(&olds), counted(&news)));
        for op in &group {
            let kept = matches!(op, DiffOp::Equal { .. });
            for line in &old[op.old_range()] {
                put(&mut out, if kept { ' ' } else { '-' }, line);
            }
            if !kept {
                for line in &new[op.new_range()] {
                    put(&mut out, '+', line);
                }
            }
        }
        if out.len() > LARGEST_DIFF {
            return sizes(before, after);
        }
    }
    out
}

fn same_end(old: &[&str], new: &[&str]) -> bool {
    match (old.first(), new.first()) {
        (Some(old), Some(new)) => old.ends_with('\n') == new.ends_with('\n'),
        _ => true,
    }
}

fn put(out: &mut String, sign: char, line: &str) {
    out.push(sign);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push('\n');
        out.push_str(NO_NEWLINE);
        out.push('\n');
    }
}

/// `start,count` of a unified hunk: 1-based, and the line before when there is none.
fn counted(range: &Range<usize>) -> String {
    let start = if range.is_empty() { range.start } else { range.start + 1 };
    format!("{start},{}", range.len())
}

fn sizes(before: Option<&Content>, after: Option<&Content>) -> String {
    let side = |content: Option<&Content>| match content {
        None => "nothing".to_string(),
        Some(content) => {
            let bytes = bytes_of(content);
            format!("{} bytes, {}", bytes.len(), digest_of(&[bytes]))
        }
    };
    format!("before: {}\nafter: {}\n", side(before), side(after))
}

fn bytes_of(content: &Content) -> &[u8] {
    match content {
        Content::Text(text) | Content::Value(text) => text.as_bytes(),
        Content::Bytes(bytes) => bytes,
    }
}

/// Lines with their endings; none for nothing, `None` for bytes.
fn lines_of(content: Option<&Content>) -> Option<Vec<&str>> {
    match content {
        None => Some(Vec::new()),
        Some(Content::Text(text) | Content::Value(text)) => Some(text.split_inclusive('\n').collect()),
        Some(Content::Bytes(_)) => None,
    }
}

/// The content with that digest which `diff` makes of `from` (of nothing: `None`), forwards or backwards.
/// `None` when the diff was not kept whole, does not fit, or gives another content than the digest says.
pub fn patched(from: Option<&Content>, diff: &str, digest: &str, backwards: bool) -> Option<Content> {
    let lines: Vec<&str> = lines_of(from)?;
    let candidates: Vec<String> = if diff.starts_with("@@") {
        let edits = edits(diff, backwards)?;
        fits(&lines, &edits, diff, backwards).then(|| applied(&lines, &edits)).into_iter().collect()
    } else {
        let (mut old, mut new) = (None, None);
        for line in diff.split_terminator('\n') {
            match (line.strip_prefix('-'), line.strip_prefix('+')) {
                (Some(text), _) if old.is_none() => old = Some(text),
                (_, Some(text)) if new.is_none() => new = Some(text),
                _ => return None,
            }
        }
        let (is, wanted) = if backwards { (new, old) } else { (old, new) };
        let whole = lines.first().map(|line| line.strip_suffix('\n').unwrap_or(line));
        if lines.len() > 1 || whole.unwrap_or("") != is.unwrap_or("") {
            return None;
        }
        let wanted = wanted.unwrap_or("");
        vec![wanted.to_string(), format!("{wanted}\n")]
    };
    let kinds = candidates.into_iter().flat_map(|text| [Content::Text(text.clone()), Content::Value(text)]);
    kinds.into_iter().find(|content| content.digest() == digest)
}

/// Hunks of a unified diff without their context, as edits of the old side (of the new, backwards).
fn edits(diff: &str, backwards: bool) -> Option<Edits> {
    let mut edits = Edits::new();
    let mut at = 0;
    let mut open: Option<(Range<usize>, Vec<String>)> = None;
    // Whether the last line taken stood on the side that is put in.
    let mut put_in = false;
    for line in diff.split_inclusive('\n') {
        if line.starts_with("@@") {
            edits.extend(open.take());
            let (old, new) = line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
            let (start, count) = if backwards { new } else { old }.split_once(',')?;
            let (start, count): (usize, usize) = (start.parse().ok()?, count.parse().ok()?);
            at = if count == 0 { start } else { start.checked_sub(1)? };
            continue;
        }
        if line.starts_with('\\') {
            if put_in {
                let last = open.as_mut()?.1.last_mut()?;
                last.truncate(last.strip_suffix('\n')?.len());
            }
            continue;
        }
        let (sign, text) = line.split_at_checked(1)?;
        let sign = match (sign, backwards) {
            ("-", true) => "+",
            ("+", true) => "-",
            (sign, _) => sign,
        };
        put_in = sign == "+";
        match sign {
            " " => {
                edits.extend(open.take());
                at += 1;
            }
            "-" => {
                open.get_or_insert((at..at, Vec::new())).0.end = at + 1;
                at += 1;
            }
            "+" => open.get_or_insert((at..at, Vec::new())).1.push(text.to_string()),
            _ => return None,
        }
    }
    edits.extend(open);
    Some(edits)
}

/// Every line that the diff names on its old side stands there.
fn fits(lines: &[&str], edits: &Edits, diff: &str, backwards: bool) -> bool {
    let gone = if backwards { '+' } else { '-' };
    let mut named = diff.split_inclusive('\n').filter(|line| line.starts_with(gone)).map(|line| &line[1..]);
    edits.iter().all(|(range, _)| {
        lines.get(range.clone()).is_some_and(|there| {
            there.iter().all(|line| {
                named.next().is_some_and(|named| named.trim_end_matches('\n') == line.trim_end_matches('\n'))
            })
        })
    })
}

fn applied(lines: &[&str], edits: &Edits) -> String {
    let mut out = String::new();
    let mut at = 0;
    for (range, new) in edits {
        lines.get(at..range.start).unwrap_or_default().iter().for_each(|line| out.push_str(line));
        new.iter().for_each(|line| out.push_str(line));
        at = range.end;
    }
    lines.get(at..).unwrap_or_default().iter().for_each(|line| out.push_str(line));
    out
}

/// Both changes of `base` together, as a clean merge gives them; `None` when they touch the same lines in
/// different ways, or adjoin so that their order is not known.
pub fn merged(base: &Content, one: &Content, other: &Content) -> Option<Content> {
    let [old, a, b] = [base, one, other].map(|content| lines_of(Some(content)));
    let (old, a, b) = (old?, a?, b?);
    let changes = |new: &[&str]| -> Edits {
        align(&old, new, BUDGET)
            .iter()
            .filter(|op| !matches!(op, DiffOp::Equal { .. }))
            .map(|op| (op.old_range(), new[op.new_range()].iter().map(|line| line.to_string()).collect()))
            .collect()
    };
    let mut all = changes(&a);
    all.extend(changes(&b));
    all.sort_by_key(|(range, _)| (range.start, range.end));
    all.dedup();
    let apart = all.windows(2).all(|pair| {
        pair[0].0.end < pair[1].0.start || {
            pair[0].0.end == pair[1].0.start && !pair[0].0.is_empty() && !pair[1].0.is_empty()
        }
    });
    let text = apart.then(|| applied(&old, &all))?;
    Some(match base {
        Content::Value(_) => Content::Value(text),
        _ => Content::Text(text),
    })
}
