//! Times, identifiers, addresses, durations and places of the machine: what differs from run to run.
//! Takes a text, gives it with placeholders that keep the shape of what they replace.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

/// A time of day with its date, in the ways in which programs print it.
static TIMESTAMP: LazyLock<Option<Regex>> = LazyLock::new(|| {
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

/// Places and measures of the machine that ran the test: addresses behind `at`, temporary and home folders,
/// ports of this machine, process numbers, and a measured time behind the word that says so.
static MACHINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?P<address>\bat 0x[0-9a-fA-F]{6,16}\b)",
        r"|(?P<temp>(?:/private)?(?:/tmp|/var/tmp|/var/folders/\w+/\w+/T)(?:/(?:\.?tmp\w*|pytest-of-[\w.-]+|pytest-\d+|rust\w{6}))+)",
        r"|(?P<home>(?:/home|/Users|[A-Z]:\\Users)[/\\][\w.-]+)",
        r"|(?P<port>\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]):\d{4,5}\b)",
        r"|(?P<process>\b(?i:pid)[ =:]{1,3}\d+\b)",
        r"|(?P<took>\b(?i:in|took|elapsed|duration|time)(?:: ?| ?= ?| )\d+\.\d+ ?(?:ns|µs|us|ms|s|secs?|seconds?)\b",
        r"|\b(?i:took|elapsed)(?:: ?| ?= ?| )\d+ ?(?P<unit>ns|µs|us|ms|s|secs?|seconds?)\b",
        r"|\b(?i:started|finished|ended|began)(?: at|:)? \d{2}:\d{2}:\d{2}[.,]\d{1,9}\b)",
    ))
    .ok()
});

/// Identifiers, times and what belongs to the machine as placeholders. A placeholder keeps the shape
/// (length of a digest, way of writing a time), so that a change of format stays behaviour.
pub fn without_volatile(text: &str) -> String {
    let (Some(timestamp), Some(machine)) = (&*TIMESTAMP, &*MACHINE) else { return text.to_string() };
    let mut named = String::with_capacity(text.len());
    let mut from = 0;
    for (range, placeholder) in identifiers(text) {
        named.push_str(&text[from..range.start]);
        named.push_str(&placeholder);
        from = range.end;
    }
    named.push_str(&text[from..]);
    let text = replaced(&named, timestamp, |found, before, after| {
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        (!digit(before) && !digit(after)).then(|| format!("\u{1}{}\u{1}", shape(found.as_str())))
    });
    let Some(_) = machine.find(&text) else { return text };
    machine
        .replace_all(&text, |found: &regex::Captures| {
            let whole = found.get(0).map_or("", |whole| whole.as_str());
            let word = whole.split([' ', ':', '=']).next().unwrap_or("");
            let kind = ["address", "temp", "home", "port", "process", "took"];
            let kind = kind.iter().find(|kind| found.name(kind).is_some()).copied().unwrap_or("");
            let kept = if matches!(kind, "temp" | "home") { "" } else { word };
            // A whole number is the same in every unit: there the unit is what says how long it took.
            let unit = found.name("unit").map_or("", |unit| unit.as_str());
            format!("{kept}\u{1}{kind}{unit}\u{1}")
        })
        .into_owned()
}

/// There is a UUID or a digest.
pub fn holds_identifiers(text: &str) -> bool {
    !identifiers(text).is_empty()
}

/// Byte ranges of UUIDs and of 32 and more hexadecimal digits, in order, each with its placeholder.
fn identifiers(text: &str) -> Vec<(std::ops::Range<usize>, String)> {
    let Some(identifier) = &*IDENTIFIER else { return Vec::new() };
    let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    identifier
        .find_iter(text)
        .filter_map(|found| {
            let before = text[..found.start()].chars().next_back();
            let after = text[found.end()..].chars().next();
            let value = found.as_str();
            if joins(before) || joins(after) {
                return None;
            }
            if value.contains('-') {
                return Some((found.range(), "\u{1}uuid\u{1}".to_string()));
            }
            let number =
                value.bytes().all(|byte| byte.is_ascii_digit()) && (!value.starts_with('0') || before == Some('.'));
            (!number).then(|| (found.range(), format!("\u{1}hex{}\u{1}", value.len())))
        })
        .collect()
}

/// Whether each identifier of one side stands for exactly one of the other: two that became one, or one
/// that became two, are behaviour. `placed`: they stand in the same order on both sides; else only how often
/// each one occurs is held against the other side.
pub fn one_to_one(before: &str, after: &str, placed: bool) -> bool {
    let of = |text: &str| -> Vec<String> {
        identifiers(text).into_iter().map(|(range, _)| text[range].to_string()).collect()
    };
    let (b, a) = (of(before), of(after));
    if b.len() != a.len() {
        return false;
    }
    if placed {
        let (mut forth, mut back) = (HashMap::new(), HashMap::new());
        return b.iter().zip(&a).all(|(b, a)| forth.entry(b).or_insert(a) == &a && back.entry(a).or_insert(b) == &b);
    }
    let counts = |ids: &[String]| {
        let mut count: HashMap<&str, usize> = HashMap::new();
        ids.iter().for_each(|id| *count.entry(id).or_default() += 1);
        let mut counts: Vec<usize> = count.into_values().collect();
        counts.sort_unstable();
        counts
    };
    counts(&b) == counts(&a)
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
