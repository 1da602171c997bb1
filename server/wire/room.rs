//! One root as the server sees it: the workspace as it is on disk, with the texts of open documents laid
//! over it. A [`View`] is one moment and does not change; what it is asked for is computed once and
//! shared by all who ask. Never computes on the desk's thread.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use tower_lsp::ls_types::Uri;

use crate::amendment;
use crate::git::Git;
use crate::ledger::Entry;
use crate::oracles::Baseline;
use crate::pins::{self, Extent, Facts, Project};
use crate::places::{RelPath, Root};
use crate::survey::{self, Case, Survey, Workspace};
use crate::syntax::Language;
use crate::text::Text;
use crate::vocabulary::Vocabulary;

/// An open document's text, and what was read of it. Lives as long as the text is unchanged.
pub struct Page {
    pub path: RelPath,
    pub uri: Uri,
    pub version: i32,
    pub text: Text,
    facts: OnceLock<Option<Arc<Facts>>>,
}

impl Page {
    pub fn new(path: RelPath, uri: Uri, version: i32, text: Text) -> Page {
        Page { path, uri, version, text, facts: OnceLock::new() }
    }

    /// Facts of a source file; those of the base where the text is the same.
    fn facts(&self, base: &Workspace) -> Option<Arc<Facts>> {
        let read = || {
            let language = Language::of(self.path.name())?;
            if let Some(known) = base.project.files.get(&self.path)
                && known.unit.text.as_str() == self.text.as_str()
            {
                return Some(known.clone());
            }
            Some(Arc::new(pins::facts(&self.path, &self.text, language, &base.vocabulary)))
        };
        self.facts.get_or_init(read).clone()
    }
}

/// All of a root at one moment.
pub struct Whole {
    pub survey: Survey,
    /// Files with pins, by the file that holds their oracle.
    pub pinned_by: HashMap<RelPath, BTreeSet<RelPath>>,
}

impl Whole {
    fn new(survey: Survey) -> Whole {
        let mut pinned_by: HashMap<RelPath, BTreeSet<RelPath>> = HashMap::new();
        for case in &survey.cases {
            for path in case.pin.oracle.path.iter().chain(&case.pin.oracle.candidates) {
                pinned_by.entry(path.clone()).or_default().insert(case.pin.file.clone());
            }
        }
        Whole { survey, pinned_by }
    }
}

type Once = Arc<OnceLock<Arc<Survey>>>;

/// A root at one moment, open documents laid over.
pub struct View {
    base: Arc<Workspace>,
    /// The scan of the whole root is done.
    pub complete: bool,
    pages: Vec<Arc<Page>>,
    /// The last survey of the whole root; may be a little older.
    pub whole: Option<Arc<Whole>>,
    laid: OnceLock<Workspace>,
    surveys: Mutex<HashMap<RelPath, Once>>,
}

impl View {
    pub fn new(base: Arc<Workspace>, complete: bool, pages: Vec<Arc<Page>>, whole: Option<Arc<Whole>>) -> View {
        View { base, complete, pages, whole, laid: OnceLock::new(), surveys: Mutex::default() }
    }

    pub fn root(&self) -> &Root {
        &self.base.project.root
    }

    /// The open document of a path.
    pub fn page(&self, path: &RelPath) -> Option<&Arc<Page>> {
        self.pages.iter().find(|page| page.path == *path)
    }

    pub fn is_open(&self, path: &RelPath) -> bool {
        self.page(path).is_some()
    }

    /// Open documents that are sources.
    pub fn open_sources(&self) -> impl Iterator<Item = &RelPath> {
        self.pages.iter().map(|page| &page.path).filter(|path| Language::of(path.name()).is_some())
    }

    /// The same moment of the editor, with the disk looked at again.
    pub fn again(&self) -> View {
        View::new(self.base.clone(), self.complete, self.pages.clone(), self.whole.clone())
    }

