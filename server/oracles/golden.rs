//! Hand-rolled golden files: a computed value held against a file, by helpers of the project's own, in both
//! languages; the `[[helper]]` calls of the settings and the workspace's queries too. Which comparisons
//! count is decided in [`held`]; which files nobody reads in [`unread`].

use std::collections::{BTreeMap, HashSet};

use super::param_files::ParamFiles;
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, OracleKind, Orphan, Pin, Recorded, Refusal, Step,
    digest_of, reading, seen,
};
use crate::code::{Arg, Expr, ExprKind};
use crate::evaluate::{self, Value, World};
use crate::pins::sites::HELPER;
use crate::pins::{Match, Project, Site};
use crate::places::RelPath;
use crate::settings::{Helper, Which};
use crate::shelf::Read;
use crate::text::Span;

pub mod held;
pub mod paired;
pub mod twins;
pub mod unread;

use held::Held;

pub struct Golden;

impl Framework for Golden {
    fn id(&self) -> &'static str {
        "golden-file"
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let helper = site.found.properties.get(HELPER).and_then(|index| index.parse::<usize>().ok());
        if let Some(helper) = helper.and_then(|index| project.settings.helpers.get(index)) {
            return each(project, site, &helper.id, |world| helper_path(project, site, world, helper));
        }
        if site.found.captures.iter().any(|(name, _)| name == "baseline") && site.found.framework != "assert" {
            let id = site.found.properties.get("pin.id").unwrap_or(&site.found.framework);
            return each(project, site, id, |world| query_path(project, site, world));
        }
        let found = compared(project, site, self.id(), false);
        if found.is_empty() { beside(project, site, self.id()) } else { found }
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        if is_case(pin) { ParamFiles.baseline(pin, project) } else { baseline(pin, project) }
    }

    fn observed(&self, pin: &Pin, value: Content) -> Content {
        if is_case(pin) { ParamFiles.observed(pin, value) } else { reading::observed(value, &pin.oracle.steps) }
    }

    fn artefacts(&self, pin: &Pin, project: &Project) -> Vec<Artefact> {
        if is_case(pin) { Vec::new() } else { artefacts(pin, project) }
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        if is_case(pin) {
            return ParamFiles.amend(pin, observed, artefact, project);
        }
        amend(pin, observed, artefact, project)
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        let mut found = unread::orphans(pins, project);
        found.extend(unread::per_file(pins, project));
        found
    }
}

/// One case of a file of cases.
fn is_case(pin: &Pin) -> bool {
    pin.oracle.kind == OracleKind::Entry
}

/// Pins of a comparison with a recorded file; `digests`: those whose file holds a digest, or those whose
/// does not.
pub(super) fn compared(project: &Project, site: &Site, framework: &str, digests: bool) -> Vec<Pin> {
    if !project.names.reach(project).reads(project, site) {
        return Vec::new();
    }
    // Nothing is known of the cases yet, but a side that reads a file is seen without them.
    let plain = World::empty(site);
    let first = held::held(project, site, &plain);
    let loops = first.is_none();
    if first.as_ref().is_some_and(|held| held.digest.is_some() != digests) {
        return Vec::new();
    }
    if loops && !held::reads(project, site, &plain) {
        return Vec::new();
    }
    each(project, site, framework, |world| {
        held::held(project, site, world).filter(|held| held.digest.is_some() == digests)
    })
}

/// One pin for each case in which the site has a recorded file.
fn each(project: &Project, site: &Site, framework: &str, held: impl Fn(&World) -> Option<Held>) -> Vec<Pin> {
    let worlds = evaluate::worlds(project, site);
    let mut pins = Vec::new();
    let mut known: HashSet<(Option<String>, Option<RelPath>, Vec<RelPath>)> = HashSet::new();
    let sample = Sample::of(project, site, &worlds, &held);
    for world in &worlds {
        let found = match &sample {
            Sample::Nothing => break,
            Sample::Told(told) => told.held(project, site, world),
            Sample::Each => None,
        };
        let Some(held) = found.or_else(|| held(world)) else { continue };
        let Some(mut pin) = seen::pin(project, site, world, framework) else { continue };
        pin.oracle.candidates = evaluate::candidates(project, &held.path);
        if let Value::Path(path) = held.path {
            pin.oracle.path = Some(path);
        }
        pin.oracle.shown_only = shown_only(&held.steps);
        pin.oracle.steps = held.steps;
        if let Some(algorithm) = held.digest {
            pin.oracle.kind = OracleKind::Digest;
            pin.oracle.steps.push(Step::Digest(algorithm));
        }
        if known.insert((pin.case.clone(), pin.oracle.path.clone(), pin.oracle.candidates.clone())) {
            pins.push(pin);
        }
    }
    let shared = pins.len() > 1;
    pins.iter_mut().for_each(|pin| pin.shared_site = shared);
    pins
}

