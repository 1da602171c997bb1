//! expectorate 1.0 to 1.3: `assert_contents("path", &text)`. Takes a site, gives the file from the working folder;
//! CRLF is LF on both sides. A missing file counts as an empty one there, and is missing here. Never compares,
//! never writes.

use super::golden::{self, unread};
use super::insta::blank_pin;
use super::origin::comes_from;
use super::{Amended, Artefact, Baseline, Content, Framework, Orphan, Pin, Refusal, Step, seen};
use crate::code::ExprKind;
use crate::pins::{Project, Site};

pub struct Expectorate;

impl Framework for Expectorate {
    fn id(&self) -> &'static str {
        "expectorate"
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let frame = site.comparing();
        let call = seen::call_at(project, site).zip(project.unit(&frame.file));
        let Some((call, unit)) = call else { return Vec::new() };
        let ExprKind::Call { callee, args } = &call.kind else { return Vec::new() };
        let ours = callee.dotted().is_some_and(|name| comes_from(project, unit, &name, call.span, "expectorate"));
        let (Some(path), Some(mut blank), true) = (args.first(), blank_pin(project, site), ours) else {
            return Vec::new();
        };
        blank.framework = self.id().to_string();
        let last = site.frames.len() - 1;
        seen::files(project, site, &blank, &[Step::CrlfToLf], |world| {
            Some(world.file(project, site, last, world.value(project, site, last, &path.value)))
        })
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        golden::baseline(pin, project)
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        let observed = match observed {
            Content::Text(text) => Content::Text(text.replace("\r\n", "\n")),
            other => other.clone(),
        };
        golden::amend(pin, &observed, artefact, project)
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        unread::beside(pins, project, self.id())
    }
}

#[cfg(test)]
mod tests {
    use crate::oracles::origin::tests::check;
    use expect_test::expect;

    #[test]
    fn a_file_is_named_from_the_working_folder() {
        check(
            "expectorate",
            r#"
//- tests/it.rs
use expectorate::assert_contents;
#[test]
fn files() {
    assert_contents("tests/data/a.txt", &f());
    expectorate::assert_contents(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/b.txt"), &f());
    own::assert_contents("tests/data/c.txt", &f());
}
fn pinned(name: &str) { assert_contents(format!("tests/data/{name}.txt"), &f()); }
#[test]
fn through() { pinned("a"); }
//- tests/data/a.txt
1
"#,
            expect![[r#"
                4 it::files tests/data/a.txt "1\n"
                5 it::files tests/data/b.txt missing
                10 it::through tests/data/a.txt "1\n"
            "#]],
        );
    }
}
