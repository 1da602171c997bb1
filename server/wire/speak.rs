//! From the flow's values to the protocol's: ranges in the client's encoding, diagnostics, links.
//! Takes plain values and what the client declares, gives protocol types. Never decides what to say.

use std::collections::BTreeMap;

use tower_lsp::ls_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Position, Range,
};

use super::desk::Sheet;
use super::offer::Declared;
use super::room::View;
use crate::findings::{self, Finding, Severity};
use crate::places::RelPath;
use crate::survey::Survey;
use crate::text::{Encoding, Span, Text};

/// The word in front of every diagnostic.
pub const SOURCE: &str = "pindrift";

pub fn position(text: &Text, byte: usize, encoding: Encoding) -> Position {
    let (line, character) = text.position(byte, encoding);
    Position { line, character }
}

pub fn range(text: &Text, span: Span, encoding: Encoding) -> Range {
    Range { start: position(text, span.start, encoding), end: position(text, span.end, encoding) }
}

/// A 1-based line without its indentation and line ending; an empty range past the end.
pub fn line_range(text: &Text, line: usize, encoding: Encoding) -> Range {
    let span = text.line_span(line.saturating_sub(1));
    let body = text.slice(span);
    let indent = body.len() - body.trim_start().len();
    let start = if indent == body.len() { span.start } else { span.start + indent };
    range(text, Span::new(start, span.end), encoding)
}

/// Diagnostics of an open document: those of a source file, or the changed lines of a baseline.
pub fn open_diagnostics(sheet: &Sheet, path: &RelPath, view: &View, survey: &Survey) -> Vec<Diagnostic> {
    let declared = &*sheet.declared;
    let workspace = view.workspace();
    let mut found = findings::findings(survey, workspace);
    found.extend(findings::in_baseline(survey, workspace, path));
    if let Some(whole) = &view.whole {
        // What only a look at everything can tell of this file.
        let mut rest = Survey { cases: Vec::new(), ..whole.survey.clone() };
        rest.troubles.retain(|trouble| trouble.file == *path && !survey.troubles.contains(trouble));
        found.extend(findings::findings(&rest, workspace));
    }
    let here = found.iter().filter(|finding| finding.file == *path);
    let mut all: Vec<Diagnostic> = here.map(|finding| diagnostic(finding, &sheet.text, view, declared)).collect();
    all.sort_by_key(|diagnostic| (diagnostic.range.start, diagnostic.range.end));
    all
}

/// Diagnostics of the files that are not open, by file.
pub fn closed_diagnostics(view: &View, declared: &Declared) -> BTreeMap<RelPath, Vec<Diagnostic>> {
    let mut all: BTreeMap<RelPath, Vec<Diagnostic>> = BTreeMap::new();
    let Some(whole) = &view.whole else { return all };
    let found = findings::findings(&whole.survey, view.workspace());
    for finding in found.iter().filter(|finding| !view.is_open(&finding.file)) {
        let text = view.text(&finding.file).unwrap_or_else(|| Text::new(""));
        all.entry(finding.file.clone()).or_default().push(diagnostic(finding, &text, view, declared));
    }
    all
}

fn diagnostic(finding: &Finding, text: &Text, view: &View, declared: &Declared) -> Diagnostic {
    let encoding = declared.encoding;
    let range = match finding.span {
        Some(span) => {
            // Of a value of many lines the first is underlined.
            let end = text.line_span(text.line_of(span.start)).end;
            range(text, Span::new(span.start, span.end.min(end)), encoding)
        }
        None => line_range(text, finding.line, encoding),
    };
    let related = finding.related.iter().filter_map(|(path, line, message)| {
        let text = view.text(path)?;
        let location = Location { uri: view.uri(path)?, range: line_range(&text, *line, encoding) };
        Some(DiagnosticRelatedInformation { location, message: message.clone() })
    });
    let related: Vec<DiagnosticRelatedInformation> =
        if declared.related_information { related.collect() } else { Vec::new() };
    Diagnostic {
        range,
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Information => DiagnosticSeverity::INFORMATION,
            Severity::Hint => DiagnosticSeverity::HINT,
        }),
        code: Some(NumberOrString::String(finding.code.word().into())),
        source: Some(SOURCE.into()),
        message: finding.message.clone(),
        related_information: (!related.is_empty()).then_some(related),
        data: (declared.diagnostic_data && !finding.drifts.is_empty())
            .then(|| serde_json::json!({ "drifts": finding.drifts })),
        ..Diagnostic::default()
    }
}