/// Why a value that is observed cannot be written back with certainty.
fn shown_only(steps: &[Step]) -> Option<String> {
    steps.iter().find_map(|step| match step {
        Step::Unknown(what) | Step::Made(what) => Some(format!(
            "the recorded text goes through `{what}` before it is compared, so the bytes that give an observed value \
             are not certain"
        )),
        _ => None,
    })
}

/// Pins of a helper that compares or writes, by the inputs that the test hands it.
fn beside(project: &Project, site: &Site, framework: &str) -> Vec<Pin> {
    if site.frames.len() < 2 || !project.names.reach(project).reads(project, site) {
        return Vec::new();
    }
    let world = World::empty(site);
    let pin = |held: Held| {
        let mut pin = seen::pin(project, site, &world, framework)?;
        if let Value::Path(path) = held.path {
            pin.oracle.path = Some(path);
        }
        pin.oracle.shown_only = shown_only(&held.steps);
        pin.oracle.steps = held.steps;
        pin.shared_site = true;
        Some(pin)
    };
    paired::held(project, site, &world).into_iter().filter_map(pin).collect()
}

/// What some of a site's many cases say of all of them.
enum Sample {
    /// In none of them is there a recorded file.
    Nothing,
    Told(Told),
    /// Each case is looked at by itself.
    Each,
}

/// The file of each case is the value of one expression, all else is the same.
struct Told {
    frame: usize,
    expr: Expr,
    held: Held,
}

/// Cases from which a sample is taken, and how many are in it.
const MANY: usize = 200;
const SAMPLED: usize = 16;

impl Sample {
    fn of(project: &Project, site: &Site, worlds: &[World], held: &impl Fn(&World) -> Option<Held>) -> Sample {
        if worlds.len() < MANY {
            return Sample::Each;
        }
        let sample: Vec<&World> = worlds.iter().step_by(worlds.len() / SAMPLED).collect();
        let found: Vec<Option<Held>> = sample.iter().map(|world| held(world)).collect();
        if found.iter().all(Option::is_none) {
            return Sample::Nothing;
        }
        let Some(found) = found.into_iter().collect::<Option<Vec<Held>>>() else { return Sample::Each };
        let Some(first) = found.first() else { return Sample::Each };
        let alike = |other: &Held| Held { path: first.path.clone(), ..other.clone() } == *first;
        if !found.iter().all(alike) || found.iter().all(|other| other.path == first.path) {
            return Sample::Each;
        }
        for (frame, place) in site.frames.iter().enumerate() {
            let Some(function) = project.unit(&place.file).zip(place.function).and_then(|(u, f)| u.functions.get(f))
            else {
                continue;
            };
            let mut tries: Vec<&Expr> = Vec::new();
            let mut see = |expr| tries.push(expr);
            function.body.iter().for_each(|stmt| stmt.walk(&mut see));
            tries.retain(|expr| {
                !matches!(&expr.kind, ExprKind::Str(_) | ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::None)
                    && expr.span.start < place.at.end
            });
            for expr in tries.into_iter().take(200) {
                let told = Told { frame, expr: expr.clone(), held: first.clone() };
                let tells = |(world, held): (&&World, &Held)| told.held(project, site, world).as_ref() == Some(held);
                if sample.iter().zip(&found).all(tells) {
                    return Sample::Told(told);
                }
            }
        }
        Sample::Each
    }
}

impl Told {
    fn held(&self, project: &Project, site: &Site, world: &World) -> Option<Held> {
        let value = world.value(project, site, self.frame, &self.expr);
        match world.file(project, site, self.frame, value) {
            Value::Path(path) if project.shelf.listed(&path) => {
                Some(Held { path: Value::Path(path), ..self.held.clone() })
            }
            _ => None,
        }
    }
}

