//! Where tests hold a value against a recorded one. Takes units and the matches of the queries, gives
//! [`Site`]s: the place a reader of the test sees, and the chain of calls down to the line that
//! compares. Wrappers (Python and Rust helpers, `macro_rules!`) are followed to a fixed point.
//! Never knows where a baseline lies; that is the oracles' work.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex::bytes::Regex;
use tree_sitter::Tree;

use crate::code;
use crate::code::{Expr, Unit};
use crate::places::{RelPath, Root};
use crate::settings::Settings;
use crate::shelf::{Read, Shelf};
use crate::syntax::{self, Language};
use crate::text::{Span, Text};
use crate::vocabulary::{Vocabulary, known_macro};

pub use crate::vocabulary::{Match, Trouble};

/// What is kept of one source file between changes.
#[derive(Debug, Clone)]
pub struct Facts {
    pub unit: Unit,
    pub matches: Vec<Match>,
    pub mentions: reach::Mentions,
    /// What could not be read or looked at, for the person.
    pub troubles: Vec<Trouble>,
}

/// The facts of all files of one root at one moment, and how to read the others.
/// Cloning is cheap; a snapshot does not change.
#[derive(Clone)]
pub struct Project {
    pub root: Root,
    pub settings: Arc<Settings>,
    pub shelf: Shelf,
    /// Only files that passed the prefilter, by path.
    pub files: Arc<BTreeMap<RelPath, Arc<Facts>>>,
    /// Packages of the repository's Cargo manifests.
    pub crates: Arc<crate::code::rust::Crates>,
    /// Where names are defined; made when first asked. Whoever changes `files` replaces it.
    pub names: Arc<names::Names>,
}

impl Project {
    pub fn unit(&self, file: &RelPath) -> Option<&Unit> {
        self.files.get(file).map(|facts| &facts.unit)
    }
}

/// One function on the way from the test to the comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub file: RelPath,
    /// Index into [`Unit::functions`]; `None` at module level.
    pub function: Option<usize>,
    /// The call of the next frame, or in the last frame the assertion itself.
    pub at: Span,
    /// How the next outer frame filled this function's parameters (or a macro's `$x`): expressions that
    /// are to be evaluated in that outer frame. Empty in the outermost frame.
    pub given: Arc<BTreeMap<String, Expr>>,
    /// This frame is a `macro_rules!` body: names and module path are those of the outer frame.
    pub is_macro: bool,
}

/// A place where a test holds a value against a recorded one, seen through its wrappers.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    pub found: Match,
    /// From the test (outermost) to the function that compares. Never empty.
    pub frames: Arc<[Frame]>,
}

impl Site {
    /// File and span that a reader of the test sees.
    pub fn seen(&self) -> (&RelPath, Span) {
        let frame = &self.frames[0];
        (&frame.file, frame.at)
    }

    /// The frame that compares.
    pub fn comparing(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }
}

/// Which part of a project is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    All,
    /// Only the pins whose seen place is in one of these files; helpers elsewhere are still followed.
    Files(std::collections::BTreeSet<RelPath>),
}

impl Extent {
    pub fn holds(&self, file: &RelPath) -> bool {
        match self {
            Extent::All => true,
            Extent::Files(files) => files.contains(file),
        }
    }
}

/// Largest source file that is looked at, in bytes.
pub const LARGEST_SOURCE: usize = 20 << 20;

/// Workers of a scan.
const WORKERS: usize = 2;

/// How often modules imported by tests are followed to the modules that those import.
const WAVES: usize = 4;

/// Parses and reads one file.
pub fn facts(path: &RelPath, text: &Text, language: Language, vocabulary: &Vocabulary) -> Facts {
    let nothing = |message: String| Facts {
        unit: Unit::empty(path.clone(), language, text.clone()),
        matches: Vec::new(),
        mentions: reach::Mentions::default(),
        troubles: vec![Trouble { file: path.clone(), at: None, message }],
    };
    if text.len() > LARGEST_SOURCE {
        return nothing(too_large(path, text.len()));
    }
    match syntax::parse(text.as_str(), language, None, syntax::BUDGET) {
        Some(tree) => facts_of(path, text, &tree, language, vocabulary),
        None if syntax::unparsable(text.as_str(), language) => nothing(format!(
            "{path} was not read: its blocks are nested deeper than {} levels; move the inner ones into functions",
            syntax::MOST_INDENTS
        )),
        None => nothing(format!("{path} was not read: parsing took longer than {} s", syntax::BUDGET.as_secs())),
    }
}

