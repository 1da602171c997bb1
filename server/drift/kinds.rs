//! The kinds of difference that are noise rather than behaviour, each with the normalisation that proves
//! it. A kind is claimed only when applying exactly the claimed normalisations to both sides makes them
//! equal, and none of them can be left out.

use std::sync::LazyLock;

use regex::Regex;

use super::Difference;
use super::literal;

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

/// Most steps between two floats that still count as the same digits.
const ULPS: u64 = 8;

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
    vec![Difference::Behaviour]
}

/// Whether the sides are equal once these normalisations are applied to both.
pub fn equal_under(before: &str, after: &str, set: &[Difference], structured: bool) -> bool {
    let has = |kind| set.contains(&kind);
    let normal = |text: &str| {
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
    };
    let (before, after) = (normal(before), normal(after));
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

/// A time of day with its date, in the ways in which programs print it.
pub(super) static TIMESTAMP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?P<iso>\d{4}[-/]\d{2}[-/]\d{2}(?:T|t| |_)\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:Z|UTC|GMT)\b| ?[+-]\d{2}:?\d{2}\b)?)",
        r"|(?P<basic>\b\d{8}T\d{4}(?:\d{2})?(?:\.\d{1,9})?(?:Z\b|[+-]\d{4}\b)?)",
        r"|(?P<day>\b\d{1,2}[./-](?:\d{1,2}|[A-Z][a-z]{2})[./-]\d{4}[ :T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?[AP]M\b)?(?: [+-]\d{4}\b)?)",
        r"|(?P<http>\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}(?::\d{2})?(?: (?:GMT|UTC|[+-]\d{4})\b)?)",
        r"|(?P<ctime>\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2}(?: [A-Z]{3,4})? \d{4}\b)",
        r"|(?P<python>\bdatetime\.datetime\(\d{4}, \d{1,2}, \d{1,2}, \d{1,2}, \d{1,2}(?:, \d{1,2})?(?:, \d{1,6})?)",
    ))
    .ok()
});

static IDENTIFIER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?P<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})|(?P<hex>(?:0x)?[0-9a-f]{32,})",
    )
    .ok()
});

/// UUIDs, 32 and more hexadecimal digits and timestamps as placeholders. A placeholder keeps the shape
/// (length of a digest, way of writing a time), so that a change of format stays behaviour.
pub fn without_volatile(text: &str) -> String {
    let (Some(identifier), Some(timestamp)) = (&*IDENTIFIER, &*TIMESTAMP) else { return text.to_string() };
    let text = replaced(text, identifier, |found, before, after| {
        let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let value = found.as_str();
        if joins(before) || joins(after) {
            return None;
        }
        if value.contains('-') {
            return Some("\u{1}uuid\u{1}".into());
        }
        let number =
            value.bytes().all(|byte| byte.is_ascii_digit()) && (!value.starts_with('0') || before == Some('.'));
        (!number).then(|| format!("\u{1}hex{}\u{1}", value.len()))
    });
    replaced(&text, timestamp, |found, before, after| {
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        (!digit(before) && !digit(after)).then(|| format!("\u{1}{}\u{1}", shape(found.as_str())))
    })
}

/// How a time is written: digits as `0`, letters of names as `a`, without fraction and offset's sign.
fn shape(time: &str) -> String {
    let mut out = String::new();
    let mut fraction = false;
    for (i, c) in time.char_indices() {
        match c {
            '.' | ',' if time[..i].contains(':') => fraction = true,
            c if c.is_ascii_digit() => {
                if !fraction && !out.ends_with('0') {
                    out.push('0');
                }
            }
            '+' | '-' if time[..i].contains(':') => {
                fraction = false;
                out.push('±');
            }
            'a'..='z' if !time.starts_with("datetime") => {
                if !out.ends_with('a') {
                    out.push('a');
                }
            }
            ' ' if out.ends_with(' ') => {}
            c => {
                fraction = false;
                out.push(c);
            }
        }
    }
    // Names of days and months are letters; `Z`, `UTC`, `AM` stay as they are.
    for name in ["Ma", "Ta", "Wa", "Fa", "Sa", "Ja", "Aa", "Oa", "Na", "Da"] {
        out = out.replace(name, "a");
    }
    if time.starts_with("datetime") { "datetime".into() } else { out.replace("PM", "AM") }
}

