//! The whole line for a root or for some of its files: facts → sites → pins → baselines → observations →
//! drift. Takes a [`Workspace`], gives [`Case`]s, orphans and troubles. Never writes.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use crate::drift::moves::{self, Moves, Round};
use crate::drift::{self, Drift};
use crate::git::Git;
use crate::ledger::{self, Entry, Judgement, Ledger, Verdict};
use crate::observations::notes::Note;
use crate::observations::{self, Observation, Records};
use crate::oracles::{self, Baseline, Content, OracleKind, Orphan, Pin, digest_of};
use crate::pins::sites::HELPER;
use crate::pins::{Extent, Frame, Project, Site, Trouble, sites};
use crate::places::{RelPath, Root};
use crate::proposals::{Proposal, Proposals};
use crate::roles::{self, Role};
use crate::settings::Settings;
use crate::shelf::{Read, Shelf};
use crate::switches;
use crate::syntax::Language;
use crate::text::one_line;
use crate::vocabulary::Vocabulary;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    Match,
    Drift,
    Missing,
    /// A specification's mismatch.
    Failed,
    Unobserved,
    NotReached,
    Unstable,
    Unreadable,
    ExpectedFailure,
    Skipped,
}

impl State {
    pub fn word(self) -> &'static str {
        match self {
            State::Match => "match",
            State::Drift => "drift",
            State::Missing => "missing",
            State::Failed => "failed",
            State::Unobserved => "unobserved",
            State::NotReached => "not-reached",
            State::Unstable => "unstable",
            State::Unreadable => "unreadable",
            State::ExpectedFailure => "expected-failure",
            State::Skipped => "skipped",
        }
    }
}

/// One pin with everything that is known about it. Hover, findings, actions and check all read this.
#[derive(Debug, Clone)]
pub struct Case {
    pub pin: Pin,
    pub baseline: Baseline,
    /// The observation that counts: the newest consistent with the present oracle, else a stale one.
    pub observation: Option<Observation>,
    pub state: State,
    /// For `Drift`, `Failed`, and `Missing` with an observed value.
    pub drift: Option<Drift>,
    /// 12 hexadecimal digits; hash of the pin, the oracle content and the observed content.
    pub drift_id: Option<String>,
    /// 1-based lines of the file that holds the oracle.
    pub changed_lines: Vec<usize>,
    pub inserted_after: Vec<usize>,
    /// For `Unstable`: what moves between the runs, where it is known.
    pub moves: Option<Moves>,
    /// Decisions about this pin's oracle, newest first.
    pub history: Vec<Arc<Entry>>,
    /// `false` after an accept until a run matched.
    pub confirmed: bool,
    /// What people said about places of this drift, in the order of [`Drift::shapes`].
    pub spoken: Vec<Option<Spoken>>,
    /// What a program thinks of this drift. Never a decision.
    pub proposal: Option<Arc<Proposal>>,
}

/// A verdict about one place, and the amendment that holds it.
#[derive(Debug, Clone)]
pub struct Spoken {
    pub verdict: Verdict,
    pub entry: Arc<Entry>,
}

/// A change as a person reads it: the contents as they are compared, or of digests the texts behind both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// `None`: nothing is recorded yet.
    pub before: Option<Content>,
    pub after: Content,
}

impl Case {
    /// Recorded and observed content as a person reads them; `None` where nothing was observed.
    pub fn shown(&self) -> Option<Shown> {
        let seen = self.observation.as_ref()?;
        let recorded = match &self.baseline {
            Baseline::Present(recorded) => Some(recorded),
            _ => None,
        };
        let preimage = recorded.and_then(|recorded| recorded.preimage.as_ref());
        Some(match (self.pin.oracle.kind, preimage, &seen.preimage) {
            (OracleKind::Digest, Some(old), Some(new)) => {
                Shown { before: Some(Content::Text(old.clone())), after: Content::Text(new.clone()) }
            }
            _ => Shown { before: recorded.map(|recorded| recorded.content.clone()), after: seen.content.clone() },
        })
    }
}

