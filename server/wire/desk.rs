//! The one owner of the server's state: a thread that takes events from a queue, in the order in which
//! the client sent them, and publishes snapshots. It applies edits, starts work elsewhere and takes its
//! results; it never computes for long and never waits for the client.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tower_lsp::ls_types::{Diagnostic, PublishDiagnosticsParams, Uri};

use super::documents::{Change, Document};
use super::judge;
use super::offer::Declared;
use super::outbox::{Message, Outbox};
use super::room::{self, Changed, Page, View, Whole};
use super::scan::{self, Job, Scan};
use super::watch::{self, Seen};
use crate::places::{RelPath, Root};
use crate::survey::Workspace;

mod disk;
mod events;
mod roots;

pub use events::{Event, Queue, Sheet, Sheets};

/// Quiet after the last key before diagnostics are made.
const TYPING: Duration = Duration::from_millis(150);
/// Quiet after the last change on disk before it is looked at, and the longest wait for that quiet.
const DISK: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(400));
/// Quiet before the whole root is surveyed again.
const WHOLE: Duration = Duration::from_millis(500);
/// How long the editor's answer to an edit is waited for. After that what is saved decides.
const ANSWER: Duration = Duration::from_secs(10);
/// A turn that takes longer is told in the log.
const SLOW: Duration = Duration::from_millis(50);

struct Desk {
    declared: Arc<Declared>,
    outbox: Outbox,
    scan: Scan,
    judge: judge::Jobs,
    watch: watch::Wanted,
    watching: bool,
    wanted: BTreeSet<PathBuf>,
    documents: HashMap<Uri, Open>,
    rooms: HashMap<PathBuf, Room>,
    sheets: Sheets,
    /// Changes on disk that are not looked at yet: since when, and when the last came.
    changed: BTreeSet<PathBuf>,
    changed_at: Option<(Instant, Instant)>,
    /// Files that the editor was asked to change and has not answered about.
    editing: Vec<Editing>,
    /// Files saved or closed of which the amendments are to be looked at.
    unsettled: BTreeSet<(PathBuf, RelPath)>,
    /// Answered when the next looks at the disk are done.
    rechecks: Vec<oneshot::Sender<()>>,
    /// Folders that came up among the changes: watched from then on, and looked at twice.
    fresh: BTreeSet<PathBuf>,
}

/// An edit that was sent and has no answer yet.
struct Editing {
    root: PathBuf,
    edit: RelPath,
    paths: Vec<RelPath>,
    /// Until when its answer is waited for.
    until: Instant,
}

struct Open {
    document: Document,
    room: Option<(PathBuf, RelPath)>,
    page: Option<Arc<Page>>,
    /// When its diagnostics are due.
    due: Option<Instant>,
    /// Folders that its last survey depends on.
    folders: BTreeSet<RelPath>,
    published: Option<(i32, Vec<Diagnostic>)>,
}

struct Room {
    root: Root,
    base: Option<Arc<Workspace>>,
    complete: bool,
    whole: Option<Arc<Whole>>,
    view: Option<Arc<View>>,
    /// When the whole root is to be surveyed.
    due: Option<Instant>,
    newest: Arc<AtomicU64>,
    folders: BTreeSet<RelPath>,
    /// Files that are not open and have diagnostics.
    published: BTreeMap<RelPath, Vec<Diagnostic>>,
    refreshing: usize,
}

/// Starts the owner and its workers.
pub fn open(declared: Declared, outbox: Outbox) -> std::io::Result<Queue> {
    let (tx, rx) = mpsc::channel();
    let to = |tx: &Queue| {
        let tx = tx.clone();
        move |event| {
            let _ = tx.send(event);
        }
    };
    let scan = scan::open(outbox.clone(), declared.progress, to(&tx))?;
    let sheets = Sheets::default();
    let judge = judge::open(sheets.clone(), to(&tx))?;
    let seen = to(&tx);
    let watch = watch::open(move |what| {
        seen(match what {
            Seen::Changed(paths) => Event::Disk(paths),
            Seen::Lost => Event::Lost,
            Seen::Watching(all) => Event::Watching(all),
        })
    })?;
    let mut desk = Desk {
        declared: Arc::new(declared),
        outbox,
        scan,
        judge,
        watch,
        watching: false,
        wanted: BTreeSet::new(),
        documents: HashMap::new(),
        rooms: HashMap::new(),
        sheets,
        changed: BTreeSet::new(),
        changed_at: None,
        editing: Vec::new(),
        unsettled: BTreeSet::new(),
        rechecks: Vec::new(),
        fresh: BTreeSet::new(),
    };
    std::thread::Builder::new().name("desk".into()).stack_size(super::STACK).spawn(move || {
        loop {
            let event = match desk.next_due() {
                Some(due) => match rx.recv_timeout(due.saturating_duration_since(Instant::now())) {
                    Ok(event) => Some(event),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => return,
                },
                None => match rx.recv() {
                    Ok(event) => Some(event),
                    Err(_) => return,
                },
            };
            let started = Instant::now();
            let turn = std::panic::AssertUnwindSafe(|| match event {
                Some(event) => desk.turn(event),
                None => desk.work_due(),
            });
            // The panic is in the log; the next event finds the desk as it was before, or nearly so.
            let _ = std::panic::catch_unwind(turn);
            if started.elapsed() > SLOW {
                tracing::info!("a turn of the desk took {:?}", started.elapsed());
            }
        }
    })?;
    Ok(tx)
}

