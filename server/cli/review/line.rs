//! The line in which a reason is typed: text, a cursor, what was typed before. Takes keys, gives the text
//! when it is to count. Never judges it.

use unicode_width::UnicodeWidthChar;

use super::terminal::Key;

/// Longest text that is taken, in characters.
const LONGEST: usize = 4_000;

pub struct Line {
    text: Vec<char>,
    cursor: usize,
    /// Reasons given before, the likeliest first.
    before: Vec<String>,
    /// Which of them stands there.
    at: Option<usize>,
    /// What was typed when the first of them was asked for.
    typed: Vec<char>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    More,
    Done(String),
    Left,
}

impl Line {
    /// A line that begins with `text`.
    pub fn new(text: &str, before: Vec<String>) -> Line {
        let text: Vec<char> = text.chars().collect();
        Line { cursor: text.len(), text, before, at: None, typed: Vec::new() }
    }

    pub fn key(&mut self, key: Key) -> Typed {
        match key {
            Key::Enter => return Typed::Done(self.text.iter().collect::<String>().trim().to_string()),
            Key::Escape | Key::Control('c' | 'g') => return Typed::Left,
            Key::Char(c) if !crate::text::hidden(c) && self.text.len() < LONGEST => {
                self.text.insert(self.cursor.min(self.text.len()), c);
                self.cursor += 1;
            }
            Key::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.text.remove(self.cursor);
            }
            Key::Delete | Key::Control('d') if self.cursor < self.text.len() => {
                self.text.remove(self.cursor);
            }
            Key::Left | Key::Control('b') => self.cursor = self.cursor.saturating_sub(1),
            Key::Right | Key::Control('f') => self.cursor = (self.cursor + 1).min(self.text.len()),
            Key::Home | Key::Control('a') => self.cursor = 0,
            Key::End | Key::Control('e') => self.cursor = self.text.len(),
            Key::Control('u') => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
            }
            Key::Control('k') => self.text.truncate(self.cursor),
            Key::Control('w') => {
                let kept = self.text.get(..self.cursor).unwrap_or_default();
                let end = kept.iter().rposition(|c| !c.is_whitespace()).map_or(0, |at| at + 1);
                let start = kept.get(..end).unwrap_or_default().iter().rposition(|c| c.is_whitespace());
                let start = start.map_or(0, |at| at + 1);
                self.text.drain(start..self.cursor);
                self.cursor = start;
            }
            Key::Up | Key::Control('p') => self.older(1),
            Key::Down | Key::Control('n') => self.older(-1),
            _ => {}
        }
        Typed::More
    }

    fn older(&mut self, by: isize) {
        if self.at.is_none() {
            self.typed = self.text.clone();
        }
        let next = self.at.map_or(-1, |at| at as isize) + by;
        match usize::try_from(next) {
            Ok(next) if next < self.before.len() => {
                self.at = Some(next);
                self.text = self.before.get(next).map(|text| text.chars().collect()).unwrap_or_default();
            }
            Ok(_) => return,
            Err(_) => {
                self.at = None;
                self.text = std::mem::take(&mut self.typed);
            }
        }
        self.cursor = self.text.len();
    }

    /// The part around the cursor that fits into `width` columns, and the column of the cursor in it.
    pub fn shown(&self, width: usize) -> (String, usize) {
        let wide = |c: &char| c.width().unwrap_or(0);
        let mut start = 0;
        let used = |from: usize| self.text.get(from..self.cursor).unwrap_or_default().iter().map(wide).sum::<usize>();
        while used(start) >= width.max(2) {
            start += 1;
        }
        let mut text = String::new();
        let mut columns = 0;
        for c in self.text.get(start..).unwrap_or_default() {
            columns += wide(c);
            if columns >= width.max(2) {
                break;
            }
            text.push(*c);
        }
        (text, used(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &mut Line, text: &str) {
        text.chars().for_each(|c| assert_eq!(line.key(Key::Char(c)), Typed::More));
    }

    #[test]
    fn a_reason_is_typed_corrected_and_taken_from_before() {
        let mut line = Line::new("", vec!["newest".into(), "older".into()]);
        typed(&mut line, "tax runds");
        line.key(Key::Control('w'));
        typed(&mut line, "rounds \u{1b}half up");
        line.key(Key::Home);
        typed(&mut line, "VAT ");
        line.key(Key::Up);
        line.key(Key::Up);
        line.key(Key::Up);
        assert_eq!(line.shown(40).0, "older");
        line.key(Key::Down);
        line.key(Key::Down);
        assert_eq!(line.key(Key::Enter), Typed::Done("VAT tax rounds half up".into()));
        assert_eq!(line.key(Key::Escape), Typed::Left);
    }

    #[test]
    fn a_long_line_shows_where_the_cursor_is() {
        let mut line = Line::new("abcdefghij", Vec::new());
        assert_eq!(line.shown(5), ("ghij".into(), 4));
        line.key(Key::Home);
        assert_eq!(line.shown(5), ("abcd".into(), 0));
    }
}
