//! The cases of one file: in the dot-delimited form with the place of the recorded text, in the YAML form by their
//! keys. Takes the file's text, gives the cases in its order. Never compares.

use std::collections::{BTreeMap, BTreeSet};

use crate::oracles::pytest_golden::yaml;
use crate::oracles::reading::python_lines;
use crate::text::Span;

/// Most cases of one file.
const MOST: usize = 6_000;

#[derive(Debug, Clone, Default)]
pub struct Case {
    /// The title, with a number where others before it have the same.
    pub name: String,
    pub title: String,
    /// 1-based line of the title.
    pub line: usize,
    pub content: String,
    pub recorded: String,
    /// Bytes of the recorded text in the file, and the 1-based line of its first.
    pub expected: Span,
    pub expected_line: usize,
}

/// `None` where the file is not one of cases.
pub fn read(bytes: &[u8], yaml: bool) -> Option<Vec<Case>> {
    let text = std::str::from_utf8(bytes).ok()?;
    if !yaml {
        return Some(dotted(text));
    }
    let keys = yaml::keys(text)?.into_iter().take(MOST);
    let case = |(title, line): (String, usize)| Case { name: title.clone(), title, line, ..Case::default() };
    Some(keys.map(case).collect())
}

/// The cases of the dot-delimited form; one that is not closed is none.
pub fn dotted(text: &str) -> Vec<Case> {
    let plain = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
    let mut found: Vec<Case> = Vec::new();
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    let (mut case, mut part, mut at, mut begin, mut before) = (Case::default(), 0, 0, 0, "");
    for (nth, line) in python_lines(text).into_iter().enumerate() {
        if line.trim_end() == "." {
            let inside = text.get(begin..at).unwrap_or_default();
            match part {
                0 => case = Case { title: before.trim().to_string(), line: nth, ..Case::default() },
                1 => (case.content, case.expected_line) = (plain(inside), nth + 2),
                _ => {
                    (case.recorded, case.expected) = (plain(inside), Span::new(begin, at));
                    let count = met.entry(case.title.clone()).or_default();
                    loop {
                        *count += 1;
                        case.name = match (case.title.as_str(), *count) {
                            ("", nth) => format!("({nth})"),
                            (title, 1) => title.to_string(),
                            (title, nth) => format!("{title} ({nth})"),
                        };
                        if names.insert(case.name.clone()) {
                            break;
                        }
                    }
                    found.push(std::mem::take(&mut case));
                    if found.len() == MOST {
                        break;
                    }
                }
            }
            part = (part + 1) % 3;
            begin = at + line.len();
        }
        at += line.len();
        before = line;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_name_of_its_own() {
        let names = |titles: &[&str]| {
            let text: String = titles.iter().map(|title| format!("{title}\n.\nin\n.\nout\n.\n\n")).collect();
            dotted(&text).into_iter().map(|case| case.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["a (2)", "a", "a"]), ["a (2)", "a", "a (3)"]);
        assert_eq!(names(&["a", "a", "a (2)"]), ["a", "a (2)", "a (2) (2)"]);
        assert_eq!(names(&["(1)", "", ""]), ["(1)", "(2)", "(3)"]);
    }
}
