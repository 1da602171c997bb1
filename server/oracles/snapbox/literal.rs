//! The literal of a `str!` of snapbox 1.2: what it is worth to the comparison, and the one that an update
//! writes. Pure functions of texts.

use super::super::Refusal;
use super::super::expect_test::literal::{Argument, hashes, turns};
use crate::text::Span;

/// The value as it is compared (`Inline::trimmed`, then line ends).
pub fn content(value: &str) -> String {
    let mut text = value;
    if text.contains('\n') {
        text = text.strip_prefix('\n').unwrap_or(text);
        text = text.strip_suffix('\n').unwrap_or(text);
    }
    lines(text)
}

/// Line ends as snapbox compares them: CRLF and a lone CR are LF.
pub fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// What stands in place of the argument after `SNAPSHOTS=overwrite` (`format_patch`). Refused where it would
/// not compile, or not read back equal.
pub fn patch(text: &str) -> Result<String, Refusal> {
    let text = lines(text);
    if text.contains(turns) {
        return Err(Refusal(
            "the new value has characters that turn the direction of text, which rustc refuses in a literal; keep the \
             recorded value, or hold this one against a file with `file!`"
                .to_string(),
        ));
    }
    let hashes = hashes(&text);
    let fence = "#".repeat(hashes);
    let mut out = if hashes > 0 { format!("[r{fence}\"") } else { "\"".to_string() };
    let many = text.contains('\n');
    let around = if many { "\n" } else { "" };
    out.push_str(around);
    out.push_str(&text);
    out.push_str(around);
    out.push('"');
    out.push_str(&fence);
    if hashes > 0 {
        out.push(']');
    }
    match Argument::of(&out, Span::new(0, out.len())).and_then(|argument| argument.value(&out)) {
        Some(value) if content(&value) == text => Ok(out),
        _ => Err(Refusal(
            "the new value would not read back equal from `str!`; keep the recorded value, or hold this one against a \
             file with `file!`"
                .to_string(),
        )),
    }
}
