//! A specification test for the call of a drift, the observed value in it and a placeholder where its authority
//! belongs. Takes a case, gives text to be put behind the pinned test. Nothing where the call needs more of its
//! test than the values it binds.

use super::specifications::equals;
use crate::code::{Expr, ExprKind, Function, StmtKind, Unit, python::repr};
use crate::oracles::{Content, OracleKind};
use crate::pins::Project;
use crate::places::RelPath;
use crate::roles;
use crate::survey::Case;
use crate::syntax::Language;
use crate::text::Span;

/// What stands where the authority belongs, until a person wrote one.
pub const AUTHORITY: &str = "<which authority says so?>";
/// Longest value that is written into a draft, in bytes.
const LONGEST: usize = 2000;

/// A test that is not there yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub file: RelPath,
    /// Byte of the file at which it goes in.
    pub at: usize,
    pub text: String,
}

/// The draft for a drift that was observed.
pub fn draft(project: &Project, case: &Case) -> Option<Draft> {
    let pin = &case.pin;
    let unit = project.unit(&pin.file)?;
    let function = unit.functions.iter().find(|function| Some(function.span) == pin.test_span)?;
    let seen = case.observation.as_ref().filter(|seen| !seen.stale && !seen.lossy)?;
    if pin.shared_site || pin.case.is_some() || pin.oracle.kind == OracleKind::Digest {
        return None;
    }
    let value = literal(unit.language, &seen.content).filter(|value| value.len() <= LONGEST)?;
    let side = side(unit, function, case)?;
    // The values that the call needs, as the test binds them; anything else that comes before is left out.
    let mut setup = String::new();
    for stmt in function.body.iter().take_while(|stmt| stmt.span.end <= pin.span.start) {
        match stmt.kind {
            StmtKind::Bind { .. } => {
                setup.push_str(&indent(unit, function));
                setup.push_str(unit.text.slice(stmt.span));
                setup.push('\n');
            }
            StmtKind::Assert { .. } | StmtKind::Expr(_) => {}
            _ => return None,
        }
    }
    let plain = |kind: &StmtKind| matches!(kind, StmtKind::Assert { .. } | StmtKind::Expr(_) | StmtKind::Return(_));
    if !function.body.iter().any(|stmt| stmt.span.contains(pin.span) && plain(&stmt.kind)) {
        return None;
    }
    let name = name(unit, function, side)?;
    let call = unit.text.slice(side.span);
    let end = if unit.text.as_str().contains("\r\n") { "\r\n" } else { "\n" };
    let text = match unit.language {
        Language::Python => {
            let params = unit.text.slice(Span::new(function.name_span.end, function.body.first()?.span.start));
            let params = params
                .split(':')
                .next()
                .filter(|params| params.ends_with(')') && function.params.iter().all(|it| !it.name.contains('*')))?;
            let own = indent(unit, function);
            let outer = own.strip_suffix("    ").or_else(|| own.strip_suffix('\t')).unwrap_or("");
            let gap = if outer.is_empty() { "\n\n\n" } else { "\n\n" };
            format!(
                "{gap}{outer}def {name}{params}:\n{own}\"\"\"Specification test: {AUTHORITY}.\"\"\"\n{setup}{own}assert {call} == {value}"
            )
        }
        Language::Rust => {
            if !function.params.is_empty() || function.marks.len() != 1 {
                return None;
            }
            let outer = &function.indent;
            let mark = unit.text.slice(function.marks.first()?.span);
            format!(
                "\n\n{outer}/// Specification test: {AUTHORITY}.\n{outer}#[{mark}]\n{outer}fn {name}() {{\n{setup}{}assert_eq!({call}, {value});\n{outer}}}",
                indent(unit, function)
            )
        }
    };
    Some(Draft { file: pin.file.clone(), at: function.span.end, text: text.replace('\n', end) })
}

/// The computed side of the pin's comparison.
fn side<'a>(unit: &Unit, function: &'a Function, case: &Case) -> Option<&'a Expr> {
    let pin = &case.pin;
    let literal = pin.oracle.span.filter(|_| pin.oracle.path.as_ref() == Some(&pin.file));
    let computed = |expr: &&Expr| {
        pin.span.contains(expr.span)
            && literal.is_none_or(|literal| !expr.span.contains(literal))
            && !unit.text.slice(expr.span).contains("read_text")
            && matches!(expr.kind, ExprKind::Call { .. } | ExprKind::Name(_) | ExprKind::Attr(..) | ExprKind::Index(..))
    };
    let found: Vec<&Expr> = equals(function).into_iter().map(|(side, _)| side).filter(computed).collect();
    match found.as_slice() {
        [one] => Some(one),
        _ => None,
    }
}

