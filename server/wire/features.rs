//! What is asked about one document: hover, actions, lenses, links. Thin: takes a sheet and a place,
//! calls the flow, gives protocol types. Decides nothing.

use std::collections::{BTreeMap, HashMap};

use tower_lsp::ls_types::{
    CodeAction, CodeActionContext, CodeActionOrCommand, CodeLens, Command, DocumentChanges, DocumentLink, Hover,
    HoverContents, MarkupContent, MarkupKind, OneOf, OptionalVersionedTextDocumentIdentifier, Position, Range,
    TextDocumentEdit, TextEdit, Uri, WorkspaceEdit,
};

use super::desk::Sheet;
use super::offer::Declared;
use super::room::View;
use super::service::Cancelled;
use super::speak;
use crate::actions::{self, Action, At, Does};
use crate::hover;
use crate::places::RelPath;
use crate::roles::Role;
use crate::survey::State;
use crate::text::{Span, Text};

fn byte(sheet: &Sheet, at: Position) -> usize {
    sheet.text.offset(at.line, at.character, sheet.declared.encoding).unwrap_or(sheet.text.len())
}

fn selection(sheet: &Sheet, range: Range) -> Span {
    Span::new(byte(sheet, range.start), byte(sheet, range.end))
}

/// A float at a pin, or at a line of an open baseline.
pub fn hover(sheet: &Sheet, position: Position, cancelled: &Cancelled) -> Option<Hover> {
    let (path, view) = sheet.place.as_ref()?;
    let survey = view.survey(path, &|| cancelled.is_set())?;
    let at = byte(sheet, position);
    let place = At { file: path, text: &sheet.text, span: Span::new(at, at) };
    let cases = actions::cases_at(&survey, view.workspace(), &place);
    let text = hover::hover(&cases, view.workspace(), path, sheet.declared.markdown)?;
    let contents = match sheet.declared.markdown {
        true => HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text }),
        false => HoverContents::Markup(MarkupContent { kind: MarkupKind::PlainText, value: text }),
    };
    let range = cases.first().filter(|case| case.pin.file == *path).map(|case| {
        let end = sheet.text.line_span(sheet.text.line_of(case.pin.span.start)).end;
        speak::range(&sheet.text, Span::new(case.pin.span.start, case.pin.span.end.min(end)), sheet.declared.encoding)
    });
    let holds = |range: &Range| range.start <= position && position <= range.end;
    Some(Hover { contents, range: range.filter(holds) })
}

pub fn code_actions(
    sheet: &Sheet,
    range: Range,
    context: &CodeActionContext,
    cancelled: &Cancelled,
) -> Option<Vec<CodeActionOrCommand>> {
    let (path, view) = sheet.place.as_ref()?;
    let survey = view.survey(path, &|| cancelled.is_set())?;
    let place = At { file: path, text: &sheet.text, span: selection(sheet, range) };
    let wanted = |action: &Action| match &context.only {
        None => true,
        Some(only) => only.iter().any(|kind| within(action.kind, kind.as_str())),
    };
    let found: Vec<Action> = actions::actions(&survey, view.workspace(), &place, sheet.declared.reason_prompt)
        .into_iter()
        .filter(wanted)
        .collect();
    let declared = &*sheet.declared;
    let answers = found.into_iter().filter_map(|action| {
        let (command, edit) = match action.does {
            Does::Command { id, argument } => (Some(command(&action.title, id, argument)), None),
            Does::Edit { file, edits } => (None, Some(workspace_edit(view, &[(file, edits)], declared)?)),
        };
        if !declared.action_literals {
            return command.map(CodeActionOrCommand::Command);
        }
        let diagnostics: Vec<_> = context
            .diagnostics
            .iter()
            .filter(|diagnostic| {
                let named = diagnostic.data.as_ref().and_then(|data| data.get("drifts")?.as_array());
                diagnostic.source.as_deref() == Some(speak::SOURCE)
                    && named.is_some_and(|ids| ids.iter().any(|id| action.drifts.iter().any(|drift| id == drift)))
            })
            .cloned()
            .collect();
        Some(CodeActionOrCommand::CodeAction(CodeAction {
            title: action.title,
            kind: Some(action.kind.to_string().into()),
            diagnostics: (!diagnostics.is_empty()).then_some(diagnostics),
            edit,
            command,
            ..CodeAction::default()
        }))
    });
    Some(answers.collect())
}

/// `quickfix.pindrift.accept` is within `quickfix`, `quickfix.pindrift` and itself; everything is within
/// the empty kind.
fn within(kind: &str, asked: &str) -> bool {
    asked.is_empty() || kind == asked || kind.strip_prefix(asked).is_some_and(|rest| rest.starts_with('.'))
}

