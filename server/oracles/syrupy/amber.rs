//! The `.ambr` file of syrupy 4 to 7: `# serializer version: 1`, then for each entry `# name: NAME`, the body
//! with two blanks before each line, `# ---`. Takes its text, gives the entries as syrupy's reader sees them,
//! and the text with one entry changed or added as its writer leaves it: the other entries, their order and
//! the line ends stay. Never reads a file.

use crate::oracles::Refusal;
use crate::text::Span;

/// One entry. Of several with one name the last counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub data: String,
    /// 1-based line of the first line of the body.
    pub first_line: usize,
    /// From the line of the name to the end of the divider's line.
    pub span: Span,
    /// The lines between them.
    pub body: Span,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Amber {
    pub entries: Vec<Entry>,
    /// Of the first line; `None` where it is missing.
    pub version: Option<String>,
    /// What syrupy's reader fails on, for the person.
    pub malformed: Option<String>,
}

impl Amber {
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().rfind(|entry| entry.name == name)
    }
}

/// Lines with their ends, as Python's universal newlines cut them.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let end = match rest.find(['\n', '\r']) {
            None => rest.len(),
            Some(end) if rest[end..].starts_with("\r\n") => end + 2,
            Some(end) => end + 1,
        };
        let start = at;
        at += end;
        Some((start, &rest[..end]))
    })
}

fn without_end(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}

pub fn parse(text: &str) -> Amber {
    let mut amber = Amber::default();
    // Name, start of its line, start and line of the body, data.
    let mut open: Option<(String, usize, usize, usize, String)> = None;
    for (nth, (start, line)) in lines(text).enumerate() {
        let end = start + line.len();
        if let Some(marker) = line.strip_prefix("# ") {
            let (key, value) = match marker.split_once(':') {
                Some((key, value)) => (key, Some(value.trim())),
                None => (marker, None),
            };
            match key.trim_end_matches([' ', '\r', '\n']) {
                "serializer version" if nth == 0 => amber.version = value.map(str::to_string),
                "serializer version" => {
                    amber.malformed.get_or_insert(format!("line {} has a second version", nth + 1));
                }
                "name" => match value.filter(|name| !name.is_empty()) {
                    Some(name) => open = Some((name.to_string(), start, end, nth + 2, String::new())),
                    None => {
                        amber.malformed.get_or_insert(format!("line {} has no name", nth + 1));
                    }
                },
                "---" => {
                    if let Some((name, from, body, first_line, mut data)) = open.take() {
                        if data.ends_with('\n') {
                            data.pop();
                            amber.entries.push(Entry {
                                name,
                                data,
                                first_line,
                                span: Span::new(from, end),
                                body: Span::new(body, start),
                            });
                        } else if !data.is_empty() {
                            amber.malformed.get_or_insert(format!("line {} ends an entry inside a line", nth + 1));
                        }
                    }
                }
                _ => {}
            }
        } else if let (Some((.., data)), Some(body)) = (&mut open, line.strip_prefix("  ")) {
            data.push_str(without_end(body));
            if body.ends_with(['\n', '\r']) {
                data.push('\n');
            }
        }
    }
    amber
}