/// One pin for each recorded file that a call, or a test's own case, is held against: a helper that compares
/// in two ways is one place, what several assertions take from one file is held once, and a check that a file
/// stays as it is counts only where nothing else is held against it.
pub fn one_each(pins: &mut Vec<Pin>) {
    let itself = |pin: &Pin| pin.oracle.steps.contains(&Step::Itself);
    let held: HashSet<RelPath> =
        pins.iter().filter(|pin| !itself(pin)).filter_map(|pin| pin.oracle.path.clone()).collect();
    let mut known: HashSet<(RelPath, String, RelPath, Option<usize>)> = HashSet::new();
    pins.retain(|pin| {
        let Some(path) =
            pin.oracle.path.as_ref().filter(|_| matches!(pin.framework.as_str(), "golden-file" | "digest"))
        else {
            return true;
        };
        if is_case(pin) {
            return true;
        }
        let mut fresh = |at: Option<usize>| known.insert((pin.file.clone(), pin.test.clone(), path.clone(), at));
        if itself(pin) && held.contains(path) {
            return false;
        }
        let made = pin.oracle.steps.iter().any(|step| matches!(step, Step::Made(_)));
        let first = fresh(None);
        if made { first } else { fresh(Some(pin.span.start)) }
    });
}

/// The file that a `[[helper]]` call names.
fn helper_path(project: &Project, site: &Site, world: &World, helper: &Helper) -> Option<Held> {
    let frame = site.frames.len() - 1;
    let unit = project.unit(&site.comparing().file)?;
    let function = site.comparing().function.and_then(|index| unit.functions.get(index))?;
    let mut args: Option<&[Arg]> = None;
    let mut calls: Vec<&Expr> = Vec::new();
    function.marks.iter().for_each(|mark| mark.walk(&mut |expr| calls.push(expr)));
    function.body.iter().for_each(|stmt| stmt.walk(&mut |expr| calls.push(expr)));
    for call in calls.into_iter().filter(|call| call.span == site.found.span) {
        if let ExprKind::Call { args: found, .. } | ExprKind::Macro { args: found, .. } = &call.kind {
            args = Some(found);
        }
    }
    let name = match &helper.name {
        Which::Nth(at) => args?.iter().filter(|arg| arg.name.is_none() && !arg.spread).nth(*at),
        Which::Named(name) => args?.iter().find(|arg| arg.name.as_ref() == Some(name)),
    }?;
    let value = world.value(project, site, frame, &name.value);
    let path = evaluate::below(&helper.root, &value, &helper.suffix);
    Some(Held { path, steps: Vec::new(), digest: None, switched: true }).filter(|held| held.path != Value::Unknown)
}

/// The file that a workspace query's `@pin.baseline` names, below `pin.root`.
fn query_path(project: &Project, site: &Site, world: &World) -> Option<Held> {
    let Match { captures, properties, .. } = &site.found;
    let (_, span) = captures.iter().find(|(name, _)| name == "baseline")?;
    let frame = site.frames.len() - 1;
    let expr = expression_at(project, site, *span)?;
    let value = world.value(project, site, frame, &expr);
    let root = properties.get("pin.root").map_or("", String::as_str);
    let suffix = properties.get("pin.suffix").map_or("", String::as_str);
    let path = match (root, &value) {
        ("", Value::Content { path, .. }) => (**path).clone(),
        ("", _) => world.file(project, site, frame, evaluate::suffixed(&value, suffix)),
        _ => evaluate::below(root, &value, suffix),
    };
    Some(Held { path, steps: Vec::new(), digest: None, switched: true }).filter(|held| held.path != Value::Unknown)
}

fn expression_at(project: &Project, site: &Site, span: Span) -> Option<Expr> {
    let unit = project.unit(&site.comparing().file)?;
    let mut found: Option<Expr> = None;
    let mut see = |expr: &Expr| {
        if expr.span == span && found.is_none() {
            found = Some(expr.clone());
        }
    };
    for function in unit.functions.iter().filter(|function| function.span.contains(span)) {
        function.marks.iter().for_each(|mark| mark.walk(&mut see));
        function.body.iter().for_each(|stmt| stmt.walk(&mut see));
    }
    unit.top.iter().for_each(|stmt| stmt.walk(&mut see));
    found
}

