//! The shapes of a report: text for people, lines for a pull request's checks, SARIF for code scanners.
//! Takes rows and findings that are already decided, gives text.

use std::fmt::Write;

use serde_json::json;

use crate::oracles::{Content, FileChange};
use crate::report::{FindingRow, Row};
use crate::shelf::Read;
use crate::survey::Workspace;

/// Escape codes, or nothing. A text never relies on them alone.
#[derive(Debug, Clone, Copy)]
pub struct Paint(pub bool);

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_string() }
    }

    pub fn strong(self, text: &str) -> String {
        self.with("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub fn removed(self, text: &str) -> String {
        self.with("31", text)
    }

    pub fn added(self, text: &str) -> String {
        self.with("32", text)
    }

    pub fn severity(self, word: &str) -> String {
        match word {
            "error" => self.with("1;31", word),
            "warning" => self.with("33", word),
            _ => self.with("36", word),
        }
    }
}

/// `text` safe for one line of a terminal: control characters and those that reorder text are spelled out.
pub fn plain(text: &str) -> String {
    text.chars().map(shown).collect()
}

/// `1 pin`, `2 pins`.
pub fn count(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// The same for a text whose line ends and tabs stay.
pub fn plain_lines(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '\n' | '\t') { c.to_string() } else { shown(c) }).collect()
}

fn shown(c: char) -> String {
    let reorders = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}');
    if c.is_control() || reorders || matches!(c, '\u{2028}' | '\u{2029}') {
        c.escape_default().to_string()
    } else {
        c.to_string()
    }
}

/// `tests/golden/a.txt:4,5`, `tests/test_a.py:7 (literal)`.
pub fn oracle(row: &Row) -> String {
    let mut text = match &row.oracle.path {
        Some(path) => path.clone(),
        None => "a baseline whose name is known only when the test runs".to_string(),
    };
    if let Some(entry) = &row.oracle.entry {
        let _ = write!(text, "#{entry}");
    }
    let lines: Vec<usize> =
        if row.changed_lines.is_empty() { row.inserted_after.clone() } else { row.changed_lines.clone() };
    let lines = match (lines.as_slice(), row.oracle.line) {
        ([], Some(line)) => vec![line],
        _ => lines,
    };
    if !lines.is_empty() {
        let _ = write!(text, ":{}", runs(&lines));
    }
    if row.oracle.kind != "file" {
        let _ = write!(text, " ({})", row.oracle.kind);
    }
    plain(&text)
}

/// `4-6,9` of rising line numbers, cut after a few.
fn runs(lines: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for line in lines {
        match parts.last_mut() {
            Some((_, end)) if *end + 1 == *line => *end = *line,
            _ => parts.push((*line, *line)),
        }
    }
    let cut = parts.len() > 5;
    let mut text = parts
        .iter()
        .take(5)
        .map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") })
        .collect::<Vec<_>>()
        .join(",");
    if cut {
        text.push_str(",…");
    }
    text
}

/// One row of `pins`.
pub fn pin_line(row: &Row, paint: Paint) -> String {
    let missing = if row.state == "missing" { "  missing" } else { "" };
    format!(
        "{}:{}  {}\n    {} {}, {}{missing}\n",
        row.file,
        row.line,
        paint.strong(&plain(&row.test)),
        row.framework,
        row.role,
        oracle(row)
    )
}

/// A row of `check` that wants a person.
pub fn drift_lines(row: &Row, brief: Option<&str>, paint: Paint) -> String {
    let id = row.drift.as_deref().unwrap_or("-");
    let mut text = format!("{}:{}  {}\n", row.file, row.line, paint.strong(&plain(&row.test)));
    let kind = row.difference.as_deref().map(|kind| format!(", {kind}")).unwrap_or_default();
    let judged = row.verdict.as_deref().filter(|_| row.drift.is_some() && row.state == "drift");
    let judged = judged.map(|verdict| format!(", judged {verdict}")).unwrap_or_default();
    let _ = writeln!(text, "    {} {id}{kind}{judged}, {}", paint.severity_of(row.state), oracle(row));
    if let Some(brief) = brief {
        let _ = writeln!(text, "    {}", plain(brief));
    }
    text
}

/// The further drifts of a change, below the first.
pub fn same_change(rows: &[&Row], paint: Paint) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("    the same change in {} more:\n", rows.len());
    for row in rows {
        let id = row.drift.as_deref().unwrap_or("-");
        let judged = row.verdict.as_deref().map(|verdict| format!(", judged {verdict}")).unwrap_or_default();
        let _ = writeln!(text, "      {id}{judged}, {}", oracle(row));
        let _ = writeln!(text, "        {}:{}  {}", row.file, row.line, paint.strong(&plain(&row.test)));
        if let Some(it) = &row.proposal {
            let _ = writeln!(text, "        {} proposes {}: {}", plain(&it.by), it.verdict, plain(&it.reason));
        }
    }
    text
}

/// The reason that was given for another drift of the same change.
pub fn offered(reason: &str) -> String {
    let reason = plain(&crate::text::one_line(reason, 200));
    format!(
        "    accepted elsewhere for this reason: {reason}\n    `pindrift accept ID --same-reason` confirms it for one more\n"
    )
}

impl Paint {
    fn severity_of(self, state: &str) -> String {
        match state {
            "failed" => self.with("1;31", state),
            _ => self.with("33", state),
        }
    }
}

/// A pin that no run has told of, with the call that runs its test.
pub fn unobserved_line(row: &Row, run: Option<&str>, paint: Paint) -> String {
    let place = paint.strong(&format!("{}:{}", plain(&row.file), row.line));
    let run = run.map(|run| format!("; `{}` runs it", plain(run))).unwrap_or_default();
    format!("{place}  {}\n    {}, {}{run}\n", plain(&row.test), row.state, plain(&oracle(row)))
}