#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// Switches that make runs rewrite baselines, and tests that did: of a survey of the whole root.
    pub rewriting: Vec<Note>,
    pub cases: Vec<Arc<Case>>,
    pub orphans: Vec<Orphan>,
    pub troubles: Vec<Trouble>,
}

/// Everything of one root at one moment. Cloning is cheap.
#[derive(Clone)]
pub struct Workspace {
    pub project: Project,
    pub vocabulary: Arc<Vocabulary>,
    pub ledger: Arc<Ledger>,
    pub records: Arc<Records>,
    pub proposals: Arc<Proposals>,
    pub git: Option<Arc<Git>>,
    /// Of the settings, the workspace's queries, the ledger and the recorded observations.
    pub troubles: Arc<Vec<Trouble>>,
}

/// Name of the settings file in the root.
pub const SETTINGS: &str = "pindrift.toml";

impl Workspace {
    /// The workspace of a path. An error is one line that says how to mend it.
    pub fn open(path: &Path) -> Result<Workspace, String> {
        let opened = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        let opened = if opened.as_os_str().is_empty() { Path::new(".") } else { opened };
        let root = Root::of(path, opened).map_err(|err| format!("{} cannot be opened: {err}", path.display()))?;
        Workspace::load(root, &|_, _| {}, &|| false).ok_or_else(|| format!("reading {} was cancelled", path.display()))
    }

