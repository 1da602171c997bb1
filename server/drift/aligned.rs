//! Two texts beside each other: the changed lines with their neighbours, and within a changed line what
//! changed. Takes two texts and the changed regions, gives rows as plain data. Never draws.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp};

use super::{Hunk, edits, lines};

/// Unchanged lines around a change.
const AROUND: usize = 3;
/// Most lines of a region whose partners are looked for, and the least that two of them have in common.
const PAIRED: usize = 60;
const ALIKE: f32 = 0.5;

/// A stretch of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub text: String,
    pub changed: bool,
}

/// One line of one side, 1-based.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    pub line: usize,
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    Same {
        before: usize,
        after: usize,
        text: String,
    },
    /// A line of the region with this index, on one side or on both.
    Changed {
        hunk: usize,
        before: Option<Side>,
        after: Option<Side>,
    },
    /// So many unchanged lines are left out.
    Left(usize),
}

/// Every changed line, with its neighbours.
pub fn rows(before: &str, after: &str, hunks: &[Hunk]) -> Vec<Row> {
    let (old, new) = (lines(before), lines(after));
    let mut out = Vec::new();
    // Where both sides are equal again.
    let (mut b, mut a) = (0, 0);
    for (index, hunk) in hunks.iter().enumerate() {
        same(&mut out, &old, b..hunk.before.start, a, index > 0, true);
        changed(&mut out, index, &old, &new, hunk);
        (b, a) = (hunk.before.end, hunk.after.end);
    }
    same(&mut out, &old, b..old.len(), a, !hunks.is_empty(), false);
    out
}

/// Unchanged lines between two regions: the first few where one ended, the last few where one begins.
fn same(out: &mut Vec<Row>, old: &[&str], lines: Range<usize>, after: usize, ended: bool, begins: bool) {
    let head = if ended { AROUND } else { 0 };
    let tail = if begins { AROUND } else { 0 };
    let start = lines.start;
    let row = |at: usize| {
        let text = old.get(at).unwrap_or(&"").to_string();
        Row::Same { before: at + 1, after: after + (at - start) + 1, text }
    };
    if lines.len() <= head + tail + 1 {
        return out.extend(lines.map(row));
    }
    out.extend((start..start + head).map(row));
    out.push(Row::Left(lines.len() - head - tail));
    out.extend((lines.end - tail..lines.end).map(row));
}

fn changed(out: &mut Vec<Row>, index: usize, old: &[&str], new: &[&str], hunk: &Hunk) {
    let gone: Vec<&str> = old.get(hunk.before.clone()).unwrap_or_default().to_vec();
    let came: Vec<&str> = new.get(hunk.after.clone()).unwrap_or_default().to_vec();
    let whole = |text: &str| vec![Part { text: text.to_string(), changed: true }];
    for (b, a) in pairs(&gone, &came) {
        let (left, right) = match (b.and_then(|b| gone.get(b)), a.and_then(|a| came.get(a))) {
            (Some(left), Some(right)) => {
                let (left, right) = parts(left, right);
                (Some(left), Some(right))
            }
            (left, right) => (left.map(|text| whole(text)), right.map(|text| whole(text))),
        };
        let side = |at: Option<usize>, parts: Option<Vec<Part>>, start: usize| {
            at.zip(parts).map(|(at, parts)| Side { line: start + at + 1, parts })
        };
        out.push(Row::Changed {
            hunk: index,
            before: side(b, left, hunk.before.start),
            after: side(a, right, hunk.after.start),
        });
    }
}

/// Which lines belong together: by position where there are as many, else those that are alike, in order.
fn pairs(gone: &[&str], came: &[&str]) -> Vec<(Option<usize>, Option<usize>)> {
    if gone.len() == came.len() {
        return (0..gone.len()).map(|at| (Some(at), Some(at))).collect();
    }
    let mut out = Vec::new();
    let mut next = 0;
    for (at, line) in gone.iter().enumerate() {
        let few = gone.len() <= PAIRED && came.len() <= PAIRED;
        let partner = (next..came.len()).find(|other| few && came.get(*other).is_some_and(|other| alike(line, other)));
        if let Some(partner) = partner {
            out.extend((next..partner).map(|other| (None, Some(other))));
            next = partner + 1;
        }
        out.push((Some(at), partner));
    }
    out.extend((next..came.len()).map(|other| (None, Some(other))));
    out
}

fn alike(before: &str, after: &str) -> bool {
    let (b, a) = (words(before), words(after));
    let ops = ops(&b, &a);
    let kept: usize =
        ops.iter().filter_map(|op| if let DiffOp::Equal { len, .. } = op { Some(*len) } else { None }).sum();
    (2 * kept) as f32 >= ALIKE * (b.len() + a.len()) as f32
}

fn words(text: &str) -> Vec<&str> {
    edits::tokens(text).into_iter().filter_map(|token| text.get(token)).collect()
}

fn ops(b: &[&str], a: &[&str]) -> Vec<DiffOp> {
    let until = Instant::now() + Duration::from_millis(10);
    similar::capture_diff_slices_deadline(Algorithm::Myers, b, a, Some(until))
}

/// Two lines, each as stretches that changed and that did not.
fn parts(before: &str, after: &str) -> (Vec<Part>, Vec<Part>) {
    let (old, new) = (words(before), words(after));
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for op in ops(&old, &new) {
        let changed = !matches!(op, DiffOp::Equal { .. });
        add(&mut left, old.get(op.old_range()).unwrap_or_default().concat(), changed);
        add(&mut right, new.get(op.new_range()).unwrap_or_default().concat(), changed);
    }
    (left, right)
}

fn add(parts: &mut Vec<Part>, text: String, changed: bool) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.changed == changed => last.text.push_str(&text),
        _ => parts.push(Part { text, changed }),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::drift::{Options, drift};
    use crate::oracles::Content;

    fn shown(before: &str, after: &str) -> String {
        let found = drift(&Content::Text(before.into()), &Content::Text(after.into()), Options::default());
        let side = |side: &Option<Side>| match side {
            None => "-".to_string(),
            Some(side) => {
                let text: String = side
                    .parts
                    .iter()
                    .map(|part| if part.changed { format!("[{}]", part.text) } else { part.text.clone() })
                    .collect();
                format!("{} {text}", side.line)
            }
        };
        rows(before, after, &found.expect("a drift").hunks)
            .iter()
            .map(|row| match row {
                Row::Same { before, after, text } => format!("{before}={after} {text}\n"),
                Row::Left(lines) => format!("… {lines}\n"),
                Row::Changed { hunk, before, after } => format!("#{hunk} {} | {}\n", side(before), side(after)),
            })
            .collect()
    }

    #[test]
    fn changed_words_stand_out_and_far_lines_are_left_out() {
        let before = "a\nb\nc\nd\ne\nnet: 10.38 EUR\nf\ng\nh\ni\nj\nk\nl\n";
        expect![[r#"
            … 2
            3=3 c
            4=4 d
            5=5 e
            #0 6 net: [10.38] EUR | 6 net: [10.39] EUR
            7=7 f
            8=8 g
            9=9 h
            … 4
        "#]]
        .assert_eq(&shown(before, &before.replace("10.38", "10.39")));
    }

    #[test]
    fn lines_that_came_stand_alone_and_those_alike_together() {
        expect![[r#"
            1=1 one
            #0 2 two is [here] | 2 two is [there]
            #0 - | 3 [three]
            3=4 four
        "#]]
        .assert_eq(&shown("one\ntwo is here\nfour\n", "one\ntwo is there\nthree\nfour\n"));
    }
}
