//! Another role for a test, in words where a reader looks: the marker where the project has one, else the
//! docstring or doc comment. Takes a pin, gives a plan: the edit, the marker's registration, the
//! amendment. What it writes is read back before it is offered. Never writes.

use std::sync::LazyLock;

use regex::Regex;

use super::Plan;
use super::plan::{Edit, Request, draft_of, edited, reason, recordable, source};
use crate::code::{ExprKind, Function, Unit};
use crate::ledger::{Amendment, Kind};
use crate::oracles::{FileChange, Pin, Refusal, digest_of};
use crate::pins;
use crate::places::RelPath;
use crate::roles::{self, Role};
use crate::shelf::Read;
use crate::survey::Workspace;
use crate::syntax::Language;
use crate::text::{Span, Text, one_line};

pub use crate::proof::AUTHORITY;

/// Labels the test of a pin. A specification names its authority; without one a placeholder stands there.
pub fn plan_reclassify(pin: &Pin, workspace: &Workspace, to: Role, request: &Request) -> Result<Plan, Refusal> {
    let refuse = |why: String| Err(Refusal(why));
    let label = match to {
        Role::Characterization => "Characterization test: pins current behaviour.".to_string(),
        Role::Specification => {
            let authority = request.authority.as_deref().map_or(AUTHORITY.to_string(), safe);
            format!("Specification test: {}.", authority.trim_end_matches('.'))
        }
        Role::Unlabelled => return refuse("a test is labelled as a characterization or a specification".into()),
    };
    if let (Role::Specification, true, Some(authority)) = (to, pin.role == to, &request.authority) {
        return with_authority(pin, workspace, authority, request);
    }
    if pin.role == to {
        return refuse(format!("{} is a {} test already", pin.test, to.word()));
    }
    let why = match (request.reason.trim(), &request.authority) {
        ("", Some(authority)) => format!("{} by {authority}", to.word()),
        ("", None) => format!("labelled as a {} test", to.word()),
        (given, _) => given.to_string(),
    };
    let amendment = Amendment {
        verdict: None,
        diff: None,
        to: Some(to.word().into()),
        ..draft_of(pin, request, reason(&why, &pin.test, workspace)?, Kind::Reclassify, None, None)
    };
    let amendment = workspace.ledger.apart(amendment);
    let record = amendment.file();
    recordable(workspace, &[&record, &pin.file])?;
    let project = &workspace.project;
    let Some(unit) = project.unit(&pin.file) else { return refuse(format!("{} cannot be read now", pin.file)) };
    let old = source(workspace, &pin.file)?;
    let function = unit.functions.iter().find(|function| Some(function.span) == pin.test_span);
    let Some(function) = function.filter(|_| old == unit.text.as_str()) else {
        return refuse(format!("{} is not in a test function that could be labelled; label it by hand", pin.test));
    };
    let registered = markers(workspace);
    let by_marker = unit.language == Language::Python && (registered.known || uses_marker(unit));
    let edits = if by_marker { marker(unit, function, to) } else { words(unit, function, to, &label) };
    let new = edited(&old, &edits).filter(|new| *new != old);
    let Some(new) = new else {
        return refuse(format!("{} has no place for a label; write it by hand: {label}", pin.test));
    };
    if labelled(workspace, unit, function, &new) != Some(to) {
        return refuse(format!(
            "what is written around {} says otherwise and would still count; change those words, or write there: {label}",
            pin.test
        ));
    }
    let mut changes = vec![FileChange {
        path: pin.file.clone(),
        before: Some(digest_of(&[old.as_bytes()])),
        after: Some(new.into_bytes()),
        edits,
    }];
    if by_marker {
        changes.extend(registered.with(to));
    }
    Ok(Plan { changes, artefacts: Vec::new(), amendment, record })
}

