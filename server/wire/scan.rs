//! Work on whole roots, on a thread of its own: the first scan, looking again at what changed on disk,
//! and surveys of everything. Takes jobs, gives events. Work on open documents is not done here, so it
//! never waits for this.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;

use tower_lsp::ls_types::MessageType;

use super::desk::Event;
use super::outbox::{Message, Outbox};
use super::progress::Progress;
use super::room::{self, Changed, View};
use crate::amendment::Outcome;
use crate::places::{RelPath, Root};
use crate::survey::Workspace;

pub enum Job {
    /// Read a root from the beginning.
    Load(Root),
    /// Look again at what changed.
    Refresh(Root, Changed),
    /// Survey the whole root. Given up when `newest` no longer is `number`.
    Whole { view: Arc<View>, number: u64, newest: Arc<AtomicU64> },
}

pub struct Scan {
    pub jobs: mpsc::Sender<Job>,
    /// The person pressed cancel on the progress of a scan.
    pub cancel: Arc<AtomicBool>,
}

pub fn open(outbox: Outbox, progress: bool, tell: impl Fn(Event) + Send + 'static) -> std::io::Result<Scan> {
    let (jobs, rx) = mpsc::channel();
    let cancel = Arc::new(AtomicBool::new(false));
    let cancelled = cancel.clone();
    std::thread::Builder::new().name("scan".into()).stack_size(super::STACK).spawn(move || {
        let mut scan = Scanning { known: HashMap::new(), outbox, progress, cancelled, count: 0 };
        for job in rx {
            let work = std::panic::AssertUnwindSafe(|| scan.work(job, &tell));
            // What panicked is in the log; the next job starts afresh.
            let _ = std::panic::catch_unwind(work);
        }
    })?;
    Ok(Scan { jobs, cancel })
}

struct Scanning {
    known: HashMap<PathBuf, (Arc<Workspace>, bool)>,
    outbox: Outbox,
    progress: bool,
    cancelled: Arc<AtomicBool>,
    count: u64,
}

impl Scanning {
    fn work(&mut self, job: Job, tell: &dyn Fn(Event)) {
        match job {
            Job::Load(root) => {
                let path = root.path.clone();
                self.load(root, tell);
                tell(Event::Looked { root: path });
            }
            Job::Refresh(root, changed) => {
                let path = root.path.clone();
                let next = match self.known.get(&root.path) {
                    Some((base, true)) => room::refreshed(base, &changed),
                    _ => None,
                };
                match next {
                    Some(next) => self.found(next, true, tell),
                    None => self.load(root, tell),
                }
                if let Some(saved) = &changed.saved {
                    self.settle(&path, saved, tell);
                }
                tell(Event::Looked { root: path });
            }
            Job::Whole { view, number, newest } => {
                let cancelled = || newest.load(Ordering::Relaxed) != number;
                if cancelled() {
                    return;
                }
                if let Some(whole) = view.survey_all(&cancelled) {
                    tell(Event::Surveyed { root: view.root().path.clone(), whole: Arc::new(whole) });
                }
            }
        }
    }

    fn load(&mut self, root: Root, tell: &dyn Fn(Event)) {
        self.cancelled.store(false, Ordering::Relaxed);
        self.count += 1;
        let name = root.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let progress = self.progress.then(|| {
            Progress::open(&self.outbox, format!("pindrift-scan-{}", self.count), format!("Reading tests of {name}"))
        });
        let glance = Workspace::glance(root.clone());
        if !self.known.contains_key(&root.path) {
            self.found(glance.clone(), false, tell);
        }
        let report = |done, all| {
            if let Some(progress) = &progress {
                progress.report(done, all);
            }
        };
        let cancelled = self.cancelled.clone();
        let whole = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            glance.completed(&report, &|| cancelled.load(Ordering::Relaxed))
        }));
        if let Some(progress) = &progress {
            progress.end();
        }
        if let Ok(Some(whole)) = whole {
            self.found(whole, true, tell);
        }
    }

    /// What was decided about a file that is saved now.
    fn settle(&mut self, root: &Path, saved: &RelPath, tell: &dyn Fn(Event)) {
        let Some((base, true)) = self.known.get(root).cloned() else { return };
        // An amendment that was made a moment ago is not in the base yet.
        let mut now = (*base).clone();
        now.reread_records();
        let Some(settled) = room::settled(&Arc::new(now.clone()), saved).filter(|settled| !settled.is_empty()) else {
            return;
        };
        for one in settled {
            let kind = match one.outcome {
                Outcome::Finished | Outcome::Reported => continue,
                Outcome::Dropped => MessageType::WARNING,
                Outcome::Undone => MessageType::INFO,
            };
            self.outbox.say(Message::Show(kind, one.message));
        }
        now.reread_records();
        self.found(now, true, tell);
    }

    fn found(&mut self, workspace: Workspace, complete: bool, tell: &dyn Fn(Event)) {
        let root = workspace.project.root.clone();
        let base = Arc::new(workspace);
        self.known.insert(root.path.clone(), (base.clone(), complete));
        tell(Event::Based { root: root.path, base, complete });
    }
}
