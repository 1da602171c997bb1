//! Bytes to the content that the comparison sees, and back. Takes the [`Step`]s of an oracle. Going back
//! puts in again what the steps cut, keeps line endings and byte-order mark where they are not seen, and
//! reads the result to be sure: what would not read back as the observed value is refused.

use super::{Baseline, Content, Recorded, Refusal, Step, digest_of};
use crate::pins::Project;
use crate::places::RelPath;
use crate::shelf::Read;

const BOM: char = '\u{feff}';

/// A file of which all is recorded, read by `content`; its lines are those of the content.
pub fn whole(path: &RelPath, project: &Project, content: impl Fn(&[u8]) -> Result<Content, String>) -> Baseline {
    let bytes = match project.shelf.disk(path) {
        Read::Missing => return Baseline::Missing,
        Read::Refused(why) => return Baseline::Unreadable(why),
        Read::Bytes(bytes) => bytes,
    };
    match content(&bytes) {
        Err(why) => Baseline::Unreadable(format!("{path}: {why}")),
        Ok(content) => Baseline::Present(Recorded {
            first_line: usize::from(matches!(content, Content::Text(_))),
            content,
            file_digest: digest_of(&[&bytes]),
            preimage: None,
        }),
    }
}

/// The content after all steps. An error says why it cannot be read (not UTF-8, not JSON …). A step that is
/// not understood leaves the text as it is.
pub fn content(bytes: &[u8], steps: &[Step]) -> Result<Content, String> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) if steps == [Step::Bytes] => return Ok(Content::Bytes(bytes.to_vec())),
        Err(err) => {
            let good = bytes.get(..err.valid_up_to()).unwrap_or_default();
            let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
            let byte = bytes.get(err.valid_up_to()).copied().unwrap_or_default();
            if bytes.contains(&0) {
                return Err(format!(
                    "it is binary (byte 0x{byte:02x} in line {line}), and the test compares it as text, so nothing can be \
                     shown or accepted; read and compare bytes in the test (`read_bytes()`, `fs::read`), or restore the \
                     file from git if it was text before"
                ));
            }
            return Err(format!("it is not UTF-8 text (byte 0x{byte:02x} in line {line}); save it as UTF-8"));
        }
    };
    let mut value = Content::Text(text);
    for step in steps {
        value = match value {
            Content::Text(text) => forward(text, step)?,
            other => other,
        };
    }
    Ok(value)
}

fn forward(text: String, step: &Step) -> Result<Content, String> {
    Ok(Content::Text(match step {
        Step::Bytes | Step::Digest(_) | Step::Serialised(_) | Step::Unknown(_) | Step::Made(_) | Step::Itself => text,
        Step::UniversalNewlines => text.replace("\r\n", "\n").replace('\r', "\n"),
        Step::CrlfToLf => text.replace("\r\n", "\n"),
        Step::DropBom => text.strip_prefix(BOM).map(str::to_string).unwrap_or(text),
        Step::Trim | Step::TrimStart | Step::TrimEnd | Step::TrimOf(_) | Step::TrimStartOf(_) | Step::TrimEndOf(_) => {
            kept(&text, step).to_string()
        }
        Step::Replace(old, new) if !old.is_empty() => text.replace(old.as_str(), new),
        Step::Replace(..) => text,
        Step::FinalNewline if text.ends_with('\n') => text,
        Step::FinalNewline => text + "\n",
        Step::Lines => text.lines().map(|line| format!("{line}\n")).collect(),
        Step::Json => {
            let value = serde_json::from_str(&text)
                .map_err(|err| format!("it is not JSON: {err}; the test reads it as JSON"))?;
            return Ok(Content::Value(json(&value)));
        }
        Step::Number => {
            let plain =
                number(&text).ok_or_else(|| format!("{:?} is not a number; the test reads it as one", brief(&text)))?;
            return Ok(Content::Value(plain));
        }
    }))
}

fn brief(text: &str) -> String {
    text.trim().chars().take(40).collect()
}

/// The part of a text that a trimming step keeps.
fn kept<'a>(text: &'a str, step: &Step) -> &'a str {
    match step {
        Step::Trim => text.trim(),
        Step::TrimStart => text.trim_start(),
        Step::TrimEnd => text.trim_end(),
        Step::TrimOf(chars) => text.trim_matches(|c| chars.contains(c)),
        Step::TrimStartOf(chars) => text.trim_start_matches(|c| chars.contains(c)),
        Step::TrimEndOf(chars) => text.trim_end_matches(|c| chars.contains(c)),
        _ => text,
    }
}

