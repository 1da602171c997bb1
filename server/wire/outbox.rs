//! Everything that the server says unasked. Takes messages from anywhere without waiting, sends them in
//! order from one task; answers of the client come back as events. Nobody waits for the client.

use tokio::sync::mpsc;
use tower_lsp::Client;
use tower_lsp::ls_types::notification::{Progress, PublishDiagnostics};
use tower_lsp::ls_types::request::{
    ApplyWorkspaceEdit, CodeLensRefresh, RegisterCapability, ShowDocument, WorkDoneProgressCreate,
    WorkspaceConfiguration,
};
use tower_lsp::ls_types::{
    ApplyWorkspaceEditParams, ApplyWorkspaceEditResponse, ConfigurationParams, MessageType, ProgressParams,
    PublishDiagnosticsParams, RegistrationParams, ShowDocumentParams, WorkDoneProgressCreateParams,
};

/// What to do with the client's answer. Called on the outbox's runtime; must not block.
pub type Then<T> = Box<dyn FnOnce(Option<T>) + Send>;

pub enum Message {
    Diagnostics(PublishDiagnosticsParams),
    Progress(ProgressParams),
    Show(MessageType, String),
    /// The client applied the edit, refused it, or failed (`None`).
    Edit(ApplyWorkspaceEditParams, Then<ApplyWorkspaceEditResponse>),
    ShowDocument(ShowDocumentParams),
    CreateProgress(WorkDoneProgressCreateParams, Then<()>),
    Register(RegistrationParams),
    Configuration(ConfigurationParams, Then<Vec<serde_json::Value>>),
    RefreshLenses,
}

#[derive(Clone)]
pub struct Outbox {
    tx: mpsc::UnboundedSender<Message>,
}

impl Outbox {
    /// Starts the sending task on the current runtime.
    pub fn open(client: Client) -> Outbox {
        let (tx, mut rx) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(message) = rx.recv().await {
                send(&client, message).await;
            }
        });
        Outbox { tx }
    }

    pub fn say(&self, message: Message) {
        let _ = self.tx.send(message);
    }
}

/// Notifications are sent here; for requests the sending is started here, in order, and the answer is
/// awaited in a task of its own.
async fn send(client: &Client, message: Message) {
    match message {
        Message::Diagnostics(params) => client.send_notification::<PublishDiagnostics>(params).await,
        Message::Progress(params) => client.send_notification::<Progress>(params).await,
        Message::Show(kind, text) => client.show_message(kind, text).await,
        Message::Edit(params, then) => ask::<ApplyWorkspaceEdit>(client, params, then).await,
        Message::ShowDocument(params) => ask::<ShowDocument>(client, params, Box::new(|_| {})).await,
        Message::CreateProgress(params, then) => ask::<WorkDoneProgressCreate>(client, params, then).await,
        Message::Register(params) => ask::<RegisterCapability>(client, params, Box::new(|_| {})).await,
        Message::Configuration(params, then) => ask::<WorkspaceConfiguration>(client, params, then).await,
        Message::RefreshLenses => ask::<CodeLensRefresh>(client, (), Box::new(|_| {})).await,
    }
}

async fn ask<R>(client: &Client, params: R::Params, then: Then<R::Result>)
where
    R: tower_lsp::ls_types::request::Request,
    R::Params: Send + 'static,
    R::Result: Send + 'static,
{
    let client = client.clone();
    let mut asking = Box::pin(async move { client.send_request::<R>(params).await });
    // One poll puts the request on its way; the rest waits elsewhere.
    if let Some(answer) = poll_once(&mut asking).await {
        then(answer.ok());
        return;
    }
    tokio::spawn(async move { then(asking.await.ok()) });
}

async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|cx| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut *future).poll(cx) {
            std::task::Poll::Ready(value) => Some(value),
            std::task::Poll::Pending => None,
        })
    })
    .await
}