pub(super) fn baseline(pin: &Pin, project: &Project) -> Baseline {
    let Some(path) = &pin.oracle.path else { return Baseline::Missing };
    let bytes = match project.shelf.disk(path) {
        Read::Bytes(bytes) => bytes,
        Read::Missing => return Baseline::Missing,
        Read::Refused(why) => return Baseline::Unreadable(why),
    };
    if let Some(line) = conflict(&bytes) {
        return Baseline::Unreadable(format!(
            "{path} has conflict markers from line {line}; finish the merge, then the pin can be compared"
        ));
    }
    match reading::content(&bytes, &pin.oracle.steps) {
        Err(why) => Baseline::Unreadable(format!("{path}: {why}")),
        Ok(content) => Baseline::Present(Recorded {
            first_line: reading::first_line(&bytes, &pin.oracle.steps, &content),
            content,
            file_digest: digest_of(&[&bytes]),
            preimage: None,
        }),
    }
}

/// 1-based line of an unfinished merge's first marker.
fn conflict(bytes: &[u8]) -> Option<usize> {
    let starts = |marker: &[u8]| {
        bytes.split(|byte| *byte == b'\n').position(|line| line.starts_with(marker)).map(|line| line + 1)
    };
    let (ours, middle, theirs) = (starts(b"<<<<<<< ")?, starts(b"=======")?, starts(b">>>>>>> ")?);
    (ours < middle && middle < theirs).then_some(ours)
}

pub(super) fn artefacts(pin: &Pin, project: &Project) -> Vec<Artefact> {
    let Some(path) = &pin.oracle.path else { return Vec::new() };
    let unknown = pin.oracle.steps.iter().find_map(|step| match step {
        Step::Unknown(what) | Step::Made(what) => Some(what.clone()),
        _ => None,
    });
    let mut found = Vec::new();
    for twin in twins::twins(path, project) {
        let content = match (project.shelf.disk(&twin), &unknown) {
            (Read::Missing, _) => continue,
            (Read::Refused(why), _) => Err(why),
            (Read::Bytes(_), Some(what)) => {
                Err(format!("{twin} is not compared: the test puts both texts through `{what}` first"))
            }
            (Read::Bytes(bytes), None) => {
                reading::content(&bytes, &pin.oracle.steps).map_err(|why| format!("{twin}: {why}"))
            }
        };
        found.push(Artefact { path: twin, content, compared_with: None, header: None, names: None, says_match: false });
    }
    found
}

pub(super) fn amend(
    pin: &Pin,
    observed: &Content,
    artefact: Option<&Artefact>,
    project: &Project,
) -> Result<Amended, Refusal> {
    let Some(path) = &pin.oracle.path else {
        return Err(Refusal(
            "Which file holds the recorded value is known only up to a pattern; nothing was written.".into(),
        ));
    };
    let old = match project.shelf.disk(path) {
        Read::Bytes(bytes) => Some(bytes),
        Read::Missing => None,
        Read::Refused(why) => return Err(Refusal(format!("{why}; nothing was written."))),
    };
    let after = match reading::bytes(observed, &pin.oracle.steps, old.as_deref()) {
        Ok(bytes) => bytes,
        Err(refusal) => twin_bytes(pin, observed, artefact, project).ok_or(refusal)?,
    };
    let change = FileChange {
        path: path.clone(),
        before: old.as_deref().map(|old| digest_of(&[old])),
        after: Some(after),
        edits: Vec::new(),
    };
    Ok(Amended { oracle: vec![change], artefacts: Vec::new(), shown_after: None })
}

/// The bytes of the observed twin, where they read as the observed value.
fn twin_bytes(pin: &Pin, observed: &Content, artefact: Option<&Artefact>, project: &Project) -> Option<Vec<u8>> {
    if pin.oracle.steps.iter().any(|step| matches!(step, Step::Unknown(_) | Step::Made(_))) {
        return None;
    }
    let Read::Bytes(bytes) = project.shelf.disk(&artefact?.path) else { return None };
    let same = reading::content(&bytes, &pin.oracle.steps).ok()? == *observed;
    same.then(|| bytes.to_vec())
}

/// Pins by the file that they hold.
pub(super) fn by_path<'a>(pins: impl Iterator<Item = &'a Pin>) -> BTreeMap<&'a RelPath, Vec<&'a Pin>> {
    let mut by_path: BTreeMap<&RelPath, Vec<&Pin>> = BTreeMap::new();
    for pin in pins {
        if let Some(path) = &pin.oracle.path {
            by_path.entry(path).or_default().push(pin);
        }
    }
    by_path
}

#[cfg(test)]
mod tests;
