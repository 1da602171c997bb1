//! What a pin is held against. One file a framework, one trait, one table: turn a site into pins with
//! their oracles, read the content as the comparer sees it, know what a failing run leaves, and know the
//! exact bytes of an amended oracle. Never compares, never writes.

use crate::code::Unit;
pub use crate::evaluate::Step;
use crate::pins::{Project, Site};
use crate::places::RelPath;
use crate::roles::Role;
use crate::syntax::Language;
use crate::text::{Span, Text};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OracleKind {
    /// A literal of the language, at or near the assertion.
    Literal,
    /// Text that the framework keeps in the source.
    Inline,
    File,
    Entry,
    Digest,
}

impl OracleKind {
    pub fn word(self) -> &'static str {
        match self {
            OracleKind::Literal => "literal",
            OracleKind::Inline => "inline",
            OracleKind::File => "file",
            OracleKind::Entry => "entry",
            OracleKind::Digest => "digest",
        }
    }
}

/// How to find and rewrite an oracle.
#[derive(Debug, Clone, PartialEq)]
pub struct Oracle {
    pub kind: OracleKind,
    /// The file that holds it. For literals and inline texts the source file. `None`: only a pattern is known.
    pub path: Option<RelPath>,
    pub entry: Option<String>,
    /// Byte range of the literal or inline text in the source as read.
    pub span: Option<Span>,
    /// Files that fit when the path is known only up to a pattern; empty when more than 20 do.
    pub candidates: Vec<RelPath>,
    pub steps: Vec<Step>,
    /// Why it can only be shown and not accepted (`assert_ne!`, a computed side …).
    pub shown_only: Option<String>,
    /// `path`, `path#entry` or `path#literal:N`; `""` while the path is only a pattern.
    pub key: String,
    /// For literal lists of cases: the value's language form needs this import in the file.
    pub tolerance: Option<String>,
}

/// One place in a test where a value is held against a recorded one, and what it is held against.
#[derive(Debug, Clone, PartialEq)]
pub struct Pin {
    /// File and span of the assertion that a reader of the test sees.
    pub file: RelPath,
    pub span: Span,
    /// Test id as its runner prints it, the parameter id included.
    pub test: String,
    /// Parameter id or loop case, without brackets; an attribute, never part of the identity.
    pub case: Option<String>,
    /// Ordinal among the test's pins, 1-based, cases counted.
    pub nth: usize,
    pub language: Language,
    pub framework: String,
    pub role: Role,
    /// The line that compares, where it is not the seen one.
    pub asserted_in: Option<(RelPath, Span)>,
    /// Span of the test function (decorators included) in `file`; `None` at module level.
    pub test_span: Option<Span>,
    pub oracle: Oracle,
    /// One call serves many cases, or no comment can stand there: the amendment alone holds the reason.
    pub shared_site: bool,
}

impl Pin {
    /// The source file and the bytes of an oracle that stands in one.
    pub fn source<'a>(&self, project: &'a Project) -> Option<(&'a crate::code::Unit, Span)> {
        Some((project.unit(self.oracle.path.as_ref()?)?, self.oracle.span?))
    }

    /// Test id without its parameter id: the identity's part.
    pub fn test_base(&self) -> &str {
        let base = match (&self.case, self.language) {
            (Some(_), _) if self.test.ends_with(']') && self.test.contains('[') => self.test.find('['),
            (Some(case), Language::Rust) => self
                .test
                .strip_suffix(case.as_str())
                .and_then(|before| before.strip_suffix("::").or_else(|| before.strip_suffix("__")))
                .map(str::len),
            _ => None,
        };
        base.and_then(|base| self.test.get(..base)).unwrap_or(&self.test)
    }
}

/// A value as the comparer sees it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Content {
    Text(String),
    /// A value that is not a text, as canonical literal source of its language (one spelling for equal
    /// values: quotes, separators and line breaks of the source do not matter).
    Value(String),
    Bytes(Vec<u8>),
}

impl Content {
    /// `sha256:` and 64 hexadecimal digits. Equal contents have equal digests; the kind is part of it.
    pub fn digest(&self) -> String {
        let (tag, bytes): (&[u8], &[u8]) = match self {
            Content::Text(text) => (b"text\0", text.as_bytes()),
            Content::Value(value) => (b"value\0", value.as_bytes()),
            Content::Bytes(bytes) => (b"bytes\0", bytes),
        };
        digest_of(&[tag, bytes])
    }
}