fn too_large(path: &RelPath, bytes: usize) -> String {
    format!(
        "{path} was not read: it has {} MB, source files over {} MB are left out",
        bytes >> 20,
        LARGEST_SOURCE >> 20
    )
}

/// Reads one file that is parsed already.
pub fn facts_of(path: &RelPath, text: &Text, tree: &Tree, language: Language, vocabulary: &Vocabulary) -> Facts {
    let unit = match language {
        Language::Python => code::python::unit(path, text, tree),
        Language::Rust => code::rust::unit(path, text, tree),
    };
    let mut troubles = Vec::new();
    let mut matches = vocabulary.matches(tree, text, language, &mut troubles);
    macros::nested(&unit, &known_macro, &mut matches);
    updates::found(&unit, &mut matches);
    let mentions = reach::Mentions::of(&unit, &matches);
    Facts { unit, matches, mentions, troubles }
}

pub mod fixtures;
pub mod harness;
pub mod macros;
pub mod names;
pub mod reach;
pub mod sites;
pub mod testing;
pub mod updates;

/// Whether a Python file is a test module or conftest by pytest's own naming.
pub fn is_test_file(path: &RelPath) -> bool {
    let name = path.name();
    match Language::of(name) {
        Some(Language::Python) => {
            name == "conftest.py" || name.starts_with("test_") || name.ends_with("_test.py") || name == "tests.py"
        }
        _ => false,
    }
}

/// A source of the tests, by its name or its folder.
pub fn is_of_tests(path: &RelPath) -> bool {
    is_test_file(path) || in_test_folder(path)
}

fn in_test_folder(path: &RelPath) -> bool {
    path.parent().as_str().split('/').any(|part| matches!(part, "test" | "tests" | "testing" | "test_utils"))
}

/// Words without which a file cannot hold a pin, nor a helper that compares.
fn words(language: Language) -> Option<&'static Regex> {
    static PYTHON: OnceLock<Option<Regex>> = OnceLock::new();
    static RUST: OnceLock<Option<Regex>> = OnceLock::new();
    let (slot, words) = match language {
        Language::Python => {
            (&PYTHON, "assert|verify|snapshot|golden|approv|regression|expect|filecmp|difflib|def test")
        }
        Language::Rust => (
            &RUST,
            r"assert|insta|expect|golden|snapshot|macro_rules|#\[test|[:_a-z]test(?-u:\b)|test_case|#\[path|mod [A-Za-z_0-9]+;|snapbox|trycmd|trybuild",
        ),
    };
    slot.get_or_init(|| Regex::new(words).ok()).as_ref()
}

/// Whether a file may hold a pin or a helper of one, by its name and a search of its bytes.
pub fn prefilter(path: &RelPath, bytes: &[u8]) -> bool {
    let Some(language) = Language::of(path.name()) else { return false };
    let named = language == Language::Rust || is_test_file(path) || in_test_folder(path);
    // What else lies in a test folder may hold the constants and paths that tests import.
    named
        && (path.name() == "conftest.py"
            || (language == Language::Python && in_test_folder(path) && !is_test_file(path))
            || words(language).is_none_or(|words| words.is_match(bytes)))
}

/// Files that an import of a Python module may mean, nearest first.
pub fn module_files(from: &RelPath, import: &str, shelf: &Shelf) -> Vec<RelPath> {
    let dots = import.bytes().take_while(|b| *b == b'.').count();
    let parts: Vec<&str> = import[dots..].split('.').filter(|part| !part.is_empty()).collect();
    let mut folders = Vec::new();
    if dots > 0 {
        let mut folder = from.parent();
        for _ in 1..dots {
            folder = folder.parent();
        }
        folders.push(folder);
    } else {
        let mut folder = from.parent();
        while !folder.as_str().is_empty() {
            let above = folder.parent();
            folders.push(folder);
            folder = above;
        }
        folders.push(RelPath::default());
        folders.extend(RelPath::new("src"));
    }
    let mut found = Vec::new();
    for folder in folders {
        // The last part may be a name in the module that the others say.
        for take in [parts.len(), parts.len().saturating_sub(1)] {
            let module = parts[..take].join("/");
            for file in [format!("{module}.py"), format!("{module}/__init__.py")] {
                if let Some(file) = folder.join(&file).filter(|file| shelf.listed(file))
                    && !found.contains(&file)
                {
                    found.push(file);
                }
            }
        }
    }
    found
}

