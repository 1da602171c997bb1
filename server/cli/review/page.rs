//! What stands on the screen of a review: one drift as lines of a given width. Takes a case, gives pieces of
//! text with their tone; nothing in them steers a terminal. Side by side where there is room, else one
//! below the other. Never truncates a changed line: it goes on in the next one.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::super::render;
use crate::drift::{self, Drift, Part, Row, Side};
use crate::survey::{Case, Shown};
use crate::text::{hidden, one_line};

/// Fewest columns in which both sides stand beside each other.
pub const WIDE: usize = 120;
/// Columns of a line's number and sign.
const GUTTER: usize = 7;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Dim,
    Strong,
    Removed,
    Added,
    /// The words that changed within a line.
    RemovedWord,
    AddedWord,
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub tone: Tone,
    pub text: String,
}

/// One line of the screen, and the place of the drift that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    pub pieces: Vec<Piece>,
    pub hunk: Option<usize>,
}

impl Line {
    pub fn of(tone: Tone, text: impl Into<String>) -> Line {
        Line { pieces: vec![Piece { tone, text: text.into() }], hunk: None }
    }

    fn width(&self) -> usize {
        self.pieces.iter().map(|piece| piece.text.width()).sum()
    }

    /// As it is written to a terminal.
    pub fn painted(&self, colour: bool) -> String {
        let code = |tone| match tone {
            Tone::Plain => "",
            Tone::Dim => "2",
            Tone::Strong => "1",
            Tone::Removed => "31",
            Tone::Added => "32",
            Tone::RemovedWord => "1;7;31",
            Tone::AddedWord => "1;7;32",
            Tone::Warning => "33",
        };
        self.pieces
            .iter()
            .map(|piece| match code(piece.tone) {
                "" => piece.text.clone(),
                _ if !colour => piece.text.clone(),
                code => format!("\u{1b}[{code}m{}\u{1b}[0m", piece.text),
            })
            .collect()
    }
}

/// One character as it is shown, and how many columns it takes.
struct Glyph {
    text: String,
    columns: usize,
    changed: bool,
}

/// Nothing of it is sent raw that steers; blanks are seen where they are what changed.
fn glyphs(parts: &[Part]) -> Vec<Glyph> {
    let mut out: Vec<Glyph> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let last = at + 1 == parts.len();
        let blank = part.text.trim().is_empty() || last;
        let visible = part.text.trim_end_matches([' ', '\t']).chars().count();
        for (nth, c) in part.text.chars().enumerate() {
            let seen = part.changed && blank && (nth >= visible || part.text.trim().is_empty());
            let text = match c {
                ' ' if seen => "·".to_string(),
                '\t' if part.changed => "\\t".to_string(),
                '\t' => "    ".to_string(),
                '\r' => "\\r".to_string(),
                c if hidden(c) || c == '\u{ad}' || c == '\u{200b}' => format!("\\u{{{:x}}}", c as u32),
                c => c.to_string(),
            };
            match (c.width(), out.last_mut()) {
                (Some(0), Some(glyph)) if text.chars().eq([c]) => glyph.text.push(c),
                (Some(0), None) if text.chars().eq([c]) => {
                    let text = format!("\\u{{{:x}}}", c as u32);
                    out.push(Glyph { columns: text.len(), text, changed: part.changed });
                }
                _ => out.push(Glyph { columns: text.width(), text, changed: part.changed }),
            }
        }
    }
    out
}

