//! `.snap` and `.snap.new` files of insta, all generations of headers: the header, the content, and the
//! bytes that `cargo insta accept` 1.49 makes of a `.snap.new`. Pure functions of texts.

/// One snapshot file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snap {
    /// Header lines without the `---` around them, as they stand.
    pub header: Vec<String>,
    /// The oldest form: `Key: value` lines, a blank line, the content.
    pub legacy: bool,
    /// All lines after the header, joined with LF. Compared after [`Snap::normal`].
    pub content: String,
    /// 1-based line of the file on which the content begins.
    pub first_line: usize,
}

/// What the comparison sees of a content: the end trimmed, CRLF as LF.
pub fn normal(content: &str) -> String {
    content.trim_end().replace("\r\n", "\n")
}

impl Snap {
    /// Reads a file's text. The error says what is wrong with its header.
    pub fn read(text: &str) -> Result<Snap, String> {
        let mut lines = text.split_inclusive('\n');
        let mut header = Vec::new();
        let bare = |line: &str| line.trim_end_matches(['\n', '\r']).to_string();
        let first = lines.next().unwrap_or("");
        let mut read = 1;
        let legacy = first.trim_end() != "---";
        if conflict(first) {
            return Err("there are conflict markers in its header; resolve the merge first".to_string());
        }
        if legacy {
            // As insta reads it: the first line always belongs to the header.
            header.push(bare(first));
            for line in lines.by_ref() {
                read += 1;
                if line.trim_end().is_empty() {
                    break;
                }
                header.push(bare(line));
            }
        } else {
            let mut closed = false;
            for line in lines.by_ref() {
                read += 1;
                if line.trim_end() == "---" {
                    closed = true;
                    break;
                }
                if conflict(line) {
                    return Err("there are conflict markers in its header; resolve the merge first".to_string());
                }
                header.push(bare(line));
            }
            if !closed {
                return Err(
                    "its header does not end: there is no second line `---`; restore it or record it anew".to_string()
                );
            }
        }
        let content: Vec<String> = lines.map(bare).collect();
        Ok(Snap { header, legacy, content: content.join("\n"), first_line: read + 1 })
    }

    pub fn normal(&self) -> String {
        normal(&self.content)
    }

    /// Value of a top-level header key, without YAML quotes.
    pub fn key(&self, name: &str) -> Option<&str> {
        let line = self.header.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        let value = line.trim();
        Some(value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value))
    }

    /// Extension of the data file beside a binary snapshot.
    pub fn extension(&self) -> Option<&str> {
        (self.key("snapshot_kind") == Some("binary")).then(|| self.key("extension")).flatten()
    }

    /// The header as it is kept on accept: without `assertion_line`.
    pub fn kept_header(&self) -> String {
        let mut out = String::new();
        let mut gone = false;
        for line in &self.header {
            if !gone && line.starts_with("assertion_line:") {
                gone = true;
                continue;
            }
            out.push_str(line);
            out.push('\n');
        }
        out
    }
}

fn conflict(line: &str) -> bool {
    line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") || line.trim_end() == "======="
}

/// The file for a header (its lines, without the `---`) and a content.
pub fn write(header: &str, content: &str) -> String {
    format!("---\n{header}---\n{}\n", normal(content))
}

/// The header file of a binary snapshot.
pub fn write_binary(header: &str) -> String {
    format!("---\n{header}---\n")
}

/// Whether a text looks like a snapshot of insta, and not like another tool's `.snap`.
pub fn is_snap(text: &str) -> bool {
    let mut lines = text.lines();
    match lines.next().map(str::trim_end) {
        Some("---") => lines.take_while(|line| line.trim_end() != "---").any(|line| {
            ["source:", "expression:", "snapshot_kind:", "assertion_line:", "description:", "created:"]
                .iter()
                .any(|key| line.starts_with(key))
        }),
        Some(first) => {
            let first = first.to_ascii_lowercase();
            first.starts_with("expression:") || first.starts_with("source:") || first.starts_with("created:")
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let out = match Snap::read(text) {
            Ok(snap) => format!(
                "header {:?}\nlegacy {} line {}\n{:?}",
                snap.header,
                snap.legacy,
                snap.first_line,
                snap.normal()
            ),
            Err(why) => why,
        };
        expected.assert_eq(&out);
    }

    #[test]
    fn every_generation_of_header() {
        check(
            "---\nsource: a.rs\nexpression: x\n---\na\n---\nb \n\n",
            expect![[r#"
                header ["source: a.rs", "expression: x"]
                legacy false line 5
                "a\n---\nb""#]],
        );
        check(
            "Expression: x\nSource: a.rs\n\na\n",
            expect![[r#"
                header ["Expression: x", "Source: a.rs"]
                legacy true line 4
                "a""#]],
        );
        check(
            "---\r\nsource: a.rs\r\n--- \r\na\r\nb\r\n",
            expect![[r#"
                header ["source: a.rs"]
                legacy false line 4
                "a\nb""#]],
        );
        check(
            "---\nsource: a.rs\n",
            expect!["its header does not end: there is no second line `---`; restore it or record it anew"],
        );
        check(
            "---\n<<<<<<< HEAD\nsource: a.rs\n---\n",
            expect!["there are conflict markers in its header; resolve the merge first"],
        );
    }

    #[test]
    fn accept_drops_the_line_and_trims_the_end() {
        let snap = Snap::read("---\nsource: a.rs\nassertion_line: 7\nexpression: x\n---\na\n\n").unwrap();
        assert_eq!(write(&snap.kept_header(), &snap.content), "---\nsource: a.rs\nexpression: x\n---\na\n");
        assert_eq!(write(&snap.kept_header(), " "), "---\nsource: a.rs\nexpression: x\n---\n\n");
    }
}