fn literal(language: Language, content: &Content) -> Option<String> {
    match (content, language) {
        (Content::Value(source), _) => Some(source.clone()),
        (Content::Text(text), Language::Python) => repr::text(text),
        (Content::Text(text), Language::Rust) => Some(format!("{text:?}")),
        (Content::Bytes(_), _) => None,
    }
}

/// A name that says no role, and that no other test has.
fn name(unit: &Unit, function: &Function, side: &Expr) -> Option<String> {
    let mut word = String::new();
    side.walk(&mut |expr| {
        if let (ExprKind::Call { callee, .. }, true) = (&expr.kind, word.is_empty()) {
            word = callee.dotted().unwrap_or_default();
        }
    });
    let word = word.rsplit(['.', ':']).next().filter(|word| !word.is_empty()).unwrap_or(&function.name).to_string();
    let word = word.trim_start_matches("test_").to_string();
    let before = if unit.language == Language::Python { "test_" } else { "" };
    let free = |name: &String| unit.functions_named(name).next().is_none() && roles::named(name).is_none();
    let names = std::iter::once(format!("{before}{word}_as_specified"));
    names.chain((2..20).map(|nth| format!("{before}{word}_as_specified_{nth}"))).find(free)
}

/// Indentation of the body.
fn indent(unit: &Unit, function: &Function) -> String {
    match unit.language {
        Language::Python => function.indent.clone(),
        Language::Rust => format!("{}    ", function.indent),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::Fixture;
    use crate::pins::{Extent, sites};
    use crate::roles::Role;
    use crate::survey::Workspace;

    fn check(notation: &str, expected: Expect) {
        let fixture = Fixture::committed(notation);
        let workspace = Workspace::open(fixture.path()).unwrap();
        let survey = workspace.survey(&Extent::All, &|| false).unwrap();
        let case = survey.cases.iter().find(|case| case.drift_id.is_some()).expect("a drift");
        let draft = draft(&workspace.project, case).expect("a draft");
        expected.assert_eq(draft.text.trim_start());
        // What is put in is a specification as it stands.
        let mut source = fixture.read(draft.file.as_str());
        source.insert_str(draft.at, &draft.text);
        std::fs::write(fixture.at(draft.file.as_str()), source).unwrap();
        let workspace = Workspace::open(fixture.path()).unwrap();
        let unit = workspace.project.unit(&draft.file).unwrap();
        let new = unit.functions.iter().find(|function| function.name.ends_with("as_specified")).expect("it parses");
        assert!(sites::is_test(unit, new));
        assert_eq!(roles::labelled(unit, Some(new), &workspace.project.settings), Some(Role::Specification));
    }

    #[test]
    fn a_drift_becomes_a_specification_without_its_authority() {
        check(
            "//- pindrift.toml\n[pairs]\n\"tests/golden/*\" = \"tests/actual/*\"\n//- tests/test_a.py\nfrom pathlib import Path\n\n\
             GOLDEN = Path(__file__).parent / \"golden\"\n\n\ndef test_report(tmp_path):\n    month = \"May\"\n    assert \
             report(month) == (GOLDEN / \"a.txt\").read_text()\n//- tests/golden/a.txt\none\n//- tests/actual/a.txt\nit's two\n",
            expect![[r#"
                def test_report_as_specified(tmp_path):
                    """Specification test: <which authority says so?>."""
                    month = "May"
                    assert report(month) == "it's two\n""#]],
        );
        check(
            "//- Cargo.toml\n[package]\nname = \"a\"\nversion = \"0.1.0\"\n//- pindrift.toml\n[pairs]\n\"tests/golden/*\" = \
             \"tests/actual/*\"\n//- tests/a.rs\n//! Characterization tests: they pin current behaviour.\n\n#[test]\nfn \
             report() {\n    let month = 5;\n    assert_eq!(a::text(month), include_str!(\"golden/a.txt\"));\n}\n//- \
             tests/golden/a.txt\none\n//- tests/actual/a.txt\ntwo\n",
            expect![[r#"
                /// Specification test: <which authority says so?>.
                #[test]
                fn text_as_specified() {
                    let month = 5;
                    assert_eq!(a::text(month), "two\n");
                }"#]],
        );
    }
}
