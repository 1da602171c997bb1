use std::sync::Arc;

use crate::fixture::Fixture;
use crate::oracles::{Baseline, Content, OracleKind, Recorded, framework};
use crate::pins::{Extent, Project, sites};
use crate::places::Root;
use crate::shelf::Shelf;
use crate::vocabulary::Vocabulary;
use expect_test::Expect;

pub fn project(fixture: &Fixture) -> Project {
    let root = Root::of(fixture.path(), fixture.path()).unwrap();
    let shelf = Shelf::new(root.clone());
    Project::read(root, Arc::default(), shelf, &Vocabulary::built_in(), &|_, _| {}, &|| false).unwrap()
}

/// Each pin of a framework in a package `p`: its line, its test, where it is recorded and what; then the
/// orphans.
pub fn check(id: &str, notation: &str, expected: Expect) {
    let fixture = Fixture::new(&format!("//- Cargo.toml\n[package]\nname = \"p\"\n{notation}"));
    let project = project(&fixture);
    let known = framework(id).unwrap();
    let found: Vec<_> = sites::sites(&project, &Extent::All)
        .iter()
        .filter(|site| site.found.framework == id)
        .flat_map(|site| known.pins(&project, site))
        .collect();
    let mut out = String::new();
    for pin in &found {
        let line = project.unit(&pin.file).map_or(1, |unit| unit.line(pin.span.start));
        let place = match (&pin.oracle.path, pin.oracle.kind) {
            (_, OracleKind::Inline) => "inline".to_string(),
            (Some(path), _) => path.to_string(),
            (None, _) => format!("one of {:?}", pin.oracle.candidates),
        };
        let recorded = match known.baseline(pin, &project) {
            Baseline::Present(Recorded { content: Content::Text(text), .. }) => format!("{text:?}"),
            Baseline::Present(Recorded { content: Content::Value(value), .. }) => format!("value {value:?}"),
            Baseline::Missing => "missing".to_string(),
            other => format!("{other:?}"),
        };
        let why = if pin.oracle.shown_only.is_some() { " shown only" } else { "" };
        out.push_str(&format!("{line} {} {place} {recorded}{why}\n", pin.test));
    }
    for orphan in known.orphans(&found, &project) {
        out.push_str(&format!("orphan {}\n", orphan.path));
    }
    expected.assert_eq(&out);
}