/// One line of one side, wrapped. `carets`: below each line what changed is marked.
fn cell(side: &Side, sign: char, width: usize, carets: bool) -> Vec<Vec<Piece>> {
    let (tone, word) = match sign {
        '-' => (Tone::Removed, Tone::RemovedWord),
        '+' => (Tone::Added, Tone::AddedWord),
        _ => (Tone::Plain, Tone::Plain),
    };
    let glyphs = glyphs(&side.parts);
    let within = glyphs.iter().any(|glyph| glyph.changed) && glyphs.iter().any(|glyph| !glyph.changed);
    let room = width.saturating_sub(GUTTER).max(8);
    let mut lines: Vec<Vec<&Glyph>> = vec![Vec::new()];
    let mut used = 0;
    for glyph in &glyphs {
        if used + glyph.columns > room {
            lines.push(Vec::new());
            used = 0;
        }
        used += glyph.columns;
        if let Some(line) = lines.last_mut() {
            line.push(glyph);
        }
    }
    let mut out = Vec::new();
    for (nth, line) in lines.iter().enumerate() {
        let gutter = if nth == 0 { format!("{:>5}{sign} ", side.line) } else { format!("{:>5}{sign} ", "") };
        let mut pieces = vec![Piece { tone: if sign == ' ' { Tone::Dim } else { tone }, text: gutter }];
        for glyph in line {
            let tone = if glyph.changed && within { word } else { tone };
            match pieces.last_mut() {
                Some(piece) if piece.tone == tone => piece.text.push_str(&glyph.text),
                _ => pieces.push(Piece { tone, text: glyph.text.clone() }),
            }
        }
        out.push(pieces);
        if carets && within && line.iter().any(|glyph| glyph.changed) {
            let mut marks = " ".repeat(GUTTER);
            for glyph in line {
                marks.push_str(&(if glyph.changed { "^" } else { " " }).repeat(glyph.columns));
            }
            out.push(vec![Piece { tone: Tone::Dim, text: marks.trim_end().to_string() }]);
        }
    }
    out
}

/// The difference of a case in lines of this width.
pub fn body(case: &Case, width: usize, colour: bool) -> Vec<Line> {
    let (Some(found), Some(Shown { before, after })) = (&case.drift, case.shown()) else {
        return vec![Line::of(Tone::Plain, "Nothing was observed.")];
    };
    let before = before.as_ref().map(render::as_text).unwrap_or_default();
    let after = render::as_text(&after);
    let hunks = match case.pin.oracle.kind {
        // The places of a digest are those of the texts behind it.
        crate::oracles::OracleKind::Digest => {
            let text = |text: &str| crate::oracles::Content::Text(text.to_string());
            drift::drift(&text(&before), &text(&after), drift::Options::default()).map(|of_texts| of_texts.hunks)
        }
        _ => None,
    };
    let hunks = hunks.unwrap_or_else(|| found.hunks.clone());
    let mut out: Vec<Line> = Vec::new();
    if found.bounded {
        let text = "Too large to be shown here: `pindrift diff` prints it, `pindrift accept` decides on it. First:";
        out.extend(wrapped(text, Tone::Warning, width));
    }
    if hunks.is_empty() {
        out.extend(wrapped(&format!("recorded: {}", one_line(&before, 200)), Tone::Removed, width));
        out.extend(wrapped(&format!("observed: {}", one_line(&after, 200)), Tone::Added, width));
        out.extend(wrapped(&found.brief, Tone::Plain, width));
        return out;
    }
    let rows = drift::rows(&before, &after, &hunks);
    let mut at = 0;
    while let Some(row) = rows.get(at) {
        match row {
            Row::Left(lines) => {
                let text = if *lines == 1 { "1 equal line".to_string() } else { format!("{lines} equal lines") };
                out.push(Line::of(Tone::Dim, format!("    ⋮ {text}")));
                at += 1;
            }
            Row::Same { before, after, text } => {
                let part = |line| Side { line, parts: vec![Part { text: text.clone(), changed: false }] };
                if width >= WIDE {
                    out.extend(beside(Some((&part(*before), ' ')), Some((&part(*after), ' ')), width, !colour, None));
                } else {
                    out.extend(whole(cell(&part(*after), ' ', width, false), None));
                }
                at += 1;
            }
            Row::Changed { hunk, .. } => {
                let end = rows[at..]
                    .iter()
                    .position(|row| !matches!(row, Row::Changed { hunk: other, .. } if other == hunk))
                    .map_or(rows.len(), |length| at + length);
                out.push(place(case, found, *hunk, hunks.len()));
                region(&mut out, rows.get(at..end).unwrap_or_default(), *hunk, width, colour);
                at = end;
            }
        }
    }
    if before.lines().eq(after.lines()) {
        out.extend(wrapped(&found.brief, Tone::Strong, width));
    }
    out
}

/// `place 2 of 3: volatile, judged noise`.
fn place(case: &Case, found: &Drift, hunk: usize, all: usize) -> Line {
    let kind = found.hunks.get(hunk).map(|hunk| drift::words(&hunk.difference));
    let kind = kind.unwrap_or_else(|| found.difference_word());
    let judged = case.spoken.get(hunk).and_then(Option::as_ref);
    let judged = judged.map(|spoken| format!(", judged {}", spoken.verdict.word())).unwrap_or_default();
    Line { hunk: Some(hunk), ..Line::of(Tone::Strong, format!("  place {} of {all}: {kind}{judged}", hunk + 1)) }
}