    /// Reads a root afresh. `progress` gets files done and files in all; `None` when `cancelled` said so.
    pub fn load(
        root: Root,
        progress: &(dyn Fn(usize, usize) + Sync),
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Workspace> {
        Workspace::glance(root).completed(progress, cancelled)
    }

    /// A root with its settings, queries, ledger and list of files, and no source file read yet.
    pub fn glance(root: Root) -> Workspace {
        let shelf = Shelf::new(root.clone());
        let (settings, mut troubles) = settings(&shelf);
        let (vocabulary, more) = Vocabulary::of(&shelf);
        troubles.extend(more);
        let git = Git::of(&root).map(Arc::new);
        let crates = Arc::new(crate::code::rust::Crates::of(&shelf));
        let mut workspace = Workspace {
            project: Project {
                root,
                settings: Arc::new(settings),
                shelf,
                files: Arc::default(),
                crates,
                names: Arc::default(),
            },
            vocabulary: Arc::new(vocabulary),
            ledger: Arc::default(),
            records: Arc::default(),
            proposals: Arc::default(),
            git,
            troubles: Arc::new(troubles),
        };
        workspace.reread_records();
        workspace
    }

    /// The same with every source file read that may hold a pin or a helper.
    pub fn completed(
        &self,
        progress: &(dyn Fn(usize, usize) + Sync),
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Workspace> {
        let Project { root, settings, shelf, .. } = self.project.clone();
        let project = Project::read(root, settings, shelf, &self.vocabulary, progress, cancelled)?;
        Some(Workspace { project, ..self.clone() })
    }

    /// Reads the ledger and the recorded observations again.
    pub fn reread_records(&mut self) {
        let ledger = Ledger::read(&self.project.root, self.git.as_deref());
        let records = Records::read(&self.project.shelf);
        self.ledger = Arc::new(ledger);
        self.records = Arc::new(records);
        self.proposals = Arc::new(Proposals::read(&self.project.root));
    }

    /// Opted in: settings or a ledger exist.
    pub fn opted_in(&self) -> bool {
        self.project.settings.present || !self.ledger.entries.is_empty()
    }

    /// Cases of the extent, in the order of their places. Orphans only for the whole root.
    pub fn survey(&self, extent: &Extent, cancelled: &dyn Fn() -> bool) -> Option<Survey> {
        let project = &self.project;
        let mut survey = self.states(extent, cancelled)?;
        for case in survey.cases.iter_mut().filter(|case| case.drift_id.is_some()) {
            if cancelled() {
                return None;
            }
            let case = Arc::make_mut(case);
            case.compare();
            case.within_the_literal(project);
        }
        if *extent == Extent::All {
            let pins: Vec<Pin> = survey.cases.iter().map(|case| case.pin.clone()).collect();
            survey.orphans = orphans(&pins, project);
            survey.rewriting = rewriting(project, &self.records);
        }
        Some(survey)
    }

    /// The same without what only a reader needs: cases with their state and the id of their drift, the
    /// difference itself not looked at; no orphans.
    pub fn states(&self, extent: &Extent, cancelled: &dyn Fn() -> bool) -> Option<Survey> {
        let project = &self.project;
        let pins = pins(project, extent);
        let clean = self.clean_check();
        let mut cases = Vec::with_capacity(pins.len());
        let mut unreadable = Vec::new();
        for pin in pins.iter() {
            if cancelled() {
                return None;
            }
            cases.push(self.case(pin, &clean, &mut unreadable));
        }
        mark_disagreeing(&mut cases);
        let mut troubles: Vec<Trouble> = self.troubles.iter().cloned().chain(unreadable).collect();
        troubles.extend(self.ledger.troubles.iter().cloned());
        troubles.extend(self.records.troubles.iter().cloned());
        troubles.extend(self.proposals.troubles.iter().cloned());
        for (file, facts) in project.files.iter() {
            if extent.holds(file) {
                troubles.extend(facts.troubles.iter().cloned());
            }
        }
        troubles.sort();
        troubles.dedup();
        Some(Survey {
            cases: cases.into_iter().map(Arc::new).collect(),
            orphans: Vec::new(),
            rewriting: Vec::new(),
            troubles,
        })
    }

    fn clean_check(&self) -> impl Fn(&RelPath) -> bool + '_ {
        move |path| self.git.as_ref().is_some_and(|git| git.tracked_unmodified(path))
    }

    fn case(&self, pin: &Pin, clean: &dyn Fn(&RelPath) -> bool, unreadable: &mut Vec<Trouble>) -> Case {
        let project = &self.project;
        let history = self.ledger.history(pin);
        let mut case = Case {
            pin: pin.clone(),
            baseline: Baseline::Missing,
            observation: None,
            state: State::Unobserved,
            drift: None,
            drift_id: None,
            changed_lines: Vec::new(),
            inserted_after: Vec::new(),
            moves: None,
            history,
            confirmed: true,
            spoken: Vec::new(),
            proposal: None,
        };
        let Some(framework) = oracles::framework(&pin.framework) else { return case };
        if pin.oracle.path.is_none() {
            return case;
        }
        case.baseline = framework.baseline(pin, project);
        if let Baseline::Unreadable(_) = case.baseline {
            case.state = State::Unreadable;
            return case;
        }
        if pin.role == Role::Unlabelled {
            return case;
        }
        let seen = observations::observed(pin, &case.baseline, project, &self.records, clean);
        let told = seen.unreadable.into_iter();
        unreadable.extend(told.map(|(file, message)| Trouble { file, at: None, message }));
        if seen.unstable {
            let rounds: Vec<Round> = seen
                .disagreeing
                .iter()
                .map(|seen| Round { settings: &seen.environment, content: &seen.content })
                .collect();
            case.moves = moves::moves(&rounds);
        }
        case.observation = seen.best;
        case.state = match (&case.baseline, &case.observation) {
            (_, _) if seen.unstable => State::Unstable,
            (Baseline::Missing, _) => State::Missing,
            (_, _) if seen.not_reached => State::NotReached,
            (_, None) => State::Unobserved,
            (_, Some(seen)) if seen.stale => State::Unobserved,
            (Baseline::Present(recorded), Some(seen)) if recorded.content == seen.content => State::Match,
            (_, Some(_)) if pin.role == Role::Specification => State::Failed,
            (_, Some(_)) => State::Drift,
        };
        if matches!(case.state, State::Drift | State::Failed | State::Missing) {
            let seen = case.observation.as_ref().filter(|seen| !seen.stale);
            case.drift_id = seen.map(|seen| drift_id(pin, &case.baseline, &seen.content));
            case.proposal = case.drift_id.as_ref().and_then(|id| self.proposals.of(id)).cloned();
        }
        let accepted = case.history.iter().find(|entry| entry.amendment.changes_content());
        case.confirmed = accepted.is_none() || case.state == State::Match;
        case
    }
}

impl Case {
    fn compare(&mut self) {
        let Some(seen) = self.observation.as_ref().filter(|seen| !seen.stale) else { return };
        let text = |text: &str| Content::Text(text.to_string());
        let nothing = Content::Text(String::new());
        let (before, first_line, preimage) = match &self.baseline {
            Baseline::Present(recorded) => (&recorded.content, recorded.first_line, recorded.preimage.as_deref()),
            _ => (&nothing, 0, None),
        };
        let found = if self.pin.oracle.kind == OracleKind::Digest && self.state != State::Missing {
            let texts = preimage.zip(seen.preimage.as_deref()).map(|(old, new)| (text(old), text(new)));
            let texts = texts.as_ref().map(|(old, new)| (old, new));
            drift::digest_drift(before, &seen.content, texts, drift::Options::default())
        } else {
            drift::drift(before, &seen.content, drift::Options::default())
        };
        if let Some(found) = &found
            && first_line > 0
        {
            self.changed_lines = found.content_lines.iter().map(|line| line + first_line - 1).collect();
            self.inserted_after = found.inserted_after.iter().map(|line| line + first_line - 1).collect();
        }
        self.spoken = found.iter().flat_map(|found| found.shapes()).map(|shape| self.said_of(shape)).collect();
        self.drift = found;
    }

