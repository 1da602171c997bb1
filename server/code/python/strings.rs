//! String literals as Python 3 reads them. Takes the source of one literal, gives its value.
//! What cannot be held as a Rust text (lone surrogates) or is not known (`\N{…}`) has no value.

/// Parts of one literal's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form<'a> {
    /// Letters before the quote, as written.
    pub prefix: &'a str,
    /// `'`, `"`, `'''` or `"""`.
    pub quote: &'a str,
    pub raw: bool,
    pub bytes: bool,
    pub format: bool,
    /// A template string (Python 3.14): it has no text value.
    pub template: bool,
}

impl<'a> Form<'a> {
    /// Reads prefix and opening quote at the start of a literal's source.
    pub fn of(source: &'a str) -> Option<Form<'a>> {
        let at = source.find(['\'', '"'])?;
        let (prefix, rest) = source.split_at(at);
        if prefix.len() > 2 || !prefix.bytes().all(|b| b.is_ascii_alphabetic()) {
            return None;
        }
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote))?;
        let has = |c: char| prefix.chars().any(|p| p.eq_ignore_ascii_case(&c));
        Some(Form {
            prefix,
            quote: &rest[..quote.len()],
            raw: has('r'),
            bytes: has('b'),
            format: has('f'),
            template: has('t'),
        })
    }

    /// Length of prefix and opening quote in bytes.
    pub fn opening(&self) -> usize {
        self.prefix.len() + self.quote.len()
    }
}

/// The value of the text between the quotes of a `str` literal. `braces`: `{{` and `}}` stand for one
/// brace (the text parts of an f-string).
pub fn text(body: &str, raw: bool, braces: bool) -> Option<String> {
    if !body.bytes().any(|b| matches!(b, b'\\' | b'\r' | b'{' | b'}')) {
        return Some(body.to_string());
    }
    let mut out = String::with_capacity(body.len());
    let mut rest = body.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' => {
                rest.next_if_eq(&'\n');
                out.push('\n');
            }
            '{' | '}' if braces => {
                rest.next_if_eq(&c);
                out.push(c);
            }
            '\\' if !raw => match rest.next()? {
                '\n' => {}
                '\r' => {
                    rest.next_if_eq(&'\n');
                }
                c @ ('\\' | '\'' | '"') => out.push(c),
                'a' => out.push('\u{7}'),
                'b' => out.push('\u{8}'),
                'f' => out.push('\u{c}'),
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                'v' => out.push('\u{b}'),
                c @ '0'..='7' => out.push(char::from_u32(octal(c, &mut rest))?),
                'x' => out.push(char::from_u32(hex(2, &mut rest)?)?),
                'u' => out.push(char::from_u32(hex(4, &mut rest)?)?),
                'U' => out.push(char::from_u32(hex(8, &mut rest)?)?),
                'N' => return None,
                c => {
                    out.push('\\');
                    out.push(c);
                }
            },
            c => out.push(c),
        }
    }
    Some(out)
}

/// The value of the text between the quotes of a `bytes` literal.
pub fn bytes(body: &str, raw: bool) -> Option<Vec<u8>> {
    if !body.is_ascii() {
        return None;
    }
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' => {
                rest.next_if_eq(&'\n');
                out.push(b'\n');
            }
            '\\' if !raw => match rest.next()? {
                '\n' => {}
                '\r' => {
                    rest.next_if_eq(&'\n');
                }
                c @ ('\\' | '\'' | '"') => out.push(c as u8),
                'a' => out.push(7),
                'b' => out.push(8),
                'f' => out.push(0xc),
                'n' => out.push(b'\n'),
                'r' => out.push(b'\r'),
                't' => out.push(b'\t'),
                'v' => out.push(0xb),
                c @ '0'..='7' => out.push(octal(c, &mut rest) as u8),
                'x' => out.push(hex(2, &mut rest)? as u8),
                c => out.extend([b'\\', c as u8]),
            },
            c => out.push(c as u8),
        }
    }
    Some(out)
}

/// One of the adjacent literals that make up a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part<'a> {
    /// Byte range in the source that was split.
    pub range: std::ops::Range<usize>,
    pub form: Form<'a>,
    /// What stands between the quotes, as written.
    pub body: &'a str,
}

