//! Text with its lines. Takes a string, gives positions in the three ways the fronts need
//! (bytes, UTF-8 or UTF-16 columns of the protocol, scalar columns of the reports).
//! Never reads a file, never parses.

use std::sync::{Arc, OnceLock};

use sha2::{Digest as _, Sha256};

mod align;

pub use align::align;

/// A byte range in one text, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        Span { start, end: end.max(start) }
    }

    pub fn contains(&self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    pub fn holds(&self, byte: usize) -> bool {
        self.start <= byte && byte < self.end
    }

    pub fn shifted(&self, by: usize) -> Span {
        Span { start: self.start + by, end: self.end + by }
    }
}

/// How a protocol client counts columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    Utf8,
    #[default]
    Utf16,
}

/// An immutable text and the byte offset of each of its lines. Cloning is cheap.
/// A line ends at `\n`; a `\r` before it belongs to the line.
#[derive(Debug, Clone)]
pub struct Text {
    source: Arc<str>,
    starts: Arc<[usize]>,
    digest: Arc<OnceLock<String>>,
}

impl Text {
    pub fn new(source: impl Into<Arc<str>>) -> Self {
        let source = source.into();
        let starts = std::iter::once(0)
            .chain(source.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1))
            .collect();
        Text { source, starts, digest: Arc::default() }
    }

    /// `sha256:` and 64 hexadecimal digits of the bytes; counted once.
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| {
            let hex: String = Sha256::digest(self.source.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
            format!("sha256:{hex}")
        })
    }

    pub fn as_str(&self) -> &str {
        &self.source
    }

    pub fn len(&self) -> usize {
        self.source.len()
    }

    pub fn is_empty(&self) -> bool {
        self.source.is_empty()
    }

    /// The text of `span`, or `""` when the span does not fit this text.
    pub fn slice(&self, span: Span) -> &str {
        self.source.get(span.start..span.end).unwrap_or("")
    }

    /// Number of lines; a final newline opens one more, empty line.
    pub fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// 0-based line of a byte offset.
    pub fn line_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|s| *s <= byte).saturating_sub(1)
    }

    /// Byte offset at which a 0-based line starts; the end of the text past the last line.
    pub fn line_start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.source.len())
    }

    /// Span of a 0-based line without its line ending.
    pub fn line_span(&self, line: usize) -> Span {
        let start = self.line_start(line);
        let end = self.line_start(line + 1);
        let body = &self.source[start..end];
        let body = body.strip_suffix('\n').unwrap_or(body);
        let body = body.strip_suffix('\r').unwrap_or(body);
        Span::new(start, start + body.len())
    }

    /// Text of a 0-based line without its line ending.
    pub fn line(&self, line: usize) -> &str {
        self.slice(self.line_span(line))
    }

    /// 1-based column of a byte offset, counted in Unicode scalar values (the reports' columns).
    pub fn column(&self, byte: usize) -> usize {
        let start = self.line_start(self.line_of(byte));
        self.source.get(start..byte).map_or(1, |s| s.chars().count() + 1)
    }

    /// 0-based line and column of a byte offset in the client's encoding.
    pub fn position(&self, byte: usize, encoding: Encoding) -> (u32, u32) {
        let line = self.line_of(byte);
        let before = self.source.get(self.line_start(line)..byte).unwrap_or("");
        let column = match encoding {
            Encoding::Utf8 => before.len(),
            Encoding::Utf16 => before.encode_utf16().count(),
        };
        (line as u32, column as u32)
    }

    /// Byte offset of a 0-based line and column in the client's encoding. A column past the end of the
    /// line is the end of the line; `None` when the line is past the end of the text.
    pub fn offset(&self, line: u32, column: u32, encoding: Encoding) -> Option<usize> {
        let line = line as usize;
        if line >= self.line_count() {
            return None;
        }
        let span = self.line_span(line);
        let mut left = column as usize;
        for (i, c) in self.slice(span).char_indices() {
            let width = match encoding {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
            };
            if left < width {
                return Some(span.start + i);
            }
            left -= width;
        }
        Some(span.end)
    }

    /// The text with `span` replaced. `None` when the span does not fit.
    pub fn replaced(&self, span: Span, with: &str) -> Option<Text> {
        let before = self.source.get(..span.start)?;
        let after = self.source.get(span.end..)?;
        self.source.get(span.start..span.end)?;
        Some(Text::new([before, with, after].concat()))
    }
}

/// `text` as it may stand in one line of a message, a comment or a record: line ends and tabs become
/// `\\n` and `\\t`, other control, line-separating and text-direction characters their escape, and more
/// than `most` characters are cut with `…`. Nothing in it can end a line or turn the reading direction.
pub fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count >= most {
            out.push('…');
            break;
        }
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if hidden(c) => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// A character that ends a line, steers a terminal or changes the direction of reading without being seen.
pub fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{feff}')
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(one_line("a\r\nb\u{202e}c\u{1b}[0m\u{2028}", 40), r"a\r\nb\u{202e}c\u{1b}[0m\u{2028}");
        assert_eq!(one_line("größer", 3), "grö…");
    }

    #[test]
    fn columns_count_as_each_reader_counts() {
        let text = Text::new("a\r\nü😀x\n");
        let x = text.as_str().find('x').unwrap();
        assert_eq!(text.position(x, Encoding::Utf16), (1, 3));
        assert_eq!(text.position(x, Encoding::Utf8), (1, 6));
        assert_eq!(text.column(x), 3);
        assert_eq!(text.offset(1, 3, Encoding::Utf16), Some(x));
        assert_eq!(text.offset(1, 6, Encoding::Utf8), Some(x));
        assert_eq!(text.line(0), "a");
        assert_eq!(text.line_count(), 3);
        assert_eq!(text.offset(9, 0, Encoding::Utf8), None);
    }

    #[test]
    fn a_column_inside_a_character_is_its_start() {
        let text = Text::new("😀x");
        assert_eq!(text.offset(0, 1, Encoding::Utf16), Some(0));
        assert_eq!(text.offset(0, 99, Encoding::Utf16), Some(5));
    }
}