/// `sha256:` and the hexadecimal digest of the parts, one after the other.
pub fn digest_of(parts: &[&[u8]]) -> String {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    let hex: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// What is recorded now.
#[derive(Debug, Clone, PartialEq)]
pub enum Baseline {
    Present(Recorded),
    /// No such file or entry.
    Missing,
    /// There, and not to be read: what is wrong and what to do, for the person.
    Unreadable(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    pub content: Content,
    /// 1-based line of the holding file on which the content's first line stands; 0 where lines have no meaning.
    pub first_line: usize,
    /// `sha256:` of the holding file's bytes as read: the guard against writing over something newer.
    pub file_digest: String,
    /// For digest oracles: the text behind the digest where a sibling of the same stem holds it.
    pub preimage: Option<String>,
}

/// What a failing run left on disk for one oracle, or what a recorded observation says.
#[derive(Debug, Clone, PartialEq)]
pub struct Artefact {
    pub path: RelPath,
    pub content: Result<Content, String>,
    /// Content the run compared with, where the artefact records it (`.pending-snap` does).
    pub compared_with: Option<Content>,
    /// Bytes that the framework's updater would need beside the content (the new header of a
    /// `.snap.new`); read again when amending.
    pub header: Option<String>,
    /// Line (1-based) and function that the artefact names, for those found by place.
    pub names: Option<(usize, String)>,
    /// `match` recorded by the artefact itself (`new: null` of a pending snapshot).
    pub says_match: bool,
}

/// Bytes of one file before and after. `before: None`: the file must not exist.
#[derive(Debug, Clone, PartialEq)]
pub struct FileChange {
    pub path: RelPath,
    /// `sha256:` of the bytes that must still be there.
    pub before: Option<String>,
    /// New bytes; `None` removes the file (artefacts only).
    pub after: Option<Vec<u8>>,
    /// The same change as edits of the old text, for files that an editor has open.
    pub edits: Vec<(Span, String)>,
}

/// What an amended oracle takes: the oracle's own change and what the framework's updater does to its
/// artefacts (removed, or renumbered because lines moved).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Amended {
    pub oracle: Vec<FileChange>,
    /// Applied last.
    pub artefacts: Vec<FileChange>,
    /// The literal as it will stand, for the rationale comment and the record.
    pub shown_after: Option<String>,
}

/// Why something cannot be done, in words for the person: what happened, where, what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// The content of a literal's source. A value that no literal can hold (`<Foo object>`) is shown as it was
/// recorded.
pub fn literal(language: Language, source: &str) -> Option<Content> {
    let source = source.trim();
    let read = match language {
        Language::Python => literal_python::read(source),
        Language::Rust => literal_rust::read(source),
    };
    read.or_else(|| (!source.is_empty()).then(|| Content::Value(source.into())))
}

/// A baseline that no pin can reach.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Orphan {
    pub path: RelPath,
    pub entry: Option<String>,
    /// 1-based line of the entry, 1 for a file.
    pub line: usize,
    pub framework: String,
}

/// One test framework. `oracles/` has one file for each, [`table`] lists them.
pub trait Framework: Sync {
    /// The word of the reports, and of `pin.framework` in the queries.
    fn id(&self) -> &'static str;

    /// The pins of one site: one for each oracle it has (cases, loops, globs). Numbering (`nth`) and role
    /// are filled in later. A place that is not one of this framework gives none.
    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin>;

    /// The pins of the sites of one test (or of one place outside tests), in the order of the source: one list
    /// for each site. For frameworks that number what they record by the order in which a test reaches it.
    fn of_test(&self, project: &Project, sites: &[&Site]) -> Vec<Vec<Pin>> {
        sites.iter().map(|site| self.pins(project, site)).collect()
    }

    /// The pins of a test file that is no source of a language (`.t`); none, unless the framework has such files.
    fn of_file(&self, unit: &Unit) -> Vec<Pin> {
        let _ = unit;
        Vec::new()
    }

    /// Content of an observed value that a run recorded as the source of a literal: what the framework would
    /// record for it. `None` where that is not certain.
    fn literal(&self, pin: &Pin, source: &str) -> Option<Content> {
        literal(pin.language, source)
    }

    /// The recorded content. `unit` is the source file of a literal or inline oracle.
    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline;

    /// A value that a run recorded, in the spelling in which [`Framework::baseline`] gives the recorded one.
    fn observed(&self, pin: &Pin, value: Content) -> Content {
        reading::observed(value, &pin.oracle.steps)
    }

