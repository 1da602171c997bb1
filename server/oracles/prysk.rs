//! prysk 0.20 and cram 0.7: `.t` files. A command on a line of two blanks and `$ `, its continuations behind `> `, and
//! below it what it printed and the status with which it ended. Takes the `.t` files of the workspace, gives one pin
//! for each command, the block below it as content, what a failing run left (`.t.err`, the whole file as it would
//! read), and the block with the new lines.
//!
//! A line that ends in ` (re)` or ` (glob)` stands for every line that it matches and is kept where it does, as
//! `prysk -y` keeps it. What a command prints does not depend on what is recorded, so an `.err` file speaks for every
//! block of a file with the same commands.

use regex::Regex;

use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, Oracle, OracleKind, Pin, Recorded, Refusal, Step,
    digest_of,
};
use crate::code::Unit;
use crate::pins::{Project, Site};
use crate::places::RelPath;
use crate::roles::Role;
use crate::shelf::Read;
use crate::syntax::Language;
use crate::text::{Span, Text};

pub struct Prysk;

const ID: &str = "prysk";
/// Most commands of one file, and most lines of one block that are aligned with patterns.
const MOST: usize = 2_000;
const MOST_LINES: usize = 400;

impl Framework for Prysk {
    fn id(&self) -> &'static str {
        ID
    }

    fn pins(&self, _: &Project, _: &Site) -> Vec<Pin> {
        Vec::new()
    }

    fn of_file(&self, unit: &Unit) -> Vec<Pin> {
        if !is_ours(&unit.path) {
            return Vec::new();
        }
        blocks(&unit.text).iter().take(MOST).map(|block| pin(&unit.path, block, &unit.text)).collect()
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        let Some((text, blocks, at)) = block_of(pin, project) else { return Baseline::Missing };
        let Some(block) = blocks.get(at) else { return Baseline::Missing };
        Baseline::Present(Recorded {
            content: Content::Text(block.output(&text)),
            first_line: block.first + 1,
            file_digest: digest_of(&[text.as_str().as_bytes()]),
            preimage: None,
        })
    }

    fn artefacts(&self, pin: &Pin, project: &Project) -> Vec<Artefact> {
        let Some((text, blocks, at)) = block_of(pin, project) else { return Vec::new() };
        let Some(path) = pin.file.parent().join(&format!("{}.err", pin.file.name())) else { return Vec::new() };
        let err = match project.shelf.disk(&path) {
            Read::Missing => return Vec::new(),
            Read::Refused(why) => Err(why),
            Read::Bytes(bytes) => match std::str::from_utf8(&bytes) {
                Ok(err) => Ok(Text::new(err)),
                Err(_) => Err(format!("{path} is not UTF-8 text")),
            },
        };
        let content = match err {
            Err(why) => Err(why),
            Ok(err) => {
                let others = self::blocks(&err);
                let same = others.len() == blocks.len()
                    && blocks.iter().zip(&others).all(|(a, b)| a.command(&text) == b.command(&err));
                // A run of other commands says nothing of these.
                let Some((block, other)) = blocks.get(at).zip(others.get(at)).filter(|_| same) else {
                    return Vec::new();
                };
                Ok(Content::Text(merged(&block.output(&text), &other.output(&err))))
            }
        };
        let compared_with = blocks.get(at).map(|block| Content::Text(block.output(&text)));
        vec![Artefact { path, content, compared_with, header: None, names: None, says_match: false }]
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        _artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        let refuse = |why: &str| Err(Refusal(format!("{}: {why}; nothing was written", pin.file)));
        let Content::Text(new) = observed else { return refuse("what was observed is not text") };
        let Some((text, blocks, at)) = block_of(pin, project) else { return refuse("it cannot be read") };
        let Some(block) = blocks.get(at) else { return refuse("the command is not there any more") };
        let inside = |line: &str| !line.starts_with("$ ") && !line.starts_with("> ");
        if !new.lines().all(inside) {
            return refuse("a line that was printed looks like a command and would be read as one");
        }
        let old = text.slice(block.span(&text));
        let end = if old.contains("\r\n") { "\r\n" } else { "\n" };
        let written: String = new.lines().map(|line| format!("  {line}{end}")).collect();
        let span = block.span(&text);
        let Some(after) = text.replaced(span, &written) else { return refuse("the block cannot be replaced") };
        let change = FileChange {
            path: pin.file.clone(),
            before: Some(digest_of(&[text.as_str().as_bytes()])),
            after: Some(after.as_str().as_bytes().to_vec()),
            edits: vec![(span, written)],
        };
        Ok(Amended { oracle: vec![change], ..Amended::default() })
    }
}

fn is_ours(path: &RelPath) -> bool {
    path.name().ends_with(".t") && !path.as_str().split('/').any(|part| part.starts_with('.'))
}

