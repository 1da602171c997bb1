//! The value of a Rust literal. Takes its source text, gives the exact value, or nothing where the text
//! is no such literal. Line endings are those that the compiler sees: CRLF is LF.

use crate::code::ExprKind;

/// A string, raw string, byte string, character or number token.
pub fn value(token: &str) -> Option<ExprKind> {
    let first = token.as_bytes().first()?;
    match first {
        b'"' => text(token).map(ExprKind::Str),
        b'r' if token.len() > 1 => raw(&token[1..]).map(ExprKind::Str),
        b'b' if token.starts_with("br") => raw(&token[2..]).map(|text| ExprKind::Bytes(text.into_bytes())),
        b'b' if token.starts_with("b\"") => bytes(&token[1..]).map(ExprKind::Bytes),
        b'\'' => character(token).map(ExprKind::Char),
        b'0'..=b'9' => number(token),
        _ => None,
    }
}

fn raw(quoted: &str) -> Option<String> {
    let hashes = quoted.len() - quoted.trim_start_matches('#').len();
    let inner = quoted.get(hashes..)?.strip_prefix('"')?;
    let inner = inner.get(..inner.len().checked_sub(hashes)?)?.strip_suffix('"')?;
    Some(inner.replace("\r\n", "\n"))
}

/// `"…"` with its escapes.
pub fn text(quoted: &str) -> Option<String> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains(['\\', '\r']) {
        return Some(inner.to_string());
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.as_str().starts_with('\n') => {}
            '\\' => {
                if let Some(c) = escape(&mut rest)? {
                    out.push(c);
                }
            }
            c => out.push(c),
        }
    }
    Some(out)
}

/// What follows a backslash; `None` inside: a line continuation.
fn escape(rest: &mut std::str::Chars) -> Option<Option<char>> {
    Some(Some(match rest.next()? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '0' => '\0',
        '\\' => '\\',
        '\'' => '\'',
        '"' => '"',
        'x' => {
            let digits = rest.as_str().get(..2)?;
            let code = u8::from_str_radix(digits, 16).ok()?;
            rest.nth(1);
            char::from(code)
        }
        'u' => {
            let inner = rest.as_str().strip_prefix('{')?;
            let close = inner.find('}')?;
            let code = u32::from_str_radix(&inner[..close].replace('_', ""), 16).ok()?;
            let c = char::from_u32(code)?;
            *rest = inner[close + 1..].chars();
            c
        }
        '\n' | '\r' => {
            *rest = rest.as_str().trim_start_matches([' ', '\t', '\n', '\r']).chars();
            return Some(None);
        }
        _ => return None,
    }))
}

fn bytes(quoted: &str) -> Option<Vec<u8>> {
    text(quoted)?.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect()
}

fn character(quoted: &str) -> Option<char> {
    let inner = quoted.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut rest = inner.chars();
    let c = match rest.next()? {
        '\\' => escape(&mut rest)??,
        c => c,
    };
    rest.next().is_none().then_some(c)
}

const SUFFIXES: [&str; 14] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64"];

/// A number token and its suffix, `""` if it has none.
pub fn suffix(token: &str) -> (&str, &str) {
    let hex = token.starts_with("0x");
    for suffix in SUFFIXES {
        if let Some(rest) = token.strip_suffix(suffix)
            && !(hex && suffix.starts_with('f'))
        {
            return (rest, suffix);
        }
    }
    (token, "")
}

fn number(token: &str) -> Option<ExprKind> {
    let (digits, suffix) = suffix(token);
    let digits = digits.replace('_', "");
    let based = digits.starts_with("0x") || digits.starts_with("0o") || digits.starts_with("0b");
    let float = suffix.starts_with('f') || (!based && digits.contains(['.', 'e', 'E']));
    if digits.is_empty() {
        return None;
    }
    Some(if float { ExprKind::Float(digits) } else { ExprKind::Int(digits) })
}