/// One spelling for equal JSON values: sorted keys, two blanks of indentation.
fn json(value: &serde_json::Value) -> String {
    fn sorted(value: &serde_json::Value) -> serde_json::Value {
        match value {
            serde_json::Value::Object(map) => {
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort();
                keys.into_iter().filter_map(|key| Some((key.clone(), sorted(map.get(key)?)))).collect()
            }
            serde_json::Value::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    serde_json::to_string_pretty(&sorted(value)).unwrap_or_default()
}

fn number(text: &str) -> Option<String> {
    let plain = text.trim().replace('_', "");
    if let Ok(whole) = plain.parse::<i128>() {
        return Some(whole.to_string());
    }
    let float: f64 = plain.parse().ok()?;
    plain.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')).then(|| format!("{float:?}"))
}

/// A value that a run observed, in the spelling in which [`content`] gives the recorded one: a JSON text or
/// literal for an oracle that is compared as JSON, a number, lines; bytes that are a text.
pub fn observed(value: Content, steps: &[Step]) -> Content {
    // As a file's bytes are read: what is UTF-8 is a text.
    let value = match value {
        Content::Bytes(bytes) if steps == [Step::Bytes] => match String::from_utf8(bytes) {
            Ok(text) => Content::Text(text),
            Err(err) => Content::Bytes(err.into_bytes()),
        },
        value => value,
    };
    if let Content::Bytes(bytes) = &value
        && steps == [Step::Bytes]
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Content::Text(text.to_string());
    }
    match (steps.iter().rfind(|step| matches!(step, Step::Json | Step::Number | Step::Lines)), &value) {
        (Some(Step::Json), Content::Text(text) | Content::Value(text)) => {
            let parsed = serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&python_as_json(text)?).ok());
            parsed.map_or(value, |parsed| Content::Value(json(&parsed)))
        }
        (Some(Step::Number), Content::Text(text) | Content::Value(text)) => number(text).map_or(value, Content::Value),
        (Some(Step::Lines), Content::Value(text)) => {
            let items: Option<Vec<String>> = python_as_json(text).and_then(|text| serde_json::from_str(&text).ok());
            match items {
                Some(items) => Content::Text(items.iter().map(|line| format!("{line}\n")).collect()),
                None => value,
            }
        }
        _ => value,
    }
}

/// A Python or Rust literal of lists, dictionaries, texts, numbers and constants as JSON.
fn python_as_json(source: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = source.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' | '"' => {
                let mut text = String::new();
                loop {
                    let (_, inner) = chars.next()?;
                    match inner {
                        '\\' => match chars.next()?.1 {
                            'n' => text.push('\n'),
                            't' => text.push('\t'),
                            'r' => text.push('\r'),
                            other @ ('\\' | '\'' | '"') => text.push(other),
                            _ => return None,
                        },
                        inner if inner == c => break,
                        inner => text.push(inner),
                    }
                }
                out.push_str(&serde_json::to_string(&text).ok()?);
            }
            '(' => out.push('['),
            ')' => out.push(']'),
            c if c.is_alphabetic() => {
                let rest = &source[at..];
                let word = &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())];
                out.push_str(match word {
                    "True" | "true" => "true",
                    "False" | "false" => "false",
                    "None" | "null" => "null",
                    "e" | "E" => "e",
                    _ => return None,
                });
                for _ in 1..word.chars().count() {
                    chars.next();
                }
            }
            c => out.push(c),
        }
    }
    Some(out)
}

/// Lines with their ends, as `str.splitlines(keepends=True)` cuts them.
pub fn python_lines(text: &str) -> Vec<&str> {
    let ends = ['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = match rest.find(ends) {
            None => rest.len(),
            Some(at) if rest[at..].starts_with("\r\n") => at + 2,
            Some(at) => at + rest[at..].chars().next().map_or(1, char::len_utf8),
        };
        lines.push(&rest[..end]);
        rest = &rest[end..];
    }
    lines
}

