//! expecttest 0.3.0: `self.assertExpectedInline(actual, """…""")`, `self.assertExpectedRaisesInline(Error, call, """…""")`
//! and `assert_expected_inline(actual, """…""")` against the literal in the test, and `self.assertExpected(text[, name])`
//! of PyTorch's copy against `<folder>/expect/<Class>.<test>[-<name>].expect`. Takes sites, gives pins, contents and the
//! literal that `EXPECTTEST_ACCEPT=1` writes.
//!
//! Only a literal in three quotes is rewritten, only by printable ASCII. An empty one was never recorded. A carriage
//! return is written as a line feed and can therefore never hold.

use super::pytest;
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, OracleKind, Pin, Recorded, Refusal, Step, digest_of,
    reading, seen,
};
use crate::code::python;
use crate::code::{Expr, ExprKind, Unit};
use crate::evaluate::{Value, World, worlds};
use crate::pins::{Project, Site};
use crate::places::RelPath;
use crate::shelf::Read;

pub struct Expecttest;

const ID: &str = "expecttest";

impl Framework for Expecttest {
    fn id(&self) -> &'static str {
        ID
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let Some((callee, args)) = pytest::call_at(project, site.comparing()) else { return Vec::new() };
        let (method, own) = match &callee.kind {
            ExprKind::Attr(receiver, method) => {
                let own = matches!(&receiver.kind, ExprKind::Name(name) if matches!(name.as_str(), "self" | "cls"));
                (method.as_str(), own || receiver.dotted().as_deref() == Some(ID))
            }
            ExprKind::Name(name) => (name.as_str(), name == "assert_expected_inline"),
            _ => return Vec::new(),
        };
        if !own {
            return Vec::new();
        }
        if method == "assertExpected" {
            let name = pytest::argument(args, 1, "subname");
            return files(project, site, pytest::argument(args, 0, "s"), name);
        }
        let at = if method == "assertExpectedRaisesInline" { 2 } else { 1 };
        let Some(expect) = pytest::argument(args, at, "expect") else { return Vec::new() };
        let worlds = worlds(project, site);
        let Some(mut pin) = worlds.first().and_then(|world| seen::pin(project, site, world, ID)) else {
            return Vec::new();
        };
        // All cases of a test share the one literal.
        if worlds.len() > 1 {
            pin.test = pin.test_base().to_string();
            pin.case = None;
            pin.shared_site = true;
        }
        pin.oracle.kind = OracleKind::Inline;
        if let Some((path, literal)) = literal(project, site, expect) {
            pin.oracle.path = Some(path.clone());
            pin.oracle.span = Some(literal.span);
            let filtered = args.iter().any(|arg| arg.name.as_deref() == Some("expect_filters"))
                || project.unit(path).is_some_and(|unit| unit.text.as_str().contains("substituteExpected("));
            if filtered {
                let why = "parts of the observed text are replaced before it is compared (substituteExpected)";
                pin.oracle.shown_only = Some(why.to_string());
            }
        }
        vec![pin]
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        let Some(path) = &pin.oracle.path else { return Baseline::Missing };
        if pin.oracle.kind == OracleKind::File {
            return match project.shelf.disk(path) {
                Read::Missing => Baseline::Missing,
                Read::Refused(why) => Baseline::Unreadable(why),
                Read::Bytes(bytes) => match reading::content(&bytes, &pin.oracle.steps) {
                    Err(why) => Baseline::Unreadable(format!("{path}: {why}")),
                    Ok(content) => {
                        let file_digest = digest_of(&[&bytes]);
                        Baseline::Present(Recorded { content, first_line: 1, file_digest, preimage: None })
                    }
                },
            };
        }
        let found = project.unit(path).zip(pin.oracle.span);
        let Some((unit, span)) = found else { return Baseline::Missing };
        let source = unit.text.slice(span);
        match text_of(source) {
            Some(text) if text.is_empty() => Baseline::Missing,
            Some(text) => Baseline::Present(Recorded {
                first_line: unit.line(span.start) + usize::from(source.get(3..).is_some_and(opens_below)),
                content: Content::Text(text),
                file_digest: digest_of(&[unit.text.as_str().as_bytes()]),
                preimage: None,
            }),
            None => Baseline::Unreadable(format!("{path}: the text at line {} cannot be read", unit.line(span.start))),
        }
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        _artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        let refuse = |why: &str| Err(Refusal(format!("{}: {why}; nothing was written", pin.test)));
        let Some(path) = &pin.oracle.path else { return refuse("where the recorded text stands is not known exactly") };
        if pin.oracle.kind == OracleKind::File {
            let old = match project.shelf.disk(path) {
                Read::Bytes(bytes) => Some(bytes),
                Read::Missing => None,
                Read::Refused(why) => return Err(Refusal(why)),
            };
            let after = reading::bytes(observed, &pin.oracle.steps, old.as_deref())?;
            let before = old.as_deref().map(|old| digest_of(&[old]));
            let change = FileChange { path: path.clone(), before, after: Some(after), edits: Vec::new() };
            return Ok(Amended { oracle: vec![change], ..Amended::default() });
        }
        let Content::Text(text) = observed else { return refuse("the observed value is not a text") };
        let Some((unit, span)) = project.unit(path).zip(pin.oracle.span) else {
            return refuse("the literal is not there any more");
        };
        let source = unit.text.slice(span);
        let written =
            written(source, text).map_err(|why| Refusal(format!("{}: {why}; nothing was written", pin.test)))?;
        let crlf = unit.text.as_str().contains("\r\n");
        let literal = if crlf { written.replace('\n', "\r\n") } else { written };
        if text_of(&literal).as_ref() != Some(text) {
            return refuse("the observed text would not read back equal from the literal");
        }
        let Some(after) = unit.text.replaced(span, &literal) else { return refuse("the literal cannot be replaced") };
        Ok(Amended {
            oracle: vec![FileChange {
                path: path.clone(),
                before: Some(digest_of(&[unit.text.as_str().as_bytes()])),
                after: Some(after.as_str().as_bytes().to_vec()),
                edits: vec![(span, literal.clone())],
            }],
            shown_after: Some(literal),
            ..Amended::default()
        })
    }
}

