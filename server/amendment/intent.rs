//! What was begun: the amendment's text and the bytes it brings, written before the first file changes.
//! An intent is `NAME.toml`, the amendment word for word, and `NAME.json`, the changes that are not known
//! to be done; finishing does those and moves the first to its place. Both stand in a folder that ignores
//! itself in git and goes when the last intent does.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::write::{self, Lock, Stand};
use super::{Applied, FINISH, Plan};
use crate::ledger::{Amendment, UNFINISHED, decode, encode};
use crate::oracles::{FileChange, Refusal};
use crate::places::{RelPath, Root};

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Intent {
    pub changes: Vec<Step>,
    pub artefacts: Vec<Step>,
}

/// One file of an intent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Step {
    path: String,
    before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Hexadecimal digits, where the new bytes are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    /// An editor has the file open and changes it.
    pub waits: bool,
}

impl Step {
    fn of(change: &FileChange, waits: bool) -> Step {
        let (text, bytes) = match change.after.as_deref().map(|bytes| (bytes, std::str::from_utf8(bytes))) {
            None => (None, None),
            Some((_, Ok(text))) => (Some(text.to_string()), None),
            Some((bytes, Err(_))) => (None, Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())),
        };
        Step { path: change.path.to_string(), before: change.before.clone(), text, bytes, waits }
    }

    pub fn path(&self) -> Result<RelPath, Refusal> {
        RelPath::new(&self.path)
            .ok_or_else(|| Refusal(format!("{} lies out of the workspace; it is not written", self.path)))
    }

    fn after(&self) -> Option<Vec<u8>> {
        let hex = |digits: &String| {
            digits
                .as_bytes()
                .chunks(2)
                .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
                .collect()
        };
        self.text.as_ref().map(|text| text.clone().into_bytes()).or_else(|| self.bytes.as_ref().map(hex))
    }

    pub fn stand(&self, root: &Root) -> Result<Stand, Refusal> {
        write::stand(root, &self.path()?, self.before.as_deref(), self.after().as_deref())
    }
}

/// The key of an oracle names this file.
pub(super) fn holds(oracle: &str, path: &RelPath) -> bool {
    oracle.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}

/// An intent on disk.
pub(super) struct Begun {
    folder: PathBuf,
    name: String,
    pub amendment: Amendment,
    pub intent: Intent,
}

fn folder(root: &Root) -> Result<PathBuf, Refusal> {
    write::place(root, &RelPath::new(UNFINISHED).unwrap_or_default())
}

impl Begun {
    fn toml(&self) -> PathBuf {
        self.folder.join(format!("{}.toml", self.name))
    }

    fn json(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.name))
    }

    /// The file that the amendment will be.
    pub fn record(&self) -> RelPath {
        self.amendment.file()
    }

    fn write(root: &Root, plan: &Plan, intent: Intent) -> Result<Begun, Refusal> {
        let begun = Begun {
            folder: folder(root)?,
            name: plan.amendment.file().stem().to_string(),
            amendment: plan.amendment.clone(),
            intent,
        };
        let written = (|| {
            fs::create_dir_all(&begun.folder)?;
            let ignore = begun.folder.join(".gitignore");
            if !ignore.exists() {
                let tmp = ignore.with_extension("tmp");
                fs::write(&tmp, b"*\n")?;
                fs::rename(&tmp, &ignore)?;
            }
            begun.write_changes()?;
            whole(&begun.toml(), encode(&begun.amendment).as_bytes())
        })();
        written.map_err(|err| {
            begun.forget();
            Refusal(format!(
                "nothing was changed, the decision could not be kept in {UNFINISHED}: {}",
                write::words(&err)
            ))
        })?;
        Ok(begun)
    }

    fn write_changes(&self) -> std::io::Result<()> {
        whole(&self.json(), &serde_json::to_vec_pretty(&self.intent).unwrap_or_default())
    }

    /// Removes the intent; the files stay as they are.
    fn forget(&self) {
        let _ = fs::remove_file(self.toml());
        let _ = fs::remove_file(self.json());
        tidy_folder(&self.folder, true);
    }

    /// All changes are done: the amendment goes to its place, and the intent away.
    fn conclude(&self, root: &Root) -> Result<(), Refusal> {
        let record = self.record();
        let failed = |err: std::io::Error| {
            Refusal(format!(
                "the files are changed, but {record} could not be written: {}. Then finish with `{FINISH}`",
                write::words(&err)
            ))
        };
        let real = write::place(root, &record)?;
        write::remove(&self.json()).map_err(failed)?;
        let parent = real.parent().unwrap_or(&root.path);
        fs::create_dir_all(parent).map_err(failed)?;
        let alone = others(&self.folder, &self.name).is_empty();
        if alone {
            let _ = fs::remove_file(self.folder.join(".gitignore"));
        }
        fs::rename(self.toml(), &real).map_err(failed)?;
        write::sync_folder(parent);
        if alone {
            let _ = fs::remove_dir(&self.folder);
        }
        Ok(())
    }

    /// Does the steps that are not done. All new bytes are on disk before the first file changes.
    fn carry_out(&self, root: &Root, steps: &[&Step]) -> Result<(), Refusal> {
        let mut ready = Vec::new();
        for step in steps {
            let done = match step.stand(root) {
                Ok(Stand::After) => continue,
                Ok(Stand::Before) => write::prepare(root, &step.path()?, step.after().as_deref()),
                Ok(Stand::Other) => Err(Refusal(format!("{} changed since this was decided", step.path))),
                Err(refusal) => Err(refusal),
            };
            match done {
                Ok(done) => ready.push(done),
                Err(refusal) => {
                    ready.iter().for_each(write::discard);
                    return Err(refusal);
                }
            }
        }
        let done = ready.iter().try_for_each(write::commit);
        if done.is_err() {
            ready.iter().for_each(write::discard);
        }
        done
    }

    fn untouched(&self, root: &Root) -> bool {
        self.intent.changes.iter().all(|step| step.waits || matches!(step.stand(root), Ok(Stand::Before)))
    }

    /// Artefacts last. One that a newer run rewrote is left to it.
    fn carry_out_artefacts(&self, root: &Root) -> Result<(), Refusal> {
        let steps: Vec<&Step> =
            self.intent.artefacts.iter().filter(|step| !matches!(step.stand(root), Ok(Stand::Other))).collect();
        self.carry_out(root, &steps)
    }

    /// The new content is in the saved files: what is left is done.
    pub(super) fn complete(&self, root: &Root) -> Result<(), Refusal> {
        self.carry_out_artefacts(root)?;
        self.conclude(root)
    }

    pub(super) fn drop_it(&self) {
        self.forget();
    }
}