/// Whether the content's lines are those of the file, and the 1-based line of its first one; 0 when they
/// are not.
pub fn first_line(bytes: &[u8], steps: &[Step], content: &Content) -> usize {
    let Ok(text) = std::str::from_utf8(bytes) else { return 0 };
    let lines = |text: &str| text.lines().map(|line| line.trim().to_string()).collect::<Vec<_>>();
    match content {
        Content::Bytes(_) => 0,
        Content::Value(value) if steps.contains(&Step::Number) || lines(value) == lines(text.trim()) => 1,
        Content::Value(_) => 0,
        Content::Text(_) => {
            let mut cut = 0;
            let mut text = text.to_string();
            for step in steps {
                if matches!(step, Step::Trim | Step::TrimStart | Step::TrimOf(_) | Step::TrimStartOf(_)) {
                    let start = kept(&text, step).as_ptr() as usize - text.as_ptr() as usize;
                    cut += text.get(..start).map_or(0, |before| before.matches('\n').count());
                }
                match forward(text, step) {
                    Ok(Content::Text(next)) => text = next,
                    _ => break,
                }
                if matches!(step, Step::Replace(old, new) if old.matches('\n').count() != new.matches('\n').count()) {
                    return 0;
                }
            }
            cut + 1
        }
    }
}

/// The bytes whose content after all steps is `observed`; `old` are those of the present file. Refuses
/// when they are not certain.
pub fn bytes(observed: &Content, steps: &[Step], old: Option<&[u8]>) -> Result<Vec<u8>, Refusal> {
    let refuse = |why: &str| Err(Refusal(why.to_string()));
    let mut text = match observed {
        Content::Bytes(bytes) if steps.iter().all(|step| *step == Step::Bytes) => return Ok(bytes.clone()),
        Content::Bytes(_) => return refuse("The observed value is not text, but the test reads the file as text."),
        Content::Text(text) | Content::Value(text) => text.clone(),
    };
    // What the old file was before each step: it says what was cut.
    let mut stages: Vec<Option<String>> = Vec::new();
    let mut now = old.and_then(|old| std::str::from_utf8(old).ok()).map(str::to_string);
    for step in steps {
        stages.push(now.clone());
        now = now.and_then(|text| match forward(text, step) {
            Ok(Content::Text(text) | Content::Value(text)) => Some(text),
            _ => None,
        });
    }
    for (step, before) in steps.iter().zip(&stages).rev() {
        let before = before.as_deref();
        text = match step {
            Step::Unknown(what) | Step::Made(what) => {
                return refuse(&format!(
                    "The recorded text goes through `{what}` before it is compared; which bytes give the observed value \
                     is not certain. Let the project's own updater write the file, then explain the change."
                ));
            }
            Step::Json => {
                return refuse(
                    "The file is compared as JSON and the observed value does not say how it is laid out. Let the test \
                     write what it observed beside the baseline, or let the project's own updater write the file, then \
                     explain the change.",
                );
            }
            Step::Trim
            | Step::TrimStart
            | Step::TrimEnd
            | Step::TrimOf(_)
            | Step::TrimStartOf(_)
            | Step::TrimEndOf(_) => match before {
                Some(before) => {
                    let inner = kept(before, step);
                    let start = inner.as_ptr() as usize - before.as_ptr() as usize;
                    let (head, tail) = match inner.is_empty() {
                        true => ("", before),
                        false => (&before[..start], &before[start + inner.len()..]),
                    };
                    format!("{head}{text}{tail}")
                }
                None => text,
            },
            Step::Number => match before {
                Some(before) => {
                    let inner = before.trim();
                    before.replacen(inner, &text, usize::from(!inner.is_empty()))
                }
                None => text,
            },
            Step::UniversalNewlines | Step::CrlfToLf => match before {
                Some(before) if crlf_only(before) => text.replace('\n', "\r\n"),
                _ => text,
            },
            Step::Lines => match before {
                Some(before) if crlf_only(before) && !before.ends_with('\n') => {
                    text.strip_suffix('\n').unwrap_or(&text).replace('\n', "\r\n")
                }
                Some(before) if crlf_only(before) => text.replace('\n', "\r\n"),
                Some(before) if !before.ends_with('\n') && !before.is_empty() => {
                    text.strip_suffix('\n').unwrap_or(&text).to_string()
                }
                _ => text,
            },
            Step::FinalNewline => match before {
                Some(before) if !before.ends_with('\n') => text.strip_suffix('\n').unwrap_or(&text).to_string(),
                _ => text,
            },
            Step::DropBom => match before {
                Some(before) if before.starts_with(BOM) => format!("{BOM}{text}"),
                _ => text,
            },
            Step::Bytes | Step::Digest(_) | Step::Itself | Step::Replace(..) | Step::Serialised(_) => text,
        };
    }
    let written = text.into_bytes();
    match content(&written, steps) {
        Ok(read) if read == *observed => Ok(written),
        _ => refuse(
            "The observed value cannot stand in the file: after what the test does to the recorded text it would not \
             read back equal. Change the comparison, or keep the recorded value.",
        ),
    }
}

