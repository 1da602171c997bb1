//! Inline snapshots of insta 1.49: what a literal after `@` is worth to the comparison, and the literal
//! that `cargo insta accept` writes for a value. Pure functions of texts.

use super::super::Refusal;
use crate::code::ExprKind;
use crate::code::rust::literal;

/// Control characters that insta writes escaped (`TextSnapshotContents::needs_escaped_format`).
fn needs_escapes(text: &str) -> bool {
    text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\u{1b}'))
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// A text as insta compares it: several lines lose the smallest indentation, the end is trimmed, CRLF is LF.
pub fn normal(text: &str) -> String {
    let text = if text.trim_end().lines().count() <= 1 {
        text.trim_end().to_string()
    } else {
        let least = text.trim_end().lines().filter(|line| !line.is_empty()).map(indentation).min().unwrap_or(0);
        text.lines().map(|line| line.get(least..).unwrap_or("")).collect::<Vec<_>>().join("\n")
    };
    text.trim_end().replace("\r\n", "\n")
}

/// The value of a literal as insta compares it (`from_inline_literal`, then `normalize`).
pub fn content(value: &str) -> String {
    if value.trim_end().lines().count() <= 1 || needs_escapes(value) {
        return normal(value.trim_end());
    }
    let mut lines = value.lines();
    match lines.next() {
        Some("") => {
            let rest = lines.collect::<Vec<_>>().join("\n");
            // Older insta kept one line between line breaks; 1.49 still lets it pass without its indentation.
            let one = rest.contains('\n') && rest.trim_end().lines().count() <= 1;
            if one { rest.trim().to_string() } else { normal(&rest) }
        }
        _ => normal(&value.lines().collect::<Vec<_>>().join("\n")),
    }
}

/// The value of a literal's source text, if it is a string literal.
pub fn value(source: &str) -> Option<String> {
    match literal::value(source)? {
        ExprKind::Str(value) => Some(value),
        _ => None,
    }
}

fn hashes(text: &str) -> usize {
    text.split('"').skip(1).map(|after| after.len() - after.trim_start_matches('#').len() + 1).max().unwrap_or(0)
}

/// The literal that `cargo insta accept` writes, with LF line ends. `indent`: the white space before the
/// macro on its first line. Refused where the literal would not compile or not read back equal.
pub fn literal(text: &str, indent: &str) -> Result<String, Refusal> {
    let text = normal(text);
    let escaped = needs_escapes(&text);
    let mut out = String::new();
    if !escaped && text.contains(['\\', '"']) {
        out.push('r');
    }
    let hashes = "#".repeat(hashes(&text));
    if escaped && !hashes.is_empty() {
        return Err(Refusal(
            "the new value holds both a quote and a control character, which insta 1.49 cannot keep inline; \
             move this snapshot to a file (remove the @\"…\") and record it there"
                .to_string(),
        ));
    }
    out.push_str(&hashes);
    if escaped {
        out.push_str(&format!("{text:?}"));
    } else {
        out.push('"');
        if text.contains('\n') {
            for line in text.lines() {
                out.push('\n');
                if !line.is_empty() {
                    out.push_str(indent);
                }
                out.push_str(line);
            }
            out.push('\n');
            out.push_str(indent);
        } else {
            out.push_str(&text);
        }
        out.push('"');
    }
    out.push_str(&hashes);
    match value(&out) {
        Some(value) if content(&value) == text => Ok(out),
        _ => Err(Refusal(
            "the new value would not read back equal from an inline snapshot; move this snapshot to a file \
             (remove the @\"…\") and record it there"
                .to_string(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_equal() {
        let long: String = (0..200).map(|n| format!("line {n}\n")).collect();
        let table: &[(&str, &str)] = &[
            ("1401", "\"1401\""),
            ("", "\"\""),
            ("   \n  ", "\"\""),
            ("say \"hi\"", "r#\"say \"hi\"\"#"),
            ("\"#a\"##", "r###\"\"#a\"##\"###"),
            ("a\\b", "r\"a\\b\""),
            ("a\tb", "\"a\tb\""),
            ("a\u{1b}[0m", "\"a\u{1b}[0m\""),
            ("a\rb", "\"a\\rb\""),
            ("a\0b\nc", "\"a\\0b\\nc\""),
            ("a\r\nb", "\"\n    a\n    b\n    \""),
            ("a\n\n  b\n", "\"\n    a\n\n      b\n    \""),
            ("---\na: 1", "\"\n    ---\n    a: 1\n    \""),
            ("  indented\nless", "\"\n      indented\n    less\n    \""),
            ("grüße 😀", "\"grüße 😀\""),
            ("a \"q\"\n\\", "r#\"\n    a \"q\"\n    \\\n    \"#"),
        ];
        for (text, want) in table {
            assert_eq!(literal(text, "    ").unwrap(), *want, "{text:?}");
        }
        for text in table.iter().map(|(text, _)| *text).chain([long.as_str()]) {
            for indent in ["", "    ", "\t\t"] {
                let written = literal(text, indent).unwrap();
                assert_eq!(content(&value(&written).unwrap()), normal(text), "{text:?} {indent:?}");
            }
        }
    }

    #[test]
    fn what_insta_cannot_hold_is_refused() {
        literal("\"\r\u{7}", "").unwrap_err();
        // A first line without text would be taken for the opening line break, the block's indentation for its own.
        assert_eq!(literal("\n\nx\ny", "").map(|written| content(&value(&written).unwrap())).unwrap(), "\n\nx\ny");
    }

    #[test]
    fn literals_are_read_as_insta_reads_them() {
        let table: &[(&str, &str)] = &[
            ("\"\n    a\n      b\n    \"", "a\n  b"),
            ("\"\n\ta\n\t\tb\n\t\"", "a\n\tb"),
            ("\"a\n  b\"", "a\n  b"),
            ("\"  one line  \"", "  one line"),
            ("r\"\n    only\n    \"", "only"),
            ("\"a\\r\\nb\"", "a\nb"),
        ];
        for (source, want) in table {
            assert_eq!(content(&value(source).unwrap()), *want, "{source:?}");
        }
    }
}
