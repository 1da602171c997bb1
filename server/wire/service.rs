//! The protocol's methods. Each puts one event into the desk's queue before it first waits, so that the
//! queue has the client's order; the work of a request runs elsewhere on a snapshot, where a panic is
//! its own error and nobody else's. Never computes here, never waits for the client.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::{
    ApplyWorkspaceEditParams, CodeActionParams, CodeActionResponse, CodeLens, CodeLensParams, ConfigurationItem,
    ConfigurationParams, DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams,
    DocumentLink, DocumentLinkParams, ExecuteCommandParams, Hover, HoverParams, InitializeParams, InitializeResult,
    InitializedParams, MessageType, Position, ServerInfo, Uri, WorkspaceFolder,
};
use tower_lsp::{Client, LanguageServer};

use super::commands::Office;
use super::desk::{self, Event, Queue, Sheet};
use super::documents::Change;
use super::features;
use super::offer::{self, Declared};
use super::outbox::{Message, Outbox};
use super::runs::{self, Runs};

pub struct Service {
    client: Client,
    started: OnceLock<Started>,
}

/// What there is from `initialize` on.
struct Started {
    queue: Queue,
    outbox: Outbox,
    declared: Declared,
    runs: Runs,
}

/// Longest wait for the disk to be looked at again before an answer.
const RECHECK: Duration = Duration::from_millis(250);
/// The same before a command.
const RECHECK_COMMAND: Duration = Duration::from_secs(2);
/// Longest wait of a command about everything for the first reading of the roots.
const READING: Duration = Duration::from_secs(120);

/// Set when the request was cancelled or its answer is no longer wanted.
#[derive(Clone, Default)]
pub struct Cancelled(Arc<AtomicBool>);

impl Cancelled {
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sets the flag when the waiting end of a request is dropped.
struct WhenDropped(Cancelled);

impl Drop for WhenDropped {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// An error whose message is for the person.
pub fn refusal(message: impl Into<String>) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: message.into().into(), data: None }
}

impl Service {
    pub fn new(client: Client) -> Service {
        Service { client, started: OnceLock::new() }
    }

    fn tell(&self, event: Event) {
        if let Some(started) = self.started.get() {
            let _ = started.queue.send(event);
        }
    }

    /// The person pressed cancel on a progress.
    pub async fn cancel_progress(&self, params: Value) {
        let token = params.get("token").and_then(Value::as_str).unwrap_or_default();
        match self.started.get() {
            Some(started) if token.starts_with(runs::TOKEN) => started.runs.cancel(),
            _ => self.tell(Event::CancelProgress),
        }
    }

    fn ask_configuration(&self) {
        let Some(started) = self.started.get() else { return };
        let queue = started.queue.clone();
        let items = vec![ConfigurationItem { scope_uri: None, section: Some("pindrift".into()) }];
        let then = Box::new(move |answer: Option<Vec<Value>>| {
            if let Some(settings) = answer.and_then(|answer| answer.into_iter().next()) {
                let _ = queue.send(Event::Configure(settings));
            }
        });
        started.outbox.say(Message::Configuration(ConfigurationParams { items }, then));
    }

    /// The queue position is taken now: the answer sees exactly the edits sent before it.
    fn look(&self, uri: Uri) -> impl Future<Output = Option<Arc<Sheet>>> + use<> {
        let (then, answer) = oneshot::channel();
        self.tell(Event::Look { uri, then });
        async { answer.await.ok().flatten() }
    }

    /// The same, what changed on disk looked at first, for at most a moment.
    fn look_afresh(&self, uri: Uri) -> impl Future<Output = Option<Arc<Sheet>>> + use<> {
        let (checked, rechecked) = oneshot::channel();
        self.tell(Event::Recheck { then: checked, whole: false });
        let before = self.look(uri.clone());
        let queue = self.started.get().map(|started| started.queue.clone());
        async move {
            let sheet = before.await?;
            if sheet.place.is_none() || tokio::time::timeout(RECHECK, rechecked).await.is_err() {
                return Some(sheet);
            }
            let (then, answer) = oneshot::channel();
            queue?.send(Event::Look { uri, then }).ok()?;
            // Edits that came in between would shift every place that was asked about.
            let fresh = answer.await.ok().flatten().filter(|fresh| fresh.version == sheet.version);
            Some(fresh.unwrap_or(sheet))
        }
    }