fn command(title: &str, id: &str, argument: serde_json::Value) -> Command {
    Command { title: title.to_string(), command: id.to_string(), arguments: Some(vec![argument]) }
}

/// An edit of texts as the view has them, with versions where the client takes those.
pub fn workspace_edit(
    view: &View,
    changes: &[(RelPath, Vec<(Span, String)>)],
    declared: &Declared,
) -> Option<WorkspaceEdit> {
    let mut texts: Vec<(Uri, Option<i32>, Vec<TextEdit>)> = Vec::new();
    for (path, edits) in changes {
        let text: Text = view.text(path)?;
        let edits = edits.iter().map(|(span, with)| TextEdit {
            range: speak::range(&text, *span, declared.encoding),
            new_text: with.clone(),
        });
        texts.push((view.uri(path)?, view.page(path).map(|page| page.version), edits.collect()));
    }
    if !declared.document_changes {
        let changes: HashMap<Uri, Vec<TextEdit>> = texts.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
        return Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() });
    }
    let edits = texts.into_iter().map(|(uri, version, edits)| TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier { uri, version },
        edits: edits.into_iter().map(OneOf::Left).collect(),
    });
    Some(WorkspaceEdit { document_changes: Some(DocumentChanges::Edits(edits.collect())), ..WorkspaceEdit::default() })
}

/// One row over each test with drift or with a decision.
pub fn lenses(sheet: &Sheet, cancelled: &Cancelled) -> Option<Vec<CodeLens>> {
    let (path, view) = sheet.place.as_ref()?;
    let survey = view.survey(path, &|| cancelled.is_set())?;
    let mut tests: BTreeMap<usize, (Vec<String>, bool, usize, serde_json::Value)> = BTreeMap::new();
    for case in survey.cases.iter().filter(|case| case.pin.file == *path && case.pin.role == Role::Characterization) {
        let start = case.pin.test_span.unwrap_or(case.pin.span).start;
        let test = tests.entry(sheet.text.line_of(start)).or_insert((
            Vec::new(),
            false,
            case.pin.span.start,
            actions::run(&case.pin),
        ));
        if case.state == State::Drift
            && case.acceptable()
            && let Some(id) = &case.drift_id
        {
            test.0.push(id.clone());
        }
        if !case.history.is_empty() && !test.1 {
            test.1 = true;
            test.2 = case.pin.span.start;
        }
    }
    let mut lenses = Vec::new();
    for (line, (drifts, history, pin, run)) in tests {
        let range = speak::line_range(&sheet.text, line + 1, sheet.declared.encoding);
        let mut add = |title: String, id: &str, argument| {
            let command = Some(command(&title, id, argument));
            lenses.push(CodeLens { range, command, data: None });
        };
        if let Some(first) = drifts.first() {
            let title = match drifts.len() {
                1 => "1 drift · accept…".to_string(),
                count => format!("{count} drifts · accept one…"),
            };
            add(title, "pindrift.accept", serde_json::json!({ "drift": first, "drifts": drifts }));
        }
        if history || !drifts.is_empty() {
            add("run".into(), "pindrift.observe", run);
            let line1 = sheet.text.line_of(pin) + 1;
            let argument = serde_json::json!({ "uri": sheet.uri.as_str(), "line1": line1 });
            add("why".into(), "pindrift.history", argument);
        }
    }
    Some(lenses)
}

/// Links on the names of baselines that exist.
pub fn links(sheet: &Sheet, cancelled: &Cancelled) -> Option<Vec<DocumentLink>> {
    let (path, view) = sheet.place.as_ref()?;
    let survey = view.survey(path, &|| cancelled.is_set())?;
    let mut links = Vec::new();
    for case in survey.cases.iter().filter(|case| case.pin.file == *path) {
        let Some(baseline) = case.pin.oracle.path.as_ref().filter(|baseline| *baseline != path) else { continue };
        let Some(span) = named(sheet.text.slice(case.pin.span), baseline) else { continue };
        if !view.root().absolute(baseline).is_file() {
            continue;
        }
        let range = speak::range(&sheet.text, span.shifted(case.pin.span.start), sheet.declared.encoding);
        let link = DocumentLink { range, target: view.uri(baseline), tooltip: None, data: None };
        if !links.iter().any(|known: &DocumentLink| known.range == link.range) {
            links.push(link);
        }
    }
    Some(links)
}

/// Where the call names the baseline: between quotes, by its path, its name or its stem.
fn named(call: &str, baseline: &RelPath) -> Option<Span> {
    [baseline.as_str(), baseline.name(), baseline.stem()].iter().find_map(|name| {
        ['"', '\''].iter().find_map(|quote| {
            let at = call.find(&format!("{quote}{name}{quote}"))?;
            Some(Span::new(at + 1, at + 1 + name.len()))
        })
    })
}
