//! k9 0.10 to 0.12: `assert_matches_snapshot!` keeps a file named by the test's thread, `snapshot!` a literal,
//! `assert_equal!` compares with one. Takes a site, gives pins; inline values are read and never written, because
//! k9's own updater formats the whole source. Never compares, never writes.

use super::golden;
use super::insta::{blank_pin, call};
use super::literal_rust;
use super::origin::comes_from;
use super::{Amended, Artefact, Baseline, Content, Framework, OracleKind, Pin, Recorded, Refusal, digest_of, seen};
use crate::code::{Arg, Expr, ExprKind, Unit};
use crate::evaluate::Value;
use crate::pins::{Project, Site};
use crate::places::RelPath;
use crate::text::Span;

pub struct K9;

impl Framework for K9 {
    fn id(&self) -> &'static str {
        "k9"
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let Some((unit, expr)) = call::asserted(project, site) else { return Vec::new() };
        let ExprKind::Macro { name, args, .. } = &expr.kind else { return Vec::new() };
        if !comes_from(project, unit, name, expr.span, "k9") {
            return Vec::new();
        }
        let Some(mut pin) = blank_pin(project, site) else { return Vec::new() };
        pin.framework = self.id().to_string();
        let literal = match site.found.property("pin.form") {
            Some("file") => {
                let path = place(project, site, &pin);
                return seen::files(project, site, &pin, &[], |_| Some(path.clone()));
            }
            Some("inline") => args.get(1).map(|arg| &arg.value),
            _ => compared(unit, args),
        };
        let Some(literal) = literal else { return Vec::new() };
        pin.oracle.kind = OracleKind::Inline;
        pin.oracle.path = Some(unit.path.clone());
        pin.oracle.span = Some(literal.span);
        pin.oracle.steps = Vec::new();
        pin.oracle.shown_only = Some(
            "k9 formats the whole file when it updates a value, so the bytes are not certain; let \
             K9_UPDATE_SNAPSHOTS=1 write it or change the literal by hand, then explain the change"
                .to_string(),
        );
        vec![pin]
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        if pin.oracle.kind != OracleKind::Inline {
            return golden::baseline(pin, project);
        }
        let place = pin.oracle.path.as_ref().and_then(|path| project.unit(path)).zip(pin.oracle.span);
        let Some((unit, span)) = place else { return Baseline::Missing };
        match content(unit, span) {
            Some(content) => Baseline::Present(Recorded {
                content,
                first_line: 0,
                file_digest: digest_of(&[unit.text.as_str().as_bytes()]),
                preimage: None,
            }),
            None => Baseline::Missing,
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

/// The side of `assert_equal!` that is a literal; of two the right one.
fn compared<'a>(unit: &Unit, args: &'a [Arg]) -> Option<&'a Expr> {
    let is = |arg: &&Arg| literal_rust::literal(&unit.text, &arg.value).is_some();
    args.get(1).filter(is).or_else(|| args.first().filter(is)).map(|arg| &arg.value)
}

fn content(unit: &Unit, span: Span) -> Option<Content> {
    let expr = crate::code::rust::expression(&unit.text, span);
    Some(literal_rust::content(&unit.text, literal_rust::literal(&unit.text, &expr)?.expr))
}

/// `<folder>/__k9_snapshots__/<file>/<test, :: as _>.snap`: the test that the runner's thread is named after.
fn place(project: &Project, site: &Site, pin: &Pin) -> Value {
    let home = &site.frames[call::home(site)].file;
    let same = project.crates.modules(&project.shelf, &site.frames[0].file).first().map(|module| module.target.clone());
    let test = same.and_then(|target| pin.test.strip_prefix(&format!("{target}::")).map(str::to_string));
    let Some(test) = test else { return Value::Unknown };
    let file = format!("__k9_snapshots__/{}/{}.snap", home.stem(), test.replace("::", "_"));
    home.parent().join(&file).map_or(Value::Unknown, |path: RelPath| Value::Path(path))
}

#[cfg(test)]
mod tests {
    use crate::oracles::origin::tests::check;
    use expect_test::expect;

    #[test]
    fn a_file_is_named_by_the_test_that_runs() {
        check(
            "k9",
            r##"
//- src/lib.rs
mod inner {
    #[test]
    fn file() { k9::assert_matches_snapshot!(f()); }
    #[test]
    fn inline() {
        k9::snapshot!(f(), r#"
a
"#);
        k9::assert_equal!(f(), 1400);
        k9::assert_equal!(f(), g());
        insta::snapshot!(f(), "x");
    }
}
//- src/__k9_snapshots__/lib/inner_file.snap
x
"##,
            expect![[r#"
                3 lib::inner::file src/__k9_snapshots__/lib/inner_file.snap "x\n"
                6 lib::inner::inline inline "\na\n" shown only
                9 lib::inner::inline inline value "1400" shown only
            "#]],
        );
    }
}