    /// Runs a request's work off the desk. A panic becomes this request's error.
    async fn work<T: Send + 'static>(&self, work: impl FnOnce(Cancelled) -> Result<T> + Send + 'static) -> Result<T> {
        let cancelled = Cancelled::default();
        let _guard = WhenDropped(cancelled.clone());
        match tokio::task::spawn_blocking(move || work(cancelled)).await {
            Ok(answer) => answer,
            Err(_) => Err(Error {
                code: ErrorCode::InternalError,
                message: "a bug in the server; its log says where (PINDRIFT_LOG=debug says more)".into(),
                data: None,
            }),
        }
    }

    /// Triggers for the tests of the guards, there only under `PINDRIFT_TEST_PANIC`.
    async fn trial(&self, argument: Value) -> Result<Option<Value>> {
        let uri = argument.get("uri").and_then(|uri| serde_json::from_value::<Uri>(uri.clone()).ok());
        match argument.get("do").and_then(Value::as_str) {
            Some("panic") => self.work(|_| panic!("asked for by a test")).await,
            Some("compute") => {
                let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
                self.work(move |cancelled| {
                    while !cancelled.is_set() && std::time::Instant::now() < end {
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                    Ok(None)
                })
                .await
            }
            Some("text") => {
                let Some(uri) = uri else { return Ok(None) };
                let sheet = self.look(uri).await;
                Ok(sheet.map(|sheet| Value::String(sheet.text.as_str().into())))
            }
            Some("edit") => {
                if let Some(started) = self.started.get() {
                    let edit = ApplyWorkspaceEditParams { label: None, edit: Default::default() };
                    started.outbox.say(Message::Edit(edit, Box::new(|_| {})));
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}

fn change(change: tower_lsp::ls_types::TextDocumentContentChangeEvent) -> Change {
    let place = |at: Position| (at.line, at.character);
    Change { range: change.range.map(|range| (place(range.start), place(range.end))), text: change.text }
}

impl LanguageServer for Service {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let declared = Declared::of(&params.initialization_options.unwrap_or_default());
        let outbox = Outbox::open(self.client.clone());
        let cannot = |err| refusal(format!("the server cannot start: {err}"));
        let queue = desk::open(declared.clone(), outbox.clone()).map_err(cannot)?;
        let capabilities = offer::capabilities(&declared);
        let _ = self.started.set(Started { queue, outbox, declared, runs: Runs::default() });
        let version = Some(env!("CARGO_PKG_VERSION").into());
        Ok(InitializeResult {
            capabilities,
            server_info: Some(ServerInfo { name: "pindrift".into(), version }),
            offset_encoding: None,
        })
    }

    async fn initialized(&self, _: InitializedParams) {
        let Some(started) = self.started.get() else { return };
        self.tell(Event::Started);
        if started.declared.watched_files {
            started.outbox.say(Message::Register(offer::watched_files()));
        }
        if started.declared.configuration {
            self.ask_configuration();
        }
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        self.tell(Event::Open { uri: document.uri, version: document.version, text: document.text });
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.tell(Event::Change {
            uri: params.text_document.uri,
            version: params.text_document.version,
            changes: params.content_changes.into_iter().map(change).collect(),
        });
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        self.tell(Event::Save { uri: params.text_document.uri, text: params.text });
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        let Some(started) = self.started.get() else { return };
        if started.declared.configuration {
            self.ask_configuration();
        } else {
            let settings = params.settings.get("pindrift").unwrap_or(&params.settings);
            self.tell(Event::Configure(settings.clone()));
        }
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        let paths = |folders: &[WorkspaceFolder]| {
            folders.iter().filter_map(|folder| offer::path_of(&folder.uri)).collect::<Vec<_>>()
        };
        self.tell(Event::Folders { added: paths(&params.event.added), removed: paths(&params.event.removed) });
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        self.tell(Event::Disk(params.changes.iter().filter_map(|change| offer::path_of(&change.uri)).collect()));
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.tell(Event::Close { uri: params.text_document.uri });
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let at = params.text_document_position_params;
        let Some(sheet) = self.look_afresh(at.text_document.uri).await else { return Ok(None) };
        self.work(move |cancelled| Ok(features::hover(&sheet, at.position, &cancelled))).await
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let Some(sheet) = self.look_afresh(params.text_document.uri).await else { return Ok(None) };
        self.work(move |cancelled| Ok(features::code_actions(&sheet, params.range, &params.context, &cancelled))).await
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let Some(sheet) = self.look(params.text_document.uri).await else { return Ok(None) };
        self.work(move |cancelled| Ok(features::lenses(&sheet, &cancelled))).await
    }

    async fn document_link(&self, params: DocumentLinkParams) -> Result<Option<Vec<DocumentLink>>> {
        let Some(sheet) = self.look(params.text_document.uri).await else { return Ok(None) };
        self.work(move |cancelled| Ok(features::links(&sheet, &cancelled))).await
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        let argument = params.arguments.into_iter().next().unwrap_or_default();
        if params.command == "pindrift.test" && std::env::var_os("PINDRIFT_TEST_PANIC").is_some() {
            return self.trial(argument).await;
        }
        let Some(started) = self.started.get() else { return Ok(None) };
        let (checked, rechecked) = oneshot::channel();
        // A list of everything that is made before everything is read would be wrong.
        let whole = params.command == "pindrift.changes"
            || params.command == "pindrift.drifts" && argument.get("uri").or(argument.get("file")).is_none();
        self.tell(Event::Recheck { then: checked, whole });
        let patience = if whole { READING } else { RECHECK_COMMAND };
        let _ = tokio::time::timeout(patience, rechecked).await;
        let (then, answer) = oneshot::channel();
        self.tell(Event::LookAll { then });
        let Ok((declared, views)) = answer.await else { return Ok(None) };
        let office = Office {
            declared,
            views,
            outbox: started.outbox.clone(),
            queue: started.queue.clone(),
            runs: started.runs.clone(),
        };
        self.work(move |cancelled| {
            office.run(&params.command, &argument, &cancelled).map(Some).map_err(|why| {
                if !office.declared.plugin {
                    // Not every editor shows the error of a command.
                    office.outbox.say(Message::Show(MessageType::ERROR, why.clone()));
                }
                refusal(why)
            })
        })
        .await
    }
}