    fn said_of(&self, shape: &str) -> Option<Spoken> {
        let (verdict, entry) = ledger::verdict(&self.history, shape)?;
        Some(Spoken { verdict, entry: entry.clone() })
    }

    /// The case with its difference, for those that were surveyed without ([`Workspace::states`]).
    pub fn compared(&self) -> Case {
        let mut case = self.clone();
        if case.drift.is_none() && case.drift_id.is_some() {
            case.compare();
        }
        case
    }

    /// The verdict about the whole drift: unintended where one place is, noise where all are.
    pub fn verdict(&self) -> Option<&Spoken> {
        let of = |verdict| self.spoken.iter().flatten().find(|spoken| spoken.verdict == verdict);
        let all = !self.spoken.is_empty() && self.spoken.iter().all(Option::is_some);
        of(Verdict::Unintended).or_else(|| of(Verdict::Noise).filter(|_| all))
    }

    /// Why no value can be recorded where runs disagree.
    pub fn disagreement(&self) -> Option<String> {
        let what = self.moves.as_ref().map_or("runs disagree about what the code does".to_string(), Moves::words);
        let what = one_line(&what, 400);
        let told = format!("{what}. There is no one value to record; make the test repeatable, then run it again");
        (self.state == State::Unstable).then_some(told)
    }

    /// The acceptance that a later run speaks against: what it recorded is there, is not committed yet, and is not
    /// what the code does.
    pub fn contradicted(&self) -> Option<&Arc<Entry>> {
        let (Baseline::Present(recorded), State::Drift) = (&self.baseline, self.state) else { return None };
        let accepted = self.history.iter().find(|entry| entry.amendment.changes_content())?;
        let amendment = &accepted.amendment;
        let seen = self.observation.as_ref().filter(|seen| !seen.stale)?;
        let holds_it = amendment.after.as_ref() == Some(&recorded.content.digest());
        let given = !accepted.committed && amendment.kind != ledger::Kind::Withdraw;
        (given && holds_it && seen.at.is_some_and(|at| at > amendment.at)).then_some(accepted)
    }