/// One file that passed, or what is wrong with it; `None` when it is of no interest.
fn read_one(
    path: &RelPath,
    shelf: &Shelf,
    vocabulary: &Vocabulary,
    wanted: &dyn Fn(&RelPath, &[u8]) -> bool,
) -> Option<Facts> {
    let language = Language::of(path.name())?;
    let nothing = |message: String| Facts {
        unit: Unit::empty(path.clone(), language, Text::new("")),
        matches: Vec::new(),
        mentions: reach::Mentions::default(),
        troubles: vec![Trouble { file: path.clone(), at: None, message }],
    };
    match shelf.read(path) {
        Read::Missing => None,
        Read::Refused(why) => is_test_file(path).then(|| nothing(why)),
        Read::Bytes(bytes) => {
            if !wanted(path, &bytes) {
                return None;
            }
            if bytes.len() > LARGEST_SOURCE {
                return Some(nothing(too_large(path, bytes.len())));
            }
            match std::str::from_utf8(&bytes) {
                Ok(source) => Some(facts(path, &Text::new(source), language, vocabulary)),
                Err(_) => Some(nothing(format!("{path} was not read: it is not UTF-8 text"))),
            }
        }
    }
}

/// A test file that is no source of a language: `.t`, commands with what they print. Its unit holds the text alone.
/// Perl's tests have that ending too; those have no line of two blanks and `$ `.
pub fn transcript(path: &RelPath, shelf: &Shelf) -> Option<Facts> {
    let text = shelf.text(path).filter(|text| path.name().ends_with(".t") && text.len() <= LARGEST_SOURCE)?;
    let found = text.as_str().starts_with("  $ ") || text.as_str().contains("\n  $ ");
    found.then(|| Facts {
        unit: Unit::empty(path.clone(), Language::Python, text),
        matches: Vec::new(),
        mentions: reach::Mentions::default(),
        troubles: Vec::new(),
    })
}

