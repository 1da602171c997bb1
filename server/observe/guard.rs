//! The project is left as it was. Takes a list of files before a run, gives those that the run changed, made or
//! removed, with their old bytes put back. Never touches another file.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use crate::places::{RelPath, Root};
use crate::shelf::{Read, Shelf};

/// Most bytes that are kept to be put back.
const MOST: usize = 1 << 30;

/// What stood in the files.
pub struct Guard {
    root: Root,
    /// `None`: there was no such file.
    before: BTreeMap<RelPath, Option<Kept>>,
}

/// One file as it was. Its time counts too: whether an artefact is stale hangs on it.
struct Kept {
    bytes: Arc<[u8]>,
    meta: Option<Metadata>,
}

/// What a run did to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    Changed,
    Made,
    Removed,
}

impl Done {
    pub fn word(self) -> &'static str {
        match self {
            Done::Changed => "changed",
            Done::Made => "made",
            Done::Removed => "removed",
        }
    }
}

/// One file that a run touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    pub path: RelPath,
    pub done: Done,
    /// Why the old state could not be restored.
    pub left: Option<String>,
}

impl Guard {
    /// Reads the files.
    pub fn of(shelf: &Shelf, paths: impl IntoIterator<Item = RelPath>) -> Guard {
        let mut before = BTreeMap::new();
        let mut kept = 0;
        for path in paths {
            match shelf.disk(&path) {
                Read::Bytes(bytes) if kept + bytes.len() <= MOST => {
                    kept += bytes.len();
                    let meta = shelf.root().absolute(&path).metadata().ok();
                    before.insert(path, Some(Kept { bytes, meta }));
                }
                Read::Missing => {
                    before.insert(path, None);
                }
                Read::Bytes(_) | Read::Refused(_) => {}
            }
        }
        Guard { root: shelf.root().clone(), before }
    }

    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.before.keys()
    }

    /// Compares with what stands there now and puts back what was there before.
    pub fn restore(&self) -> Vec<Touched> {
        let shelf = Shelf::bare(self.root.clone());
        let mut touched = Vec::new();
        for (path, before) in &self.before {
            let (done, result) = match (before, shelf.disk(path)) {
                (Some(before), Read::Bytes(now)) if before.bytes == now => continue,
                (None, Read::Missing) => continue,
                (Some(before), Read::Missing) => (Done::Removed, self.put(path, before)),
                (Some(before), _) => (Done::Changed, self.put(path, before)),
                (None, _) => (Done::Made, self.remove(path)),
            };
            touched.push(Touched { path: path.clone(), done, left: result.err().map(|err| err.to_string()) });
        }
        touched
    }

    fn real(&self, path: &RelPath) -> std::io::Result<std::path::PathBuf> {
        let outside = || std::io::Error::other("it leads out of the workspace now");
        self.root.resolved(path)?.ok_or_else(outside)
    }

    fn put(&self, path: &RelPath, kept: &Kept) -> std::io::Result<()> {
        let real = self.real(path)?;
        let folder = real.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&kept.bytes)?;
        if let Some(meta) = &kept.meta {
            file.as_file().set_permissions(meta.permissions())?;
            meta.modified().and_then(|time| file.as_file().set_modified(time))?;
        }
        file.persist(&real).map(|_| ()).map_err(|err| err.error)
    }

    fn remove(&self, path: &RelPath) -> std::io::Result<()> {
        std::fs::remove_file(self.real(path)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn what_a_run_did_to_known_files_is_undone_and_told() {
        let fixture = Fixture::new("//- a.txt\na\n//- b.txt\nb\n//- c.txt\nc\n");
        let root = Root::of(fixture.path(), fixture.path()).unwrap();
        let path = |path: &str| RelPath::new(path).unwrap();
        let time = || std::fs::metadata(fixture.at("a.txt")).unwrap().modified().unwrap();
        let then = time();
        let guard = Guard::of(&Shelf::new(root), ["a.txt", "b.txt", "c.txt", "new.txt"].map(path));
        std::fs::write(fixture.at("a.txt"), "other").unwrap();
        std::fs::remove_file(fixture.at("b.txt")).unwrap();
        std::fs::write(fixture.at("new.txt"), "new").unwrap();
        let told: Vec<_> = guard.restore().into_iter().map(|it| (it.path.to_string(), it.done, it.left)).collect();
        let expected = [("a.txt", Done::Changed), ("b.txt", Done::Removed), ("new.txt", Done::Made)];
        assert_eq!(told, expected.map(|(path, done)| (path.to_string(), done, None)));
        assert_eq!(std::fs::read_to_string(fixture.at("a.txt")).unwrap(), "a\n");
        assert_eq!(std::fs::read_to_string(fixture.at("b.txt")).unwrap(), "b\n");
        assert!(!fixture.at("new.txt").exists());
        assert_eq!(time(), then);
        assert_eq!(guard.restore(), []);
    }
}
