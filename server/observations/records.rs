//! `.pindrift/observed/*.jsonl`: what runs recorded. One JSON object a line, UTF-8, schema 1:
//!
//! ```json
//! {"schema": 1,
//!  "pin": {"file": "tests/test_legacy.py", "test": "tests/test_legacy.py::test_price", "nth": 1},
//!  "oracle": "tests/test_legacy.py#literal:1",
//!  "oracle_digest": "sha256:…",
//!  "assertion": "sha256:…",
//!  "outcome": "differs",
//!  "value": {"literal": "Decimal('2.6750')"},
//!  "preimage": null,
//!  "at": "2026-08-28T10:00:00Z",
//!  "run": "2026-08-28T09:59:58Z-4711",
//!  "command": "python -m pytest tests",
//!  "revision": "5ac7c9c…",
//!  "dirty": ["legacy.py"]}
//! ```
//!
//! | field | meaning |
//! | --- | --- |
//! | `pin` | file from the root, test id without its parameter id, ordinal among the test's pins (1-based, cases counted) |
//! | `oracle` | `path`, `path#entry` or `path#literal:N` |
//! | `oracle_digest` | [`Content::digest`] of the recorded content the value was compared with; `null`: none was recorded. Decides freshness |
//! | `assertion` | optional: [`assertion_digest`] of the assertion's source. Another text is another pin: stale |
//! | `outcome` | `match`, `differs` or `not-reached`; optional, `differs` |
//! | `value` | one of `{"text": …}` (the text itself), `{"literal": …}` (source of a literal in the test's language), `{"base64": …}`; absent for `match` and `not-reached` |
//! | `preimage` | optional: the text behind an observed digest |
//! | `lossy` | optional: the value was read off a form that may lose something; it is shown and never accepted |
//! | `at` | when the value was seen, RFC 3339 |
//! | `run` | optional: equal for all records of one run; two values of one pin in one run make it unstable |
//! | `command`, `revision`, `dirty` | optional: what was run, at which commit, with which modified files |
//! | `environment` | optional: what a value may depend on: versions of the tools, `TZ`, `LANG`, `PYTHONHASHSEED` |
//!
//! Fields that are not known are ignored; a line of another schema, or one that cannot be read, is reported
//! and costs only itself.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::notes::{self, Note};
use crate::oracles::{self, Content, Pin, digest_of};
use crate::pins::{Trouble, is_of_tests};
use crate::places::RelPath;
use crate::shelf::{Read, Shelf};
use crate::syntax::Language;
use crate::text::one_line;

/// Folder of the records, from the root.
pub const FOLDER: &str = ".pindrift/observed";

/// Most files and lines that are read, and the longest line in bytes.
const MOST_FILES: usize = 500;
const MOST_LINES: usize = 200_000;
const LONGEST_LINE: usize = 8 << 20;
/// Most troubles of one file that are reported.
const MOST_TROUBLES: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Match,
    #[default]
    Differs,
    NotReached,
}

/// An observed value as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    Text(String),
    Literal(String),
    Base64(String),
}

