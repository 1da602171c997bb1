//! Files, changed so that a kill at any moment leaves the old or the new bytes: new bytes beside the
//! file, synced, with its mode, then one rename. Never follows a link out of the root.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::Plan;
use crate::oracles::{FileChange, Refusal, digest_of};
use crate::places::{RelPath, Root};

/// The only writer of a root's record. Released when dropped, and by the system when its process dies.
pub struct Lock {
    _held: File,
}

impl Lock {
    /// Waits for other processes that amend this root; each holds it for its writes only.
    pub fn take(root: &Root) -> Result<Lock, Refusal> {
        let folder = root.path.join(".pindrift");
        let failed = |err: io::Error| Refusal(format!("{} cannot be locked: {}", folder.display(), words(&err)));
        let real = RelPath::new(".pindrift").and_then(|path| root.resolved(&path).ok().flatten());
        let Some(real) = real else {
            return Err(Refusal(
                ".pindrift is a link that leads out of the workspace; nothing is written there".into(),
            ));
        };
        fs::create_dir_all(&real).map_err(failed)?;
        // A folder can be locked where it can be opened; elsewhere a file in it stands for it.
        let held = if cfg!(unix) {
            File::open(&real)
        } else {
            fs::create_dir_all(real.join("observed")).and_then(|()| File::create(real.join("observed/.lock")))
        };
        let held = held.map_err(failed)?;
        held.lock().map_err(failed)?;
        Ok(Lock { _held: held })
    }
}

/// How a file on disk stands to a change of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    Before,
    After,
    /// Somebody changed it since.
    Other,
}

/// Where a file of the root really lies, links resolved.
pub fn place(root: &Root, path: &RelPath) -> Result<PathBuf, Refusal> {
    match root.resolved(path) {
        Ok(Some(real)) => Ok(real),
        Ok(None) => Err(Refusal(format!(
            "{path} is a link that leads out of the workspace; it is not written. Amend it where it lives"
        ))),
        Err(err) => Err(Refusal(format!("{path} cannot be found: {}", words(&err)))),
    }
}

pub fn stand(root: &Root, path: &RelPath, before: Option<&str>, after: Option<&[u8]>) -> Result<Stand, Refusal> {
    let real = place(root, path)?;
    let there = match fs::read(&real) {
        Ok(bytes) => Some(bytes),
        Err(err) if err.kind() == io::ErrorKind::NotFound => None,
        Err(err) => return Err(Refusal(format!("{path} cannot be read: {}", words(&err)))),
    };
    Ok(match &there {
        there if there.as_deref() == after => Stand::After,
        Some(bytes) if before == Some(digest_of(&[bytes]).as_str()) => Stand::Before,
        None if before.is_none() => Stand::Before,
        _ => Stand::Other,
    })
}

/// Every file that the plan writes is as the plan found it, and can be written.
pub fn verify(root: &Root, plan: &Plan, open: &dyn Fn(&RelPath) -> bool) -> Result<(), Refusal> {
    for change in plan.changes.iter().filter(|change| !open(&change.path)).chain(&plan.artefacts) {
        verify_one(root, change)?;
    }
    Ok(())
}

fn verify_one(root: &Root, change: &FileChange) -> Result<(), Refusal> {
    let path = &change.path;
    match stand(root, path, change.before.as_deref(), change.after.as_deref())? {
        Stand::Before => {}
        // Nothing to do is no surprise for an artefact that is gone; anything else was changed by somebody.
        Stand::After if change.after.is_none() => {}
        Stand::After | Stand::Other => {
            return Err(Refusal(format!(
                "{path} changed since this drift was shown; nothing was written. Look at the drift again, then accept"
            )));
        }
    }
    let real = place(root, path)?;
    if fs::metadata(&real).is_ok_and(|meta| meta.permissions().readonly()) {
        return Err(Refusal(format!(
            "{path} is read-only; nothing was written. Make it writable (`chmod u+w {path}`)"
        )));
    }
    Ok(())
}

/// New bytes beside the file that they will replace.
#[derive(Debug)]
pub struct Ready {
    path: RelPath,
    real: PathBuf,
    /// `None`: the file will be removed.
    beside: Option<PathBuf>,
}

/// Where the new bytes of a file stand until it is renamed; known beforehand, so that what an interrupted
/// run left can be found.
fn beside(real: &Path) -> PathBuf {
    let name = real.file_name().map(|name| name.as_encoded_bytes().to_vec()).unwrap_or_default();
    let digest = digest_of(&[&name]);
    real.with_file_name(format!(".pindrift-{}.tmp", digest.get(7..23).unwrap_or("0")))
}

/// Writes the new bytes beside the file; the file itself is left alone.
pub fn prepare(root: &Root, path: &RelPath, after: Option<&[u8]>) -> Result<Ready, Refusal> {
    let real = place(root, path)?;
    let Some(bytes) = after else { return Ok(Ready { path: path.clone(), real, beside: None }) };
    let tmp = beside(&real);
    let written = (|| {
        if let Some(folder) = real.parent() {
            fs::create_dir_all(folder)?;
        }
        remove(&tmp)?;
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&tmp)?;
        file.write_all(bytes)?;
        if let Ok(meta) = fs::metadata(&real) {
            file.set_permissions(meta.permissions())?;
        }
        file.sync_all()
    })();
    if let Err(err) = written {
        let _ = fs::remove_file(&tmp);
        return Err(Refusal(format!("{path} was not changed: {}", words(&err))));
    }
    Ok(Ready { path: path.clone(), real, beside: Some(tmp) })
}

/// Puts the new bytes in the place of the old ones.
pub fn commit(ready: &Ready) -> Result<(), Refusal> {
    let done = match &ready.beside {
        Some(tmp) => fs::rename(tmp, &ready.real),
        None => remove(&ready.real),
    };
    done.map_err(|err| Refusal(format!("{} was not changed: {}", ready.path, words(&err))))?;
    if let Some(folder) = ready.real.parent() {
        sync_folder(folder);
    }
    Ok(())
}

/// Takes the new bytes away again.
pub fn discard(ready: &Ready) {
    if let Some(tmp) = &ready.beside {
        let _ = fs::remove_file(tmp);
    }
}

/// Takes away what an interrupted run left beside a file.
pub fn tidy(root: &Root, path: &RelPath) {
    if let Ok(real) = place(root, path) {
        let _ = fs::remove_file(beside(&real));
    }
}

/// Removes a file; one that is not there is removed already.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Makes renames in a folder last. File systems that know no such thing have nothing to do.
pub fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// What went wrong and what to do, for a person.
pub fn words(err: &io::Error) -> String {
    match err.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; free some space and do it again".into()
        }
        io::ErrorKind::PermissionDenied => format!("no permission to write there ({err}); change that and do it again"),
        io::ErrorKind::ReadOnlyFilesystem => "it lies on a read-only file system".into(),
        _ => err.to_string(),
    }
}
