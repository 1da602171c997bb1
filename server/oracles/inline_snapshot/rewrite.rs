//! The edits that `pytest --inline-snapshot=fix` of inline-snapshot 0.36 makes in the argument of `snapshot`:
//! only the parts of lists, tuples and dicts whose values differ are written again, each as `repr` spells it,
//! texts of several lines in triple quotes. Takes the old expression and the new value, gives edits. Where a
//! formatter lays the file out, only what it leaves as it is; the rest is refused.

use std::collections::BTreeMap;

use super::layout::Layout;
use crate::code::python::{repr, strings};
use crate::code::{Expr, ExprKind, Unit};
use crate::oracles::Refusal;
use crate::oracles::literal_python::{self, Names, Py};
use crate::text::Span;

/// Longest lists that are aligned item by item.
const LONGEST: usize = 2_000;

/// Source of a value.
pub fn code(value: &Expr, layout: &Layout) -> Result<String, Refusal> {
    let all = |items: &[Expr]| items.iter().map(|item| code(item, layout)).collect::<Result<Vec<_>, _>>();
    Ok(match &value.kind {
        ExprKind::Str(text) => string(text, layout)?,
        ExprKind::List(items) => format!("[{}]", all(items)?.join(", ")),
        ExprKind::Tuple(items) => match all(items)?.as_slice() {
            [one] if layout.formatted() => format!("({one},)"),
            [one] => format!("({one}, )"),
            items => format!("({})", items.join(", ")),
        },
        ExprKind::Set(items) => {
            let mut items: Vec<(&Expr, String)> = items.iter().zip(all(items)?).collect();
            items.sort_by(|a, b| a.1.cmp(&b.1));
            let text = |item: &&(&Expr, String)| matches!(item.0.kind, ExprKind::Str(_));
            let number = |item: &(&Expr, String)| item.1.parse::<i128>().ok();
            if items.iter().all(|item| number(item).is_some()) {
                items.sort_by_key(number);
            } else if items.iter().all(|item| text(&item)) {
                items.sort_by_key(|(item, _)| match &item.kind {
                    ExprKind::Str(text) => Some(text.clone()),
                    _ => None,
                });
            } else if items.len() > 1 {
                return Err(uncertain("a set of values of several kinds"));
            }
            format!("{{{}}}", items.into_iter().map(|(_, code)| code).collect::<Vec<_>>().join(", "))
        }
        ExprKind::Call { callee, args } if args.is_empty() && callee.dotted().as_deref() == Some("set") => {
            "set()".to_string()
        }
        ExprKind::Dict(items) => {
            let items: Result<Vec<String>, Refusal> = items
                .iter()
                .map(|(key, value)| Ok(format!("{}: {}", code(key, layout)?, code(value, layout)?)))
                .collect();
            format!("{{{}}}", items?.join(", "))
        }
        _ => {
            let text = repr::plain(value).ok_or_else(|| uncertain("a value that is no plain literal"))?;
            match &value.kind {
                ExprKind::Bytes(_) => layout.quoted(&text),
                _ => text,
            }
        }
    })
}

fn uncertain(what: &str) -> Refusal {
    Refusal(format!(
        "how inline-snapshot would write {what} is not certain; let `pytest --inline-snapshot=fix` write it, then explain \
         the change"
    ))
}

fn string(text: &str, layout: &Layout) -> Result<String, Refusal> {
    let breaks = text.matches('\n').count();
    if breaks > 1 || breaks == 1 && !text.ends_with('\n') {
        return triple(text).ok_or_else(|| uncertain("this text"));
    }
    repr::text(text).map(|text| layout.quoted(&text)).ok_or_else(|| uncertain("this text"))
}

/// In triple quotes, with a line of its own for each line of the text.
fn triple(text: &str) -> Option<String> {
    if !text.chars().all(repr::is_certain) {
        return None;
    }
    let extra = match text.contains("'''") && text.contains("\"\"\"") {
        true if text.matches('\'').count() >= text.matches('"').count() => Some('"'),
        true => Some('\''),
        false => None,
    };
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\t' => escaped.push(c),
            '\\' => escaped.push_str("\\\\"),
            c if strings::is_dangerous(c) => escaped.push_str(&strings::escape(c)),
            c if Some(c) == extra => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    let last = escaped.chars().next_back()?;
    let mut quotes: Vec<&str> = ["\"\"\"", "'''"].into_iter().filter(|quote| !escaped.contains(quote)).collect();
    quotes.sort_by_key(|quote| quote.starts_with(last));
    let quote = *quotes.first()?;
    if quote.starts_with(last) {
        escaped.pop();
        escaped.push('\\');
        escaped.push(last);
    }
    let mut body = format!("\\\n{}", escaped.replace(" \n", " \\n\\\n"));
    if !body.ends_with('\n') {
        body.push_str("\\\n");
    }
    Some(format!("{quote}{body}{quote}"))
}