/// The text with `data` as the content of the entry `name`, and the edit that makes it. `None`: the file is
/// made.
pub fn amended(text: Option<&str>, name: &str, data: &str) -> Result<(String, Span, String), Refusal> {
    let refuse = |why: String| Err(Refusal(why));
    if data.is_empty() {
        return refuse("syrupy does not read an empty entry back: the test would never pass; change the test".into());
    }
    if data.contains('\r') {
        return refuse(
            "the observed text has carriage returns, which syrupy folds before it compares; observe again".into(),
        );
    }
    if name.contains(['\n', '\r']) || name.trim() != name || name.is_empty() {
        return refuse(format!("syrupy cannot read an entry of the name {name:?} back; name the snapshot otherwise"));
    }
    let text = text.unwrap_or("");
    let crlf = text.matches("\r\n").count();
    let end = if crlf > 0 && crlf == text.matches('\n').count() { "\r\n" } else { "\n" };
    let body: String = data.split('\n').map(|line| format!("  {line}{end}")).collect();
    let amber = parse(text);
    let (span, new) = match amber.entry(name) {
        Some(entry) => (entry.body, body),
        None => {
            let header = if text.is_empty() { format!("# serializer version: 1{end}") } else { String::new() };
            if !amber.entries.is_sorted_by(|a, b| a.name <= b.name) {
                return refuse(
                    "the entries of the file do not stand in the order of their names; let syrupy write the new one, \
                     then record it"
                        .into(),
                );
            }
            let at = amber.entries.iter().find(|entry| entry.name.as_str() > name);
            let at = at.map_or(text.len(), |entry| entry.span.start);
            let glue = if at == text.len() && !text.is_empty() && !text.ends_with(['\n', '\r']) { end } else { "" };
            (Span::new(at, at), format!("{header}{glue}# name: {name}{end}{body}# ---{end}"))
        }
    };
    let mut after = String::with_capacity(text.len() + new.len());
    after.push_str(text.get(..span.start).unwrap_or(""));
    after.push_str(&new);
    after.push_str(text.get(span.end..).unwrap_or(""));
    match parse(&after).entry(name) {
        Some(entry) if entry.data == data => Ok((after, span, new)),
        _ => refuse("the observed text would not read back equal from the file; change the test".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const FILE: &str = "# serializer version: 1\n# name: test_a\n  'x'\n# ---\n# name: test_b.1\n  '''\n  one\n  \n  # ---\n  '''\n# ---\nstray\n";

    #[test]
    fn entries_are_read_as_syrupy_reads_them() {
        let amber = parse(FILE);
        assert_eq!(amber.version.as_deref(), Some("1"));
        let read: Vec<_> = amber.entries.iter().map(|e| (e.name.as_str(), e.data.as_str(), e.first_line)).collect();
        assert_eq!(read, [("test_a", "'x'", 3), ("test_b.1", "'''\none\n\n# ---\n'''", 6)]);
        assert_eq!(parse(&FILE.replace('\n', "\r\n")).entries.len(), 2);
        assert_eq!(parse("# name: a\n# ---\n").entries, []);
        assert_eq!(parse("# name: a: b \n  1\n# ---\n").entries[0].name, "a: b");
    }

    #[test]
    fn an_entry_is_changed_and_nothing_else() {
        let (after, ..) = amended(Some(FILE), "test_b.1", "'''\n\n  two\n'''").unwrap();
        expect![[r#"
            # serializer version: 1
            # name: test_a
              'x'
            # ---
            # name: test_b.1
              '''
              
                two
              '''
            # ---
            stray
        "#]]
        .assert_eq(&after);
        let crlf = FILE.replace('\n', "\r\n");
        let (after, ..) = amended(Some(&crlf), "test_a", "1").unwrap();
        assert_eq!(after, crlf.replace("'x'", "1"));
    }

    #[test]
    fn a_new_entry_stands_in_the_order_of_names() {
        let (after, ..) = amended(Some(FILE), "test_aa", "1\n").unwrap();
        assert!(after.contains("# ---\n# name: test_aa\n  1\n  \n# ---\n# name: test_b.1\n"));
        let (after, ..) = amended(None, "t", "1").unwrap();
        assert_eq!(after, "# serializer version: 1\n# name: t\n  1\n# ---\n");
        assert!(amended(None, "t", "").is_err());
        assert!(amended(None, "t", "a\rb").is_err());
        let unsorted = "# serializer version: 1\n# name: b\n  1\n# ---\n# name: a\n  1\n# ---\n";
        assert!(amended(Some(unsorted), "c", "1").is_err());
    }
}