/// The authority of a specification that was labelled without one: in place of the placeholder where that still
/// stands, and on the record in any case.
fn with_authority(pin: &Pin, workspace: &Workspace, authority: &str, request: &Request) -> Result<Plan, Refusal> {
    let refuse = |why: String| Err(Refusal(why));
    if authority.trim().is_empty() || authority.contains(AUTHORITY) {
        return refuse(format!("name the authority that says what {} must be (--authority)", pin.test));
    }
    let given = match request.reason.trim() {
        "" => format!("{} by {authority}", Role::Specification.word()),
        given => given.to_string(),
    };
    let amendment = Amendment {
        verdict: None,
        diff: None,
        to: Some(Role::Specification.word().into()),
        ..draft_of(pin, request, reason(&given, &pin.test, workspace)?, Kind::Reclassify, None, None)
    };
    let amendment = workspace.ledger.apart(amendment);
    let record = amendment.file();
    recordable(workspace, &[&record, &pin.file])?;
    let Some(unit) = workspace.project.unit(&pin.file) else {
        return refuse(format!("{} cannot be read now", pin.file));
    };
    let old = source(workspace, &pin.file)?;
    if old != unit.text.as_str() {
        return refuse(format!("{} changed since this was shown; look again", pin.file));
    }
    let function = unit.functions.iter().find(|function| Some(function.span) == pin.test_span);
    let place = function.map(|function| function.doc.as_ref().map_or(function.span, |doc| doc.span)).and_then(|span| {
        let at = unit.text.slice(span).find(AUTHORITY)?;
        Some(Span::new(span.start + at, span.start + at + AUTHORITY.len()))
    });
    let known = |entry: &std::sync::Arc<crate::ledger::Entry>| {
        entry.amendment.kind == Kind::Reclassify && entry.amendment.authority.as_deref() == Some(authority)
    };
    let stands = |text: &String| function.is_some_and(|function| unit.text.slice(function.span).contains(text));
    let written = spellings(authority).iter().any(stands);
    if place.is_none() && (written || workspace.ledger.history(pin).iter().any(known)) {
        return refuse(format!("{} is a specification test by that authority already", pin.test));
    }
    let mut changes = Vec::new();
    if let Some((place, function)) = place.zip(function) {
        let texts = spellings(authority).into_iter().map(|text| text.trim_end_matches('.').to_string());
        let change = texts.into_iter().find_map(|text| {
            let edits = vec![(place, text)];
            let new = edited(&old, &edits).filter(|new| keeps(workspace, unit, function, &edits, new))?;
            let (before, after) = (Some(digest_of(&[old.as_bytes()])), Some(new.into_bytes()));
            Some(FileChange { path: pin.file.clone(), before, after, edits })
        });
        let Some(change) = change else {
            return refuse(format!(
                "the authority cannot stand where {AUTHORITY} is written at {}; write it there by hand",
                pin.test
            ));
        };
        changes.push(change);
    }
    Ok(Plan { changes, artefacts: Vec::new(), amendment, record })
}

/// One line that ends no docstring or comment and hides nothing.
fn safe(text: &str) -> String {
    one_line(&text.replace("\"\"\"", "'").replace("'''", "'").replace('\\', "/").replace("*/", "* /"), 200)
}

/// The ways in which a text can be written, the most faithful first: next to the quotes of its docstring it cannot
/// have the same ones.
fn spellings(text: &str) -> [String; 3] {
    let safe = safe(text);
    [safe.clone(), safe.replace('"', "'"), safe.replace(['"', '\''], "")]
}

/// The changed text is the same code, with the test a specification: only the words in its doc or comment are others.
fn keeps(workspace: &Workspace, unit: &Unit, function: &Function, edits: &[Edit], new: &str) -> bool {
    let facts = pins::facts(&unit.path, &Text::new(new), unit.language, &workspace.vocabulary);
    let now = &facts.unit;
    // Where a byte of the old text stands in the new one.
    let moved = |at: usize| {
        let before = edits.iter().filter(|(span, _)| span.end <= at);
        before.fold(at, |at, (span, text)| (at + text.len()).saturating_sub(span.end - span.start))
    };
    let same = |was: &Span, is: &Span| moved(was.start) == is.start && moved(was.end) == is.end;
    let docs = |was: &Function, is: &Function| match (&was.doc, &is.doc) {
        (Some(was), Some(is)) => same(&was.span, &is.span),
        (None, None) => true,
        _ => false,
    };
    now.errors.len() == unit.errors.len()
        && now.functions.len() == unit.functions.len()
        && unit.functions.iter().zip(&now.functions).all(|(was, is)| same(&was.span, &is.span) && docs(was, is))
        && labelled(workspace, unit, function, new) == Some(Role::Specification)
}

