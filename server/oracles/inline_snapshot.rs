//! inline-snapshot 0.10 to 0.36: values that stand in the source as the argument of `snapshot(…)`, and texts kept
//! in files by `external("uuid:…")` and `external_file(…)`. Takes the assertions of a test of which one side comes
//! from such a call, through names, fixtures, helpers and parameter rows, and the calls that no assertion is
//! seen to use; gives one pin for each. Reads the argument as a value; knows the edits that
//! `--inline-snapshot=fix` makes in it. Nothing is left behind on a failing run.
//!
//! Files are compared with the line ends that they have. A file named by the digest of its content is shown only:
//! its name in the source would change with it.

mod external;
mod layout;
mod pins;
mod rewrite;

use std::collections::BTreeSet;

use self::layout::Layout;
use super::literal_python::{self, Names};
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, OracleKind, Orphan, Pin, Recorded, Refusal, digest_of,
    plain_python, reading,
};
use crate::code::python::{self, strings};
use crate::code::{Expr, ExprKind};
use crate::pins::{Project, Site};
use crate::shelf::Read;
use crate::syntax::Language;
use crate::text::Span;

pub struct InlineSnapshot;

pub const ID: &str = "inline-snapshot";

impl Framework for InlineSnapshot {
    fn id(&self) -> &'static str {
        ID
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        pins::of_test(project, &[site]).pop().unwrap_or_default()
    }

    fn of_test(&self, project: &Project, sites: &[&Site]) -> Vec<Vec<Pin>> {
        pins::of_test(project, sites)
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        let Some(path) = &pin.oracle.path else { return Baseline::Missing };
        if pin.oracle.kind == OracleKind::File {
            return match project.shelf.read(path) {
                Read::Missing => Baseline::Missing,
                Read::Refused(why) => Baseline::Unreadable(why),
                Read::Bytes(bytes) => match reading::content(&bytes, &pin.oracle.steps) {
                    Err(why) => Baseline::Unreadable(format!("{path} cannot be compared: {why}")),
                    Ok(content) => Baseline::Present(Recorded {
                        first_line: reading::first_line(&bytes, &pin.oracle.steps, &content),
                        content,
                        file_digest: digest_of(&[&bytes]),
                        preimage: None,
                    }),
                },
            };
        }
        let Some((unit, expr)) = plain_python::held(pin, project).filter(|_| !is_empty(pin)) else {
            return Baseline::Missing;
        };
        let source = unit.text.slice(expr.span);
        let content =
            literal_python::content(&expr, Names::Of(unit)).unwrap_or_else(|| Content::Value(source.to_string()));
        let opens = strings::parts(source).is_some_and(|parts| {
            parts.first().is_some_and(|part| {
                part.form.quote.len() == 3
                    && !part.form.raw
                    && part.body.strip_prefix('\\').is_some_and(|body| body.starts_with(['\n', '\r']))
            })
        });
        Baseline::Present(Recorded {
            content,
            first_line: unit.line(expr.span.start) + usize::from(opens),
            file_digest: digest_of(&[unit.text.as_str().as_bytes()]),
            preimage: None,
        })
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        _: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        let Some(path) = &pin.oracle.path else {
            return Err(Refusal("which snapshot it is, is not known; run the test, then look again".into()));
        };
        if pin.oracle.kind == OracleKind::File {
            return external::amend(pin, path, observed, project);
        }
        let (Some(unit), Some(span)) = (project.unit(path), pin.oracle.span) else {
            return Err(Refusal(format!("{path}: the snapshot is no longer there; look again")));
        };
        let new = expression(observed)?;
        let layout = Layout::of(project, path);
        let edits = if is_empty(pin) {
            vec![(span, rewrite::code(&new, &layout)?)]
        } else {
            let Some((_, old)) = plain_python::held(pin, project) else {
                return Err(Refusal(format!("{path}: the snapshot is no longer there; look again")));
            };
            rewrite::edits(unit, &old, &new, &layout)?
        };
        if let Some(statement) = pins::statement(unit, span) {
            layout.check(unit, statement, &edits)?;
        }
        let source = unit.text.as_str();
        let (mut after, mut shown) = (String::with_capacity(source.len() + 64), String::new());
        let mut at = 0;
        let crlf = source.contains("\r\n");
        let edits: Vec<(Span, String)> = edits
            .into_iter()
            .map(|(span, text)| (span, if crlf { text.replace('\n', "\r\n") } else { text }))
            .collect();
        let mut from = span.start;
        for (edit, text) in &edits {
            after.push_str(source.get(at..edit.start).unwrap_or(""));
            after.push_str(text);
            shown.push_str(source.get(from..edit.start).unwrap_or(""));
            shown.push_str(text);
            at = edit.end;
            from = edit.end;
        }
        after.push_str(source.get(at..).unwrap_or(""));
        shown.push_str(source.get(from..span.end).unwrap_or(""));
        let back = python::expression(&format!("({shown}\n)"));
        let back = back.and_then(|expr| literal_python::content(&expr, Names::Of(unit)));
        if back.as_ref() != Some(observed) {
            return Err(Refusal(format!(
                "{path}:{}: the observed value does not read back equal as a literal; change the test by hand",
                unit.line(span.start)
            )));
        }
        Ok(Amended {
            oracle: vec![FileChange {
                path: path.clone(),
                before: Some(digest_of(&[source.as_bytes()])),
                after: Some(after.into_bytes()),
                edits,
            }],
            artefacts: Vec::new(),
            shown_after: Some(shown),
        })
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        let _ = pins;
        external::orphans(project)
    }
}

/// `snapshot()`, to be filled in.
fn is_empty(pin: &Pin) -> bool {
    pin.oracle.span.is_some_and(|span| span.start == span.end)
}

/// An observed value as an expression.
fn expression(observed: &Content) -> Result<Expr, Refusal> {
    let nowhere = Span::default();
    match observed {
        Content::Text(text) => Ok(Expr::new(nowhere, ExprKind::Str(text.clone()))),
        Content::Bytes(bytes) => Ok(Expr::new(nowhere, ExprKind::Bytes(bytes.clone()))),
        Content::Value(source) => python::expression(&format!("({source}\n)"))
            .filter(|expr| literal_python::value(expr, Names::Repr).is_some())
            .ok_or_else(|| {
                Refusal(format!(
                    "the observed value `{}` is not one that a literal can hold; let inline-snapshot write it, then explain \
                     the change",
                    crate::text::one_line(source, 80)
                ))
            }),
    }
}

/// All texts of the project's Python files that name external files.
fn named(project: &Project) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for facts in project.files.values().filter(|facts| facts.unit.language == Language::Python) {
        let text = facts.unit.text.as_str();
        names.extend(text.match_indices("uuid:").filter_map(|(at, _)| text.get(at + 5..at + 41)).map(str::to_string));
    }
    names
}

#[cfg(test)]
mod tests;
