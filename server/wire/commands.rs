//! The commands: one object as argument, one value or one sentence as answer. Thin: finds what is meant,
//! calls the flow, and says what the editor has to do. Works on snapshots off the desk's thread; decides
//! nothing.

use std::sync::Arc;

use serde_json::{Value, json};
use tower_lsp::ls_types::{ApplyWorkspaceEditParams, MessageType, Position, Range, ShowDocumentParams, Uri};

use super::desk::{Event, Queue};
use super::offer::{self, Declared};
use super::outbox::{Message, Outbox};
use super::room::View;
use super::runs::Runs;
use super::service::Cancelled;
use super::{features, pages, reasons, speak};
use crate::actions::{self, At};
use crate::amendment::{self, Applied, Request};
use crate::changes;
use crate::git;
use crate::ledger::Entry;
use crate::oracles::{Content, OracleKind, Pin, Refusal};
use crate::places::RelPath;
use crate::rationale::{self, Draft};
use crate::report::{self, Purpose};
use crate::roles::Role;
use crate::survey::{Case, Shown, Workspace};
use crate::syntax::Language;
use crate::text::{Span, Text, one_line};

mod judging;
mod proposing;

/// Everything that a command works with.
pub struct Office {
    pub declared: Arc<Declared>,
    pub views: Vec<Arc<View>>,
    pub outbox: Outbox,
    pub queue: Queue,
    pub runs: Runs,
}

/// One case and the root it lies in.
struct Meant {
    view: Arc<View>,
    case: Arc<Case>,
}

/// One decision of the ledger, with the case that it is about.
struct Decision {
    view: Arc<View>,
    case: Arc<Case>,
    entry: Arc<Entry>,
}

type Answer = Result<Value, String>;

impl Office {
    pub fn run(&self, id: &str, argument: &Value, cancelled: &Cancelled) -> Answer {
        // Who confirms is found here, and never what a client says.
        let mut argument = argument.clone();
        argument.as_object_mut().and_then(|argument| argument.remove("confirmed-by"));
        let argument = &argument;
        match id {
            "pindrift.accept" => self.accept(argument, cancelled),
            "pindrift.explain" => self.explain(argument, cancelled),
            "pindrift.withdraw" => self.withdraw(argument, cancelled),
            "pindrift.reclassify" => self.reclassify(argument, cancelled),
            "pindrift.verdict" => self.verdict(argument, cancelled),
            "pindrift.judge" => self.judge(argument, cancelled),
            "pindrift.retire" => self.retire(argument, cancelled),
            "pindrift.propose" => self.propose(argument, cancelled),
            "pindrift.confirm" => self.confirm(argument, cancelled),
            "pindrift.open" => self.open(argument, cancelled),
            "pindrift.diff" => self.diff(argument, cancelled),
            "pindrift.history" => self.history(argument, cancelled),
            "pindrift.drifts" => self.drifts(argument, cancelled),
            "pindrift.reasons" => {
                let same = self.same_change(argument, cancelled);
                Ok(reasons::answer(&self.views, same.as_ref(), argument.get("reason").and_then(Value::as_str)))
            }
            "pindrift.changes" => self.changes(cancelled),
            "pindrift.observe" => self.observe(argument, cancelled),
            _ if offer::LATER.contains(&id) => Err(format!("{id} comes later; this version does not know it yet")),
            _ => Err(format!("`{}` is not a command of this server", one_line(id, 60))),
        }
    }

    /// The case that an argument names: by drift, else by place, where exactly one fits.
    fn meant(&self, argument: &Value, fits: &dyn Fn(&Case) -> bool, cancelled: &Cancelled) -> Result<Meant, String> {
        match text(argument, "drift") {
            Some(id) => self.by_drift(id, cancelled),
            None => self.by_place(argument, fits, cancelled),
        }
    }