impl Desk {
    fn turn(&mut self, event: Event) {
        match event {
            Event::Open { uri, version, text } => self.open(uri, version, text),
            Event::Change { uri, version, changes } => self.change(uri, version, changes),
            Event::Save { uri, text } => self.save(uri, text),
            Event::Close { uri } => self.close(&uri),
            Event::Look { uri, then } => {
                let _ = then.send(self.sheet(&uri));
            }
            Event::LookAll { then } => {
                let roots: Vec<PathBuf> = self.rooms.keys().cloned().collect();
                let views = roots.iter().filter_map(|root| self.view(root)).collect();
                let _ = then.send((self.declared.clone(), views));
            }
            Event::Recheck { then, whole } => {
                let reading = self.rooms.values().any(|room| !room.complete);
                if reading && whole {
                    self.rechecks.push(then);
                    return;
                }
                if reading || (self.watching && self.changed.is_empty()) {
                    let _ = then.send(());
                    return;
                }
                self.rechecks.push(then);
                if self.watching {
                    self.look_at_disk();
                } else {
                    self.refresh_all();
                }
            }
            Event::Folders { added, removed } => {
                self.folders(&added);
                self.leave(&removed);
            }
            Event::Started => {
                let folders = self.declared.folders.clone();
                self.folders(&folders);
            }
            Event::Configure(settings) => Arc::make_mut(&mut self.declared).configure(&settings),
            Event::CancelProgress => self.scan.cancel.store(true, Ordering::Relaxed),
            Event::Editing { root, edit, paths: Some(paths) } => {
                self.editing.push(Editing { root, edit, paths, until: Instant::now() + ANSWER });
            }
            Event::Editing { root, edit, paths: None } => {
                self.editing.retain(|known| known.root != root || known.edit != edit);
                self.settle();
            }
            Event::Disk(paths) => {
                self.changed.extend(paths);
                let now = Instant::now();
                self.changed_at = Some((self.changed_at.map_or(now, |(first, _)| first), now));
            }
            Event::Lost => self.refresh_all(),
            Event::Watching(all) => self.watching = all,
            Event::Based { root, base, complete } => self.based(root, base, complete),
            Event::Looked { root } => self.looked(&root),
            Event::Surveyed { root, whole } => self.surveyed(&root, whole),
            Event::Judged(judged) => self.judged(judged),
        }
    }

    fn next_due(&self) -> Option<Instant> {
        let disk = self.changed_at.map(|(first, last)| (last + DISK.0).min(first + DISK.1));
        let documents = self.documents.values().filter_map(|open| open.due);
        let rooms = self.rooms.values().filter_map(|room| room.due);
        let edits = self.editing.iter().map(|edit| edit.until);
        disk.into_iter().chain(documents).chain(rooms).chain(edits).min()
    }