fn pin(path: &RelPath, block: &Block, text: &Text) -> Pin {
    Pin {
        file: path.clone(),
        span: block.at,
        test: path.to_string(),
        case: None,
        nth: 0,
        language: Language::Python,
        framework: ID.to_string(),
        role: Role::Characterization,
        asserted_in: None,
        test_span: None,
        oracle: Oracle {
            kind: OracleKind::Inline,
            path: Some(path.clone()),
            entry: None,
            span: Some(block.span(text)),
            candidates: Vec::new(),
            steps: vec![Step::Serialised(ID)],
            shown_only: None,
            key: String::new(),
            tolerance: None,
        },
        // No comment can stand in the file: prysk takes every other line as prose, and people read it.
        shared_site: true,
    }
}

/// One command with what stands below it; lines are 0-based.
struct Block {
    /// The line of the command, without its line break.
    at: Span,
    command: (usize, usize),
    first: usize,
    last: usize,
}

impl Block {
    fn command<'a>(&self, text: &'a Text) -> Vec<&'a str> {
        (self.command.0..self.command.1).map(|line| text.line(line).trim_end()).collect()
    }

    /// The recorded lines without their two blanks.
    fn output(&self, text: &Text) -> String {
        (self.first..self.last)
            .map(|line| format!("{}\n", text.line(line).get(2..).unwrap_or("").trim_end_matches(['\n', '\r'])))
            .collect()
    }

    fn span(&self, text: &Text) -> Span {
        let end = if self.last < text.line_count() { text.line_start(self.last) } else { text.len() };
        Span::new(text.line_start(self.first).min(end), end)
    }
}

fn blocks(text: &Text) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open = false;
    for line in 0..text.line_count() {
        let content = text.line(line);
        if content.starts_with("  $ ") {
            let start = text.line_start(line);
            let at = Span::new(start, start + content.trim_end().len());
            found.push(Block { at, command: (line, line + 1), first: line + 1, last: line + 1 });
            open = true;
        } else if let Some(block) = found.last_mut().filter(|_| open) {
            if content.starts_with("  > ") && block.last == block.first {
                block.command.1 = line + 1;
                (block.first, block.last) = (line + 1, line + 1);
            } else if content.starts_with("  ") {
                block.last = line + 1;
            } else {
                open = false;
            }
        }
    }
    found
}

fn block_of(pin: &Pin, project: &Project) -> Option<(Text, Vec<Block>, usize)> {
    let text = match project.shelf.read(&pin.file) {
        Read::Bytes(bytes) => Text::new(std::str::from_utf8(&bytes).ok()?),
        _ => return None,
    };
    let blocks = blocks(&text);
    let at = blocks.iter().position(|block| block.at == pin.span)?;
    Some((text, blocks, at))
}

/// The printed lines, with a recorded pattern in place of each line that it matches.
fn merged(recorded: &str, printed: &str) -> String {
    let old: Vec<&str> = recorded.lines().collect();
    let new: Vec<&str> = printed.lines().collect();
    if old.len() > MOST_LINES || new.len() > MOST_LINES {
        return printed.to_string();
    }
    let patterns: Vec<Option<Regex>> = old.iter().map(|line| pattern(line)).collect();
    let alike =
        |at: usize, line: &str| old[at] == line || patterns[at].as_ref().is_some_and(|pattern| pattern.is_match(line));
    // Longest common subsequence under `alike`, from the back.
    let mut longest = vec![vec![0usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i][j] = match alike(i, new[j]) {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut out) = (0, 0, String::new());
    while j < new.len() {
        if i < old.len() && alike(i, new[j]) && longest[i][j] == longest[i + 1][j + 1] + 1 {
            out.push_str(old[i]);
            out.push('\n');
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && longest[i + 1][j] >= longest[i][j + 1] {
            i += 1;
        } else {
            out.push_str(new[j]);
            out.push('\n');
            j += 1;
        }
    }
    out
}

/// What a recorded line ending in ` (re)` or ` (glob)` matches.
fn pattern(line: &str) -> Option<Regex> {
    let source = if let Some(source) = line.strip_suffix(" (re)") {
        source.to_string()
    } else {
        let glob = line.strip_suffix(" (glob)")?;
        let mut source = String::new();
        let mut chars = glob.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some(next @ ('*' | '?' | '\\')) => source.push_str(&regex::escape(&next.to_string())),
                    Some(next) => source.push_str(&regex::escape(&format!("\\{next}"))),
                    None => source.push_str("\\\\"),
                },
                '*' => source.push_str(".*"),
                '?' => source.push('.'),
                c => source.push_str(&regex::escape(&c.to_string())),
            }
        }
        source
    };
    regex::RegexBuilder::new(&format!("^(?:{source})$")).size_limit(1 << 20).build().ok()
}

#[cfg(test)]
mod tests;