fn replaced(
    text: &str,
    pattern: &Regex,
    mut with: impl FnMut(regex::Match, Option<char>, Option<char>) -> Option<String>,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for found in pattern.find_iter(text) {
        let before = text[..found.start()].chars().next_back();
        let after = text[found.end()..].chars().next();
        if let Some(placeholder) = with(found, before, after) {
            out.push_str(&text[from..found.start()]);
            out.push_str(&placeholder);
            from = found.end();
        }
    }
    out.push_str(&text[from..]);
    out
}

static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?").ok());

/// Numbers of a text that may be floats, with their places: not parts of versions, words or decimals.
fn numbers(text: &str) -> Vec<regex::Match<'_>> {
    let Some(number) = &*NUMBER else { return Vec::new() };
    number
        .find_iter(text)
        .filter(|found| {
            let before = &text[..found.start()];
            let mut after = text[found.end()..].chars();
            let next = after.next();
            let dotted = next == Some('.') && after.next().is_some_and(|c| c.is_ascii_digit());
            let suffixed = text[found.end()..].starts_with("f64") || text[found.end()..].starts_with("_f64");
            !before.ends_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_')
                && !before.ends_with("Decimal('")
                && !before.ends_with("Decimal(\"")
                && !dotted
                && (suffixed || !next.is_some_and(|c| c.is_alphanumeric() || c == '_'))
        })
        .collect()
}

/// The text with every number that may be a float as the same mark.
fn without_floats(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for found in numbers(text) {
        out.push_str(&text[from..found.start()]);
        out.push('\u{2}');
        from = found.end();
    }
    out.push_str(&text[from..]);
    out
}

fn floats_close(before: &str, after: &str) -> bool {
    let (b, a) = (numbers(before), numbers(after));
    b.len() == a.len()
        && without_floats(before) == without_floats(after)
        && b.iter().zip(&a).all(|(b, a)| b.as_str() == a.as_str() || close(b.as_str(), a.as_str()))
}

/// Two different spellings of nearly the same double. One of them must show the digits of a double
/// (15 or more): `2.5` and `2.50` differ in their format, and that is behaviour.
fn close(before: &str, after: &str) -> bool {
    let digits = |text: &str| {
        let mantissa = text.split(['e', 'E']).next().unwrap_or("");
        mantissa.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count()
    };
    let float = |text: &str| text.contains(['.', 'e', 'E']);
    let most = digits(before).max(digits(after));
    let (Ok(b), Ok(a)) = (before.parse::<f64>(), after.parse::<f64>()) else { return false };
    let step = |value: f64| {
        let bits = value.to_bits() as i64;
        if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
    };
    (float(before) || float(after))
        && (15..=18).contains(&most)
        && b.is_finite()
        && a.is_finite()
        && step(b).abs_diff(step(a)) <= ULPS
}

static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(?:\d{4}[-/.]\d{2}[-/.]\d{2}|\d{1,2}[/.]\d{1,2}[/.]\d{4}|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\b").ok()
});

/// Byte ranges of dates, times and identifiers in a text, each one token of it; in order, not overlapping.
pub fn dates(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut all: Vec<std::ops::Range<usize>> = [&*TIMESTAMP, &*IDENTIFIER, &*DATE]
        .into_iter()
        .flatten()
        .flat_map(|pattern| pattern.find_iter(text).map(|found| found.range()))
        .filter(|range| {
            let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !joins(text[..range.start].chars().next_back()) && !joins(text[range.end..].chars().next())
        })
        .collect();
    all.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut end = 0;
    all.retain(|range| {
        let free = range.start >= end;
        if free {
            end = range.end;
        }
        free
    });
    all
}