/// The role that the changed text gives the test.
fn labelled(workspace: &Workspace, unit: &Unit, function: &Function, new: &str) -> Option<Role> {
    let facts = pins::facts(&unit.path, &Text::new(new), unit.language, &workspace.vocabulary);
    let same = |other: &&Function| other.name == function.name && other.path == function.path;
    let nth = unit.functions.iter().filter(same).position(|other| other.span == function.span)?;
    let now = facts.unit.functions.iter().filter(same).nth(nth)?;
    roles::labelled(&facts.unit, Some(now), &workspace.project.settings)
}

static OTHER: LazyLock<Option<[Regex; 2]>> = LazyLock::new(|| {
    Some([
        Regex::new(r"(?i)\bcharacteri[sz]ation tests?\b[:.]?").ok()?,
        Regex::new(r"(?i)\bspecification tests?\b[:.]?").ok()?,
    ])
});

/// The label in the docstring or doc comment, in place of the other one, or as the first words.
fn words(unit: &Unit, function: &Function, to: Role, label: &str) -> Vec<Edit> {
    let text = &unit.text;
    let whole_line =
        |at: usize| text.as_str().get(text.line_start(text.line_of(at))..at).is_some_and(|s| s.trim().is_empty());
    let end = if text.as_str().contains("\r\n") { "\r\n" } else { "\n" };
    if let Some(doc) = &function.doc {
        let there = text.slice(doc.span);
        let other = OTHER.as_ref().map(|[characterization, specification]| match to {
            Role::Specification => characterization,
            _ => specification,
        });
        if let Some(found) = other.and_then(|other| other.find(there)) {
            let span = Span::new(doc.span.start + found.start(), doc.span.start + found.end());
            return vec![(span, before_words(label, &there[found.end()..]))];
        }
        if unit.language == Language::Rust {
            let at = text.line_start(text.line_of(doc.span.start));
            return vec![(Span::new(at, at), format!("{}/// {label}{end}", indent_at(text, doc.span.start)))];
        }
        let quotes = there.find(['"', '\'']).map(|at| {
            let rest = &there[at..];
            at + if rest.starts_with("\"\"\"") || rest.starts_with("'''") { 3 } else { 1 }
        });
        let Some(inner) = quotes else { return Vec::new() };
        // A label with quotes of its own cannot stand in a docstring of single ones.
        if there[..inner].len() < 3 && label.contains(['"', '\'']) {
            return Vec::new();
        }
        let at = doc.span.start + inner;
        return vec![(Span::new(at, at), format!("{label} "))];
    }
    match unit.language {
        Language::Rust => {
            let at = text.line_start(text.line_of(function.span.start));
            vec![(Span::new(at, at), format!("{}/// {label}{end}", indent_at(text, function.span.start)))]
        }
        Language::Python => match function.body.first().filter(|first| whole_line(first.span.start)) {
            Some(first) => {
                let at = first_line_of_body(unit, function, first.span.start);
                vec![(Span::new(at, at), format!("{}\"\"\"{label}\"\"\"{end}", function.indent))]
            }
            None => {
                let at = text.line_start(text.line_of(function.span.start));
                vec![(Span::new(at, at), format!("{}# {label}{end}", indent_at(text, function.span.start)))]
            }
        },
    }
}

/// The label where `rest` of a doc follows: what was said there stays one sentence with it.
fn before_words(label: &str, rest: &str) -> String {
    let more = rest.lines().next().is_some_and(|rest| rest.contains(char::is_alphanumeric));
    match label.split_once(": ") {
        Some((kind, "pins current behaviour.")) if more => format!("{kind}:"),
        _ if more => format!("{};", label.trim_end_matches('.')),
        _ => label.to_string(),
    }
}

/// A docstring comes before the comments that lead the body.
fn first_line_of_body(unit: &Unit, function: &Function, first: usize) -> usize {
    let text = &unit.text;
    let mut line = text.line_of(first);
    let top = text.line_of(function.name_span.end);
    while line > top + 1 && text.line(line - 1).trim_start().starts_with('#') {
        line -= 1;
    }
    text.line_start(line)
}