impl Value {
    /// Bytes: a text where they are one.
    pub fn of_bytes(bytes: &[u8]) -> Value {
        match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_string()),
            Err(_) => Value::Base64(base64_of(bytes)),
        }
    }

    /// The content as the comparison of the pin's framework sees it; `None` for a literal that is not one, or
    /// broken base64.
    pub fn content(&self, pin: &Pin) -> Option<Content> {
        match self {
            Value::Text(text) => Some(Content::Text(text.clone())),
            Value::Literal(source) => match oracles::framework(&pin.framework) {
                Some(framework) => framework.literal(pin, source),
                None => oracles::literal(pin.language, source),
            },
            Value::Base64(text) => base64(text).map(Content::Bytes),
        }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The file it was read from.
    pub path: RelPath,
    pub file: RelPath,
    pub test: String,
    pub nth: usize,
    pub oracle: String,
    pub oracle_digest: Option<String>,
    pub assertion: Option<String>,
    pub outcome: Outcome,
    pub value: Option<Value>,
    pub preimage: Option<String>,
    pub lossy: bool,
    /// Code of the project is newer than this run; known only after reading.
    pub aged: bool,
    pub at: Option<jiff::Timestamp>,
    pub run: Option<String>,
    pub command: Option<String>,
    pub revision: Option<String>,
    pub dirty: Vec<RelPath>,
    pub environment: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    schema: u64,
    pin: LinePin,
    oracle: String,
    oracle_digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assertion: Option<String>,
    #[serde(default)]
    outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preimage: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lossy: bool,
    #[serde(default)]
    at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    dirty: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    environment: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct LinePin {
    file: String,
    test: String,
    nth: usize,
}

impl Record {
    /// The line as it is written, without its line end.
    pub fn to_line(&self) -> String {
        let line = Line {
            schema: 1,
            pin: LinePin { file: self.file.to_string(), test: self.test.clone(), nth: self.nth },
            oracle: self.oracle.clone(),
            oracle_digest: self.oracle_digest.clone(),
            assertion: self.assertion.clone(),
            outcome: self.outcome,
            value: self.value.clone(),
            preimage: self.preimage.clone(),
            lossy: self.lossy,
            at: self.at.map(|at| at.to_string()),
            run: self.run.clone(),
            command: self.command.clone(),
            revision: self.revision.clone(),
            dirty: self.dirty.iter().map(RelPath::to_string).collect(),
            environment: self.environment.clone(),
        };
        serde_json::to_string(&line).unwrap_or_default()
    }

    /// Reads one line of the file `path`; an error says what is wrong, for the person.
    pub fn parse(line: &str, path: &RelPath) -> Result<Record, String> {
        let head: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line)
            .map_err(|_| "this line holds no JSON object; run the tests to record it anew")?;
        let schema = head.get("schema");
        match schema.map(|schema| schema.as_u64()) {
            Some(Some(1)) => {}
            None => return Err("this line names no schema; records of schema 1 are read".into()),
            _ => {
                let found = schema.map(|schema| one_line(&schema.to_string(), 40)).unwrap_or_default();
                return Err(format!("schema {found} is not known; records of schema 1 are read"));
            }
        }
        let line: Line = serde_json::from_str(line).map_err(|err| format!("this record cannot be read: {err}"))?;
        let file = RelPath::new(&line.pin.file).filter(|_| !line.pin.file.starts_with('/')).ok_or_else(|| {
            format!("the pin's file {} is not a path inside the workspace", one_line(&line.pin.file, 200))
        })?;
        let at = match &line.at {
            Some(at) => Some(at.parse().map_err(|_| format!("the time {at:?} is not one as 2026-08-28T10:00:00Z"))?),
            None => None,
        };
        Ok(Record {
            path: path.clone(),
            file,
            test: line.pin.test,
            nth: line.pin.nth,
            oracle: line.oracle,
            oracle_digest: line.oracle_digest,
            assertion: line.assertion,
            outcome: line.outcome,
            value: line.value,
            preimage: line.preimage,
            lossy: line.lossy,
            aged: false,
            at,
            run: line.run,
            command: line.command,
            revision: line.revision,
            dirty: line.dirty.iter().filter_map(|path| RelPath::new(path)).collect(),
            environment: line.environment,
        })
    }
}

type Key = (RelPath, String, usize, String);

/// What `.pindrift/observed/*.jsonl` holds.
#[derive(Debug, Clone, Default)]
pub struct Records {
    pub troubles: Vec<Trouble>,
    /// What the newest run had to tell beside its values.
    pub notes: Vec<Note>,
    by_pin: HashMap<Key, Vec<Record>>,
}