    fn by_drift(&self, id: &str, cancelled: &Cancelled) -> Result<Meant, String> {
        let is_it = |case: &&Arc<Case>| case.drift_id.as_deref() == Some(id);
        for view in &self.views {
            let known = view.whole.iter().flat_map(|whole| &whole.survey.cases).filter(is_it);
            let mut files: Vec<RelPath> = known.map(|case| case.pin.file.clone()).collect();
            files.extend(view.open_sources().cloned());
            for file in files {
                let survey = view.survey(&file, &|| cancelled.is_set()).ok_or("cancelled")?;
                if let Some(case) = survey.cases.iter().find(is_it) {
                    return Ok(Meant { view: view.clone(), case: case.clone() });
                }
            }
        }
        // Not where it was: anywhere at all?
        for view in &self.views {
            let whole = view.survey_all(&|| cancelled.is_set()).ok_or("cancelled")?;
            if let Some(case) = whole.survey.cases.iter().find(is_it) {
                return Ok(Meant { view: view.clone(), case: case.clone() });
            }
        }
        let id = one_line(id, 40);
        Err(format!("the drift {id} is not there any more: something changed since it was shown; look at it again"))
    }

    /// The view and path of `uri` or `file`.
    fn file(&self, argument: &Value) -> Result<(Arc<View>, RelPath), String> {
        let name = text(argument, "uri").or_else(|| text(argument, "file"));
        let name = name.ok_or("name a drift, or a file and a line: {\"drift\": …} or {\"file\": …, \"line1\": …}")?;
        let path = match name.parse::<Uri>().ok().as_ref().and_then(offer::path_of) {
            Some(path) => path,
            None => std::path::PathBuf::from(name),
        };
        for view in &self.views {
            let whole = if path.is_absolute() { path.clone() } else { view.root().path.join(&path) };
            let real = whole.canonicalize().unwrap_or(whole);
            if let Some(found) = view.root().relative(&real).filter(|_| real.exists()) {
                return Ok((view.clone(), found));
            }
        }
        let name = one_line(name, 200);
        Err(format!("{name} is in no folder that is open here; open the file, then try again"))
    }

    fn by_place(&self, argument: &Value, fits: &dyn Fn(&Case) -> bool, cancelled: &Cancelled) -> Result<Meant, String> {
        let (view, path) = self.file(argument)?;
        let survey = view.survey(&path, &|| cancelled.is_set()).ok_or("cancelled")?;
        let line = line(argument)?;
        let source = view.text(&path).unwrap_or_else(|| Text::new(""));
        let mut found: Vec<&Arc<Case>> = match line {
            Some(line) => {
                let at = At { file: &path, text: &source, span: source.line_span(line) };
                actions::cases_at(&survey, view.workspace(), &at)
            }
            None => survey.cases.iter().collect(),
        };
        for (key, of) in [
            ("case", (|case| case.pin.case.clone()) as fn(&Case) -> Option<String>),
            ("test", |case| Some(case.pin.test.clone())),
            ("oracle", |case| Some(case.pin.oracle.key.clone())),
        ] {
            if let Some(wanted) = text(argument, key) {
                found.retain(|case| of(case).as_deref() == Some(wanted));
            }
        }
        let place = match line {
            Some(line) => format!("{path}:{}", line + 1),
            None => path.to_string(),
        };
        let all = found.len();
        let unstable =
            found.iter().find_map(|case| Some(format!("{} is unstable: {}", case.pin.test, case.disagreement()?)));
        found.retain(|case| fits(case));
        match found.as_slice() {
            [one] => Ok(Meant { view: view.clone(), case: (*one).clone() }),
            [] if all == 0 => Err(format!("no pin stands at {place}")),
            [] => Err(unstable.unwrap_or_else(|| format!("nothing at {place} can be decided on now"))),
            many => {
                let list: Vec<String> = many
                    .iter()
                    .map(|case| {
                        let what = case.drift.as_ref().map_or(case.state.word(), |drift| drift.brief.as_str());
                        format!("{} {} ({what})", case.drift_id.as_deref().unwrap_or("-"), case.pin.test)
                    })
                    .collect();
                Err(format!("{} fit at {place}; name one by its drift: {}", many.len(), list.join("; ")))
            }
        }
    }

    fn request(&self, argument: &Value, drift: Option<String>, reason: String, workspace: &Workspace) -> Request {
        let said = |key| text(argument, key).map(str::to_string);
        Request {
            drift,
            reason,
            authority: said("authority"),
            proof: said("proof"),
            verdict: said("verdict"),
            via: self.declared.via.clone(),
            author: git::author(workspace.git.as_deref()),
            proposed_by: said("proposed-by"),
            confirmed_by: said("confirmed-by"),
            at: jiff::Timestamp::now(),
        }
    }

