//! Numbers of a text that are the same double but for its last digits.

use std::sync::LazyLock;

use regex::Regex;

/// Most steps between two floats that still count as the same digits.
const ULPS: u64 = 8;

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
pub fn without_floats(text: &str) -> String {
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

pub fn floats_close(before: &str, after: &str) -> bool {
    let (b, a) = (numbers(before), numbers(after));
    b.len() == a.len()
        && without_floats(before) == without_floats(after)
        && b.iter().zip(&a).all(|(b, a)| b.as_str() == a.as_str() || close(b.as_str(), a.as_str()))
}

/// How far apart the numbers of two texts are at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    /// Largest difference, as a part of the larger number.
    pub relative: f64,
    /// Most steps between neighbouring doubles.
    pub ulps: u64,
}

/// The largest distance between the numbers of two texts that are equal but for these; `None` when they
/// are not, or when no number differs.
pub fn distance(before: &str, after: &str) -> Option<Distance> {
    let (b, a) = (numbers(before), numbers(after));
    if b.len() != a.len() || without_floats(before) != without_floats(after) {
        return None;
    }
    let mut largest: Option<Distance> = None;
    for (b, a) in b.iter().zip(&a).filter(|(b, a)| b.as_str() != a.as_str()) {
        let (Ok(b), Ok(a)) = (b.as_str().parse::<f64>(), a.as_str().parse::<f64>()) else { return None };
        let scale = b.abs().max(a.abs());
        let relative = if scale > 0.0 { (b - a).abs() / scale } else { 0.0 };
        let ulps = steps(b, a);
        let so_far = largest.unwrap_or(Distance { relative: 0.0, ulps: 0 });
        largest = Some(Distance { relative: so_far.relative.max(relative), ulps: so_far.ulps.max(ulps) });
    }
    largest
}

/// Doubles between two, the last included.
fn steps(before: f64, after: f64) -> u64 {
    let step = |value: f64| {
        let bits = value.to_bits() as i64;
        if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
    };
    step(before).abs_diff(step(after))
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
    (float(before) || float(after))
        && (15..=18).contains(&most)
        && b.is_finite()
        && a.is_finite()
        && steps(b, a) <= ULPS
}