/// Every line end is CRLF, and there is one.
fn crlf_only(text: &str) -> bool {
    let crlf = text.matches("\r\n").count();
    crlf > 0 && crlf == text.matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(old: &str, steps: &[Step], new: &str) -> Result<String, String> {
        bytes(&Content::Text(new.into()), steps, Some(old.as_bytes()))
            .map(|bytes| String::from_utf8(bytes).unwrap())
            .map_err(|refusal| refusal.0)
    }

    #[test]
    fn what_was_cut_is_put_back() {
        assert_eq!(back("a\n", &[Step::Trim], "b").unwrap(), "b\n");
        assert_eq!(back("a\r\nb\r\n", &[Step::UniversalNewlines, Step::TrimEnd], "a\nc").unwrap(), "a\r\nc\r\n");
        assert_eq!(back("\u{feff}a", &[Step::DropBom], "b").unwrap(), "\u{feff}b");
        assert_eq!(back("a\nb", &[Step::Lines], "a\nc\n").unwrap(), "a\nc");
        assert_eq!(back("a\nb\n", &[Step::Lines], "a\nc\n").unwrap(), "a\nc\n");
        assert_eq!(back("", &[], "b\r\n").unwrap(), "b\r\n");
        assert_eq!(back("old", &[], "").unwrap(), "");
    }

    #[test]
    fn what_would_not_read_back_is_refused() {
        assert!(back("a\n", &[Step::Trim], "b \n").is_err());
        assert!(back("a\n", &[Step::UniversalNewlines], "b\r\n").is_err());
        assert!(back("a\n", &[Step::Replace("x".into(), "y".into())], "x").is_err());
        assert!(back("a\n", &[Step::Unknown("normalise".into())], "b").unwrap_err().contains("normalise"));
        assert!(back("[1]", &[Step::Json], "[2]").is_err());
    }

    #[test]
    fn equal_for_the_comparer_is_equal_content() {
        let read = |text: &str, steps: &[Step]| content(text.as_bytes(), steps).unwrap();
        assert_eq!(read("{\"b\":1,\"a\":[2]}", &[Step::Json]), read("{ \"a\": [2], \"b\": 1 }\n", &[Step::Json]));
        assert_ne!(read("[1,2]", &[Step::Json]), read("[2,1]", &[Step::Json]));
        assert_eq!(read(" 1_000\n", &[Step::Number]), Content::Value("1000".into()));
        assert_ne!(read("", &[Step::Lines]), read("\n", &[Step::Lines]));
        assert_eq!(read("a\r\nb", &[Step::Lines]), read("a\nb\n", &[Step::Lines]));
        assert_eq!(
            observed(Content::Value("{'a': [2], 'b': None}".into()), &[Step::Json]),
            read("{\"b\":null,\"a\":[2]}", &[Step::Json])
        );
        assert_eq!(observed(Content::Value("['a', 'b']".into()), &[Step::Lines]), read("a\nb", &[Step::Lines]));
    }

    #[test]
    fn bytes_that_are_not_text() {
        assert_eq!(content(b"\xff\x00", &[Step::Bytes]), Ok(Content::Bytes(b"\xff\x00".to_vec())));
        for bytes in [b"\xff\x00".as_slice(), b"D\"\x00"] {
            assert_eq!(content(bytes, &[Step::Bytes]), Ok(observed(Content::Bytes(bytes.to_vec()), &[Step::Bytes])));
        }
        let why = content(b"a\nM\xfcller", &[Step::UniversalNewlines]).unwrap_err();
        assert_eq!(why, "it is not UTF-8 text (byte 0xfc in line 2); save it as UTF-8");
        assert!(content(b"{", &[Step::Json]).unwrap_err().contains("not JSON"));
    }

    #[test]
    fn lines_are_counted_in_the_file() {
        let line =
            |text: &str, steps: &[Step]| first_line(text.as_bytes(), steps, &content(text.as_bytes(), steps).unwrap());
        assert_eq!(line("a\nb\n", &[]), 1);
        assert_eq!(line("\n\na\n", &[Step::Trim]), 3);
        assert_eq!(line("{\"a\": 1}", &[Step::Json]), 0);
        assert_eq!(line("[\n  1\n]\n", &[Step::Json]), 1);
    }
}
