//! The literal of an `expect!` of expect-test 1.5.1: where it stands among the macro's tokens, what it is
//! worth to the comparison, and the one that an update writes. Pure functions of texts.

use super::super::Refusal;
use crate::code::ExprKind;
use crate::code::rust::literal;
use crate::code::rust::tokens::{Kind, Tokens, closing};
use crate::text::Span;

/// What stands between the delimiters of the macro.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// What an update replaces: the literal, or the brackets around it.
    pub range: Span,
    /// `None` in `expect![]`.
    pub literal: Option<Span>,
}

impl Argument {
    /// `None` where the argument is no literal, or a comment stands there.
    pub fn of(source: &str, inner: Span) -> Option<Argument> {
        let tokens: Vec<_> = Tokens::new(source, inner).collect();
        match tokens.first().map(|token| token.kind) {
            None => Some(Argument { range: Span::new(inner.end, inner.end), literal: None }),
            Some(Kind::Open(b'[')) => {
                let close = closing(&tokens, 0)?;
                let range = Span::new(tokens.first()?.span.start, tokens.get(close)?.span.end);
                match tokens.get(1..close)? {
                    [] => Some(Argument { range, literal: None }),
                    [one] if one.kind == Kind::Str => Some(Argument { range, literal: Some(one.span) }),
                    _ => None,
                }
            }
            Some(Kind::Str) if tokens.len() == 1 => {
                let span = tokens.first()?.span;
                Some(Argument { range: span, literal: Some(span) })
            }
            Some(_) => None,
        }
    }

    /// The literal's value; empty where there is none.
    pub fn value(&self, source: &str) -> Option<String> {
        let Some(span) = self.literal else { return Some(String::new()) };
        match literal::value(source.get(span.start..span.end)?)? {
            ExprKind::Str(value) => Some(value),
            _ => None,
        }
    }
}

/// White space before the first token between the delimiters.
pub fn gap(source: &str, inner: Span) -> &str {
    let inner = source.get(inner.start..inner.end).unwrap_or_default();
    &inner[..inner.len() - inner.trim_start().len()]
}

fn lines_with_ends(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n')
}

/// The value as `assert_eq` sees it (`Expect::trimmed`).
pub fn content(value: &str) -> String {
    if !value.contains('\n') {
        return value.to_string();
    }
    let text = value.strip_prefix('\n').unwrap_or(value);
    let indent = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    lines_with_ends(text)
        .map(|line| match line.get(indent..) {
            Some(rest) if line.len() > indent => rest,
            _ => line.trim_start_matches(' '),
        })
        .collect()
}

/// Characters that turn the direction of text; rustc refuses a literal with one.
pub fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Hashes of the raw literal that an update writes; 0: a plain one (`lit_kind_for_patch`).
pub fn hashes(text: &str) -> usize {
    match (text.contains('"'), text.contains(['\\', '\n'])) {
        (false, false) => 0,
        (false, true) => 1,
        (true, _) => {
            let leading = |part: &str| part.len() - part.trim_start_matches('#').len();
            text.split('"').map(leading).max().unwrap_or(0) + 1
        }
    }
}

/// What stands in place of the argument after `UPDATE_EXPECT=1`, with LF line ends (`format_patch`). `indent`:
/// blanks before the line of the macro; `None` where indenting is switched off. Refused where it would not
/// compile, or not read back equal.
pub fn patch(text: &str, indent: Option<usize>) -> Result<String, Refusal> {
    if text.contains('\r') {
        return Err(Refusal(
            "the new value has carriage returns, which a Rust source cannot keep in `expect!`: it would never hold; \
             keep the recorded value, or compare with the line ends normalised"
                .to_string(),
        ));
    }
    if text.contains(turns) {
        return Err(Refusal(
            "the new value has characters that turn the direction of text, which rustc refuses in a literal; keep the \
             recorded value, or hold this one against a file with `expect_file!`"
                .to_string(),
        ));
    }
    let hashes = hashes(text);
    let fence = "#".repeat(hashes);
    let mut out = if hashes > 0 { format!("[r{fence}\"") } else { "\"".to_string() };
    let many = text.contains('\n');
    let before = indent.map(|indent| " ".repeat(indent));
    if many {
        out.push('\n');
    }
    for line in lines_with_ends(text) {
        if let Some(before) = before.as_ref().filter(|_| many && !line.trim().is_empty()) {
            out.push_str(before);
            out.push_str("    ");
        }
        out.push_str(line);
    }
    if let Some(before) = before.filter(|_| text.ends_with('\n')) {
        out.push_str(&before);
    }
    out.push('"');
    out.push_str(&fence);
    if hashes > 0 {
        out.push(']');
    }
    let inner = Span::new(0, out.len());
    match Argument::of(&out, inner).and_then(|argument| argument.value(&out)) {
        Some(value) if content(&value) == text => Ok(out),
        _ => Err(Refusal(
            "the new value would not read back equal from `expect!`, which drops common indentation; keep the recorded \
             value, or hold this one against a file with `expect_file!`"
                .to_string(),
        )),
    }
}