    fn work_due(&mut self) {
        let now = Instant::now();
        if self.changed_at.is_some_and(|(first, last)| (last + DISK.0).min(first + DISK.1) <= now) {
            self.look_at_disk();
        }
        if self.editing.iter().any(|edit| edit.until <= now) {
            self.editing.retain(|edit| edit.until > now);
            self.settle();
        }
        let due: Vec<Uri> = self
            .documents
            .iter()
            .filter(|(_, open)| open.due.is_some_and(|due| due <= now))
            .map(|(uri, _)| uri.clone())
            .collect();
        for uri in due {
            if let Some(open) = self.documents.get_mut(&uri) {
                open.due = None;
            }
            if let Some(sheet) = self.sheet(&uri).filter(|sheet| sheet.place.is_some()) {
                self.judge.ask(sheet);
            }
        }
        let rooms: Vec<PathBuf> = self
            .rooms
            .iter()
            .filter(|(_, room)| room.due.is_some_and(|due| due <= now))
            .map(|(root, _)| root.clone())
            .collect();
        for root in rooms {
            let view = self.view(&root);
            let Some(room) = self.rooms.get_mut(&root) else { continue };
            room.due = None;
            if let Some(view) = view.filter(|_| room.complete) {
                let number = room.newest.fetch_add(1, Ordering::Relaxed) + 1;
                let _ = self.scan.jobs.send(Job::Whole { view, number, newest: room.newest.clone() });
            }
        }
    }

    fn open(&mut self, uri: Uri, version: i32, text: String) {
        let room = self.place(&uri);
        if let Some((root, path)) = &room {
            // What was said about the closed file is now said about the open document.
            if let Some(room) = self.rooms.get_mut(root) {
                room.published.remove(path);
            }
            self.stale(root);
        }
        let document = Document::new(version, text);
        let due = Some(Instant::now());
        self.documents.insert(uri, Open { document, room, page: None, due, folders: BTreeSet::new(), published: None });
        self.look_again_unless_watching();
        self.watch_folders();
    }

    fn change(&mut self, uri: Uri, version: i32, changes: Vec<Change>) {
        let Some(open) = self.documents.get_mut(&uri) else { return };
        if !open.document.change(version, changes, self.declared.encoding) {
            tracing::warn!("{}: a change does not fit the text; waiting for a whole one", uri.as_str());
        }
        open.page = None;
        open.due = Some(Instant::now() + TYPING);
        if let Some((root, _)) = open.room.clone() {
            self.stale(&root);
        }
    }

    fn save(&mut self, uri: Uri, text: Option<String>) {
        let Some(open) = self.documents.get_mut(&uri) else { return };
        if let Some(text) = text {
            open.document.set(text);
            open.page = None;
        }
        open.due = Some(Instant::now());
        if let Some((root, path)) = open.room.clone() {
            if let Some(room) = self.rooms.get_mut(&root) {
                room.due = Some(Instant::now() + WHOLE);
            }
            self.stale(&root);
            self.unsettled.insert((root, path));
            self.settle();
        }
        self.look_again_unless_watching();
    }

    /// Looks at what was saved or closed, and at the amendments about it, where no edit is under way.
    fn settle(&mut self) {
        for (root, path) in std::mem::take(&mut self.unsettled) {
            if self.editing.iter().any(|edit| edit.root == root && edit.paths.contains(&path)) {
                self.unsettled.insert((root, path));
                continue;
            }
            let Some(room) = self.rooms.get(&root) else { continue };
            let changed = Changed { paths: BTreeSet::from([room.root.absolute(&path)]), saved: Some(path), all: false };
            self.refresh(&root, changed);
        }
    }

    fn close(&mut self, uri: &Uri) {
        let Some(open) = self.documents.remove(uri) else { return };
        self.sheets.0.remove(uri);
        if open.published.is_some_and(|(_, shown)| !shown.is_empty()) {
            self.publish(uri.clone(), Vec::new(), None);
        }
        if let Some((root, path)) = open.room {
            self.stale(&root);
            // What the editor does not show any more it will not answer about.
            self.editing.retain(|edit| edit.root != root || !edit.paths.contains(&path));
            self.unsettled.insert((root.clone(), path));
            self.settle();
            // As a closed file it may have diagnostics of its own.
            if let Some(room) = self.rooms.get_mut(&root) {
                room.due = Some(Instant::now() + WHOLE);
            }
        }
        self.watch_folders();
    }

    fn stale(&mut self, root: &Path) {
        if let Some(room) = self.rooms.get_mut(root) {
            room.view = None;
        }
    }

    /// The root now, with the open documents laid over.
    fn view(&mut self, root: &Path) -> Option<Arc<View>> {
        let room = self.rooms.get_mut(root)?;
        if let Some(view) = &room.view {
            return Some(view.clone());
        }
        let base = room.base.clone()?;
        let mut pages = Vec::new();
        for (uri, open) in &mut self.documents {
            let Some((_, path)) = open.room.as_ref().filter(|(at, _)| at == root) else { continue };
            if open.page.is_none() {
                let version = open.document.version;
                let page = |text| Arc::new(Page::new(path.clone(), uri.clone(), version, text));
                open.page = open.document.text().map(page);
            }
            pages.extend(open.page.clone());
        }
        let view = Arc::new(View::new(base, room.complete, pages, room.whole.clone()));
        room.view = Some(view.clone());
        Some(view)
    }