    fn accept(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let meant = self.meant(argument, &|case| case.acceptable(), cancelled)?;
        let id = meant.case.drift_id.clone().ok_or("there is no drift to accept here")?;
        let said = argument.get("reason").and_then(Value::as_str).map(str::to_string);
        let waiting = meant.waiting(&id);
        let by_comment = said.is_none();
        let reason = match (said, &waiting) {
            (Some(reason), _) => reason,
            (None, Some(rationale::Rationale { reason: Some(reason), .. })) => reason.clone(),
            (None, _) if self.declared.reason_prompt => {
                return Err("a reason is needed: say in one sentence why the recorded value may change".into());
            }
            (None, _) => return self.ask_by_comment(&meant, &id),
        };
        let request = self.request(argument, Some(id.clone()), reason, meant.view.workspace());
        let file = meant.case.pin.file.clone();
        let view = meant.view.clone();
        let mut plan = || {
            let now = view.again();
            let survey = now.survey(&file, &|| false).ok_or_else(|| Refusal("cancelled".into()))?;
            let case = survey.cases.iter().find(|case| case.drift_id.as_deref() == Some(id.as_str()));
            let gone = || Refusal(format!("the drift {id} is not there any more; look at it again"));
            amendment::plan_accept(case.ok_or_else(gone)?, now.workspace(), &request)
        };
        let open = |path: &RelPath| Language::of(path.name()).is_some() && view.is_open(path);
        let needs_editor = open(&file);
        if needs_editor && !self.declared.apply_edit {
            return Err(format!("{file} is open, and this editor takes no edits from a server; close it, then accept"));
        }
        let applied = amendment::amend(view.root(), &mut plan, &open).map_err(|why| why.0)?;
        let own = applied.edits.iter().any(|change| change.path == file);
        let mut edits: Vec<(RelPath, Vec<(Span, String)>)> =
            applied.edits.iter().map(|change| (change.path.clone(), change.edits.clone())).collect();
        if let Some(note) = waiting.filter(|_| by_comment && !own && needs_editor) {
            // The comment only carried the reason; where none is to stay, it goes.
            edits.push((file.clone(), vec![(note.span, String::new())]));
        }
        self.carry_out(&view, &applied, edits)?;
        Ok(json!({ "accepted": true, "amendment": applied.record.as_str(), "pending": applied.pending }))
    }

    /// Sends what the editor has to change; when it answers, the amendment goes on or is dropped.
    fn carry_out(
        &self,
        view: &Arc<View>,
        applied: &Applied,
        edits: Vec<(RelPath, Vec<(Span, String)>)>,
    ) -> Result<(), String> {
        let root = view.root().clone();
        let touched = |path: &RelPath| root.absolute(path);
        let _ = self.queue.send(Event::Disk(vec![touched(&applied.record)]));
        if edits.is_empty() {
            return Ok(());
        }
        let paths: Vec<RelPath> = edits.iter().map(|(path, _)| path.clone()).collect();
        let drop_it = || {
            let _ = amendment::abandon(&root, &applied.record);
        };
        let Some(edit) = features::workspace_edit(view, &edits, &self.declared) else {
            drop_it();
            return Err("the open text cannot be edited now; try again".into());
        };
        let edit_of = applied.record.clone();
        let _ = self.queue.send(Event::Editing { root: root.path.clone(), edit: edit_of.clone(), paths: Some(paths) });
        let answered = Event::Editing { root: root.path.clone(), edit: edit_of, paths: None };
        let (queue, outbox, record) = (self.queue.clone(), self.outbox.clone(), applied.record.clone());
        let waits = applied.pending;
        let then = move |answer: Option<tower_lsp::ls_types::ApplyWorkspaceEditResponse>| {
            tokio::task::spawn_blocking(move || {
                let taken = answer.as_ref().is_some_and(|answer| answer.applied);
                if waits {
                    let done = match taken {
                        true => amendment::advance(&root, &record).map(drop),
                        false => amendment::abandon(&root, &record),
                    };
                    match (taken, done) {
                        (_, Err(why)) => outbox.say(Message::Show(MessageType::ERROR, why.0)),
                        (false, Ok(())) => {
                            let why = answer.and_then(|answer| answer.failure_reason);
                            let why =
                                why.map(|why| format!(" ({})", crate::text::one_line(&why, 80))).unwrap_or_default();
                            let message = format!("Nothing was accepted: the editor did not take the edit{why}");
                            outbox.say(Message::Show(MessageType::WARNING, message));
                        }
                        (true, Ok(())) => {}
                    }
                }
                let _ = queue.send(answered);
                let _ = queue.send(Event::Disk(vec![root.absolute(&record)]));
            });
        };
        let label = Some("Pindrift".to_string());
        self.outbox.say(Message::Edit(ApplyWorkspaceEditParams { label, edit }, Box::new(then)));
        Ok(())
    }

