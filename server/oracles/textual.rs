//! pytest-textual-snapshot 1.1 (on syrupy 4.8): `assert snap_compare(app)` against the screenshot
//! `__snapshots__/<module>/<test>[.N].svg`, named and counted as syrupy does it. Takes calls of the fixture, gives
//! pins and contents: the SVG without the id that rich puts into its class names, as the plugin compares it. A
//! failing run leaves a report for people only, so observed values come from records.

use std::sync::LazyLock;

use regex::Regex;

use super::syrupy::{self, Plugin, Syrupy};
use super::{Amended, Artefact, Baseline, Content, Framework, Pin, Recorded, Refusal};
use crate::pins::{Project, Site};

pub struct Textual;

pub const ID: &str = "pytest-textual-snapshot";

const SNAP_COMPARE: Plugin =
    Plugin { id: ID, fixture: "snap_compare", called: true, extension: syrupy::extension::Extension::of_screenshots };

impl Framework for Textual {
    fn id(&self) -> &'static str {
        ID
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        self.of_test(project, &[site]).pop().unwrap_or_default()
    }

    fn of_test(&self, project: &Project, sites: &[&Site]) -> Vec<Vec<Pin>> {
        syrupy::pins::of_test(project, sites, &SNAP_COMPARE)
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        match Syrupy.baseline(pin, project) {
            Baseline::Present(recorded) => {
                Baseline::Present(Recorded { content: without_id(recorded.content), ..recorded })
            }
            other => other,
        }
    }

    fn observed(&self, pin: &Pin, value: Content) -> Content {
        without_id(Syrupy.observed(pin, value))
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        Syrupy.amend(pin, observed, artefact, project)
    }
}

/// `normalize_svg` of the plugin.
fn without_id(content: Content) -> Content {
    static ID_OF_RUN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bterminal-\d+-([\w-]+)").ok());
    match (content, &*ID_OF_RUN) {
        (Content::Text(text), Some(id)) => Content::Text(id.replace_all(&text, "terminal-$1").into_owned()),
        (content, _) => content,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::fixture::Fixture;
    use crate::oracles::pytest::listing::{self, accepted, listing};

    const PROJECT: &str = r#"
//- tests/test_app.py
import pytest
from app import App

def test_start(snap_compare):
    assert snap_compare(App(), press=["tab"])

def test_twice(snap_compare):
    assert snap_compare("small.py")
    assert snap_compare("small.py", terminal_size=(40, 10))

@pytest.mark.parametrize("theme", ["dark", "a/b"])
def test_theme(snap_compare, theme):
    assert snap_compare(App(theme))

class TestApp:
    def test_inside(self, snap_compare):
        check(snap_compare, App())

def check(snap_compare, app):
    assert snap_compare(app)

def test_own():
    snap_compare = print
    assert snap_compare(1)
//- tests/__snapshots__/test_app/test_start.svg
<svg class="terminal-123-matrix">
<text>a</text>
</svg>
//- tests/__snapshots__/test_app/test_twice.svg
<svg/>
//- tests/__snapshots__/test_app/test_twice.1.svg
<svg/>
//- tests/__snapshots__/test_app/test_theme[ab].svg
<svg/>
//- tests/__snapshots__/test_app/TestApp.test_inside.svg
<svg/>
//- tests/__snapshots__/test_app/test_gone.svg
<svg/>
"#;

    #[test]
    fn screenshots_are_named_and_counted_as_syrupy_does_it() {
        let fixture = Fixture::new(PROJECT);
        let project = listing::project(&fixture);
        let orphans = Syrupy.orphans(&listing::pins(&project), &project);
        let orphans: String = orphans.iter().map(|it| format!("orphan {} of {}\n", it.path, it.framework)).collect();
        expect![[r#"
            5 test_start tests/__snapshots__/test_app/test_start.svg # test_start = "<svg class=\"terminal-matrix\">\n<text>a</text>\n</svg>\n" at 1
            8 test_twice tests/__snapshots__/test_app/test_twice.svg # test_twice = "<svg/>\n" at 1
            9 test_twice tests/__snapshots__/test_app/test_twice.1.svg # test_twice.1 = "<svg/>\n" at 1
            13 test_theme[dark] tests/__snapshots__/test_app/test_theme[dark].svg # test_theme[dark] missing
            13 test_theme[a/b] tests/__snapshots__/test_app/test_theme[ab].svg # test_theme[ab] = "<svg/>\n" at 1
            17 TestApp::test_inside tests/__snapshots__/test_app/TestApp.test_inside.svg # TestApp.test_inside = "<svg/>\n" at 1
            orphan tests/__snapshots__/test_app/test_gone.svg of pytest-textual-snapshot
        "#]].assert_eq(&(listing(&Textual, PROJECT) + &orphans));
    }

    #[test]
    fn the_id_of_a_run_is_no_part_of_a_screenshot() {
        let observed = Content::Text("<svg class=\"terminal-987-matrix\">\n<text>b</text>\n</svg>\n".into());
        expect![[r#"
            tests/__snapshots__/test_app/test_start.svg
            <svg class="terminal-matrix">
            <text>b</text>
            </svg>
        "#]]
        .assert_eq(&accepted(&Textual, PROJECT, "::test_start", Some(observed)));
    }
}