    /// What a person thinks of the recorded behaviour, and the amendment that says so.
    pub fn judgement(&self) -> Option<(Judgement, &Arc<Entry>)> {
        ledger::judgement(&self.history)
    }

    /// A literal's value may have more lines than its source: the changed ones are then its last.
    fn within_the_literal(&mut self, project: &Project) {
        let inline = self.pin.oracle.kind == OracleKind::Inline && self.pin.language == Language::Python;
        if !inline && self.pin.oracle.kind != OracleKind::Literal {
            return;
        }
        let Some((path, span)) = self.pin.oracle.path.as_ref().zip(self.pin.oracle.span) else { return };
        let Some(unit) = project.unit(path) else { return };
        let last = unit.line(span.end.saturating_sub(1));
        for lines in [&mut self.changed_lines, &mut self.inserted_after] {
            lines.iter_mut().for_each(|line| *line = (*line).min(last));
            lines.dedup();
        }
    }

    /// Amendment-worthy: there is an id, and accepting is not out of the question.
    pub fn acceptable(&self) -> bool {
        self.drift_id.is_some()
            && matches!(self.state, State::Drift | State::Missing)
            && self.pin.role == Role::Characterization
            && self.shown_only().is_none()
    }

    /// Why the observed value can be shown and not accepted.
    pub fn shown_only(&self) -> Option<&str> {
        let lossy = self.observation.as_ref().is_some_and(|seen| seen.lossy);
        let of_run = lossy.then_some(
            "the failing test prints its value without carriage returns, so the whole value is not known; change the \
             recorded one by hand",
        );
        self.pin.oracle.shown_only.as_deref().or(of_run)
    }
}

/// Hash of the pin, the oracle content and the observed content: 12 hexadecimal digits.
pub fn drift_id(pin: &Pin, baseline: &Baseline, observed: &Content) -> String {
    let before = match baseline {
        Baseline::Present(recorded) => recorded.content.digest(),
        _ => "missing".to_string(),
    };
    let nth = pin.nth.to_string();
    let parts = [pin.file.as_str(), pin.test_base(), &nth, &pin.oracle.key, &before, &observed.digest()];
    let joined: Vec<u8> = parts.iter().flat_map(|part| part.bytes().chain([0])).collect();
    digest_of(&[&joined])["sha256:".len()..][..12].to_string()
}

/// Pins of the extent with their ordinal, role and key.
pub fn pins(project: &Project, extent: &Extent) -> Vec<Pin> {
    let sites = sites::sites(project, extent);
    // Each worker takes one half, of whole tests; what they find is put in order below.
    let tests = tests(&sites);
    let mut half = tests.len();
    if sites.len() >= FEW {
        let mut before = 0;
        half = 0;
        while before < sites.len() / 2 && half < tests.len() {
            before += tests[half].len();
            half += 1;
        }
    }
    let (first, second) = tests.split_at(half);
    let mut pins = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        let other = match second.is_empty() {
            true => None,
            false => builder.spawn_scoped(scope, || pins_of(project, second)).ok(),
        };
        let mut pins = pins_of(project, first);
        pins.extend(match other.map(std::thread::ScopedJoinHandle::join) {
            Some(Ok(others)) => others,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => pins_of(project, second),
        });
        pins
    });
    for (_, facts) in project.files.iter().filter(|(file, _)| extent.holds(file) && Language::of(file.name()).is_none())
    {
        pins.extend(oracles::table().iter().flat_map(|framework| framework.of_file(&facts.unit)));
    }
    pins.sort_by(|a, b| (&a.file, a.span.start).cmp(&(&b.file, b.span.start)));
    oracles::golden::one_each(&mut pins);
    let mut count: HashMap<(RelPath, String), usize> = HashMap::new();
    for pin in &mut pins {
        let nth = count.entry((pin.file.clone(), pin.test_base().to_string())).or_default();
        *nth += 1;
        pin.nth = *nth;
        pin.oracle.key = match (&pin.oracle.path, pin.oracle.kind, &pin.oracle.entry) {
            (None, ..) => String::new(),
            (Some(path), OracleKind::Literal | OracleKind::Inline, _) => format!("{path}#literal:{}", pin.nth),
            (Some(path), OracleKind::Entry, Some(entry)) => format!("{path}#{entry}"),
            (Some(path), ..) => path.to_string(),
        };
    }
    pins
}

