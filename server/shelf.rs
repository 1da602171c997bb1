//! Which files exist and what is in them: the disk, with the texts of open documents laid over it.
//! Takes paths from the root, gives bytes and texts within bounds. Never follows a link out of the
//! root, never writes, never parses.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::places::{RelPath, Root};
use crate::text::Text;

/// Largest file that is read whole, in bytes. A larger baseline is `unreadable`, with its size.
pub const LARGEST: u64 = 64 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    Bytes(Arc<[u8]>),
    Missing,
    /// There, and not to be read: what is wrong, for the person.
    Refused(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub size: u64,
    pub modified: Option<std::time::SystemTime>,
}

/// A view of the root's files. Cloning is cheap; open documents do not change in a clone.
#[derive(Clone)]
pub struct Shelf {
    root: Root,
    listing: Arc<Listing>,
    open: Arc<HashMap<RelPath, Text>>,
    /// What stands in a file in the place of what is on the disk.
    instead: Option<(RelPath, Arc<[u8]>)>,
}

/// All files of the root that git would not ignore, `.git` and `.pindrift/observed` left out, and the
/// artefacts of failing runs even where they are ignored.
#[derive(Debug, Default)]
pub struct Listing {
    pub files: BTreeMap<RelPath, u64>,
    /// Files of each name; made when first asked.
    by_name: OnceLock<HashMap<Box<str>, Vec<RelPath>>>,
}

/// Names that failing runs leave, wanted even where git ignores them.
pub fn is_artefact_name(name: &str) -> bool {
    name.contains(".received.")
        || name.ends_with(".snap.new")
        || name.contains(".snap.new.")
        || name.ends_with(".pending-snap")
        || name.ends_with(".actual")
        || name.ends_with(".new")
        || name.ends_with(".received")
}

impl Listing {
    /// Walks the root. Folders that ignore rules exclude are entered only where a rule of theirs cannot
    /// hide artefacts beside known files: Cargo's `target`, `node_modules`, virtual environments and caches never.
    pub fn of(root: &Root) -> Listing {
        let mut files = BTreeMap::new();
        walk(root, &root.path, |_| true, &mut |path, size| {
            files.insert(path, size);
        });
        Listing { files, by_name: OnceLock::new() }
    }
}

/// Whether a folder `target` is Cargo's: it stands beside a manifest, or says so itself.
fn is_build_folder(target: &Path) -> bool {
    target.parent().is_some_and(|parent| parent.join("Cargo.toml").is_file()) || target.join("CACHEDIR.TAG").is_file()
}

/// Calls `add` for every file below `from`; folders are entered only where `enters` agrees.
fn walk(
    root: &Root,
    from: &Path,
    enters: impl Fn(&Path) -> bool + Send + Sync + 'static,
    add: &mut dyn FnMut(RelPath, u64),
) {
    let walk = ignore::WalkBuilder::new(from)
        .hidden(false)
        .follow_links(false)
        .git_global(false)
        .ignore(false)
        .require_git(true)
        .filter_entry(move |entry| {
            let name = entry.file_name().to_str().unwrap_or("");
            let dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            let skipped = dir
                && (matches!(
                    name,
                    ".git"
                        | "node_modules"
                        | ".venv"
                        | "venv"
                        | "__pycache__"
                        | ".tox"
                        | ".nox"
                        | ".mypy_cache"
                        | ".ruff_cache"
                ) || (name == "target" && is_build_folder(entry.path()))
                    || (name == "observed" && entry.path().ends_with(".pindrift/observed")));
            !skipped && (!dir || entry.depth() == 0 || enters(entry.path()))
        })
        .build();
    for entry in walk.flatten() {
        if entry.file_type().is_some_and(|kind| !kind.is_dir())
            && let Some(path) = root.relative(entry.path())
        {
            add(path, entry.metadata().map_or(0, |meta| meta.len()));
        }
    }
}

impl Shelf {
    pub fn new(root: Root) -> Shelf {
        let listing = Listing::of(&root);
        Shelf { root, listing: Arc::new(listing), open: Arc::default(), instead: None }
    }

    /// The files of a root without a list of them.
    pub fn bare(root: Root) -> Shelf {
        Shelf { root, listing: Arc::default(), open: Arc::default(), instead: None }
    }