    /// Its address: the one that the editor uses, where it has it open.
    pub fn uri(&self, path: &RelPath) -> Option<Uri> {
        match self.page(path) {
            Some(page) => Some(page.uri.clone()),
            None => Uri::from_file_path(self.root().absolute(path)),
        }
    }

    pub fn workspace(&self) -> &Workspace {
        self.laid.get_or_init(|| {
            let mut workspace = (*self.base).clone();
            let open: HashMap<RelPath, Text> =
                self.pages.iter().map(|page| (page.path.clone(), page.text.clone())).collect();
            workspace.project.shelf = workspace.project.shelf.with_open(Arc::new(open));
            let mut files = None;
            let mut names = workspace.project.names.clone();
            for page in &self.pages {
                if let Some(facts) = page.facts(&self.base) {
                    names = Arc::new(names.changed(&page.path));
                    files.get_or_insert_with(|| (*workspace.project.files).clone()).insert(page.path.clone(), facts);
                }
            }
            if let Some(files) = files {
                workspace.project.files = Arc::new(files);
                workspace.project.names = names;
            }
            workspace
        })
    }

    /// The cases that concern a document: the pins of a source file; for any other file the pins that
    /// are held against it. `None` when cancelled.
    pub fn survey(&self, path: &RelPath, cancelled: &dyn Fn() -> bool) -> Option<Arc<Survey>> {
        let once = {
            let mut surveys = self.surveys.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            surveys.entry(path.clone()).or_default().clone()
        };
        if let Some(done) = once.get() {
            return Some(done.clone());
        }
        let files = self.files_of(path);
        let mut survey = match files.is_empty() {
            true => Survey::default(),
            false => self.workspace().survey(&Extent::Files(files), cancelled)?,
        };
        if Language::of(path.name()).is_none() {
            survey.cases.retain(|case| case.pin.oracle.path.as_ref() == Some(path));
        }
        Some(once.get_or_init(|| Arc::new(survey)).clone())
    }

    fn files_of(&self, path: &RelPath) -> BTreeSet<RelPath> {
        if Language::of(path.name()).is_some() {
            return BTreeSet::from([path.clone()]);
        }
        let known = self.whole.as_ref().and_then(|whole| whole.pinned_by.get(path));
        known.cloned().unwrap_or_default()
    }

    /// The whole root; `None` when cancelled.
    pub fn survey_all(&self, cancelled: &dyn Fn() -> bool) -> Option<Whole> {
        self.workspace().survey(&Extent::All, cancelled).map(Whole::new)
    }

    /// The text of a file as a reader sees it.
    pub fn text(&self, path: &RelPath) -> Option<Text> {
        if let Some(page) = self.page(path) {
            return Some(page.text.clone());
        }
        match self.base.project.files.get(path) {
            Some(facts) => Some(facts.unit.text.clone()),
            None => self.base.project.shelf.text(path),
        }
    }
}

/// The folders whose changes can change what a survey says: those of its pins' files, oracles, candidates
/// and artefacts. From the root, existing or not.
pub fn folders(survey: &Survey) -> BTreeSet<RelPath> {
    let mut folders = BTreeSet::new();
    for case in &survey.cases {
        let case: &Case = case;
        let mut add = |path: &RelPath| {
            folders.insert(path.parent());
        };
        add(&case.pin.file);
        case.pin.oracle.path.iter().chain(&case.pin.oracle.candidates).for_each(&mut add);
        if let Some(seen) = &case.observation {
            add(&seen.path);
        }
        if let Baseline::Missing = case.baseline
            && let Some(path) = &case.pin.oracle.path
        {
            // The folder itself may be missing too.
            folders.insert(path.parent().parent());
        }
    }
    folders
}

/// What one refresh looks at again.
#[derive(Debug, Default, Clone)]
pub struct Changed {
    /// Files and folders that were reported, as absolute paths; links resolved.
    pub paths: BTreeSet<PathBuf>,
    /// A document that was saved or closed: the amendments about it are looked at.
    pub saved: Option<RelPath>,
    /// Nothing is known of what changed: everything that is cheap is looked at.
    pub all: bool,
}

