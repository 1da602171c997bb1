//! syrupy 4 to 7: `assert value == snapshot` against an entry of `__snapshots__/<module>.ambr` or a file of its
//! own below `__snapshots__/<module>/`. Takes the comparisons of a test whose one side comes from the plugin's
//! fixture `snapshot`, through renamed fixtures, helpers and options; gives the entries by syrupy's naming
//! rule, reads them as its reader does and knows the bytes of `--snapshot-update` for one entry, the others
//! left alone. syrupy leaves nothing behind on a failing run; observed values come from records.
//!
//! Texts are compared with LF for every line end. A text file that would need a carriage return never passes
//! again and is refused.

pub mod amber;
pub mod extension;
mod naming;
mod orphans;
pub mod pins;
mod serialise;
mod test;

use std::cell::RefCell;
use std::sync::Arc;

use self::amber::Amber;
use self::extension::Extension;
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, OracleKind, Orphan, Pin, Recorded, Refusal, Step,
    digest_of, reading,
};
use crate::pins::{Project, Site};
use crate::places::RelPath;
use crate::shelf::Read;
use crate::text::Span;

pub struct Syrupy;

pub const ID: &str = "syrupy";

/// A fixture that compares in syrupy's way: syrupy's own, or one that a plugin makes of it.
pub struct Plugin {
    pub id: &'static str,
    pub fixture: &'static str,
    /// The fixture is called with the value, where syrupy's is an operand.
    pub called: bool,
    /// What tests of a file get when they say nothing else.
    pub extension: fn(&Project, &RelPath) -> Option<Extension>,
}

const OWN: Plugin = Plugin { id: ID, fixture: "snapshot", called: false, extension: Extension::default_of };

/// The serializer of a content in which nothing but syrupy's own rules has a say.
const AMBER: Step = Step::Serialised("amber");
const JSON: Step = Step::Serialised("json");

impl Framework for Syrupy {
    fn id(&self) -> &'static str {
        ID
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        pins::of_test(project, &[site], &OWN).pop().unwrap_or_default()
    }

    fn of_test(&self, project: &Project, sites: &[&Site]) -> Vec<Vec<Pin>> {
        pins::of_test(project, sites, &OWN)
    }

    fn literal(&self, pin: &Pin, source: &str) -> Option<Content> {
        // A filter, or code of the project, has a say in what is written.
        if pin.oracle.tolerance.is_some() {
            return None;
        }
        let steps = &pin.oracle.steps;
        if steps.contains(&AMBER) {
            serialise::amber(source).map(Content::Text)
        } else if steps.contains(&JSON) {
            serialise::json(source).map(Content::Text)
        } else if steps.contains(&Step::Bytes) {
            super::literal(pin.language, source).filter(|content| !matches!(content, Content::Value(_)))
        } else if steps.contains(&Step::Serialised("text")) {
            super::literal(pin.language, source).filter(|content| matches!(content, Content::Text(_)))
        } else {
            None
        }
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        let Some(path) = &pin.oracle.path else { return Baseline::Missing };
        if pin.oracle.kind == OracleKind::Entry || is_amber(pin) {
            return match read(project, path) {
                Ok(None) => Baseline::Missing,
                Err(why) => Baseline::Unreadable(why),
                Ok(Some(file)) => {
                    let entry = match pin.oracle.kind {
                        OracleKind::Entry => pin.oracle.entry.as_deref().and_then(|name| file.amber.entry(name)),
                        _ => file.amber.entries.last(),
                    };
                    match (entry, file.unusable(pin, path)) {
                        (None, _) => Baseline::Missing,
                        (Some(_), Some(why)) => Baseline::Unreadable(why),
                        (Some(entry), None) => Baseline::Present(Recorded {
                            content: Content::Text(entry.data.clone()),
                            first_line: entry.first_line,
                            file_digest: file.digest.clone(),
                            preimage: None,
                        }),
                    }
                }
            };
        }
        match project.shelf.read(path) {
            Read::Missing => Baseline::Missing,
            Read::Refused(why) => Baseline::Unreadable(why),
            Read::Bytes(bytes) => match reading::content(&bytes, &pin.oracle.steps) {
                Err(why) => Baseline::Unreadable(format!("{path} cannot be compared: {why}")),
                Ok(content) => Baseline::Present(Recorded {
                    first_line: reading::first_line(&bytes, &pin.oracle.steps, &content),
                    content,
                    file_digest: digest_of(&[&bytes]),
                    preimage: None,
                }),
            },
        }
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        _: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        let Some(path) = &pin.oracle.path else {
            return Err(Refusal("the entry is known only up to a pattern; run the test, then look again".into()));
        };
        let (before, old) = match project.shelf.read(path) {
            Read::Missing => (None, None),
            Read::Refused(why) => return Err(Refusal(why)),
            Read::Bytes(bytes) => (Some(digest_of(&[&bytes])), Some(bytes)),
        };
        let amended = |after: Vec<u8>, edits| Amended {
            oracle: vec![FileChange { path: path.clone(), before: before.clone(), after: Some(after), edits }],
            artefacts: Vec::new(),
            shown_after: None,
        };
        if pin.oracle.kind == OracleKind::Entry || is_amber(pin) {
            let Content::Text(data) = observed else {
                return Err(Refusal(format!(
                    "{path}: what syrupy would write for the observed value is not certain; observe the test again, or \
                     let syrupy write the entry, then explain the change"
                )));
            };
            let text = match &old {
                None => None,
                Some(bytes) => Some(std::str::from_utf8(bytes).map_err(|_| not_utf8(path))?),
            };
            let name = match (&pin.oracle.entry, text) {
                (Some(name), _) => name.clone(),
                (None, Some(text)) => {
                    amber::parse(text).entries.last().map(|entry| entry.name.clone()).unwrap_or_default()
                }
                (None, None) => test::entry_of_file(path),
            };
            if let Some(why) = text.map(File::of).and_then(|file| file.unusable(pin, path)) {
                return Err(Refusal(why));
            }
            let (after, span, new) =
                amber::amended(text, &name, data).map_err(|refusal| Refusal(format!("{path}: {}", refusal.0)))?;
            let edits = if text.is_some() { vec![(span, new)] } else { Vec::new() };
            return Ok(amended(after.into_bytes(), edits));
        }
        if let Content::Text(text) = observed
            && text.contains('\r')
            && pin.oracle.steps.contains(&Step::UniversalNewlines)
        {
            return Err(Refusal(format!(
                "{path}: the observed text has carriage returns, and syrupy reads a text file with LF only: the test would \
                 fail for ever; compare bytes, or write LF in the code"
            )));
        }
        let after = reading::bytes(observed, &pin.oracle.steps, old.as_deref())
            .map_err(|refusal| Refusal(format!("{path}: {}", refusal.0)))?;
        let whole = old.as_deref().map(|old| Span::new(0, old.len()));
        let edits = match (whole, std::str::from_utf8(&after)) {
            (Some(span), Ok(text)) => vec![(span, text.to_string())],
            _ => Vec::new(),
        };
        Ok(amended(after, edits))
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        orphans::orphans(pins, project)
    }
}