/// The first line of the text is the one below the opening quotes.
fn opens_below(body: &str) -> bool {
    let body = body.trim_start_matches(['"', '\'']);
    body.starts_with("\\\n") || body.starts_with("\\\r\n")
}

/// Value of one string literal's source.
fn text_of(source: &str) -> Option<String> {
    match python::expression(&format!("({source}\n)"))?.kind {
        ExprKind::Str(text) => Some(text.replace("\r\n", "\n")),
        _ => None,
    }
}

/// The literal that an expression of the comparing frame is: itself, or what the callers of a helper pass.
fn literal<'a>(project: &'a Project, site: &'a Site, expect: &'a Expr) -> Option<(&'a RelPath, &'a Expr)> {
    let mut expr = expect;
    for frame in site.frames.iter().rev() {
        match &expr.kind {
            ExprKind::Str(_) => {
                let unit: &Unit = project.unit(&frame.file)?;
                return Some((&unit.path, expr));
            }
            ExprKind::Name(name) => expr = frame.given.get(name)?,
            _ => return None,
        }
    }
    None
}

/// The literal with another text, as `replace_string_literal` writes it; an error says why not.
fn written(source: &str, text: &str) -> Result<String, String> {
    let raw = source.starts_with('r');
    let quotes = source.get(usize::from(raw)..).and_then(|rest| rest.get(..3)).unwrap_or("");
    if !matches!(quotes, "\"\"\"" | "'''") {
        return Err("expecttest rewrites only a literal in three quotes; give it three quotes, then accept".to_string());
    }
    if text.contains('\r') {
        return Err("the observed text holds a carriage return, which expecttest writes as a line feed, so it would \
                    never match; normalise line ends in the test"
            .to_string());
    }
    if let Some(c) = text.chars().find(|c| !matches!(c, ' '..='~' | '\t' | '\n' | '\u{b}' | '\u{c}')) {
        return Err(format!("expecttest writes printable ASCII only, and the observed text holds {c:?}"));
    }
    let quote = if quotes == "'''" { '\'' } else { '"' };
    if raw && !text.contains(quotes) && !text.ends_with([quote, '\\']) {
        return Ok(format!("r{quotes}{text}{quotes}"));
    }
    let mut body = text.replace('\\', "\\\\");
    if body.ends_with(quote) {
        body.pop();
        body.push('\\');
        body.push(quote);
    }
    let body = body.replace(quotes, &format!("\\{quote}").repeat(3));
    let open = if body.contains('\n') { "\\\n" } else { "" };
    Ok(format!("{quotes}{open}{body}{quotes}"))
}

/// `self.assertExpected(text[, name])`: one file for each class, test and name.
fn files(project: &Project, site: &Site, text: Option<&Expr>, name: Option<&Expr>) -> Vec<Pin> {
    let Some((unit, function)) = site.frames.first().and_then(|frame| pytest::function_of(project, frame)) else {
        return Vec::new();
    };
    if text.is_none() || function.path.is_empty() {
        return Vec::new();
    }
    let worlds = worlds(project, site);
    let mut pins = Vec::new();
    for world in &worlds {
        let Some(mut pin) = seen::pin(project, site, world, ID) else { continue };
        let sub = match name.map(|name| value(project, site, world, name)) {
            None | Some(Value::None) => Some(String::new()),
            Some(Value::Str(text)) if text.is_empty() => Some(String::new()),
            Some(Value::Str(text)) => Some(format!("-{text}")),
            Some(_) => None,
        };
        let class = function.path.join(".");
        pin.oracle.steps = vec![Step::UniversalNewlines];
        if let Some(sub) = sub {
            pin.oracle.path = unit.path.parent().join(&format!("expect/{class}.{}{sub}.expect", function.name));
        }
        pins.push(pin);
    }
    // A class that other code parametrises runs under other names.
    pins.retain(|pin| pin.oracle.path.as_ref().is_none_or(|path| project.shelf.listed(path)));
    let shared = pins.len() > 1;
    pins.iter_mut().for_each(|pin| pin.shared_site = shared);
    pins
}

fn value(project: &Project, site: &Site, world: &World, expr: &Expr) -> Value {
    world.value(project, site, site.frames.len() - 1, expr)
}

#[cfg(test)]
mod tests;