/// Splits the source of a string or of adjacent strings, with comments and line breaks between them.
/// `None` when anything else stands there.
pub fn parts(source: &str) -> Option<Vec<Part<'_>>> {
    let bytes = source.as_bytes();
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b'\x0c' | b'\\' => at += 1,
            b'#' => at += source[at..].find('\n').unwrap_or(source.len() - at),
            _ => {
                let form = Form::of(&source[at..])?;
                let start = at + form.opening();
                let mut end = start;
                while !source.get(end..)?.starts_with(form.quote) {
                    let rest = source.get(end..)?;
                    let mut chars = rest.chars();
                    let c = chars.next()?;
                    end += c.len_utf8();
                    if c == '\\' {
                        end += chars.next()?.len_utf8();
                    }
                }
                let close = end + form.quote.len();
                parts.push(Part { range: at..close, form, body: source.get(start..end)? });
                at = close;
            }
        }
    }
    (!parts.is_empty()).then_some(parts)
}

/// Whether a character is written as an escape: control characters, line and paragraph separators,
/// bidirectional controls and what cannot be seen.
pub fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{a0}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{3000}' | '\u{feff}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The escape of one character of a `str`.
pub fn escape(c: char) -> String {
    match c {
        '\n' => "\\n".to_string(),
        '\r' => "\\r".to_string(),
        '\t' => "\\t".to_string(),
        '\\' | '\'' | '"' => format!("\\{c}"),
        c if (c as u32) < 0x100 => format!("\\x{:02x}", c as u32),
        c if (c as u32) < 0x1_0000 => format!("\\u{:04x}", c as u32),
        c => format!("\\U{:08x}", c as u32),
    }
}

/// A `str` literal on one line with that quote.
pub fn quoted(text: &str, quote: char) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        if c == quote || c == '\\' || is_dangerous(c) {
            out.push_str(&escape(c));
        } else {
            out.push(c);
        }
    }
    out.push(quote);
    out
}

/// A `bytes` literal on one line with that quote.
pub fn quoted_bytes(bytes: &[u8], quote: char) -> String {
    let mut out = format!("b{quote}");
    for b in bytes {
        match *b {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'\\' => out.push_str("\\\\"),
            b if b as char == quote => {
                out.push('\\');
                out.push(quote);
            }
            b @ b' '..=b'~' => out.push(b as char),
            b => out.push_str(&format!("\\x{b:02x}")),
        }
    }
    out.push(quote);
    out
}

/// The quote that needs no escapes in `text`: `preferred` unless only the other one does.
pub fn best_quote(text: &str, preferred: char) -> char {
    let other = if preferred == '"' { '\'' } else { '"' };
    if text.contains(preferred) && !text.contains(other) { other } else { preferred }
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn octal(first: char, rest: &mut Rest) -> u32 {
    let mut value = first as u32 - '0' as u32;
    for _ in 0..2 {
        match rest.next_if(|c| ('0'..='7').contains(c)) {
            Some(c) => value = value * 8 + (c as u32 - '0' as u32),
            None => break,
        }
    }
    value
}

fn hex(digits: usize, rest: &mut Rest) -> Option<u32> {
    let mut value = 0u32;
    for _ in 0..digits {
        value = value.checked_mul(16)? + rest.next()?.to_digit(16)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_as_python_reads_them() {
        // Values printed by CPython 3.11: `python3 -c 'print(ascii(LITERAL))'`.
        let cases = [
            (r"a\nb\t\\\'\q", Some("a\nb\t\\'\\q")),
            (r"\x41\101\0\u00e9\U0001F600", Some("AA\0é😀")),
            (r"\400", Some("\u{100}")),
            ("a\\\nb\r\nc\rd", Some("ab\nc\nd")),
            ("a\\\r\nb", Some("ab")),
            (r"\ud83d\ude00", None),
            (r"\N{BULLET}", None),
            (r"\x4", None),
            ("{}{{", Some("{}{{")),
        ];
        for (body, value) in cases {
            assert_eq!(text(body, false, false).as_deref(), value, "{body:?}");
        }
        assert_eq!(text(r"a\nb", true, false).as_deref(), Some(r"a\nb"));
        assert_eq!(text("{{a}}", false, true).as_deref(), Some("{a}"));
        assert_eq!(bytes(r"\x00\377\u0041\n", false), Some(b"\x00\xff\\u0041\n".to_vec()));
        assert_eq!(bytes("é", false), None);
    }

    #[test]
    fn prefix_and_quote_are_told_apart() {
        let form = Form::of("Rb'''x'''").unwrap();
        assert_eq!((form.prefix, form.quote, form.raw, form.bytes), ("Rb", "'''", true, true));
        assert_eq!(Form::of("\"\"").unwrap().quote, "\"");
        assert_eq!(Form::of("x"), None);
    }
}
