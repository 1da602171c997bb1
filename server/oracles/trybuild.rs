//! trybuild 1.x: `t.compile_fail("tests/ui/*.rs")`. Takes a site, gives the `.stderr` beside each source that the
//! pattern names, seen at the `TestCases` that compares them all when it is dropped; reads what a run left in
//! `wip/` for a message that is not recorded yet. Never compares, never writes.

use globset::GlobBuilder;

use super::golden;
use super::insta::blank_pin;
use super::origin::comes_from;
use super::{Amended, Artefact, Baseline, Content, Framework, Pin, Refusal, Step, reading, seen};
use crate::code::{Expr, ExprKind};
use crate::evaluate::{Value, worlds};
use crate::pins::{Project, Site, names};
use crate::places::RelPath;
use crate::shelf::Read;

pub struct Trybuild;

impl Framework for Trybuild {
    fn id(&self) -> &'static str {
        "trybuild"
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let Some(Expr { kind: ExprKind::Call { callee, args }, .. }) = seen::call_at(project, site) else {
            return Vec::new();
        };
        let ExprKind::Attr(base, _) = &callee.kind else { return Vec::new() };
        let (Some(pattern), Some(mut blank)) = (args.first(), blank_pin(project, site)) else { return Vec::new() };
        blank.framework = self.id().to_string();
        blank.oracle.steps = vec![Step::CrlfToLf];
        let last = site.frames.len() - 1;
        let mut pins: Vec<Pin> = Vec::new();
        for world in &worlds(project, site) {
            let (made, frame) = seen::receiver(project, site, world, last, base);
            let unit = site.frames.get(frame).and_then(|frame| project.unit(&frame.file));
            let is_cases = |name: &str| name.rsplit('.').nth(1) == Some("TestCases");
            let name = match &made.kind {
                ExprKind::Call { callee, .. } => callee.dotted().filter(|name| is_cases(name)),
                _ => None,
            };
            let (Some(name), Some(unit)) = (name, unit) else { continue };
            let owner = name.rsplit_once('.').map_or("", |(owner, _)| owner);
            if !comes_from(project, unit, owner, made.span, "trybuild") {
                continue;
            }
            if frame == 0 && site.frames.len() == 1 {
                blank.span = made.span;
            }
            let file = world.file(project, site, last, world.value(project, site, last, &pattern.value));
            let Value::Path(pattern) = file else { continue };
            for source in sources(project, &pattern) {
                let mut pin = blank.clone();
                let name = source.as_str().strip_suffix(".rs").unwrap_or(source.as_str());
                pin.oracle.path = RelPath::new(&format!("{name}.stderr"));
                pin.case = Some(source.to_string());
                pin.shared_site = true;
                if !pins.iter().any(|known| known.oracle.path == pin.oracle.path) {
                    pins.push(pin);
                }
            }
        }
        pins
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        golden::baseline(pin, project)
    }

    fn artefacts(&self, pin: &Pin, project: &Project) -> Vec<Artefact> {
        // A run writes there only what is not recorded.
        let Some(path) = pin.oracle.path.as_ref().filter(|path| !project.shelf.listed(path)) else {
            return Vec::new();
        };
        let package = names::package_of(project, &pin.file);
        let source = |path: &RelPath| path.name().strip_suffix(".stderr").map(|stem| format!("{stem}.rs"));
        let Some(source) = source(path) else { return Vec::new() };
        // Sources of one name in several folders share the place.
        let unrecorded =
            project.shelf.below(&package).filter(|other| other.name() == source).filter(|other| {
                other.parent().join(path.name()).is_some_and(|message| !project.shelf.listed(&message))
            });
        if unrecorded.count() != 1 {
            return Vec::new();
        }
        let Some(wip) = package.join(&format!("wip/{}", path.name())) else { return Vec::new() };
        match project.shelf.disk(&wip) {
            Read::Bytes(bytes) => vec![Artefact {
                content: reading::content(&bytes, &pin.oracle.steps).map_err(|why| format!("{wip}: {why}")),
                path: wip,
                compared_with: None,
                header: None,
                names: None,
                says_match: false,
            }],
            _ => Vec::new(),
        }
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        golden::amend(pin, observed, artefact, project)
    }
}

/// Listed sources that a pattern of the glob crate names; the path itself where it is none.
fn sources(project: &Project, pattern: &RelPath) -> Vec<RelPath> {
    let text = pattern.as_str();
    if !text.contains('*') {
        return vec![pattern.clone()];
    }
    let Some(glob) = GlobBuilder::new(text).literal_separator(true).build().ok().map(|glob| glob.compile_matcher())
    else {
        return Vec::new();
    };
    let known = text.split('*').next().unwrap_or("");
    let folder = known.rsplit_once('/').map_or("", |(folder, _)| folder);
    let Some(folder) = RelPath::new(folder) else { return Vec::new() };
    project.shelf.below(&folder).filter(|path| glob.is_match(path.as_str())).cloned().collect()
}

#[cfg(test)]
mod tests {
    use crate::oracles::origin::tests::check;
    use expect_test::expect;

    #[test]
    fn each_source_has_its_message_beside_it() {
        check(
            "trybuild",
            r#"
//- tests/ui.rs
#[test]
fn ui() {
    let t = trybuild::TestCases::new();
    t.pass("tests/ui/good.rs");
    t.compile_fail("tests/ui/bad/*.rs");
    t.compile_fail("tests/ui/one.rs");
    other.compile_fail("tests/ui/not.rs");
}
//- tests/ui/good.rs
//- tests/ui/one.rs
//- tests/ui/bad/a.rs
//- tests/ui/bad/a.stderr
error: a
//- tests/ui/bad/deep/b.rs
"#,
            expect![[r#"
                3 ui::ui tests/ui/bad/a.stderr "error: a\n"
                3 ui::ui tests/ui/one.stderr missing
            "#]],
        );
    }
}