    /// The same files with other open documents.
    pub fn with_open(&self, open: Arc<HashMap<RelPath, Text>>) -> Shelf {
        Shelf { open, ..self.clone() }
    }

    /// The same without open documents, and with other bytes in one file: what it held at another time.
    pub fn with_bytes(&self, path: RelPath, bytes: Vec<u8>) -> Shelf {
        Shelf { open: Arc::default(), instead: Some((path, bytes.into())), ..self.clone() }
    }

    /// The same with one folder listed again: the files in it, and all below the folders of `entered`.
    pub fn relisted(&self, folder: &RelPath, entered: &[RelPath]) -> Shelf {
        let listed_again =
            |path: &RelPath| path.parent() == *folder || entered.iter().any(|dir| path.starts_with(dir) && path != dir);
        let mut files: BTreeMap<RelPath, u64> =
            self.listing.files.iter().filter(|(path, _)| !listed_again(path)).map(|(p, s)| (p.clone(), *s)).collect();
        let into: Vec<std::path::PathBuf> = entered.iter().map(|dir| self.root.absolute(dir)).collect();
        let enters = move |path: &Path| into.iter().any(|dir| path.starts_with(dir) || dir.starts_with(path));
        walk(&self.root, &self.root.absolute(folder), enters, &mut |path, size| {
            if listed_again(&path) {
                files.insert(path, size);
            }
        });
        Shelf { listing: Arc::new(Listing { files, by_name: OnceLock::new() }), ..self.clone() }
    }

    /// Whether the same listing is under both.
    pub fn lists_as(&self, other: &Shelf) -> bool {
        Arc::ptr_eq(&self.listing, &other.listing)
    }

    pub fn root(&self) -> &Root {
        &self.root
    }

    pub fn files(&self) -> impl Iterator<Item = &RelPath> {
        self.listing.files.keys()
    }

    /// Listed files below a folder.
    pub fn below<'a>(&'a self, folder: &'a RelPath) -> impl Iterator<Item = &'a RelPath> {
        self.listing
            .files
            .range(folder.clone()..)
            .map(|(path, _)| path)
            // `a.rs` and `a-b/c` stand before what is below `a`.
            .take_while(move |path| path.as_str().starts_with(folder.as_str()))
            .filter(move |path| path.starts_with(folder))
    }