    /// The comment flow: a comment that waits for the reason, its placeholder selected.
    fn ask_by_comment(&self, meant: &Meant, id: &str) -> Answer {
        let (view, case) = (&meant.view, &meant.case);
        let file = &case.pin.file;
        if let Err(why) = amendment::plan_accept(case, view.workspace(), &actions::trial(Some(id.to_string()))) {
            return Err(why.0);
        }
        let other = format!("say the reason in the command: {{\"drift\": \"{id}\", \"reason\": …}}");
        let unit = view.workspace().project.unit(file).ok_or_else(|| format!("{file} is not read yet; {other}"))?;
        let source = view.text(file).ok_or_else(|| format!("{file} cannot be read; {other}"))?;
        let encoding = self.declared.encoding;
        if let Some(note) = rationale::find(unit, case.pin.span)
            && note.marker.as_deref() == Some(id)
        {
            let at = source.slice(note.span).find(rationale::PLACEHOLDER);
            let span = match at {
                Some(at) => Span::new(note.span.start + at, note.span.start + at + rationale::PLACEHOLDER.len()),
                None => note.span,
            };
            let range = speak::range(&source, span, encoding);
            self.show(view, file, range);
            return Ok(json!({ "accepted": false, "placeholder": range }));
        }
        if !self.declared.apply_edit {
            return Err(format!("this editor takes no edits from a server; {other}"));
        }
        let nothing = || format!("there is nothing to show in a comment; {other}");
        let (drift, sides) = case.drift.as_ref().zip(case.shown()).ok_or_else(nothing)?;
        let before = sides.before.unwrap_or(Content::Text(String::new()));
        let (old, new) = rationale::sides(&before, &sides.after, drift);
        let date = jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now()).date();
        let draft = Draft { date, old: &old, new: &new, reason: None, marker: Some(id) };
        let longest = view.workspace().project.settings.line_length;
        let edit = rationale::edit(unit, case.pin.span, &draft, longest)
            .ok_or_else(|| format!("no comment can stand above this pin; {other}"))?;
        let after = source.replaced(edit.span, &edit.text).ok_or("the open text changed; try again")?;
        let range = edit.placeholder.map(|span| speak::range(&after, span, encoding));
        let change = [(file.clone(), vec![(edit.span, edit.text)])];
        let edit = features::workspace_edit(view, &change, &self.declared).ok_or("the open text changed; try again")?;
        let (outbox, shows) = (self.outbox.clone(), self.declared.show_document);
        let uri = view.uri(file);
        let then = move |answer: Option<tower_lsp::ls_types::ApplyWorkspaceEditResponse>| {
            if answer.is_none_or(|answer| !answer.applied) {
                let message = "The editor did not take the comment that asks for the reason".to_string();
                outbox.say(Message::Show(MessageType::WARNING, message));
            } else if let (true, Some(uri)) = (shows, uri) {
                outbox.say(Message::ShowDocument(shown(uri, range)));
            }
        };
        let label = Some("Pindrift: write the reason".to_string());
        self.outbox.say(Message::Edit(ApplyWorkspaceEditParams { label, edit }, Box::new(then)));
        Ok(json!({ "accepted": false, "placeholder": range }))
    }

    fn show(&self, view: &View, path: &RelPath, range: Range) {
        if let Some(uri) = view.uri(path)
            && self.declared.show_document
        {
            self.outbox.say(Message::ShowDocument(shown(uri, Some(range))));
        }
    }

    fn explain(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let meant = self.meant(argument, &|_| true, cancelled)?;
        let reason = text(argument, "reason");
        let reason = reason.ok_or("a reason is needed: say in one sentence why the baseline changed")?.to_string();
        let workspace = meant.view.workspace();
        let request = self.request(argument, None, reason, workspace);
        let base = text(argument, "base");
        let plan = amendment::plan_explain(&meant.case, workspace, base, &request).map_err(|why| why.0)?;
        let applied = amendment::apply(meant.view.root(), &plan, &|_| false).map_err(|why| why.0)?;
        self.carry_out(&meant.view, &applied, Vec::new())?;
        Ok(json!({ "amendment": applied.record.as_str() }))
    }

    fn withdraw(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let Decision { view, case, entry } = self.decision(argument, cancelled)?;
        let workspace = view.workspace();
        let reason = match text(argument, "reason") {
            Some(reason) => reason.to_string(),
            None => format!("taken back before it was committed: {}", entry.amendment.reason),
        };
        let request = self.request(argument, None, reason, workspace);
        let plan = amendment::plan_withdraw(&entry, &case, workspace, &request).map_err(|why| why.0)?;
        let open = |path: &RelPath| Language::of(path.name()).is_some() && view.is_open(path);
        let applied = amendment::apply(view.root(), &plan, &open).map_err(|why| why.0)?;
        let edits = applied.edits.iter().map(|change| (change.path.clone(), change.edits.clone())).collect();
        self.carry_out(&view, &applied, edits)?;
        Ok(json!({ "amendment": applied.record.as_str(), "pending": applied.pending }))
    }

    fn reclassify(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let to = match text(argument, "to") {
            Some("specification") => Role::Specification,
            Some("characterization") => Role::Characterization,
            _ => {
                return Err(
                    "say what the test is: {\"to\": \"specification\"} or {\"to\": \"characterization\"}".into()
                );
            }
        };
        let (view, pin) = self.test(argument, cancelled)?;
        let workspace = view.workspace();
        let reason = text(argument, "reason").unwrap_or("").to_string();
        let request = self.request(argument, None, reason, workspace);
        let plan = amendment::plan_reclassify(&pin, workspace, to, &request).map_err(|why| why.0)?;
        let open = |path: &RelPath| Language::of(path.name()).is_some() && view.is_open(path);
        let applied = amendment::apply(view.root(), &plan, &open).map_err(|why| why.0)?;
        let edits = applied.edits.iter().map(|change| (change.path.clone(), change.edits.clone())).collect();
        self.carry_out(&view, &applied, edits)?;
        Ok(json!({ "amendment": applied.record.as_str(), "pending": applied.pending }))
    }

    /// Any pin of the test that an argument names.
    fn test(&self, argument: &Value, cancelled: &Cancelled) -> Result<(Arc<View>, Pin), String> {
        if text(argument, "drift").is_some() {
            let meant = self.meant(argument, &|_| true, cancelled)?;
            return Ok((meant.view, meant.case.pin.clone()));
        }
        let (view, path) = self.file(argument)?;
        let survey = view.survey(&path, &|| cancelled.is_set()).ok_or("cancelled")?;
        let mut found: Vec<&Pin> = survey.cases.iter().map(|case| &case.pin).filter(|pin| pin.file == path).collect();
        if let Some(test) = text(argument, "test") {
            found.retain(|pin| pin.test == test || pin.test_base() == test);
        }
        if let (Some(line), Some(source)) = (line(argument)?, view.text(&path)) {
            let at = source.line_span(line);
            let at = Span::new(at.start, at.end.max(at.start + 1));
            found.retain(|pin| pin.test_span.unwrap_or(pin.span).contains(Span::new(at.start, at.start)));
        }
        let pin = found.first().copied().cloned();
        Ok((view, pin.ok_or_else(|| format!("no test with a pin stands there in {path}"))?))
    }

    /// The decision that is to be undone: by its file, else the newest about a place.
    fn decision(&self, argument: &Value, cancelled: &Cancelled) -> Result<Decision, String> {
        let Some(name) = text(argument, "amendment") else {
            let meant = self.meant(argument, &|case| actions::uncommitted(case).is_some(), cancelled)?;
            let entry = actions::uncommitted(&meant.case).cloned().ok_or("nothing uncommitted was accepted here")?;
            return Ok(Decision { view: meant.view, case: meant.case, entry });
        };
        for view in &self.views {
            let Some(entry) = view.workspace().ledger.entry(name).cloned() else { continue };
            let file = entry.amendment.pin.as_ref().map(|pin| pin.file.clone());
            let file = file.ok_or_else(|| format!("{name} names no pin"))?;
            let survey = view.survey(&file, &|| cancelled.is_set()).ok_or("cancelled")?;
            let case = survey.cases.iter().find(|case| entry.amendment.is_about(&case.pin));
            let case = case.ok_or_else(|| format!("{}: its pin is not there any more", entry.path))?;
            return Ok(Decision { view: view.clone(), case: case.clone(), entry });
        }
        Err(format!("{} is no amendment of an open workspace", one_line(name, 200)))
    }

    /// Shows the baseline at its changed line; from a baseline its pins.
    fn open(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let meant = self.meant(argument, &|_| true, cancelled)?;
        let (view, pin) = (&meant.view, &meant.case.pin);
        let from_baseline = text(argument, "drift").is_none()
            && self.file(argument).is_ok_and(|(_, path)| path != pin.file && Some(&path) == pin.oracle.path.as_ref());
        let encoding = self.declared.encoding;
        let (path, range) = if from_baseline {
            let source = view.text(&pin.file).ok_or_else(|| format!("{} cannot be read", pin.file))?;
            (pin.file.clone(), speak::range(&source, pin.span, encoding))
        } else {
            let path = pin.oracle.path.clone().ok_or("the baseline's path is not known before a run")?;
            let text = view.text(&path).ok_or_else(|| format!("{path} cannot be shown as text"))?;
            let line = meant.case.changed_lines.first().or(meant.case.inserted_after.first());
            let range = match (line, pin.oracle.span) {
                (Some(line), _) => speak::line_range(&text, (*line).max(1), encoding),
                (None, Some(span)) => speak::range(&text, span, encoding),
                (None, None) => Range { start: Position::new(0, 0), end: Position::new(0, 0) },
            };
            (path, range)
        };
        self.show(view, &path, range);
        Ok(json!({ "uri": view.uri(&path), "range": range }))
    }

    fn diff(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let meant = self.meant(argument, &|case| case.drift.is_some(), cancelled)?;
        let case = &meant.case;
        let drift = case.drift.as_ref().ok_or("there is no drift here")?;
        let seen = case.observation.as_ref().ok_or("nothing was observed here")?;
        let Shown { before, after } = case.shown().ok_or("nothing was observed here")?;
        let (old, new) = (before.as_ref().map_or(Ok(String::new()), plain)?, plain(&after)?);
        let title = format!("{} (recorded ↔ observed)", case.pin.test);
        let language = match case.pin.oracle.kind {
            OracleKind::Literal => case.pin.language.word(),
            _ => case.pin.oracle.path.as_ref().and_then(|path| path.name().rsplit_once('.')).map_or("", |(_, ext)| ext),
        };
        let hunks: Vec<Value> = drift
            .hunks
            .iter()
            .map(|hunk| {
                json!({ "before": [hunk.before.start, hunk.before.end], "after": [hunk.after.start, hunk.after.end] })
            })
            .collect();
        if !self.declared.plugin {
            let text = format!(
                "# {title}\n# {}\n{}",
                drift.brief,
                crate::drift::unified(before.as_ref(), &after, Some(("recorded", "observed")))
            );
            self.show_page(&format!("{}.diff", case.drift_id.as_deref().unwrap_or("drift")), &text)?;
        }
        Ok(json!({
            "title": title,
            "before": { "text": old, "label": format!("recorded: {}", case.pin.oracle.key) },
            "after": { "text": new, "label": format!("observed: {}", seen.path) },
            "language": language,
            "hunks": hunks,
        }))
    }

    /// What was accepted as the same change as the drift that an argument names.
    fn same_change(&self, argument: &Value, cancelled: &Cancelled) -> Option<Arc<Entry>> {
        let id = text(argument, "drift")?;
        let meant = self.by_drift(id, cancelled).ok()?;
        let drift = meant.case.compared().drift?;
        changes::offered(&drift.change, &meant.view.workspace().ledger).cloned()
    }

    /// The distinct changes of all roots, each with its drifts and the reason that may be confirmed again.
    fn changes(&self, cancelled: &Cancelled) -> Answer {
        let mut rows = Vec::new();
        for view in &self.views {
            let whole = view.survey_all(&|| cancelled.is_set()).ok_or("cancelled")?;
            rows.extend(report::change_rows(&whole.survey, view.workspace()).into_iter().map(|row| json!(row)));
        }
        Ok(Value::Array(rows))
    }

    fn history(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let meant = self.meant(argument, &|_| true, cancelled)?;
        let markdown = crate::hover::history(&[&meant.case], meant.view.workspace());
        if !self.declared.plugin {
            let name = crate::oracles::digest_of(&[meant.case.pin.oracle.key.as_bytes()]);
            self.show_page(&format!("history-{}.md", name.get(7..19).unwrap_or("0")), &markdown)?;
        }
        Ok(json!({ "markdown": markdown }))
    }

    /// A read-only file in the user's cache folder, opened where the editor can.
    fn show_page(&self, name: &str, text: &str) -> Result<(), String> {
        if !self.declared.show_document {
            return Ok(());
        }
        let path = pages::write(name, text)?;
        if let Some(uri) = Uri::from_file_path(path) {
            self.outbox.say(Message::ShowDocument(shown(uri, None)));
        }
        Ok(())
    }

    /// Runs tests: those that are named, those of a file, the one of a drift, or all.
    fn observe(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let list = argument.get("tests").and_then(Value::as_array);
        let mut tests: Vec<String> =
            list.into_iter().flatten().filter_map(Value::as_str).map(str::to_string).take(10_000).collect();
        let view = if text(argument, "drift").is_some() || line(argument)?.is_some() {
            let meant = self.meant(argument, &|_| true, cancelled)?;
            tests.push(meant.case.pin.test_base().to_string());
            meant.view
        } else if text(argument, "uri").or_else(|| text(argument, "file")).is_some() {
            let (view, path) = self.file(argument)?;
            if tests.is_empty() {
                tests.push(path.to_string());
            }
            view
        } else {
            self.views.first().cloned().ok_or("no folder is open")?
        };
        let outbox = self.declared.progress.then_some(&self.outbox);
        let most = crate::observe::rounds::MOST as u64;
        let repeat = argument.get("repeat").and_then(Value::as_u64).unwrap_or(1).clamp(1, most);
        self.runs.observe(&view.root().path, tests, repeat as usize, outbox, &self.queue, cancelled)
    }

    fn drifts(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let mut rows = Vec::new();
        let mut add = |survey: &crate::survey::Survey, view: &View| {
            let project = &view.workspace().project;
            let cases = survey.cases.iter().filter(|case| case.pin.role != Role::Unlabelled);
            rows.extend(cases.map(|case| {
                let mut row = json!(report::row(case, project, Purpose::Check));
                row["uri"] = json!(view.uri(&case.pin.file));
                row["brief"] = json!(case.drift.as_ref().map(|drift| &drift.brief));
                // 1-based, both inside: where a client offers to run the test.
                let unit = project.unit(&case.pin.file).zip(case.pin.test_span);
                row["test_lines"] = json!(unit.map(|(unit, span)| [unit.line(span.start), unit.line(span.end)]));
                row
            }));
        };
        if text(argument, "uri").or_else(|| text(argument, "file")).is_some() {
            let (view, path) = self.file(argument)?;
            let survey = view.survey(&path, &|| cancelled.is_set()).ok_or("cancelled")?;
            add(&survey, &view);
        } else {
            for view in &self.views {
                let whole = view.survey_all(&|| cancelled.is_set()).ok_or("cancelled")?;
                add(&whole.survey, view);
            }
        }
        Ok(Value::Array(rows))
    }
}