fn indent_at(text: &Text, at: usize) -> &str {
    let start = text.line_start(text.line_of(at));
    let line = text.as_str().get(start..at).unwrap_or("");
    &line[..line.len() - line.trim_start().len()]
}

const MARKS: [&str; 2] = ["characterization", "specification"];

fn uses_marker(unit: &Unit) -> bool {
    MARKS.iter().any(|word| unit.text.as_str().contains(&format!("mark.{word}")))
}

/// The marker, in place of the other one, or above the `def`.
fn marker(unit: &Unit, function: &Function, to: Role) -> Vec<Edit> {
    let word = |name: &str| MARKS.iter().any(|mark| name.ends_with(&format!("mark.{mark}")));
    for mark in &function.marks {
        let callee = match &mark.kind {
            ExprKind::Call { callee, .. } => callee,
            _ => mark,
        };
        if let Some(name) = callee.dotted().filter(|name| word(name)) {
            let stem = name.rsplit_once('.').map_or("pytest.mark", |(stem, _)| stem);
            return vec![(callee.span, format!("{stem}.{}", to.word()))];
        }
    }
    let text = &unit.text;
    let at = text.line_start(text.line_of(function.def_span.start));
    let end = if text.as_str().contains("\r\n") { "\r\n" } else { "\n" };
    let mut edits = Vec::new();
    if !unit.imports.iter().any(|import| import.local == "pytest" && import.scope.is_empty()) {
        return edits;
    }
    edits.push((
        Span::new(at, at),
        format!("{}@pytest.mark.{}{end}", indent_at(text, function.def_span.start), to.word()),
    ));
    edits
}

/// Where the project registers markers.
struct Markers {
    /// One of the two roles' markers is registered.
    known: bool,
    /// File and text that register markers.
    file: Option<(RelPath, String)>,
}

fn markers(workspace: &Workspace) -> Markers {
    for name in ["pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"] {
        let Some(path) = RelPath::new(name) else { continue };
        let Read::Bytes(bytes) = workspace.project.shelf.read(&path) else { continue };
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        if text.contains("markers") {
            let known = MARKS.iter().any(|word| registers(text, word));
            return Markers { known, file: Some((path, text.to_string())) };
        }
    }
    Markers { known: false, file: None }
}

/// A line of the list of markers begins with the word.
fn registers(text: &str, word: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start().trim_start_matches(['"', '\'']);
        line.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '"', '\'', ' ', '(']))
    })
}

