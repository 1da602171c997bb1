//! goldie 0.5 to 0.7: `goldie::assert!` and its kin. Takes a site, gives the file by the rule of 0.7: `testdata/` beside
//! the source file's module, the modules and the name of the function that holds the macro. Templates and JSON
//! are read and never written. Never compares, never writes.

use super::golden::{self, unread};
use super::insta::{blank_pin, call};
use super::{Amended, Artefact, Baseline, Content, Framework, Orphan, Pin, Refusal, Step, seen};
use crate::code::ExprKind;
use crate::evaluate::Value;
use crate::pins::macros::last;
use crate::pins::{Project, Site};
use crate::places::RelPath;

pub struct Goldie;

impl Framework for Goldie {
    fn id(&self) -> &'static str {
        "goldie"
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let Some((_, expr)) = call::asserted(project, site) else { return Vec::new() };
        let ExprKind::Macro { name, .. } = &expr.kind else { return Vec::new() };
        let (Some(mut blank), Some(path)) = (blank_pin(project, site), place(project, site)) else {
            return Vec::new();
        };
        blank.framework = self.id().to_string();
        let steps = match last(name) {
            "assert_json" => vec![Step::Json],
            "assert_template" => vec![Step::Unknown("a template".to_string())],
            _ => Vec::new(),
        };
        if last(name) == "assert_template" {
            blank.oracle.shown_only = Some(
                "the recorded text is a template that the test fills in; change it by hand, goldie does not write it"
                    .to_string(),
            );
        }
        seen::files(project, site, &blank, &steps, |_| Some(Value::Path(path.clone())))
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
        golden::amend(pin, observed, artefact, project)
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        unread::beside(pins, project, self.id())
    }
}

/// The golden file of the function in which the macro stands (`Builder::build`).
fn place(project: &Project, site: &Site) -> Option<RelPath> {
    let frame = site.frames.get(call::home(site))?;
    let unit = project.unit(&frame.file)?;
    let function = unit.functions.get(frame.function?)?;
    let package = project.crates.package_of(&frame.file)?;
    let modules = project.crates.modules(&project.shelf, &frame.file);
    let file = frame.file.as_str().strip_prefix(package.dir.as_str())?.trim_start_matches('/');
    let source: Vec<&str> =
        file.strip_suffix(".rs")?.split('/').filter(|part| !matches!(*part, "lib" | "mod")).collect();
    let path: Vec<&str> =
        modules.first()?.path.iter().chain(&function.path).chain([&function.name]).map(String::as_str).collect();
    // The longest beginning of the function's path that ends the file's.
    let common = (0..=path.len()).rev().find(|n| source.ends_with(&path[..*n])).unwrap_or(0);
    let (left, shared) = source.split_at(source.len() - common);
    let plain = |parts: &[&str]| -> Vec<String> {
        parts.iter().filter(|part| **part != "tests").map(|part| part.to_string()).collect()
    };
    let mut parts: Vec<String> = left.iter().map(|part| part.to_string()).collect();
    parts.extend(plain(shared));
    parts.push("testdata".to_string());
    let mut inner = plain(&path[common..]);
    inner.pop();
    parts.extend(inner);
    let name = function.name.rsplit_once('.').map_or(function.name.as_str(), |(stem, _)| stem);
    parts.push(format!("{name}.golden"));
    package.dir.join(&parts.join("/"))
}

#[cfg(test)]
mod tests {
    use crate::oracles::origin::tests::check;
    use expect_test::expect;

    #[test]
    fn a_file_is_named_by_module_and_function() {
        check(
            "goldie",
            r#"
//- tests/it.rs
#[test]
fn invoice() { goldie::assert!(f()); }
mod nested { #[test] fn totals() { goldie::assert_debug!(f()); } }
//- src/lib.rs
mod a;
//- src/a/mod.rs
mod b;
#[cfg(test)]
mod tests {
    #[test]
    fn deep() { goldie::assert_json!(f()); }
}
//- src/a/b.rs
mod tests { #[test] fn t() { goldie::assert_template!(&c, f()); assert!(true); } }
//- tests/it/testdata/invoice.golden
1
//- src/a/testdata/deep.golden
{"a": 1}
"#,
            expect![[r#"
                1 lib::a::b::tests::t src/a/b/testdata/t.golden missing shown only
                5 lib::a::tests::deep src/a/testdata/deep.golden value "{\n  \"a\": 1\n}"
                2 it::invoice tests/it/testdata/invoice.golden "1\n"
                3 it::nested::totals tests/it/testdata/nested/totals.golden missing
            "#]],
        );
    }
}