    /// Listed files of that name, in any folder.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &RelPath> {
        let by_name = self.listing.by_name.get_or_init(|| {
            let mut by_name: HashMap<Box<str>, Vec<RelPath>> = HashMap::new();
            for path in self.listing.files.keys() {
                match by_name.get_mut(path.name()) {
                    Some(paths) => paths.push(path.clone()),
                    None => {
                        by_name.insert(path.name().into(), vec![path.clone()]);
                    }
                }
            }
            by_name
        });
        by_name.get(name).into_iter().flatten()
    }

    pub fn listed(&self, path: &RelPath) -> bool {
        self.listing.files.contains_key(path)
    }

    /// The text that an editor has open.
    pub fn open_text(&self, path: &RelPath) -> Option<&Text> {
        self.open.get(path)
    }

    /// Bytes on disk, links inside the root followed.
    pub fn disk(&self, path: &RelPath) -> Read {
        if let Some((_, bytes)) = self.instead.as_ref().filter(|(other, _)| other == path) {
            return Read::Bytes(bytes.clone());
        }
        let real = match self.root.resolved(path) {
            Ok(Some(real)) => real,
            Ok(None) => {
                return Read::Refused(format!("{path} is a link that leads out of the workspace; it is not followed"));
            }
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Read::Missing,
            Err(err) => return Read::Refused(format!("{path} cannot be read: {err}")),
        };
        let meta = match std::fs::metadata(&real) {
            Ok(meta) => meta,
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Read::Missing,
            Err(err) => return Read::Refused(format!("{path} cannot be read: {err}")),
        };
        if meta.is_dir() {
            return Read::Refused(format!("{path} is a folder, not a file"));
        }
        if !meta.is_file() {
            return Read::Refused(format!("{path} is not an ordinary file"));
        }
        if meta.len() > LARGEST {
            return Read::Refused(format!(
                "{path} has {} MB; files over {} MB are not compared",
                meta.len() >> 20,
                LARGEST >> 20
            ));
        }
        match std::fs::read(&real) {
            Ok(bytes) => Read::Bytes(bytes.into()),
            Err(err) => Read::Refused(format!("{path} cannot be read: {err}")),
        }
    }

    /// What a reader sees: the open document where there is one, else the bytes on disk.
    pub fn read(&self, path: &RelPath) -> Read {
        match self.open.get(path) {
            Some(text) => Read::Bytes(text.as_str().as_bytes().into()),
            None => self.disk(path),
        }
    }

    /// The text that a reader sees, where it is UTF-8.
    pub fn text(&self, path: &RelPath) -> Option<Text> {
        match self.read(path) {
            Read::Bytes(bytes) => std::str::from_utf8(&bytes).ok().map(Text::new),
            _ => None,
        }
    }

    /// Size and time of the file on disk.
    pub fn stamp(&self, path: &RelPath) -> Option<Stamp> {
        let meta = std::fs::metadata(self.root.absolute(path)).ok()?;
        Some(Stamp { size: meta.len(), modified: meta.modified().ok() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn what_is_below_a_folder_is_found_beside_a_file_of_its_name() {
        let fixture =
            Fixture::new("//- tests/a.py\nx\n//- tests/a/b/c.txt\nx\n//- tests/a/d.txt\nx\n//- tests/a0/e.txt\nx\n");
        let shelf = Shelf::new(Root::of(fixture.path(), fixture.path()).unwrap());
        let path = |path: &str| RelPath::new(path).unwrap();
        let below = |folder: &str| shelf.below(&path(folder)).map(RelPath::to_string).collect::<Vec<_>>();
        assert_eq!(below("tests/a"), ["tests/a/b/c.txt", "tests/a/d.txt"]);
        assert_eq!(below("").len(), 4);
        let named: Vec<_> = shelf.named("d.txt").map(RelPath::as_str).collect();
        assert_eq!(named, ["tests/a/d.txt"]);
    }

    #[test]
    fn a_folder_listed_again_shows_what_came_and_went() {
        let fixture = Fixture::committed(
            "//- .gitignore\n/out/\n//- tests/a.txt\na\n//- tests/deep/b.txt\nb\n//- tests/gone.txt\nx\n//- other/c.txt\nc\n",
        );
        let root = Root::of(fixture.path(), fixture.path()).unwrap();
        let shelf = Shelf::new(root);
        fixture.write(
            "//- tests/new.txt\nn\n//- tests/fresh/d/e.txt\ne\n//- other/unseen.txt\nu\n//- out/ignored.txt\ni\n",
        );
        std::fs::remove_file(fixture.at("tests/gone.txt")).unwrap();
        let path = |path: &str| RelPath::new(path).unwrap();
        let names =
            |shelf: &Shelf| shelf.files().map(RelPath::to_string).filter(|p| p != ".gitignore").collect::<Vec<_>>();
        let shallow = shelf.relisted(&path("tests"), &[]);
        assert_eq!(names(&shallow), ["other/c.txt", "tests/a.txt", "tests/deep/b.txt", "tests/new.txt"]);
        let deep = shelf.relisted(&path("tests"), &[path("tests/fresh")]);
        let all = ["other/c.txt", "tests/a.txt", "tests/deep/b.txt", "tests/fresh/d/e.txt", "tests/new.txt"];
        assert_eq!(names(&deep), all);
        assert!(!shelf.relisted(&path(""), &[path("out")]).listed(&path("out/ignored.txt")));
    }

    #[test]
    fn what_is_below_a_folder_is_found_beside_files_of_its_name() {
        let fixture = Fixture::new("//- a/x\n//- a/y/z\n//- a-b/n\n//- a.rs\n//- ab/n\n//- b\n");
        let shelf = Shelf::new(Root::of(fixture.path(), fixture.path()).unwrap());
        let below = |folder: &str| -> Vec<String> {
            shelf.below(&RelPath::new(folder).unwrap()).map(RelPath::to_string).collect()
        };
        assert_eq!(below("a"), ["a/x", "a/y/z"]);
        assert_eq!(below("a/y"), ["a/y/z"]);
        assert_eq!(below("").len(), 6);
    }
}