impl Markers {
    /// Registers the marker of a role where the list does not have it.
    fn with(self, role: Role) -> Option<FileChange> {
        let (path, text) = self.file?;
        if registers(&text, role.word()) {
            return None;
        }
        let about = match role {
            Role::Specification => "asserts what an authority says",
            _ => "pins what the code does today",
        };
        let entry = format!("{}: {about}", role.word());
        let new = if path.name() == "pyproject.toml" {
            let mut document: toml_edit::DocumentMut = text.parse().ok()?;
            let markers = document
                .get_mut("tool")?
                .get_mut("pytest")?
                .get_mut("ini_options")?
                .get_mut("markers")?
                .as_array_mut()?;
            let last = markers.iter().last()?.decor().clone();
            let mut value = toml_edit::Value::from(entry);
            *value.decor_mut() = toml_edit::Decor::new(last.prefix().cloned().unwrap_or_default(), "");
            markers.push_formatted(value);
            document.to_string()
        } else {
            let at = text.find("\nmarkers").map(|at| at + 1).or_else(|| text.starts_with("markers").then_some(0))?;
            let list: Vec<&str> = text[at..].split_inclusive('\n').collect();
            let rest =
                list.iter().skip(1).take_while(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty()).count();
            let indent: &str = match list.get(1) {
                Some(line) if rest > 0 => &line[..line.len() - line.trim_start().len()],
                _ => "    ",
            };
            let end = at + list.iter().take(rest + 1).map(|line| line.len()).sum::<usize>();
            let joint = if text[..end].ends_with('\n') { "" } else { "\n" };
            format!("{}{joint}{indent}{entry}\n{}", &text[..end], &text[end..])
        };
        Some(FileChange {
            path,
            before: Some(digest_of(&[text.as_bytes()])),
            after: Some(new.into_bytes()),
            edits: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::Fixture;
    use crate::oracles::{Oracle, OracleKind};

    fn pin(workspace: &Workspace, file: &str) -> Pin {
        let path = RelPath::new(file).unwrap();
        let unit = workspace.project.unit(&path).expect("the file passed the prefilter");
        let function = &unit.functions[0];
        Pin {
            file: path.clone(),
            span: function.span,
            test: format!("{file}::{}", function.name),
            case: None,
            nth: 1,
            language: unit.language,
            framework: "plain".into(),
            role: roles::labelled(unit, Some(function), &workspace.project.settings).unwrap_or(Role::Unlabelled),
            asserted_in: None,
            test_span: Some(function.span),
            oracle: Oracle {
                kind: OracleKind::Literal,
                path: Some(path),
                entry: None,
                span: None,
                candidates: vec![],
                steps: vec![],
                shown_only: None,
                key: format!("{file}#literal:1"),
                tolerance: None,
            },
            shared_site: false,
        }
    }

    fn check(notation: &str, file: &str, to: Role, authority: Option<&str>, expect: Expect) {
        let fixture = Fixture::committed(notation);
        let workspace = Workspace::open(fixture.path()).unwrap();
        let request = Request {
            drift: None,
            reason: String::new(),
            authority: authority.map(str::to_string),
            proof: None,
            verdict: None,
            via: "cli".into(),
            author: "Ada".into(),
            proposed_by: None,
            confirmed_by: None,
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        let got = match plan_reclassify(&pin(&workspace, file), &workspace, to, &request) {
            Ok(plan) => plan
                .changes
                .iter()
                .map(|change| format!("{}\n{}", change.path, String::from_utf8_lossy(change.after.as_deref().unwrap())))
                .chain([format!("{}: {}\n", plan.amendment.kind.word(), plan.amendment.reason)])
                .collect(),
            Err(refusal) => format!("{refusal}\n"),
        };
        expect.assert_eq(&got);
    }

    #[test]
    fn a_label_stands_where_the_test_keeps_its_words() {
        let plain = "//- tests/test_a.py\ndef test_a():\n    # lead\n    assert f(1) == 2\n";
        check(
            plain,
            "tests/test_a.py",
            Role::Characterization,
            None,
            expect![[r#"
            tests/test_a.py
            def test_a():
                """Characterization test: pins current behaviour."""
                # lead
                assert f(1) == 2
            reclassify: labelled as a characterization test
        "#]],
        );
        check(
            plain,
            "tests/test_a.py",
            Role::Specification,
            Some("rule \"\"\" 7"),
            expect![[r#"
            tests/test_a.py
            def test_a():
                """Specification test: rule ' 7."""
                # lead
                assert f(1) == 2
            reclassify: specification by rule """ 7
        "#]],
        );
        check(
            "//- tests/test_a.py\ndef test_a():\n    \"\"\"Rounds.\n\n    More.\n    \"\"\"\n    assert f(1) == 2\n",
            "tests/test_a.py",
            Role::Characterization,
            None,
            expect![[r#"
                tests/test_a.py
                def test_a():
                    """Characterization test: pins current behaviour. Rounds.

                    More.
                    """
                    assert f(1) == 2
                reclassify: labelled as a characterization test
            "#]],
        );
        check(
            "//- tests/test_a.py\ndef test_a():\n    \"\"\"Characterization test: rounds as it does.\"\"\"\n    assert f(1) == 2\n",
            "tests/test_a.py",
            Role::Specification,
            None,
            expect![[r#"
                tests/test_a.py
                def test_a():
                    """Specification test: <which authority says so?>; rounds as it does."""
                    assert f(1) == 2
                reclassify: labelled as a specification test
            "#]],
        );
        check(
            "//- Cargo.toml\n[package]\nname = \"a\"\n//- tests/a.rs\n/// Rounds.\n#[test]\nfn rounds() {\n    assert_eq!(f(1), 2);\n}\n",
            "tests/a.rs",
            Role::Characterization,
            None,
            expect![[r#"
                tests/a.rs
                /// Characterization test: pins current behaviour.
                /// Rounds.
                #[test]
                fn rounds() {
                    assert_eq!(f(1), 2);
                }
                reclassify: labelled as a characterization test
            "#]],
        );
    }

    #[test]
    fn an_authority_comes_in_place_of_the_placeholder() {
        let of = |doc: &str| {
            format!(
                "//- tests/test_a.py\ndef test_a():\n    \"\"\"Specification test: {doc}\"\"\"\n    assert f(1) == 2\n"
            )
        };
        check(
            &of("<which authority says so?>; rounds as it does."),
            "tests/test_a.py",
            Role::Specification,
            Some("rule 7."),
            expect![[r#"
                tests/test_a.py
                def test_a():
                    """Specification test: rule 7; rounds as it does."""
                    assert f(1) == 2
                reclassify: specification by rule 7.
            "#]],
        );
        check(
            &of("<which authority says so?>."),
            "tests/test_a.py",
            Role::Specification,
            Some("rule 7."),
            expect![[r#"
                tests/test_a.py
                def test_a():
                    """Specification test: rule 7."""
                    assert f(1) == 2
                reclassify: specification by rule 7.
            "#]],
        );
        // Its quotes end no docstring.
        check(
            &of("<which authority says so?>"),
            "tests/test_a.py",
            Role::Specification,
            Some("paragraph \"7\""),
            expect![[r#"
                tests/test_a.py
                def test_a():
                    """Specification test: paragraph '7'"""
                    assert f(1) == 2
                reclassify: specification by paragraph "7"
            "#]],
        );
        check(
            "//- tests/test_a.py\ndef test_a():\n    'Specification test: <which authority says so?>.'\n    assert f(1) == 2\n",
            "tests/test_a.py",
            Role::Specification,
            Some("Ada's \"rule\""),
            expect![[r#"
                tests/test_a.py
                def test_a():
                    'Specification test: Adas rule.'
                    assert f(1) == 2
                reclassify: specification by Ada's "rule"
            "#]],
        );
        check(
            &of("rule 6."),
            "tests/test_a.py",
            Role::Specification,
            Some("rule 7"),
            expect![[r#"
                reclassify: specification by rule 7
            "#]],
        );
        check(
            &of("rule 6."),
            "tests/test_a.py",
            Role::Specification,
            None,
            expect![[r#"
                tests/test_a.py::test_a is a specification test already
            "#]],
        );
    }

    #[test]
    fn a_project_with_markers_gets_a_registered_marker() {
        let test = "//- tests/test_a.py\nimport pytest\n\n\n@pytest.mark.characterization\ndef test_a():\n    assert f(1) == 2\n";
        check(
            &format!(
                "{test}//- pyproject.toml\n[tool.pytest.ini_options]\naddopts = \"--strict-markers\"\nmarkers = [\n    \"characterization: pins\",\n]\n"
            ),
            "tests/test_a.py",
            Role::Specification,
            Some("rule 7"),
            expect![[r#"
                tests/test_a.py
                import pytest


                @pytest.mark.specification
                def test_a():
                    assert f(1) == 2
                pyproject.toml
                [tool.pytest.ini_options]
                addopts = "--strict-markers"
                markers = [
                    "characterization: pins",
                    "specification: asserts what an authority says",
                ]
                reclassify: specification by rule 7
            "#]],
        );
        check(
            &format!("{test}//- pytest.ini\n[pytest]\nmarkers =\n    slow: x\n    characterization\naddopts = -q\n"),
            "tests/test_a.py",
            Role::Specification,
            Some("rule 7"),
            expect![[r#"
                tests/test_a.py
                import pytest


                @pytest.mark.specification
                def test_a():
                    assert f(1) == 2
                pytest.ini
                [pytest]
                markers =
                    slow: x
                    characterization
                    specification: asserts what an authority says
                addopts = -q
                reclassify: specification by rule 7
            "#]],
        );
    }

    #[test]
    fn words_that_would_win_over_the_label_refuse() {
        check(
            "//- tests/test_a.py\nimport pytest\n\n\n@pytest.mark.specification\ndef test_a():\n    \"\"\"Specification test: rule 7.\"\"\"\n    assert f(1) == 2\n",
            "tests/test_a.py",
            Role::Characterization,
            None,
            expect![[r#"
                what is written around tests/test_a.py::test_a says otherwise and would still count; change those words, or write there: Characterization test: pins current behaviour.
            "#]],
        );
    }
}