/// Other intents than `name`, and what else stands in their folder.
fn others(folder: &Path, name: &str) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let file = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
            file != ".gitignore" && file.strip_prefix(name).is_none_or(|ending| ending != ".toml" && ending != ".json")
        })
        .collect()
}

/// Removes what interrupted writes left: halves of intents, and the folder when nothing is in it.
/// The lock is held.
fn tidy_folder(folder: &Path, halves: bool) {
    for path in others(folder, "") {
        let is_half = match path.extension().and_then(|ending| ending.to_str()) {
            Some("json") => halves && !path.with_extension("toml").exists(),
            Some("toml") => false,
            _ => true,
        };
        if is_half {
            let _ = fs::remove_file(path);
        }
    }
    if others(folder, "").is_empty() {
        let _ = fs::remove_file(folder.join(".gitignore"));
        let _ = fs::remove_dir(folder);
    }
}

/// Writes a file of the intents' folder as a whole or not at all.
fn whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    let tmp = path.with_extension("tmp");
    let written = (|| {
        let mut file = fs::File::create(&tmp)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&tmp, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&tmp);
    }
    if let Some(folder) = path.parent() {
        write::sync_folder(folder);
    }
    written
}

/// Every intent of a root, and what could not be read of them.
pub(super) fn begun(root: &Root) -> (Vec<Begun>, Vec<Refusal>) {
    let (mut all, mut troubles) = (Vec::new(), Vec::new());
    let Ok(folder) = folder(root) else { return (all, troubles) };
    let mut names: Vec<String> = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".toml")?.to_string()))
        .collect();
    names.sort();
    for name in names {
        let read = || -> Result<Begun, String> {
            let text = fs::read_to_string(folder.join(format!("{name}.toml"))).map_err(|err| err.to_string())?;
            let amendment = decode(&text).map_err(|(line, _, why)| format!("line {line}: {why}"))?;
            let intent = match fs::read(folder.join(format!("{name}.json"))) {
                Ok(bytes) => serde_json::from_slice(&bytes).map_err(|err| format!("its changes: {err}"))?,
                Err(err) if err.kind() == std::io::ErrorKind::NotFound => Intent::default(),
                Err(err) => return Err(err.to_string()),
            };
            Ok(Begun { folder: folder.clone(), name: name.clone(), amendment, intent })
        };
        match read() {
            Ok(begun) => all.push(begun),
            Err(why) => troubles
                .push(Refusal(format!("{UNFINISHED}/{name}.toml cannot be read: {why}; delete it to give it up"))),
        }
    }
    (all, troubles)
}

