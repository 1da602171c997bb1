//! Where observations are kept: `.pindrift/observed/`, which ignores itself in git. Takes what a run said, gives
//! one file of records a run, written whole; older records of the same pins go. Texts behind digests are kept
//! by their digest. Never writes outside of that folder.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::observations::notes::{self, Note};
use crate::observations::records::{FOLDER, Record};
use crate::oracles::digest;
use crate::places::{RelPath, Root};

/// Files of records beyond which older ones are put into one.
const MOST_FILES: usize = 40;
/// Texts behind digests that are kept, the oldest go first.
const MOST_TEXTS: usize = 2000;
/// The log of the newest run.
pub const LOG: &str = "last-run.log";

/// The folder, ready to be written to.
pub struct Kept {
    folder: PathBuf,
    /// Held while files are put together; it dies with its process.
    _lock: Option<File>,
}

impl Kept {
    /// Makes the folder. An error says what is in the way.
    pub fn of(root: &Root) -> Result<Kept, String> {
        let refuse = |err: &dyn std::fmt::Display| format!("{FOLDER} cannot be written: {err}");
        let path = RelPath::new(FOLDER).unwrap_or_default();
        let folder = root
            .resolved(&path)
            .map_err(|err| refuse(&err))?
            .ok_or_else(|| refuse(&"it is a link that leads out of the workspace"))?;
        std::fs::create_dir_all(&folder).map_err(|err| refuse(&err))?;
        let ignore = folder.join(".gitignore");
        if std::fs::read(&ignore).ok().as_deref() != Some(b"*\n") {
            write(&ignore, b"*\n").map_err(|err| refuse(&err))?;
        }
        let lock = File::create(folder.join(".lock")).ok().filter(|lock| lock.lock().is_ok());
        Ok(Kept { folder, _lock: lock })
    }

    /// The output of the run.
    pub fn log(&self, text: &str) -> std::io::Result<()> {
        write(&self.folder.join(LOG), text.as_bytes())
    }

    /// What the run had to tell beside its values; that of the run before goes.
    pub fn notes(&self, notes: &[Note]) -> std::io::Result<()> {
        write(&self.folder.join(notes::FILE), notes::written(notes).as_bytes())
    }

    /// The records of a run, in a file of their own; records that they supersede are dropped.
    pub fn records(&self, run: &str, records: &[Record]) -> std::io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let lines: String = records.iter().map(|record| record.to_line() + "\n").collect();
        let name: String = run.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect();
        let own = self.folder.join(format!("{name}.jsonl"));
        write(&own, lines.as_bytes())?;
        let known: HashSet<_> = records.iter().map(key).collect();
        let others: Vec<PathBuf> = self.files("jsonl").into_iter().filter(|path| *path != own).collect();
        let together = others.len() >= MOST_FILES;
        let mut left_over = String::new();
        for path in others {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let from = RelPath::default();
            let superseded = |line: &&str| Record::parse(line, &from).is_ok_and(|record| known.contains(&key(&record)));
            let total = text.lines().count();
            let left: String = text.lines().filter(|line| !superseded(line)).map(|line| format!("{line}\n")).collect();
            if left.is_empty() {
                let _ = std::fs::remove_file(&path);
            } else if together {
                left_over.push_str(&left);
                let _ = std::fs::remove_file(&path);
            } else if left.lines().count() < total {
                write(&path, left.as_bytes())?;
            }
        }
        if !left_over.is_empty() {
            write(&self.folder.join("0000-older.jsonl"), left_over.as_bytes())?;
        }
        Ok(())
    }

    /// Texts by the digest that was computed of them.
    pub fn texts(&self, behind: &BTreeMap<String, Vec<u8>>) -> std::io::Result<()> {
        let folder = self.folder.join(digest::TEXTS);
        for (digest, bytes) in behind {
            let is_digest = (8..=128).contains(&digest.len()) && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
            let path = folder.join(digest);
            if is_digest && !path.exists() {
                std::fs::create_dir_all(&folder)?;
                write(&path, bytes)?;
            }
        }
        let mut kept: Vec<_> = std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| (entry.metadata().and_then(|meta| meta.modified()).ok(), entry.path()))
            .collect();
        if kept.len() > MOST_TEXTS {
            kept.sort();
            let over = kept.len() - MOST_TEXTS;
            kept.iter().take(over).for_each(|(_, path)| drop(std::fs::remove_file(path)));
        }
        Ok(())
    }

    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|it| it == extension))
            .collect();
        files.sort();
        files
    }
}

fn key(record: &Record) -> (RelPath, String, usize, String) {
    (record.file.clone(), record.test.clone(), record.nth, record.oracle.clone())
}

/// Whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map(|_| ()).map_err(|err| err.error)
}
