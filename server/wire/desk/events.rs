//! What the desk is told, and the sheets that it publishes. Plain data.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;

use dashmap::DashMap;
use tokio::sync::oneshot;
use tower_lsp::ls_types::Uri;

use super::super::documents::Change;
use super::super::judge;
use super::super::offer::Declared;
use super::super::room::{View, Whole};
use crate::places::RelPath;
use crate::survey::Workspace;
use crate::text::Text;

/// One open document at one moment, and its root at that moment.
pub struct Sheet {
    pub uri: Uri,
    pub version: i32,
    pub text: Text,
    /// Where it lies in its root; `None` for a document that lies in none or whose root is not read yet.
    pub place: Option<(RelPath, Arc<View>)>,
    pub declared: Arc<Declared>,
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
    /// Every root with its open documents, for a command.
    LookAll {
        then: oneshot::Sender<(Arc<Declared>, Vec<Arc<View>>)>,
    },
    /// Look again at everything that is cheap, then answer.
    Recheck {
        /// Wait until every root is read, however long that takes.
        whole: bool,
        then: oneshot::Sender<()>,
    },
    Folders {
        added: Vec<PathBuf>,
        removed: Vec<PathBuf>,
    },
    /// The client is ready to be spoken to.
    Started,
    /// The client's settings.
    Configure(serde_json::Value),
    CancelProgress,
    /// The editor was asked to change these files; or it has answered.
    Editing {
        root: PathBuf,
        /// The amendment that the edit belongs to.
        edit: RelPath,
        /// `None`: it has answered, or will not be waited for any longer.
        paths: Option<Vec<RelPath>>,
    },
    Disk(Vec<PathBuf>),
    Lost,
    Watching(bool),
    Based {
        root: PathBuf,
        base: Arc<Workspace>,
        complete: bool,
    },
    Looked {
        root: PathBuf,
    },
    Surveyed {
        root: PathBuf,
        whole: Arc<Whole>,
    },
    Judged(judge::Judged),
}

pub type Queue = mpsc::Sender<Event>;

/// The published sheets. Read through [`Sheets::of`] only, which keeps no guard.
#[derive(Clone, Default)]
pub struct Sheets(pub(super) Arc<DashMap<Uri, Arc<Sheet>>>);

impl Sheets {
    pub fn of(&self, uri: &Uri) -> Option<Arc<Sheet>> {
        self.0.get(uri).map(|sheet| sheet.clone())
    }
}