/// Reads files with [`WORKERS`] threads. `None` when cancelled.
fn read_all(
    paths: &[RelPath],
    read: &(dyn Fn(&RelPath) -> Option<Facts> + Sync),
    done: &(dyn Fn() + Sync),
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<(RelPath, Arc<Facts>)>> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS.min(paths.len()) {
            scope.spawn(|| {
                let mut mine = Vec::new();
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if cancelled() {
                        return;
                    }
                    if let Some(facts) = read(path) {
                        mine.push((path.clone(), Arc::new(facts)));
                    }
                    done();
                }
                found.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
            });
        }
    });
    (!cancelled()).then(|| found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

impl Project {
    /// Reads every file that may hold a pin or a helper, with two threads. `progress` gets files done and
    /// files in all; `None` when `cancelled` said so.
    pub fn read(
        root: Root,
        settings: Arc<Settings>,
        shelf: Shelf,
        vocabulary: &Vocabulary,
        progress: &(dyn Fn(usize, usize) + Sync),
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Project> {
        let mut paths: Vec<RelPath> =
            shelf.files().filter(|path| Language::of(path.name()).is_some()).cloned().collect();
        paths.retain(|path| {
            Language::of(path.name()) == Some(Language::Rust) || is_test_file(path) || in_test_folder(path)
        });
        let done = AtomicUsize::new(0);
        let total = AtomicUsize::new(paths.len());
        let step = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, total.load(Ordering::Relaxed));
        let first = read_all(&paths, &|path| read_one(path, &shelf, vocabulary, &prefilter), &step, cancelled)?;
        let mut files: BTreeMap<RelPath, Arc<Facts>> = first.into_iter().collect();
        let mut looked: BTreeSet<RelPath> = paths.into_iter().collect();
        let mut fresh: Vec<RelPath> = files.keys().cloned().collect();
        for _ in 0..WAVES {
            let mut imported = BTreeSet::new();
            for facts in fresh.iter().filter_map(|path| files.get(path)) {
                if facts.unit.language == Language::Python {
                    for import in &facts.unit.imports {
                        imported.extend(module_files(&facts.unit.path, &import.path, &shelf));
                    }
                }
            }
            let wave: Vec<RelPath> = imported.into_iter().filter(|path| looked.insert(path.clone())).collect();
            if wave.is_empty() {
                break;
            }
            total.fetch_add(wave.len(), Ordering::Relaxed);
            let helps = |_: &RelPath, bytes: &[u8]| words(Language::Python).is_none_or(|words| words.is_match(bytes));
            let more = read_all(&wave, &|path| read_one(path, &shelf, vocabulary, &helps), &step, cancelled)?;
            fresh = more.iter().map(|(path, _)| path.clone()).collect();
            files.extend(more);
        }
        for path in shelf.files().filter(|path| path.name().ends_with(".t")) {
            files.extend(transcript(path, &shelf).map(|facts| (path.clone(), Arc::new(facts))));
        }
        let crates = Arc::new(code::rust::Crates::of(&shelf));
        Some(Project { root, settings, shelf, files: Arc::new(files), crates, names: Arc::default() })
    }

    /// The same project with other facts of one file.
    pub fn with_file(&self, path: RelPath, facts: Arc<Facts>) -> Project {
        let mut files = (*self.files).clone();
        let names = Arc::new(self.names.changed(&path));
        files.insert(path, facts);
        Project { files: Arc::new(files), names, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn project(fixture: &Fixture) -> Project {
        let root = Root::of(fixture.path(), fixture.path()).unwrap();
        let shelf = Shelf::new(root.clone());
        Project::read(root, Arc::default(), shelf, &Vocabulary::built_in(), &|_, _| {}, &|| false).unwrap()
    }

    #[test]
    fn tests_their_folders_and_the_helpers_they_import_are_read() {
        let fixture = Fixture::new(
            "//- tests/test_a.py\nfrom lib.helping import check\nfrom app import run\n\ndef test_a():\n    assert run() == 1\n\
             //- tests/data.py\nCASES = [1]\n\
             //- lib/helping.py\ndef check(a, b):\n    assert a == b\n\
             //- app.py\ndef run(): return 1\n\
             //- other.py\nassert 1 == 1\n\
             //- tests/test_empty.py\nx = 1\n",
        );
        let project = project(&fixture);
        let files: Vec<_> = project.files.keys().map(RelPath::as_str).collect();
        assert_eq!(files, ["lib/helping.py", "tests/data.py", "tests/test_a.py"]);
    }

    #[test]
    fn what_cannot_be_read_is_told_and_costs_only_itself() {
        let fixture = Fixture::new("//- tests/test_a.py\nassert 1 == 1\n");
        std::fs::write(fixture.at("tests/test_latin.py"), b"# \xe9\nassert 1 == 1\n").unwrap();
        std::fs::write(fixture.at("tests/test_large.py"), "assert 1 == 1\n".repeat(1_600_000)).unwrap();
        let project = project(&fixture);
        assert_eq!(project.files.len(), 3);
        let mut troubles: Vec<_> =
            project.files.values().flat_map(|facts| &facts.troubles).map(|trouble| trouble.message.clone()).collect();
        troubles.sort();
        assert_eq!(
            troubles,
            [
                "tests/test_large.py was not read: it has 21 MB, source files over 20 MB are left out",
                "tests/test_latin.py was not read: it is not UTF-8 text",
            ]
        );
    }

    #[test]
    fn a_cancelled_scan_gives_nothing() {
        let fixture = Fixture::new("//- tests/test_a.py\nassert 1 == 1\n");
        let root = Root::of(fixture.path(), fixture.path()).unwrap();
        let shelf = Shelf::new(root.clone());
        let read = Project::read(root, Arc::default(), shelf, &Vocabulary::built_in(), &|_, _| {}, &|| true);
        assert!(read.is_none());
    }
}
