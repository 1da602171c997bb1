//! The texts that the editor has open. Takes the editor's changes in its own encoding, gives texts.
//! A change that does not fit drops the text until the next whole one: a wrong text is worse than none.
//! Never reads a file.

use crate::text::{Encoding, Text};

/// One open document.
#[derive(Debug)]
pub struct Document {
    pub version: i32,
    /// `None` after a change that did not fit.
    body: Option<Body>,
}

/// A text that is being changed, with the offset of each line's start.
#[derive(Debug)]
struct Body {
    text: String,
    starts: Vec<usize>,
    /// The same as an immutable text, made when somebody asks.
    published: Option<Text>,
}

/// A replacement; without a range, of everything. Lines and columns are 0-based, columns in the encoding
/// that was agreed on.
#[derive(Debug, Clone)]
pub struct Change {
    pub range: Option<((u32, u32), (u32, u32))>,
    pub text: String,
}

impl Document {
    pub fn new(version: i32, text: String) -> Document {
        Document { version, body: Some(Body::new(text)) }
    }

    /// Applies changes in order. `false` when one did not fit, or the version did not rise: then there is
    /// no text until a whole one comes.
    pub fn change(&mut self, version: i32, changes: Vec<Change>, encoding: Encoding) -> bool {
        let rises = version > self.version;
        self.version = version;
        if !rises && changes.iter().all(|change| change.range.is_some()) {
            self.body = None;
            return false;
        }
        for change in changes {
            match change.range {
                None => self.body = Some(Body::new(change.text)),
                Some((start, end)) => {
                    let fits = self.body.as_mut().is_some_and(|body| body.replace(start, end, &change.text, encoding));
                    if !fits {
                        self.body = None;
                    }
                }
            }
        }
        self.body.is_some()
    }

    /// The whole text as saved, from clients that send it.
    pub fn set(&mut self, text: String) {
        if self.body.as_ref().is_none_or(|body| body.text != text) {
            self.body = Some(Body::new(text));
        }
    }

    pub fn text(&mut self) -> Option<Text> {
        let body = self.body.as_mut()?;
        Some(body.published.get_or_insert_with(|| Text::new(body.text.as_str())).clone())
    }
}

impl Body {
    fn new(text: String) -> Body {
        let starts =
            std::iter::once(0).chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1));
        Body { starts: starts.collect(), text, published: None }
    }

    /// Byte offset of a position. A column past the end of its line is the end of the line, the line
    /// after the last one is the end of the text; anything beyond does not fit.
    fn offset(&self, (line, column): (u32, u32), encoding: Encoding) -> Option<usize> {
        let line = line as usize;
        if line == self.starts.len() && column == 0 {
            return Some(self.text.len());
        }
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let body = self.text.get(start..end)?;
        let body = body.strip_suffix('\n').unwrap_or(body);
        let body = body.strip_suffix('\r').unwrap_or(body);
        let mut left = column as usize;
        for (at, c) in body.char_indices() {
            let width = match encoding {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
            };
            if left < width {
                return Some(start + at);
            }
            left -= width;
        }
        Some(start + body.len())
    }

    fn replace(&mut self, start: (u32, u32), end: (u32, u32), with: &str, encoding: Encoding) -> bool {
        let (Some(from), Some(to)) = (self.offset(start, encoding), self.offset(end, encoding)) else { return false };
        if from > to {
            return false;
        }
        self.published = None;
        self.text.replace_range(from..to, with);
        // Starts behind `from` and up to `to` go, those behind are moved, those of the new text come.
        let first = self.starts.partition_point(|at| *at <= from);
        let behind = self.starts.partition_point(|at| *at <= to);
        let new: Vec<usize> =
            with.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| from + at + 1).collect();
        let count = new.len();
        self.starts.splice(first..behind, new);
        let (gone, came) = (to - from, with.len());
        if gone != came {
            for at in &mut self.starts[first + count..] {
                *at = *at + came - gone;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edit(start: (u32, u32), end: (u32, u32), text: &str) -> Vec<Change> {
        vec![Change { range: Some((start, end)), text: text.into() }]
    }

    #[test]
    fn columns_are_those_of_the_client() {
        for (encoding, column) in [(Encoding::Utf16, 3), (Encoding::Utf8, 6)] {
            let mut document = Document::new(1, "a\r\nü😀x\r\n".into());
            assert!(document.change(2, edit((1, column), (1, column + 1), "y"), encoding));
            assert_eq!(document.text().unwrap().as_str(), "a\r\nü😀y\r\n");
        }
    }

    #[test]
    fn what_does_not_fit_drops_the_text_until_a_whole_one_comes() {
        for bad in [edit((9, 0), (9, 1), "x"), edit((1, 0), (0, 0), "x"), edit((0, 0), (7, 3), "x")] {
            let mut document = Document::new(1, "a\nb\n".into());
            assert!(!document.change(2, bad, Encoding::Utf8));
            assert!(document.text().is_none());
            assert!(!document.change(3, edit((0, 0), (0, 0), "x"), Encoding::Utf8));
            assert!(document.change(4, vec![Change { range: None, text: "whole".into() }], Encoding::Utf8));
            assert_eq!(document.text().unwrap().as_str(), "whole");
        }
        let mut document = Document::new(5, "a\n".into());
        assert!(!document.change(5, edit((0, 0), (0, 0), "x"), Encoding::Utf8), "the version did not rise");
    }

    #[test]
    fn the_line_after_the_last_is_the_end() {
        let mut document = Document::new(1, "a\nb".into());
        assert!(document.change(2, edit((1, 0), (2, 0), "c\n"), Encoding::Utf8));
        assert_eq!(document.text().unwrap().as_str(), "a\nc\n");
        assert!(document.change(3, edit((0, 99), (0, 99), "!"), Encoding::Utf16));
        assert_eq!(document.text().unwrap().as_str(), "a!\nc\n");
    }

    proptest! {
        #[test]
        fn the_text_and_its_lines_equal_a_plain_model(
            edits in prop::collection::vec((0usize..60, 0usize..12, "[a\nü😀\r]{0,6}"), 1..40),
            utf8 in any::<bool>(),
        ) {
            let encoding = if utf8 { Encoding::Utf8 } else { Encoding::Utf16 };
            let mut model = String::from("one\ntwo ü\n😀three\n");
            let mut document = Document::new(0, model.clone());
            for (version, (from, length, with)) in edits.into_iter().enumerate() {
                let from = model.floor_char_boundary(from.min(model.len()));
                let to = model.floor_char_boundary((from + length).min(model.len()));
                let text = Text::new(model.as_str());
                // Positions inside a line end name its beginning; such edits are not what is meant here.
                let (start, end) = (text.position(from, encoding), text.position(to, encoding));
                if text.offset(start.0, start.1, encoding) != Some(from) || text.offset(end.0, end.1, encoding) != Some(to) {
                    continue;
                }
                model.replace_range(from..to, &with);
                prop_assert!(document.change(version as i32 + 1, edit(start, end, &with), encoding));
                let text = document.text().unwrap();
                prop_assert_eq!(text.as_str(), model.as_str());
                let starts = Text::new(model.as_str());
                let body = document.body.as_ref().unwrap();
                prop_assert_eq!(body.starts.len(), starts.line_count());
                prop_assert!(body.starts.iter().enumerate().all(|(line, at)| *at == starts.line_start(line)));
            }
        }
    }
}