pub(super) fn apply(
    root: &Root,
    plan: &Plan,
    open: &dyn Fn(&RelPath) -> bool,
    _lock: &Lock,
) -> Result<Applied, Refusal> {
    let unfinished = |begun: &&Begun| {
        let mut paths = begun.intent.changes.iter().chain(&begun.intent.artefacts);
        begun.amendment.oracle == plan.amendment.oracle && begun.amendment.pin == plan.amendment.pin
            || paths.any(|step| !step.waits && plan.changes.iter().any(|change| change.path.as_str() == step.path))
    };
    if let Some(other) = begun(root).0.iter().find(unfinished) {
        return Err(Refusal(format!(
            "an earlier decision about this is not finished ({}); finish it with `{FINISH}`, then look again",
            other.record()
        )));
    }
    write::verify(root, plan, open)?;
    if let Ok(folder) = folder(root) {
        tidy_folder(&folder, true);
    }
    let steps = |changes: &[FileChange]| changes.iter().map(|change| Step::of(change, open(&change.path))).collect();
    let intent = Intent {
        changes: steps(&plan.changes),
        artefacts: plan.artefacts.iter().map(|change| Step::of(change, false)).collect(),
    };
    let begun = Begun::write(root, plan, intent)?;
    let record = begun.record();
    if begun.intent.changes.iter().any(|step| step.waits) {
        let edits = plan.changes.iter().filter(|change| open(&change.path)).cloned().collect();
        return Ok(Applied { record, pending: true, edits });
    }
    let steps: Vec<&Step> = begun.intent.changes.iter().collect();
    if let Err(refusal) = begun.carry_out(root, &steps) {
        if begun.untouched(root) {
            begun.forget();
            return Err(refusal);
        }
        return Err(half_done(&refusal));
    }
    begun.complete(root).map_err(|refusal| half_done(&refusal))?;
    Ok(Applied { record, pending: false, edits: Vec::new() })
}

fn half_done(refusal: &Refusal) -> Refusal {
    Refusal(format!("{refusal}. The decision is kept and only partly carried out; mend that, then run `{FINISH}`"))
}

fn find(root: &Root, record: &RelPath) -> Result<Begun, Refusal> {
    let found = begun(root).0.into_iter().find(|begun| begun.record() == *record);
    found.ok_or_else(|| Refusal(format!("{record} is not pending; it was finished or given up in the meantime")))
}

/// The editor took the edits of a pending amendment: the other files are written. The amendment stays
/// pending while the oracle itself is in a file that waits to be saved.
pub fn advance(root: &Root, record: &RelPath) -> Result<Applied, Refusal> {
    let _lock = Lock::take(root)?;
    let begun = find(root, record)?;
    let steps: Vec<&Step> = begun.intent.changes.iter().filter(|step| !step.waits).collect();
    begun.carry_out(root, &steps)?;
    let waits = |step: &Step| step.waits && step.path().is_ok_and(|path| holds(&begun.amendment.oracle, &path));
    let pending = begun.intent.changes.iter().any(waits);
    if !pending {
        begun.complete(root)?;
    }
    Ok(Applied { record: record.clone(), pending, edits: Vec::new() })
}

/// The editor did not take the edits: nothing was changed, and no record stays.
pub fn abandon(root: &Root, record: &RelPath) -> Result<(), Refusal> {
    let _lock = Lock::take(root)?;
    let begun = find(root, record)?;
    if !begun.untouched(root) {
        return Err(Refusal(format!("{record} is partly carried out; finish it with `{FINISH}`")));
    }
    begun.forget();
    Ok(())
}

/// One amendment that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub record: RelPath,
    /// Why it could not be finished.
    pub trouble: Option<Refusal>,
}

/// Finishes what interrupted runs left, and what waits for an editor: every file gets the bytes that were
/// decided on, unless somebody changed it since; then that one amendment stays as it is and says so.
pub fn finish(root: &Root) -> Result<Vec<Finished>, Refusal> {
    let _lock = Lock::take(root)?;
    let (all, troubles) = begun(root);
    let mut finished: Vec<Finished> = troubles
        .into_iter()
        .map(|trouble| Finished { record: RelPath::new(UNFINISHED).unwrap_or_default(), trouble: Some(trouble) })
        .collect();
    for begun in all {
        for step in begun.intent.changes.iter().chain(&begun.intent.artefacts) {
            if let Ok(path) = step.path() {
                write::tidy(root, &path);
            }
        }
        let steps: Vec<&Step> = begun.intent.changes.iter().collect();
        let done = begun.carry_out(root, &steps).and_then(|()| begun.complete(root)).map_err(|refusal| {
            Refusal(format!(
                "{refusal}; put the file back, or give the decision up by deleting {UNFINISHED}/{}.toml",
                begun.name
            ))
        });
        finished.push(Finished { record: begun.record(), trouble: done.err() });
    }
    if let Ok(folder) = folder(root) {
        tidy_folder(&folder, true);
    }
    Ok(finished)
}
