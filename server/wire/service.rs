//! The protocol's methods. Each puts one event into the desk's queue before it first waits, so that the
//! queue has the client's order; the work of a request runs elsewhere on a snapshot, where a panic is
//! its own error and nobody else's. Never computes here, never waits for the client.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::{
    ApplyWorkspaceEditParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, ExecuteCommandParams, Hover, HoverParams, InitializeParams, InitializeResult,
    InitializedParams, Position, ServerInfo, Uri,
};
use tower_lsp::{Client, LanguageServer};

use super::desk::{self, Event, Queue, Sheet};
use super::documents::Change;
use super::offer::{self, Declared};
use super::outbox::{Message, Outbox};

pub struct Service {
    client: Client,
    started: OnceLock<Started>,
}

/// What there is from `initialize` on.
struct Started {
    queue: Mutex<Queue>,
    outbox: Outbox,
}

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
        if let Some(started) = self.started.get()
            && let Ok(queue) = started.queue.lock()
        {
            let _ = queue.send(event);
        }
    }

    /// The queue position is taken now: the answer sees exactly the edits sent before it.
    fn look(&self, uri: Uri) -> impl Future<Output = Option<Arc<Sheet>>> + use<> {
        let (then, answer) = oneshot::channel();
        self.tell(Event::Look { uri, then });
        async { answer.await.ok().flatten() }
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
        let queue = desk::open(declared.encoding).map_err(|err| refusal(format!("the server cannot start: {err}")))?;
        let outbox = Outbox::open(self.client.clone());
        let capabilities = offer::capabilities(&declared);
        let _ = self.started.set(Started { queue: Mutex::new(queue), outbox });
        Ok(InitializeResult {
            capabilities,
            server_info: Some(ServerInfo { name: "pindrift".into(), version: Some(env!("CARGO_PKG_VERSION").into()) }),
            offset_encoding: None,
        })
    }

    async fn initialized(&self, _: InitializedParams) {}

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

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.tell(Event::Close { uri: params.text_document.uri });
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let Some(sheet) = self.look(params.text_document_position_params.text_document.uri).await else {
            return Ok(None);
        };
        self.work(move |_| {
            let _ = sheet;
            Ok(None)
        })
        .await
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        let argument = params.arguments.into_iter().next().unwrap_or_default();
        if params.command == "pindrift.test" && std::env::var_os("PINDRIFT_TEST_PANIC").is_some() {
            return self.trial(argument).await;
        }
        Err(refusal(format!("{} comes later", params.command)))
    }
}