/// The lines of one region.
fn region(out: &mut Vec<Line>, rows: &[Row], hunk: usize, width: usize, colour: bool) {
    let sides = |row: &Row| match row {
        Row::Changed { before, after, .. } => (before.clone(), after.clone()),
        _ => (None, None),
    };
    if width >= WIDE {
        for row in rows {
            let (before, after) = sides(row);
            let before = before.as_ref().map(|side| (side, '-'));
            let after = after.as_ref().map(|side| (side, '+'));
            out.extend(beside(before, after, width, !colour, Some(hunk)));
        }
        return;
    }
    for side in rows.iter().filter_map(|row| sides(row).0) {
        out.extend(whole(cell(&side, '-', width, !colour), Some(hunk)));
    }
    for side in rows.iter().filter_map(|row| sides(row).1) {
        out.extend(whole(cell(&side, '+', width, !colour), Some(hunk)));
    }
}

fn whole(lines: Vec<Vec<Piece>>, hunk: Option<usize>) -> impl Iterator<Item = Line> {
    lines.into_iter().map(move |pieces| Line { pieces, hunk })
}

/// Two sides in one line, as often as the longer one needs.
fn beside(
    before: Option<(&Side, char)>,
    after: Option<(&Side, char)>,
    width: usize,
    carets: bool,
    hunk: Option<usize>,
) -> Vec<Line> {
    let column = (width - 3) / 2;
    let lines = |side: Option<(&Side, char)>| side.map(|(side, sign)| cell(side, sign, column, carets));
    let (left, right) = (lines(before).unwrap_or_default(), lines(after).unwrap_or_default());
    let count = left.len().max(right.len());
    (0..count)
        .map(|at| {
            let mut line = Line { pieces: left.get(at).cloned().unwrap_or_default(), hunk };
            let pad = column.saturating_sub(line.width());
            line.pieces.push(Piece { tone: Tone::Plain, text: " ".repeat(pad) });
            line.pieces.push(Piece { tone: Tone::Dim, text: " │ ".into() });
            line.pieces.extend(right.get(at).cloned().unwrap_or_default());
            line
        })
        .collect()
}

/// The values of a structured text that changed; nothing where the texts have no structure.
pub fn values(case: &Case, width: usize) -> Vec<Line> {
    let Some(Shown { before: Some(before), after }) = case.shown() else { return Vec::new() };
    let (before, after) = (render::as_text(&before), render::as_text(&after));
    let Some(read) = drift::read(&before, &after) else { return Vec::new() };
    let count = read.changes.len() + read.more;
    let mut out = vec![Line::of(Tone::Strong, format!("{count} of {} values ({})", read.values, read.format.word()))];
    for change in &read.changes {
        out.extend(wrapped(&one_line(&change.line(), 1_000), Tone::Plain, width));
    }
    if read.more > 0 {
        out.push(Line::of(Tone::Dim, format!("… and {} more", read.more)));
    }
    out
}

/// A text in lines of this width, broken between words where that can be.
pub fn wrapped(text: &str, tone: Tone, width: usize) -> Vec<Line> {
    let width = width.max(8);
    let mut lines: Vec<String> = vec![String::new()];
    let mut used = 0;
    for word in one_line(text, 4_000).split_inclusive(' ') {
        let wide = word.trim_end().width();
        if used > 0 && used + wide > width {
            lines.push(String::new());
            used = 0;
        }
        for c in word.chars() {
            let columns = c.width().unwrap_or(0);
            if used + columns > width {
                if c == ' ' {
                    continue;
                }
                lines.push(String::new());
                used = 0;
            }
            used += columns;
            if let Some(line) = lines.last_mut() {
                line.push(c);
            }
        }
    }
    lines.into_iter().map(|line| Line::of(tone, line.trim_end())).collect()
}

/// A text cut to this width, its end with `…`.
pub fn cut(text: &str, width: usize) -> String {
    let text = one_line(text, 4_000);
    if text.width() <= width {
        return text;
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests;