fn is_amber(pin: &Pin) -> bool {
    pin.oracle.steps.contains(&Step::Serialised("amber-file"))
}

fn not_utf8(path: &RelPath) -> Refusal {
    Refusal(format!("{path} is not UTF-8 text; restore it from git or let syrupy write it again"))
}

/// An amber file that was read.
struct File {
    amber: Amber,
    digest: String,
}

impl File {
    fn of(text: &str) -> File {
        File { amber: amber::parse(text), digest: digest_of(&[text.as_bytes()]) }
    }

    /// Why syrupy takes nothing in the file for recorded.
    fn unusable(&self, pin: &Pin, path: &RelPath) -> Option<String> {
        let custom = pin.oracle.steps.contains(&Step::Serialised("custom"));
        let again = "let syrupy write it again with --snapshot-update, then explain the change";
        match (&self.amber.malformed, self.amber.version.as_deref()) {
            (Some(why), _) => Some(format!("{path} is not an amber file that syrupy reads: {why}; {again}")),
            (None, None) if self.amber.entries.is_empty() => None,
            (None, None) => Some(format!("{path} has no `# serializer version` in its first line; {again}")),
            (None, Some("1" | "1-sorted")) => None,
            (None, Some(_)) if custom => None,
            (None, Some(other)) => Some(format!("{path} was written for serializer version {other}, not 1; {again}")),
        }
    }
}

type Last = (Arc<[u8]>, Arc<File>);

thread_local! {
    /// The file that was read last: the entries of one file are asked for one after the other.
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// An amber file; `None` where there is none.
fn read(project: &Project, path: &RelPath) -> Result<Option<Arc<File>>, String> {
    let bytes = match project.shelf.read(path) {
        Read::Missing => return Ok(None),
        Read::Refused(why) => return Err(why),
        Read::Bytes(bytes) => bytes,
    };
    let known = LAST.with_borrow(|last| {
        last.as_ref().filter(|(of, _)| of.as_ref() == bytes.as_ref()).map(|(_, file)| file.clone())
    });
    if let Some(file) = known {
        return Ok(Some(file));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| not_utf8(path).0)?;
    let file = Arc::new(File::of(text));
    LAST.set(Some((bytes.clone(), file.clone())));
    Ok(Some(file))
}

#[cfg(test)]
mod tests;
