//! The kinds of difference that are noise rather than behaviour, each with the normalisation that proves
//! it. A kind is claimed only when applying exactly the claimed normalisations to both sides makes them
//! equal, and none of them can be left out.

use std::sync::LazyLock;

use regex::Regex;

use super::literal;
use super::{Difference, structure};

mod floats;
mod locale;
mod volatile;

pub use floats::{Distance, distance};
use floats::{floats_close, without_floats};
pub use locale::same as same_in_locales;
use volatile::without_volatile;
pub use volatile::{dates, holds_identifiers};

/// Largest side, in bytes, for which kinds are looked for; beyond it a drift is behaviour.
const LARGEST: usize = 8 << 20;

/// In the order in which they are joined.
const NOISE: [Difference; 5] = [
    Difference::Ordering,
    Difference::Volatile,
    Difference::LineEndings,
    Difference::TrailingSpace,
    Difference::FloatDigits,
];

/// The smallest set of kinds that explains the whole difference; `[Behaviour]` when none does.
/// `structured`: the texts are literals of a language, so line ends and blanks stand in their strings.
pub fn of(before: &str, after: &str, structured: bool) -> Vec<Difference> {
    if before.len().max(after.len()) <= LARGEST && equal_under(before, after, &NOISE, structured) {
        let mut sets: Vec<Vec<Difference>> = (1u32..1 << NOISE.len())
            .map(|mask| NOISE.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, kind)| *kind).collect())
            .collect();
        sets.sort_by_key(Vec::len);
        if let Some(set) = sets.into_iter().find(|set| equal_under(before, after, set, structured)) {
            return set;
        }
    }
    if !structured && structure::same_value(before, after) {
        return vec![Difference::Formatting];
    }
    if locale::same(before, after) {
        return vec![Difference::Locale];
    }
    vec![Difference::Behaviour]
}

/// Whether the sides are equal once these normalisations are applied to both.
pub fn equal_under(before: &str, after: &str, set: &[Difference], structured: bool) -> bool {
    let has = |kind| set.contains(&kind);
    if has(Difference::Volatile) && !volatile::one_to_one(before, after, !has(Difference::Ordering)) {
        return false;
    }
    let (before, after) = (normal(before, set, structured), normal(after, set, structured));
    let floats = has(Difference::FloatDigits);
    if !has(Difference::Ordering) {
        return same(&before, &after, floats);
    }
    let sorted = |text: &str| {
        let mut lines: Vec<(String, &str)> =
            text.split('\n').map(|line| (if floats { without_floats(line) } else { String::new() }, line)).collect();
        lines.sort();
        lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
    };
    if same(&sorted(&before), &sorted(&after), floats) {
        return true;
    }
    if !structured {
        let (b, a) = (named_sorted(&before), named_sorted(&after));
        if (b != before || a != after) && (same(&b, &a, floats) || same(&sorted(&b), &sorted(&a), floats)) {
            return true;
        }
    }
    // Items of one literal or JSON value. Moving items keeps every byte, so the bytes are counted too:
    // a change of layout is no ordering.
    let key =
        |item: &str| if floats { (without_floats(item), item.to_string()) } else { (String::new(), item.to_string()) };
    let whole = structured || (literal::is_whole(&before) && literal::is_whole(&after));
    let (Some(b), Some(a)) = (literal::sorted(&before, &key), literal::sorted(&after, &key)) else { return false };
    let count = |text: &str| {
        let text = if floats { without_floats(text) } else { text.to_string() };
        let mut count = [0usize; 256];
        text.bytes().for_each(|byte| count[byte as usize] += 1);
        count
    };
    let moved = literal::sorted(&before, &|_| ()) != literal::sorted(&after, &|_| ());
    whole && moved && same(&b, &a, floats) && count(&before) == count(&after)
}

/// The text without line ends, blanks at their ends, ids and times, as far as the set names them.
fn normal(text: &str, set: &[Difference], structured: bool) -> String {
    let has = |kind| set.contains(&kind);
    let literal = structured || literal::is_whole(text);
    let mut text = text.to_string();
    if has(Difference::LineEndings) {
        text = text.replace("\r\n", "\n").replace('\r', "\n");
        if literal {
            text = literal::in_strings(&text, |inner, _| inner.replace("\\r\\n", "\\n"));
        }
    }
    if has(Difference::TrailingSpace) {
        text = strip_line_ends(&text);
        if literal {
            text = literal::in_strings(&text, strip_escaped_line_ends);
        }
    }
    if has(Difference::Volatile) {
        text = without_volatile(&text);
    }
    text
}

/// What is left of a place when the noise of these kinds is taken out of it: the same on every run.
pub fn without(text: &str, set: &[Difference]) -> String {
    let mut text = normal(text, set, false);
    if set.contains(&Difference::FloatDigits) {
        text = without_floats(&text);
    }
    if set.contains(&Difference::Ordering) {
        text = named_sorted(&text);
        let mut lines: Vec<&str> = text.split('\n').collect();
        lines.sort_unstable();
        text = lines.join("\n");
    }
    text
}

/// Lines that are nothing but named items with one separator (`b=1,a=2`, `b: 1; a: 2`), by their names: places
/// mean nothing where each item says what it is. An item with a bracket or a quote may be a part of another one.
fn named_sorted(text: &str) -> String {
    let name = |item: &str| {
        let (name, _) = item.split_once(['=', ':'])?;
        let name = name.trim();
        let part = |c: char| matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '"' | '\'' | '`');
        (!name.is_empty() && !name.contains(' ') && !item.contains(part)).then(|| name.to_string())
    };
    let sorted = |line: &str| {
        let body = line.strip_suffix('\r').unwrap_or(line);
        [", ", ",", "; ", ";", "&"].into_iter().find_map(|separator| {
            let items: Vec<&str> = body.split(separator).collect();
            let mut named: Vec<(String, &str)> =
                items.iter().map(|item| Some((name(item)?, *item))).collect::<Option<_>>()?;
            named.sort();
            let distinct = named.windows(2).all(|two| matches!(two, [one, other] if one.0 != other.0));
            let items: Vec<&str> = named.iter().map(|(_, item)| *item).collect();
            (items.len() > 1 && distinct).then(|| items.join(separator) + &line[body.len()..])
        })
    };
    text.split('\n').map(|line| sorted(line).unwrap_or_else(|| line.to_string())).collect::<Vec<_>>().join("\n")
}

fn same(before: &str, after: &str, floats: bool) -> bool {
    before == after || (floats && floats_close(before, after))
}

/// Blanks and tabs before a line end or the end of the text are dropped.
fn strip_line_ends(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let body = line.strip_suffix('\n').unwrap_or(line);
        let body = body.strip_suffix('\r').unwrap_or(body);
        out.push_str(body.trim_end_matches([' ', '\t']));
        out.push_str(&line[body.len()..]);
    }
    out
}

/// The same inside a string literal, where a line end is written `\n` and the string's end is one too.
fn strip_escaped_line_ends(inner: &str, raw: bool) -> String {
    if raw {
        return inner.trim_end_matches([' ', '\t']).to_string();
    }
    static BLANKS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?:[ \t]|\\t)+((?:\\r)?\\n|$)").ok());
    match &*BLANKS {
        Some(blanks) => blanks.replace_all(inner, "$1").into_owned(),
        None => inner.to_string(),
    }
}