impl Records {
    /// Reads the records of the root, within bounds. Files in the order of their names.
    pub fn read(shelf: &Shelf) -> Records {
        let mut records = Records::default();
        let Some(folder) = RelPath::new(FOLDER) else { return records };
        let Ok(Some(real)) = shelf.root().resolved(&folder) else { return records };
        let Ok(entries) = std::fs::read_dir(real) else { return records };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.ends_with(".jsonl"))
            .collect();
        names.sort();
        if names.len() > MOST_FILES {
            let message = format!("{FOLDER} holds {} files; the last {MOST_FILES} are read", names.len());
            records.troubles.push(Trouble { file: folder.clone(), at: None, message });
            names.drain(..names.len() - MOST_FILES);
        }
        let mut left = MOST_LINES;
        for path in names.iter().filter_map(|name| folder.join(name)) {
            match shelf.disk(&path) {
                Read::Bytes(bytes) => records.add(&path, &bytes, &mut left),
                Read::Missing => {}
                Read::Refused(message) => records.troubles.push(Trouble { file: path, at: None, message }),
            }
        }
        records.age(shelf);
        records.notes = notes::read(shelf);
        records
    }

    /// A run that says at which commit it was made tells nothing of code that is newer. Tests do not count,
    /// nor files that hold pins: a comment above one of them must not age the others.
    fn age(&mut self, shelf: &Shelf) {
        let dated = |record: &&mut Record| record.revision.is_some() && record.at.is_some();
        let mut records: Vec<&mut Record> = self.by_pin.values_mut().flatten().collect();
        let with_pins: HashSet<RelPath> = records.iter().map(|record| record.file.clone()).collect();
        if !records.iter_mut().any(|record| dated(record)) {
            return;
        }
        let code =
            |path: &&RelPath| Language::of(path.name()).is_some() && !is_of_tests(path) && !with_pins.contains(*path);
        let newest = shelf.files().filter(code).filter_map(|path| shelf.stamp(path)?.modified).max();
        let Some(newest) = newest.and_then(|newest| jiff::Timestamp::try_from(newest).ok()) else { return };
        for record in records.into_iter().filter(dated) {
            record.aged = record.at.is_some_and(|at| at < newest);
        }
    }

    /// Adds the records of one file.
    fn add(&mut self, path: &RelPath, bytes: &[u8], left: &mut usize) {
        let mut wrong = 0;
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let read = if *left == 0 {
                Err(format!("more than {MOST_LINES} records; the rest is not read"))
            } else if line.len() > LONGEST_LINE {
                Err(format!("this line is longer than {} MB and is not read", LONGEST_LINE >> 20))
            } else {
                std::str::from_utf8(line)
                    .map_err(|_| "this line is not UTF-8 text".to_string())
                    .and_then(|line| Record::parse(line, path))
            };
            match read {
                Ok(record) => {
                    *left -= 1;
                    let key = (record.file.clone(), record.test.clone(), record.nth, record.oracle.clone());
                    self.by_pin.entry(key).or_default().push(record);
                }
                Err(message) => {
                    wrong += 1;
                    if wrong <= MOST_TROUBLES {
                        self.troubles.push(Trouble { file: path.clone(), at: Some((number + 1, 1)), message });
                    }
                    if *left == 0 {
                        return;
                    }
                }
            }
        }
    }

    /// Records of one pin, in the order in which they were read.
    pub fn of(&self, pin: &Pin) -> &[Record] {
        let key = (pin.file.clone(), pin.test_base().to_string(), pin.nth, pin.oracle.key.clone());
        self.by_pin.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// Digest of an assertion's source, white space squeezed: a formatter does not make another pin of it.
pub fn assertion_digest(source: &str) -> String {
    let words: Vec<&str> = source.split_whitespace().collect();
    digest_of(&[words.join(" ").as_bytes()])
}

/// Bytes as standard base64 with its padding.
fn base64_of(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut bits = 0u32;
        for at in 0..3 {
            bits = bits << 8 | u32::from(group.get(at).copied().unwrap_or(0));
        }
        for at in 0..4 {
            let digit = (bits >> (18 - 6 * at) & 63) as usize;
            out.push(if at > group.len() { '=' } else { char::from(DIGITS[digit]) });
        }
    }
    out
}

/// Standard base64 with its padding.
pub fn base64(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let groups = text.len() / 4;
    for (i, group) in text.chunks_exact(4).enumerate() {
        let padding = group.iter().rev().take_while(|byte| **byte == b'=').count();
        if padding > 2 || (padding > 0 && i + 1 != groups) {
            return None;
        }
        let mut bits = 0u32;
        for byte in &group[..4 - padding] {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * padding;
        out.extend(bits.to_be_bytes().into_iter().skip(1).take(3 - padding));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_or_refused() {
        assert_eq!(base64("AAH/"), Some(vec![0, 1, 255]));
        assert_eq!(base64("aGk="), Some(b"hi".to_vec()));
        assert_eq!(base64("aA=="), Some(b"h".to_vec()));
        assert_eq!(base64(""), Some(vec![]));
        for bytes in [&b""[..], b"a", b"ab", b"abc", b"\0\xff\x7f\x80"] {
            assert_eq!(base64(&base64_of(bytes)), Some(bytes.to_vec()));
        }
        for broken in ["a", "a===", "aA==aA==", "====", "a*b="] {
            assert_eq!(base64(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        let path = RelPath::new(".pindrift/observed/a.jsonl").unwrap();
        let record = Record {
            path: path.clone(),
            file: RelPath::new("tests/test_a.py").unwrap(),
            test: "tests/test_a.py::test_x".into(),
            nth: 2,
            oracle: "tests/test_a.py#literal:2".into(),
            oracle_digest: Some("sha256:00".into()),
            assertion: None,
            outcome: Outcome::Differs,
            value: Some(Value::Text("a\u{2028}\"\n\u{202e}".into())),
            preimage: None,
            aged: false,
            lossy: true,
            at: "2026-08-28T10:00:00Z".parse().ok(),
            run: Some("r".into()),
            command: Some("pytest".into()),
            revision: None,
            dirty: vec![RelPath::new("legacy.py").unwrap()],
            environment: BTreeMap::from([("TZ".into(), "UTC".into())]),
        };
        let line = record.to_line();
        assert!(!line.contains('\n'));
        assert_eq!(Record::parse(&line, &path), Ok(record));
    }
}