    fn sheet(&mut self, uri: &Uri) -> Option<Arc<Sheet>> {
        let open = self.documents.get_mut(uri)?;
        let text = open.document.text()?;
        let version = open.document.version;
        let place = open.room.clone();
        let place = place.and_then(|(root, path)| self.view(&root).map(|view| (path, view)));
        let sheet = Arc::new(Sheet { uri: uri.clone(), version, text, place, declared: self.declared.clone() });
        self.sheets.0.insert(uri.clone(), sheet.clone());
        Some(sheet)
    }

    fn based(&mut self, root: PathBuf, base: Arc<Workspace>, complete: bool) {
        let Some(room) = self.rooms.get_mut(&root) else { return };
        room.base = Some(base);
        room.complete |= complete;
        room.view = None;
        if complete {
            room.due = Some(match room.whole {
                // The first time nobody types yet.
                None => Instant::now(),
                Some(_) => Instant::now() + WHOLE,
            });
        }
        for open in self.documents.values_mut() {
            if open.room.as_ref().is_some_and(|(at, _)| *at == root) {
                open.due = Some(Instant::now());
            }
        }
        self.watch_folders();
    }

    fn surveyed(&mut self, root: &Path, whole: Arc<Whole>) {
        let Some(room) = self.rooms.get_mut(root) else { return };
        room.folders = room::folders(&whole.survey);
        room.whole = Some(whole);
        room.view = None;
        let Some(view) = self.view(root) else { return };
        self.judge.ask_closed(view, self.declared.clone());
        // Baselines learn their pins from it.
        for open in self.documents.values_mut() {
            if let Some((at, path)) = &open.room
                && at == root
                && crate::syntax::Language::of(path.name()).is_none()
            {
                open.due = Some(Instant::now());
            }
        }
        self.watch_folders();
    }

    fn judged(&mut self, judged: judge::Judged) {
        match judged {
            judge::Judged::Open { uri, version, diagnostics, folders } => {
                let Some(open) = self.documents.get_mut(&uri) else { return };
                if open.document.version != version {
                    return;
                }
                let new_folders = open.folders != folders;
                open.folders = folders;
                let before = open.published.replace((version, diagnostics.clone()));
                let (same, lenses) = match &before {
                    Some((at, shown)) => {
                        ((*at == version || diagnostics.is_empty()) && *shown == diagnostics, *shown != diagnostics)
                    }
                    None => (diagnostics.is_empty(), true),
                };
                if !same {
                    self.publish(uri, diagnostics, Some(version));
                }
                if lenses && self.declared.code_lens && self.declared.code_lens_refresh {
                    self.outbox.say(Message::RefreshLenses);
                }
                if new_folders {
                    self.watch_folders();
                }
            }
            judge::Judged::Closed { root, diagnostics } => {
                let open: BTreeSet<RelPath> = self
                    .documents
                    .values()
                    .filter_map(|open| open.room.as_ref().filter(|(at, _)| *at == root).map(|(_, path)| path.clone()))
                    .collect();
                let Some(room) = self.rooms.get_mut(&root) else { return };
                let mut now: BTreeMap<RelPath, Vec<Diagnostic>> = diagnostics;
                now.retain(|path, shown| !open.contains(path) && !shown.is_empty());
                let before = std::mem::replace(&mut room.published, now.clone());
                let at = room.root.clone();
                let gone = before.keys().filter(|path| !now.contains_key(*path) && !open.contains(*path));
                let gone: Vec<(RelPath, Vec<Diagnostic>)> = gone.map(|path| (path.clone(), Vec::new())).collect();
                let came = now.into_iter().filter(|(path, shown)| before.get(path) != Some(shown));
                for (path, shown) in came.chain(gone) {
                    if let Some(uri) = Uri::from_file_path(at.absolute(&path)) {
                        self.publish(uri, shown, None);
                    }
                }
            }
        }
    }

    fn publish(&self, uri: Uri, diagnostics: Vec<Diagnostic>, version: Option<i32>) {
        let version = version.filter(|_| self.declared.diagnostic_version);
        self.outbox.say(Message::Diagnostics(PublishDiagnosticsParams { uri, diagnostics, version }));
    }
}
