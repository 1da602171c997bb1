//! The one owner of the server's state: a thread that takes events from a queue, in the order in which
//! the client sent them, and publishes snapshots. It applies edits, starts work elsewhere and takes its
//! results; it never computes for long and never waits for the client.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc;

use dashmap::DashMap;
use tokio::sync::oneshot;
use tower_lsp::ls_types::Uri;

use super::documents::{Change, Document};
use crate::text::{Encoding, Text};

/// One open document at one moment.
pub struct Sheet {
    pub uri: Uri,
    pub version: i32,
    pub text: Text,
}

/// Everything that changes the server's state.
pub enum Event {
    Open {
        uri: Uri,
        version: i32,
        text: String,
    },
    Change {
        uri: Uri,
        version: i32,
        changes: Vec<Change>,
    },
    Save {
        uri: Uri,
        text: Option<String>,
    },
    Close {
        uri: Uri,
    },
    /// A request's view of a document: exactly the edits that were sent before it.
    Look {
        uri: Uri,
        then: oneshot::Sender<Option<Arc<Sheet>>>,
    },
}

pub type Queue = mpsc::Sender<Event>;

/// The published sheets. Read through [`Sheets::of`] only, which keeps no guard.
#[derive(Clone, Default)]
pub struct Sheets(Arc<DashMap<Uri, Arc<Sheet>>>);

impl Sheets {
    pub fn of(&self, uri: &Uri) -> Option<Arc<Sheet>> {
        self.0.get(uri).map(|sheet| sheet.clone())
    }
}

struct Desk {
    encoding: Encoding,
    documents: HashMap<Uri, Document>,
    sheets: Sheets,
}

/// Starts the owner.
pub fn open(encoding: Encoding) -> std::io::Result<Queue> {
    let (tx, rx) = mpsc::channel();
    let mut desk = Desk { encoding, documents: HashMap::new(), sheets: Sheets::default() };
    std::thread::Builder::new().name("desk".into()).spawn(move || {
        for event in rx {
            let turn = std::panic::AssertUnwindSafe(|| desk.turn(event));
            // The panic is in the log; the next event finds the desk as it was before, or nearly so.
            let _ = std::panic::catch_unwind(turn);
        }
    })?;
    Ok(tx)
}

impl Desk {
    fn turn(&mut self, event: Event) {
        match event {
            Event::Open { uri, version, text } => {
                self.documents.insert(uri, Document::new(version, text));
            }
            Event::Change { uri, version, changes } => {
                let Some(document) = self.documents.get_mut(&uri) else { return };
                if !document.change(version, changes, self.encoding) {
                    tracing::warn!("{}: a change does not fit the text; waiting for a whole one", uri.as_str());
                }
            }
            Event::Save { uri, text } => {
                if let (Some(document), Some(text)) = (self.documents.get_mut(&uri), text) {
                    document.set(text);
                }
            }
            Event::Close { uri } => {
                self.documents.remove(&uri);
                self.sheets.0.remove(&uri);
            }
            Event::Look { uri, then } => {
                let _ = then.send(self.sheet(&uri));
            }
        }
    }

    fn sheet(&mut self, uri: &Uri) -> Option<Arc<Sheet>> {
        let document = self.documents.get_mut(uri)?;
        let text = document.text()?;
        let sheet = Arc::new(Sheet { uri: uri.clone(), version: document.version, text });
        self.sheets.0.insert(uri.clone(), sheet.clone());
        Some(sheet)
    }
}