impl Meant {
    /// The comment above the pin that waits for this drift's reason.
    fn waiting(&self, id: &str) -> Option<rationale::Rationale> {
        let unit = self.view.workspace().project.unit(&self.case.pin.file)?;
        rationale::find(unit, self.case.pin.span).filter(|note| note.marker.as_deref() == Some(id))
    }
}

fn plain(content: &Content) -> Result<String, String> {
    match content {
        Content::Text(text) | Content::Value(text) => Ok(text.clone()),
        Content::Bytes(bytes) => Ok(format!("{} bytes, no text\n", bytes.len())),
    }
}

fn text<'v>(argument: &'v Value, key: &str) -> Option<&'v str> {
    argument.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// 0-based line of `line` or `line1`. A line that is there and is none must not widen what is meant.
fn line(argument: &Value) -> Result<Option<usize>, String> {
    for (key, first) in [("line", 0), ("line1", 1)] {
        match argument.get(key) {
            None | Some(Value::Null) => {}
            Some(said) => {
                let line = said.as_u64().and_then(|line| usize::try_from(line.checked_sub(first)?).ok());
                let why = || format!("`{key}` is a whole number from {first}, not {}", one_line(&said.to_string(), 40));
                return line.map(Some).ok_or_else(why);
            }
        }
    }
    Ok(None)
}

fn shown(uri: Uri, selection: Option<Range>) -> ShowDocumentParams {
    ShowDocumentParams { uri, external: None, take_focus: Some(true), selection }
}
