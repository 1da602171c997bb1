//! Plain literals in both languages under one word of the reports. Takes a site, hands it to the language.

use super::{Amended, Artefact, Baseline, Content, Framework, Pin, Refusal, plain_python, plain_rust};
use crate::code::Expr;
use crate::pins::{Project, Site};
use crate::syntax::Language;

/// `assert`, `assert_eq!` and their kin.
pub struct Plain;

/// The assert methods of `unittest.TestCase`.
pub struct Unittest;

fn language(project: &Project, site: &Site) -> Option<Language> {
    project.unit(&site.comparing().file).map(|unit| unit.language)
}

/// Of two sides the literal one, as `side` finds it with its distance: the nearer one, of two equally near ones
/// the right. With it the side itself and the other.
pub(super) fn nearer<'e, F>(
    side: impl Fn(&'e Expr) -> Option<(usize, F)>,
    left: &'e Expr,
    right: &'e Expr,
) -> Option<(F, &'e Expr, &'e Expr)> {
    match (side(left), side(right)) {
        (Some((near, found)), Some((far, _))) if near < far => Some((found, left, right)),
        (_, Some((_, found))) => Some((found, right, left)),
        (Some((_, found)), None) => Some((found, left, right)),
        (None, None) => None,
    }
}

impl Framework for Plain {
    fn id(&self) -> &'static str {
        "plain"
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        match language(project, site) {
            Some(Language::Python) => plain_python::pins(project, site, self.id()),
            Some(Language::Rust) => plain_rust::pins(project, site),
            None => Vec::new(),
        }
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        match pin.language {
            Language::Python => plain_python::baseline(pin, project),
            Language::Rust => plain_rust::baseline(pin, project),
        }
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        _: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        match pin.language {
            Language::Python => plain_python::amend(pin, observed, project),
            Language::Rust => plain_rust::amend(pin, observed, project),
        }
    }
}

impl Framework for Unittest {
    fn id(&self) -> &'static str {
        "unittest"
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        match language(project, site) {
            Some(Language::Python) => plain_python::pins(project, site, self.id()),
            Some(Language::Rust) | None => Vec::new(),
        }
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        plain_python::baseline(pin, project)
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        _: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        plain_python::amend(pin, observed, project)
    }
}
