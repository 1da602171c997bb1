//! What the newest run had to tell beside its values: a switch that it turned off, a test that rewrote its own
//! baseline. Takes the root, gives the notes whose line still says the same. Never writes, but says how the file
//! is written.

use serde::{Deserialize, Serialize};

use super::records::FOLDER;
use crate::places::RelPath;
use crate::shelf::{Read, Shelf};

/// The file, in the folder of the records.
pub const FILE: &str = "notes.json";

/// Most notes that are kept, and the largest file in bytes that is read.
const MOST: usize = 200;
const LARGEST: usize = 1 << 20;

/// One thing to mend, at its line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub code: String,
    pub file: String,
    /// 1-based.
    pub line: usize,
    pub message: String,
    /// The line as it was, without its margins: by this it is found again.
    pub text: String,
}

#[derive(Serialize, Deserialize)]
struct File {
    schema: u32,
    notes: Vec<Note>,
}

/// The file's text.
pub fn written(notes: &[Note]) -> String {
    let file = File { schema: 1, notes: notes.iter().take(MOST).cloned().collect() };
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}

/// The notes of the newest run that still hold, each with the line on which its text stands now. What cannot be
/// read tells nothing: the next run writes it anew.
pub fn read(shelf: &Shelf) -> Vec<Note> {
    let Some(path) = RelPath::new(FOLDER).and_then(|folder| folder.join(FILE)) else { return Vec::new() };
    let Read::Bytes(bytes) = shelf.disk(&path) else { return Vec::new() };
    if bytes.len() > LARGEST {
        return Vec::new();
    }
    let Ok(File { schema: 1, notes }) = serde_json::from_slice::<File>(&bytes) else { return Vec::new() };
    notes.into_iter().take(MOST).filter_map(|note| found_again(note, shelf)).collect()
}

fn found_again(note: Note, shelf: &Shelf) -> Option<Note> {
    let path = RelPath::new(&note.file).filter(|path| shelf.listed(path))?;
    let text = shelf.text(&path)?;
    let same = |line: &str| line.trim() == note.text;
    let lines: Vec<usize> =
        text.as_str().lines().enumerate().filter(|(_, line)| same(line)).map(|(nth, _)| nth + 1).collect();
    let line = lines.into_iter().min_by_key(|line| line.abs_diff(note.line))?;
    Some(Note { line, ..note })
}
