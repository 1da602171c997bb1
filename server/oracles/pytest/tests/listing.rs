//! For tests: the pins of one framework in a project in the fixture notation, with what is recorded and observed.

use crate::fixture::Fixture;
use crate::oracles::{Baseline, Content, Framework, Pin};
use crate::pins::{Extent, Project};
use crate::places::{RelPath, Root};
use crate::shelf::Shelf;
use crate::survey;
use crate::vocabulary::Vocabulary;

pub fn project(fixture: &Fixture) -> Project {
    let root = Root::of(fixture.path(), fixture.path()).unwrap();
    let shelf = Shelf::new(root.clone());
    Project::read(root, Default::default(), shelf, &Vocabulary::built_in(), &|_, _| {}, &|| false).unwrap()
}

pub fn pins(project: &Project) -> Vec<Pin> {
    survey::pins(project, &Extent::All)
}

/// One line for each pin: line, test, oracle, what is recorded, what artefacts show; then the orphans.
pub fn listing(framework: &dyn Framework, notation: &str) -> String {
    let fixture = Fixture::new(notation);
    let project = project(&fixture);
    let pins = pins(&project);
    let mut shown = String::new();
    for pin in pins.iter().filter(|pin| pin.framework == framework.id()) {
        let line = project.unit(&pin.file).unwrap().line(pin.span.start);
        let path = pin.oracle.path.as_ref().map_or("?".to_string(), RelPath::to_string);
        let test = pin.test.strip_prefix(pin.file.as_str()).unwrap_or(&pin.test).trim_start_matches("::");
        shown.push_str(&format!("{line} {test} {path}"));
        if let Some(entry) = &pin.oracle.entry {
            shown.push_str(&format!(" # {entry}"));
        }
        if !pin.oracle.candidates.is_empty() {
            let candidates: Vec<_> = pin.oracle.candidates.iter().map(RelPath::as_str).collect();
            shown.push_str(&format!(" {candidates:?}"));
        }
        match framework.baseline(pin, &project) {
            _ if pin.oracle.path.is_none() => {}
            Baseline::Present(recorded) => {
                shown.push_str(&format!(" = {} at {}", brief(&recorded.content), recorded.first_line));
            }
            Baseline::Missing => shown.push_str(" missing"),
            Baseline::Unreadable(why) => shown.push_str(&format!(" unreadable: {why}")),
        }
        for artefact in framework.artefacts(pin, &project) {
            let content = match (&artefact.content, artefact.says_match) {
                (_, true) => "as recorded".to_string(),
                (Ok(content), _) => brief(content),
                (Err(why), _) => why.clone(),
            };
            shown.push_str(&format!("\n    {}: {content}", artefact.path));
        }
        shown.push('\n');
    }
    for orphan in framework.orphans(&pins, &project) {
        let entry = orphan.entry.map(|entry| format!(" # {entry}")).unwrap_or_default();
        shown.push_str(&format!("orphan {}{entry}\n", orphan.path));
    }
    shown
}

fn brief(content: &Content) -> String {
    match content {
        Content::Text(text) => format!("{text:?}"),
        Content::Value(value) => value.clone(),
        Content::Bytes(bytes) => format!("{bytes:?}"),
    }
}

/// The file that an accepted value leaves, or why it is refused; of the first pin whose test ends so. With an
/// artefact where there is one, else `observed`.
pub fn accepted(framework: &dyn Framework, notation: &str, test: &str, observed: Option<Content>) -> String {
    let fixture = Fixture::new(notation);
    let project = project(&fixture);
    let pins = pins(&project);
    let pin = pins.iter().find(|pin| pin.framework == framework.id() && pin.test.ends_with(test)).unwrap();
    let artefact = framework.artefacts(pin, &project).into_iter().next().filter(|_| observed.is_none());
    let observed = match observed {
        Some(observed) => framework.observed(pin, observed),
        None => artefact.as_ref().unwrap().content.clone().unwrap(),
    };
    match framework.amend(pin, &observed, artefact.as_ref(), &project) {
        Err(refusal) => format!("{}\n", refusal.0),
        Ok(amended) => {
            let shown = |change: &crate::oracles::FileChange| {
                let after = change.after.as_deref().map(|after| String::from_utf8_lossy(after).into_owned());
                format!("{}\n{}", change.path, after.unwrap_or_else(|| "removed\n".to_string()))
            };
            amended.oracle.iter().chain(&amended.artefacts).map(shown).collect()
        }
    }
}