/// The edits that turn `old` into `new`.
pub fn edits(unit: &Unit, old: &Expr, new: &Expr, layout: &Layout) -> Result<Vec<(Span, String)>, Refusal> {
    let mut edits = Vec::new();
    compare(unit, old, new, layout, &mut edits)?;
    edits.sort_by_key(|(span, _)| *span);
    Ok(edits)
}

fn value(unit: &Unit, expr: &Expr) -> Option<Py> {
    literal_python::value(expr, Names::Of(unit))
}

fn observed(expr: &Expr) -> Option<Py> {
    literal_python::value(expr, Names::Repr)
}

fn compare(
    unit: &Unit,
    old: &Expr,
    new: &Expr,
    layout: &Layout,
    edits: &mut Vec<(Span, String)>,
) -> Result<(), Refusal> {
    if value(unit, old).is_some() && value(unit, old) == observed(new) {
        return Ok(());
    }
    match (&old.kind, &new.kind) {
        (ExprKind::List(items), ExprKind::List(others)) => {
            if items.len().saturating_mul(others.len()) > LONGEST * LONGEST {
                return Err(uncertain("a change in a list this long"));
            }
            let olds: Vec<Option<Py>> = items.iter().map(|item| value(unit, item)).collect();
            let news: Vec<Option<Py>> = others.iter().map(observed).collect();
            let (mut at, mut to) = (0, 0);
            let mut kept: Vec<Option<Span>> = Vec::new();
            let mut inserted: BTreeMap<usize, Vec<String>> = BTreeMap::new();
            for step in align(&olds, &news) {
                match step {
                    Step::Both => {
                        compare(unit, &items[at], &others[to], layout, edits)?;
                        kept.push(Some(items[at].span));
                        (at, to) = (at + 1, to + 1);
                    }
                    Step::Delete => {
                        kept.push(None);
                        at += 1;
                    }
                    Step::Insert => {
                        inserted.entry(at).or_default().push(code(&others[to], layout)?);
                        to += 1;
                    }
                }
            }
            edits.extend(sequence(old.span, &kept, &inserted, false));
        }
        (ExprKind::Tuple(items), ExprKind::Tuple(others)) if is_bracketed(unit, old) => {
            let common = items.len().min(others.len());
            for (old, new) in items.iter().zip(others) {
                compare(unit, old, new, layout, edits)?;
            }
            let kept: Vec<Option<Span>> =
                items.iter().enumerate().map(|(at, item)| (at < common).then_some(item.span)).collect();
            let mut inserted = BTreeMap::new();
            if others.len() > common {
                let codes: Result<Vec<String>, Refusal> =
                    others[common..].iter().map(|item| code(item, layout)).collect();
                inserted.insert(common, codes?);
            }
            edits.extend(sequence(old.span, &kept, &inserted, true));
        }
        (ExprKind::Dict(items), ExprKind::Dict(others)) => {
            let keys: Vec<Option<Py>> = items.iter().map(|(key, _)| value(unit, key)).collect();
            let new_keys: Vec<Option<Py>> = others.iter().map(|(key, _)| observed(key)).collect();
            if keys.iter().chain(&new_keys).any(Option::is_none) {
                return Err(uncertain("a dict with keys like these"));
            }
            let kept: Vec<Option<Span>> = items
                .iter()
                .zip(&keys)
                .map(|((key, value), own)| new_keys.contains(own).then_some(Span::new(key.span.start, value.span.end)))
                .collect();
            let mut inserted: BTreeMap<usize, Vec<String>> = BTreeMap::new();
            let mut waiting: Vec<String> = Vec::new();
            let mut at = 0;
            for ((key, value), own) in others.iter().zip(&new_keys) {
                match keys.iter().rposition(|known| known == own) {
                    None => waiting.push(format!("{}: {}", code(key, layout)?, code(value, layout)?)),
                    Some(index) => {
                        compare(unit, &items[index].1, value, layout, edits)?;
                        if !waiting.is_empty() {
                            inserted.insert(at, std::mem::take(&mut waiting));
                        }
                        at += 1;
                    }
                }
            }
            if !waiting.is_empty() {
                inserted.insert(items.len(), waiting);
            }
            edits.extend(sequence(old.span, &kept, &inserted, false));
        }
        _ => edits.push((old.span, code(new, layout)?)),
    }
    Ok(())
}