    /// What failing runs left for this oracle; nothing, unless the framework says otherwise. Several are judged by freshness later.
    fn artefacts(&self, pin: &Pin, project: &Project) -> Vec<Artefact> {
        let _ = (pin, project);
        Vec::new()
    }

    /// The text behind the digest that an artefact holds, where it is known.
    fn preimage(&self, pin: &Pin, artefact: &Artefact, project: &Project) -> Option<String> {
        let _ = (pin, artefact, project);
        None
    }

    /// The content of a whole file that a run held against this oracle's, as the comparer sees it.
    fn content(&self, pin: &Pin, bytes: &[u8], project: &Project) -> Result<Content, String> {
        let _ = project;
        reading::content(bytes, &pin.oracle.steps)
    }

    /// The bytes that make `observed` the recorded content, exactly as the framework's own updater
    /// writes them. `artefact` is the one that was shown, if it came from one. Never asked about a pin that can
    /// only be shown.
    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal>;

    /// Lines of `source` move because `edit` is made in `before`, its text with the oracle amended (a comment
    /// is put in): artefacts that name places by line follow. `artefacts` holds the changes planned so far;
    /// one of the same file is carried on, others are added.
    fn lines_moved(
        &self,
        source: &RelPath,
        before: &Text,
        edit: &(Span, String),
        artefacts: &mut Vec<FileChange>,
        project: &Project,
    ) {
        let _ = (source, before, edit, artefacts, project);
    }

    /// Baselines of this framework that no pin can reach, by its naming rule; empty unless every pin that
    /// could reach the folder was resolved exactly.
    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        let _ = (pins, project);
        Vec::new()
    }
}

pub mod approvaltests;
pub mod comparing;
pub mod digest;
pub mod expect_test;
pub mod expectorate;
pub mod expecttest;
pub mod golden;
pub mod goldenfile;
pub mod goldie;
pub mod inline_snapshot;
pub mod insta;
pub mod k9;
pub mod literal_python;
pub mod literal_rust;
pub mod origin;
pub mod param_files;
pub mod plain;
pub mod plain_python;
pub mod plain_rust;
pub mod prysk;
pub mod pytest;
pub mod pytest_golden;
pub mod pytest_insta;
pub mod pytest_snapshot;
pub mod reading;
pub mod regressions;
pub mod seen;
pub mod signs;
pub mod snapbox;
pub mod snapshottest;
pub mod syrupy;
pub mod textual;
pub mod trybuild;
pub mod trycmd;

/// Every framework that is known, in the order in which a site is offered to them.
pub fn table() -> &'static [&'static dyn Framework] {
    &[
        &insta::Insta,
        &expect_test::ExpectTest,
        &snapbox::Snapbox,
        &goldenfile::Goldenfile,
        &expectorate::Expectorate,
        &goldie::Goldie,
        &k9::K9,
        &trybuild::Trybuild,
        &trycmd::Trycmd,
        &syrupy::Syrupy,
        &textual::Textual,
        &inline_snapshot::InlineSnapshot,
        &pytest_insta::PytestInsta,
        &pytest_golden::PytestGolden,
        &param_files::ParamFiles,
        &digest::Digest,
        &golden::Golden,
        &approvaltests::ApprovalTests,
        &pytest_snapshot::PytestSnapshot,
        &regressions::Regressions,
        &snapshottest::Snapshottest,
        &expecttest::Expecttest,
        &prysk::Prysk,
        &plain::Plain,
        &plain::Unittest,
    ]
}

/// The framework of that word. A user's helper or query with a word of its own is a golden file.
pub fn framework(id: &str) -> Option<&'static dyn Framework> {
    let known = |id: &str| table().iter().copied().find(|framework| framework.id() == id);
    known(id).or_else(|| known("golden-file"))
}

/// The frameworks to which a match of that word is offered, in the order of [`table`]; the first that gives pins has it.
/// The word `assert` is a plain comparison, which may turn out to be held against a file; `compared` one outside
/// an `assert`; `assert_match` a method that the fixtures of several plugins have.
pub fn offered(id: &str) -> Vec<&'static dyn Framework> {
    let known = |ids: &[&str]| table().iter().copied().filter(|framework| ids.contains(&framework.id())).collect();
    match id {
        "assert" => known(&[
            "syrupy",
            "inline-snapshot",
            "pytest-insta",
            "pytest-golden",
            "param-files",
            "digest",
            "golden-file",
            "plain",
            "unittest",
        ]),
        "compared" => known(&["syrupy", "inline-snapshot"]),
        "assert_match" => known(&["syrupy"]),
        id => framework(id).into_iter().collect(),
    }
}