/// One finding.
pub fn finding_lines(finding: &FindingRow, paint: Paint) -> String {
    format!(
        "{}:{}  {}[{}] {}\n",
        finding.file,
        finding.line,
        paint.severity(finding.severity),
        finding.code,
        plain_lines(finding.message.trim_end()).replace('\n', "\n    ")
    )
}

/// Workflow commands of a GitHub run: one annotation a finding.
pub fn github(findings: &[FindingRow]) -> String {
    let mut text = String::new();
    for finding in findings {
        let level = match finding.severity {
            "error" => "error",
            "warning" => "warning",
            _ => "notice",
        };
        let _ = writeln!(
            text,
            "::{level} file={},line={},title={}::{}",
            property(&finding.file),
            finding.line,
            property(&format!("pindrift {}", finding.code)),
            data(&finding.message)
        );
    }
    text
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// SARIF 2.1.0, one result a finding.
pub fn sarif(findings: &[FindingRow]) -> String {
    let mut codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let results: Vec<_> = findings
        .iter()
        .map(|finding| {
            json!({
                "ruleId": finding.code,
                "level": match finding.severity { "error" => "error", "warning" => "warning", _ => "note" },
                "message": { "text": finding.message },
                "locations": [{ "physicalLocation": {
                    "artifactLocation": { "uri": uri(&finding.file), "uriBaseId": "%SRCROOT%" },
                    "region": { "startLine": finding.line.max(1) },
                } }],
            })
        })
        .collect();
    let report = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "pindrift",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| json!({ "id": code })).collect::<Vec<_>>(),
            } },
            "results": results,
        }],
    });
    format!("{report:#}\n")
}

/// A path as a relative URI reference.
fn uri(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// A content as lines of text, or what it is where it has none.
pub fn as_text(content: &Content) -> String {
    match content {
        Content::Text(text) | Content::Value(text) => text.clone(),
        Content::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => text.to_string(),
            _ => format!("{} bytes, {}\n", bytes.len(), content.digest()),
        },
    }
}

/// Unified diff of two contents, to be read: nothing in it steers a terminal or a log.
pub fn diff(before: &str, after: &str, names: (&str, &str), paint: Paint) -> String {
    unified(before, after, names)
        .split_terminator('\n')
        .map(|line| match line.chars().next() {
            Some('+') => paint.added(&plain_lines(line)) + "\n",
            Some('-') => paint.removed(&plain_lines(line)) + "\n",
            Some('@') => paint.dim(line) + "\n",
            _ => plain_lines(line) + "\n",
        })
        .collect()
}

fn unified(before: &str, after: &str, names: (&str, &str)) -> String {
    let diff = similar::TextDiff::configure().timeout(std::time::Duration::from_millis(500)).diff_lines(before, after);
    diff.unified_diff().header(names.0, names.1).to_string()
}

/// One file's change as a patch that `git apply` takes; of bytes that are no text only what they are. `shown`:
/// to be read, with every sign that would steer a terminal spelled out.
pub fn patch(change: &FileChange, workspace: &Workspace, shown: Option<Paint>) -> String {
    let before = match workspace.project.shelf.disk(&change.path) {
        Read::Bytes(bytes) => Some(bytes.to_vec()),
        _ => None,
    };
    let name = |bytes: &Option<Vec<u8>>, side: &str| match bytes {
        Some(_) => quoted(&format!("{side}/{}", change.path)),
        None => "/dev/null".to_string(),
    };
    let names = (name(&before, "a"), name(&change.after, "b"));
    let content = |bytes: Option<Vec<u8>>| as_text(&Content::Bytes(bytes.unwrap_or_default()));
    let (before, after, names) = (content(before), content(change.after.clone()), (&*names.0, &*names.1));
    match shown {
        Some(paint) => diff(&before, &after, names, paint),
        None => unified(&before, &after, names),
    }
}

/// A path as git writes it in a patch: quoted where it has to be, with a tab behind it where it has spaces.
fn quoted(path: &str) -> String {
    if !path.contains(|c: char| c.is_control() || matches!(c, '"' | '\\')) {
        return if path.contains(' ') { format!("{path}\t") } else { path.to_string() };
    }
    let mut text = String::from("\"");
    for c in path.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => c.to_string().bytes().for_each(|byte| text.push_str(&format!("\\{byte:03o}"))),
            c => text.push(c),
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_driven_by_what_was_observed() {
        assert_eq!(plain("a\u{1b}[2Jb\u{202e}c\r\n"), "a\\u{1b}[2Jb\\u{202e}c\\r\\n");
        assert_eq!(plain_lines("a\tb\n\u{1b}"), "a\tb\n\\u{1b}");
    }

    #[test]
    fn annotations_stay_on_their_line() {
        let finding = FindingRow {
            code: "drift",
            severity: "warning",
            file: "a,b.py".into(),
            line: 3,
            message: "50% more\n::error::no".into(),
            baseline: None,
            entry: None,
        };
        assert_eq!(
            github(std::slice::from_ref(&finding)),
            "::warning file=a%2Cb.py,line=3,title=pindrift drift::50%25 more%0A::error::no\n"
        );
        let report: serde_json::Value = serde_json::from_str(&sarif(&[finding])).expect("JSON");
        let result = &report["runs"][0]["results"][0];
        assert_eq!(result["level"], "warning");
        assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%2Cb.py");
    }

    #[test]
    fn lines_are_joined_to_runs() {
        assert_eq!(runs(&[4, 5, 6, 9]), "4-6,9");
        assert_eq!(runs(&[1, 3, 5, 7, 9, 11]), "1,3,5,7,9,…");
    }
}
