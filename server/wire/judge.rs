//! What is underlined: looks at open documents on a thread of its own, the newest first-come, and at the
//! other files of a root after a survey of everything. Takes sheets, gives diagnostics as events.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;

use tower_lsp::ls_types::{Diagnostic, Uri};

use super::desk::{Event, Sheet, Sheets};
use super::offer::Declared;
use super::room::{self, View};
use super::speak;
use crate::places::RelPath;

pub enum Judged {
    Open { uri: Uri, version: i32, diagnostics: Vec<Diagnostic>, folders: BTreeSet<RelPath> },
    Closed { root: PathBuf, diagnostics: BTreeMap<RelPath, Vec<Diagnostic>> },
}

enum Job {
    Open(Arc<Sheet>),
    Closed(Arc<View>, Arc<Declared>),
}

pub struct Jobs {
    tx: mpsc::Sender<Job>,
}

impl Jobs {
    pub fn ask(&self, sheet: Arc<Sheet>) {
        let _ = self.tx.send(Job::Open(sheet));
    }

    pub fn ask_closed(&self, view: Arc<View>, declared: Arc<Declared>) {
        let _ = self.tx.send(Job::Closed(view, declared));
    }
}

pub fn open(sheets: Sheets, tell: impl Fn(Event) + Send + 'static) -> std::io::Result<Jobs> {
    let (tx, rx) = mpsc::channel::<Job>();
    std::thread::Builder::new().name("judge".into()).stack_size(super::STACK).spawn(move || {
        while let Ok(first) = rx.recv() {
            // Only the newest of each document, and of each root, documents first.
            let mut open: Vec<Arc<Sheet>> = Vec::new();
            let mut closed: Vec<(Arc<View>, Arc<Declared>)> = Vec::new();
            for job in std::iter::once(first).chain(rx.try_iter()) {
                match job {
                    Job::Open(sheet) => {
                        open.retain(|known| known.uri != sheet.uri);
                        open.push(sheet);
                    }
                    Job::Closed(view, declared) => {
                        closed.retain(|(known, _)| known.root().path != view.root().path);
                        closed.push((view, declared));
                    }
                }
            }
            for sheet in open {
                let work = std::panic::AssertUnwindSafe(|| judge(&sheet, &sheets));
                if let Ok(Some(judged)) = std::panic::catch_unwind(work) {
                    tell(Event::Judged(judged));
                }
            }
            for (view, declared) in closed {
                let work = std::panic::AssertUnwindSafe(|| speak::closed_diagnostics(&view, &declared));
                if let Ok(diagnostics) = std::panic::catch_unwind(work) {
                    tell(Event::Judged(Judged::Closed { root: view.root().path.clone(), diagnostics }));
                }
            }
        }
    })?;
    Ok(Jobs { tx })
}

/// `None` when a newer text of the document was published meanwhile.
fn judge(sheet: &Sheet, sheets: &Sheets) -> Option<Judged> {
    let (path, view) = sheet.place.as_ref()?;
    let overtaken = || sheets.of(&sheet.uri).is_none_or(|newest| newest.version != sheet.version);
    let survey = view.survey(path, &overtaken)?;
    Some(Judged::Open {
        uri: sheet.uri.clone(),
        version: sheet.version,
        diagnostics: speak::open_diagnostics(sheet, path, view, &survey),
        folders: room::folders(&survey),
    })
}