/// The workspace after changes on disk. `None`: settings or queries changed, or too much: load it afresh.
pub fn refreshed(base: &Workspace, changed: &Changed) -> Option<Workspace> {
    let root = base.project.root.clone();
    let mut next = base.clone();
    let mut records = changed.all;
    let mut git = changed.all;
    let mut lists: BTreeMap<RelPath, Vec<RelPath>> = BTreeMap::new();
    let mut sources = BTreeSet::new();
    for path in &changed.paths {
        if let Some(top) = &root.git_top
            && let Ok(inside) = path.strip_prefix(top.join(".git"))
        {
            git |= !inside.as_os_str().is_empty();
            continue;
        }
        let Some(path) = root.relative(path) else { continue };
        let within = path.as_str();
        if within == survey::SETTINGS || within.starts_with(".pindrift/queries/") {
            return None;
        }
        if within == ".pindrift" || within.starts_with(".pindrift/") {
            records = true;
            continue;
        }
        if path.as_str().is_empty() {
            lists.entry(path).or_default();
            continue;
        }
        let entered = lists.entry(path.parent()).or_default();
        if root.absolute(&path).is_dir() || next.project.shelf.below(&path).next().is_some() {
            entered.push(path);
        } else if Language::of(path.name()).is_some() {
            sources.insert(path);
        }
    }
    if lists.len() > 200 {
        return None;
    }
    for (folder, entered) in lists {
        next.project.shelf = next.project.shelf.relisted(&folder, &entered);
        for dir in entered {
            sources.extend(next.project.shelf.below(&dir).filter(|path| Language::of(path.name()).is_some()).cloned());
            sources.extend(next.project.files.keys().filter(|path| path.starts_with(&dir)).cloned());
        }
    }
    reread(&mut next.project, &next.vocabulary, &sources);
    if git {
        next.git = Git::of(&root).map(Arc::new);
    }
    if records || git {
        next.reread_records();
    }
    Some(next)
}

/// Reads source files again.
fn reread(project: &mut Project, vocabulary: &Vocabulary, sources: &BTreeSet<RelPath>) {
    let mut files = None;
    let mut names = project.names.clone();
    for path in sources {
        let known = project.files.get(path);
        let text = if project.shelf.listed(path) { project.shelf.text(path) } else { None };
        let facts = match (text, known) {
            (Some(text), Some(known)) if known.unit.text.as_str() == text.as_str() => continue,
            (None, None) => continue,
            (text, _) => text.and_then(|text| match Language::of(path.name()) {
                Some(language) => Some(Arc::new(pins::facts(path, &text, language, vocabulary))),
                None => pins::transcript(path, &project.shelf).map(Arc::new),
            }),
        };
        names = Arc::new(names.changed(path));
        let files = files.get_or_insert_with(|| (*project.files).clone());
        match facts {
            Some(facts) => files.insert(path.clone(), facts),
            None => files.remove(path),
        };
    }
    if let Some(files) = files {
        project.files = Arc::new(files);
        project.names = names;
    }
}

/// Looks at the amendments about a file that was saved or closed, in the workspace as it is on disk.
/// Gives what the person is to be told; `None` where there is nothing to look at.
pub fn settled(workspace: &Arc<Workspace>, saved: &RelPath) -> Option<Vec<amendment::Settled>> {
    let about = |entry: &&Arc<Entry>| {
        let decision = &entry.amendment;
        !entry.committed
            && (decision.pin.as_ref().is_some_and(|pin| pin.file == *saved)
                || decision.oracle.split('#').next() == Some(saved.as_str()))
    };
    workspace.ledger.entries.iter().find(about)?;
    let view = View::new(workspace.clone(), true, Vec::new(), None);
    let survey = view.survey(saved, &|| false)?;
    let project = &workspace.project;
    match amendment::settle(&project.root, workspace.git.as_deref(), saved, &survey.cases, &|_| false) {
        Ok(settled) => Some(settled),
        Err(why) => {
            tracing::warn!("{saved}: {why}");
            None
        }
    }
}