/// Fewer sites are looked at without a second thread.
const FEW: usize = 500;

/// Stack of a worker, in bytes.
const STACK: usize = 64 << 20;

/// The sites by the function in which a reader of the test sees them, in the order of their files.
fn tests(sites: &[Site]) -> Vec<Vec<&Site>> {
    let mut tests: Vec<Vec<&Site>> = Vec::new();
    let mut known: HashMap<Option<usize>, usize> = HashMap::new();
    let mut file = None;
    for site in sites {
        let frame = &site.frames[0];
        if file != Some(&frame.file) {
            file = Some(&frame.file);
            known.clear();
        }
        match known.get(&frame.function) {
            Some(at) => tests[*at].push(site),
            None => {
                known.insert(frame.function, tests.len());
                tests.push(vec![site]);
            }
        }
    }
    tests
}

fn pins_of(project: &Project, tests: &[Vec<&Site>]) -> Vec<Pin> {
    let mut roles = HashMap::new();
    let mut pins = Vec::new();
    for sites in tests {
        for (site, found) in sites.iter().zip(offered(project, sites)) {
            for mut pin in found {
                let frame = &site.frames[0];
                let recorded = pin.oracle.kind != OracleKind::Literal;
                let known = roles.entry((&frame.file, frame.function, recorded));
                pin.role = *known.or_insert_with(|| role(project, site, recorded));
                pins.push(pin);
            }
        }
    }
    pins
}

/// The pins of each site of a test: of the first framework that has some. A framework gets all sites of the
/// test that are left to it at once.
fn offered(project: &Project, sites: &[&Site]) -> Vec<Vec<Pin>> {
    let mut found: Vec<Vec<Pin>> = sites.iter().map(|_| Vec::new()).collect();
    let offers: Vec<Vec<&str>> = sites
        .iter()
        .map(|site| oracles::offered(&site.found.framework).iter().map(|framework| framework.id()).collect())
        .collect();
    for framework in oracles::table() {
        let id = framework.id();
        let theirs: Vec<usize> =
            (0..sites.len()).filter(|at| found[*at].is_empty() && offers[*at].contains(&id)).collect();
        if !theirs.is_empty() {
            let given: Vec<&Site> = theirs.iter().map(|at| sites[*at]).collect();
            for (at, pins) in theirs.into_iter().zip(framework.of_test(project, &given)) {
                found[at] = pins;
            }
        }
    }
    for at in (0..sites.len()).filter(|at| sites[*at].found.properties.contains_key(HELPER)) {
        with_body(sites, at, &mut found);
    }
    found
}

/// A call that the settings name says which file it is about. Where the helper's own comparison is seen, it says
/// how that is held; what else is seen in the helper is no pin of its own.
fn with_body(sites: &[&Site], call: usize, found: &mut [Vec<Pin>]) {
    let mut named = std::mem::take(&mut found[call]);
    let (unnamed, mut told) = (named.is_empty(), Vec::new());
    let frames = &sites[call].frames;
    let same = |a: &Frame, b: &Frame| (&a.file, a.function, a.at) == (&b.file, b.function, b.at);
    let inside = |site: &Site| {
        site.frames.len() > frames.len() && site.frames.iter().zip(frames.iter()).all(|(a, b)| same(a, b))
    };
    let within: Vec<usize> = (0..sites.len()).filter(|at| inside(sites[*at])).collect();
    for pin in within.into_iter().flat_map(|at| std::mem::take(&mut found[at])) {
        if pin.oracle.kind == OracleKind::Literal {
            continue;
        }
        let it = |other: &Pin| {
            pin.oracle.path.is_some() && (&other.case, &other.oracle.path) == (&pin.case, &pin.oracle.path)
        };
        match named.iter().position(it).filter(|at| !told.contains(at)) {
            Some(at) => {
                named[at] = Pin { framework: named[at].framework.clone(), ..pin };
                told.push(at);
            }
            // Its name was handed over in a way that the settings do not tell of.
            None if unnamed => named.push(pin),
            None => {}
        }
    }
    found[call] = named;
}