fn is_bracketed(unit: &Unit, tuple: &Expr) -> bool {
    let source = unit.text.slice(tuple.span);
    source.starts_with('(') && source.ends_with(')')
}

/// inline-snapshot's change of the items between two brackets: `None` items go, others come in before the item
/// of that index.
fn sequence(
    whole: Span,
    items: &[Option<Span>],
    inserted: &BTreeMap<usize, Vec<String>>,
    tuple: bool,
) -> Vec<(Span, String)> {
    if inserted.is_empty() && items.iter().all(Option::is_some) {
        return Vec::new();
    }
    let mut edits = Vec::new();
    let mut last = whole.start + 1;
    let mut new: Vec<&str> = Vec::new();
    let (mut deleted, mut start, mut count) = (false, true, 0);
    for (index, item) in items.iter().enumerate() {
        new.extend(inserted.get(&index).into_iter().flatten().map(String::as_str));
        let Some(item) = item else {
            deleted = true;
            continue;
        };
        count += new.len() + 1;
        if deleted || !new.is_empty() {
            let mut code = if new.is_empty() { String::new() } else { format!("{}, ", new.join(", ")) };
            if !start {
                code.insert_str(0, ", ");
            }
            edits.push((Span::new(last, item.start), code));
        }
        new.clear();
        (deleted, last, start) = (false, item.end, false);
    }
    for more in inserted.range(items.len()..).map(|(_, more)| more) {
        new.extend(more.iter().map(String::as_str));
        count += new.len();
    }
    if !new.is_empty() || deleted || count == 1 || items.len() <= 1 {
        let mut code = new.join(", ");
        if !start && !code.is_empty() {
            code.insert_str(0, ", ");
        }
        if count == 1 && tuple {
            code.push(',');
        }
        edits.push((Span::new(last, whole.end - 1), code));
    }
    edits
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Delete,
    Insert,
    Both,
}

/// inline-snapshot's alignment of two lists: what is equal stays together, as many deletions as insertions
/// after them are pairs.
fn align(old: &[Option<Py>], new: &[Option<Py>]) -> Vec<Step> {
    let same = |a: &Option<Py>, b: &Option<Py>| a.is_some() && a == b;
    let start = old.iter().zip(new).take_while(|(a, b)| same(a, b)).count();
    if start == old.len() && start == new.len() {
        return vec![Step::Both; start];
    }
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(a, b)| same(a, b)).count();
    let (a, b) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let mut matrix: Vec<Vec<(usize, Option<Step>)>> = Vec::with_capacity(a.len() + 1);
    let mut first = vec![(0, None)];
    first.extend(b.iter().map(|_| (0, Some(Step::Insert))));
    matrix.push(first);
    for (row, item) in a.iter().enumerate() {
        let mut line = vec![(0, Some(Step::Delete))];
        for (column, other) in b.iter().enumerate() {
            let before = &matrix[row];
            // The greater of equal scores is that of the later letter: d, i, m.
            let mut best = (line[column].0, Some(Step::Insert)).max((before[column + 1].0, Some(Step::Delete)));
            if same(item, other) {
                best = best.max((before[column].0 + 1, Some(Step::Both)));
            }
            line.push(best);
        }
        matrix.push(line);
    }
    let (mut row, mut column) = (a.len(), b.len());
    let mut track = Vec::new();
    while let Some(step) = matrix[row][column].1 {
        track.push(step);
        row -= usize::from(step != Step::Insert);
        column -= usize::from(step != Step::Delete);
    }
    track.reverse();
    let mut steps = vec![Step::Both; start];
    let groups: Vec<&[Step]> = track.chunk_by(|a, b| a == b).collect();
    let mut at = 0;
    while let Some(group) = groups.get(at) {
        match groups.get(at + 1) {
            Some(next) if group[0] == Step::Delete && next[0] == Step::Insert && group.len() == next.len() => {
                steps.extend(group.iter().map(|_| Step::Both));
                at += 1;
            }
            _ => steps.extend(group.iter()),
        }
        at += 1;
    }
    steps.extend(vec![Step::Both; end]);
    steps
}