fn role(project: &Project, site: &Site, recorded: bool) -> Role {
    let frame = &site.frames[0];
    let Some(unit) = project.unit(&frame.file) else { return Role::Unlabelled };
    let function = frame.function.and_then(|index| unit.functions.get(index));
    roles::role(unit, function, &project.settings, recorded)
}

/// One oracle whose pins were observed with different values has no single value to accept.
fn mark_disagreeing(cases: &mut [Case]) {
    let mut seen: BTreeMap<(String, Option<usize>), Vec<usize>> = BTreeMap::new();
    for (index, case) in cases.iter().enumerate() {
        let Some(path) = &case.pin.oracle.path else { continue };
        if case.observation.as_ref().is_some_and(|seen| !seen.stale) {
            let key = match case.pin.oracle.span {
                Some(span) => (path.to_string(), Some(span.start)),
                None => (case.pin.oracle.key.clone(), None),
            };
            seen.entry(key).or_default().push(index);
        }
    }
    for group in seen.values().filter(|group| group.len() > 1) {
        let content = |index: &usize| cases[*index].observation.as_ref().map(|seen| seen.content.clone());
        let first = content(&group[0]);
        if group.iter().any(|index| content(index) != first) {
            for index in group {
                let case = &mut cases[*index];
                case.state = State::Unstable;
                case.drift_id = None;
            }
        }
    }
}

/// What stands in the configuration, and what the newest run met.
fn rewriting(project: &Project, records: &Records) -> Vec<Note> {
    let configured = switches::configured(project).into_iter().filter_map(|switch| {
        let (file, line) = switch.at?;
        let code = switches::CODE.to_string();
        Some(Note { code, file: file.to_string(), line, message: switch.message, text: String::new() })
    });
    let mut found: Vec<Note> = configured.collect();
    for note in &records.notes {
        if !found.iter().any(|known| (&known.code, &known.file, known.line) == (&note.code, &note.file, note.line)) {
            found.push(note.clone());
        }
    }
    found
}

fn orphans(pins: &[Pin], project: &Project) -> Vec<Orphan> {
    let mut orphans: Vec<Orphan> =
        oracles::table().iter().flat_map(|framework| framework.orphans(pins, project)).collect();
    orphans.sort();
    orphans.dedup();
    orphans
}

fn settings(shelf: &Shelf) -> (Settings, Vec<Trouble>) {
    let Some(file) = RelPath::new(SETTINGS) else { return (Settings::default(), Vec::new()) };
    let trouble = |message: String| Trouble { file: file.clone(), at: None, message };
    match shelf.read(&file) {
        Read::Missing => (Settings::default(), Vec::new()),
        Read::Refused(why) => (Settings { present: true, ..Settings::default() }, vec![trouble(why)]),
        Read::Bytes(bytes) => match std::str::from_utf8(&bytes) {
            Err(_) => {
                let settings = Settings { present: true, ..Settings::default() };
                (settings, vec![trouble(format!("{SETTINGS} is not UTF-8 text; save it as UTF-8"))])
            }
            Ok(text) => {
                let settings = Settings::parse(text);
                let troubles = settings
                    .troubles
                    .iter()
                    .map(|(line, column, message)| Trouble {
                        file: file.clone(),
                        at: Some((*line, *column)),
                        message: message.clone(),
                    })
                    .collect();
                (settings, troubles)
            }
        },
    }
}
