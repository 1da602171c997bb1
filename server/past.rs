//! A root as it was at a revision: its tracked files, written to a temporary folder of their own, and read
//! by the same line as the present ones. Nothing of the revision is executed or fetched.

use std::fs;

use crate::git::Git;
use crate::oracles::Refusal;
use crate::places::Root;
use crate::survey::Workspace;

/// A workspace of a revision. Its folder goes when this is dropped.
pub struct Past {
    pub workspace: Workspace,
    pub commit: String,
    _folder: tempfile::TempDir,
}

/// How many files are held in memory at a time.
const BATCH: usize = 500;

/// Reads the root as it was at `revision`. Links are kept as links, submodules are left out. Refuses when the
/// content of a file cannot be had, as in a partial clone.
pub fn past(root: &Root, git: &Git, revision: &str) -> Result<Past, Refusal> {
    let commit = git.commit(revision).ok_or_else(|| {
        Refusal(format!("there is no revision `{revision}` here; fetch it (in CI `fetch-depth: 0`) or name another"))
    })?;
    let tree = git.tree(&commit).ok_or_else(|| Refusal(format!("git cannot list the files of `{revision}`")))?;
    let failed =
        |err: std::io::Error| Refusal(format!("`{revision}` cannot be laid out in a temporary folder: {}", err));
    let folder = tempfile::Builder::new().prefix("pindrift-").tempdir().map_err(failed)?;
    let path = folder.path().canonicalize().map_err(failed)?;
    let files: Vec<_> = tree.iter().filter(|(_, tracked)| tracked.mode != 0o160000).collect();
    let mut absent = Vec::new();
    for files in files.chunks(BATCH) {
        let ids: Vec<String> = files.iter().map(|(_, tracked)| tracked.id.clone()).collect();
        for ((name, tracked), bytes) in files.iter().zip(git.blobs(&ids)) {
            let Some(bytes) = bytes else {
                absent.push(*name);
                continue;
            };
            let whole = path.join(name.as_str());
            if let Some(parent) = whole.parent() {
                fs::create_dir_all(parent).map_err(failed)?;
            }
            match (tracked.mode, std::str::from_utf8(&bytes)) {
                #[cfg(unix)]
                (0o120000, Ok(target)) => std::os::unix::fs::symlink(target, &whole).map_err(failed)?,
                _ => fs::write(&whole, &bytes).map_err(failed)?,
            }
            #[cfg(unix)]
            if tracked.mode == 0o100755 {
                use std::os::unix::fs::PermissionsExt as _;
                fs::set_permissions(&whole, fs::Permissions::from_mode(0o755)).map_err(failed)?;
            }
        }
    }
    if let Some(first) = absent.first() {
        // Left out, they would look as if the revision had not had them.
        return Err(Refusal(format!(
            "{} of the files of `{revision}` are not in this clone (first {first}); get them with \
             `git fetch --refetch --no-filter` (in CI check out without `filter`), then try again",
            absent.len()
        )));
    }
    let root = Root { path, kind: root.kind, git_top: None };
    let workspace = Workspace::load(root, &|_, _| {}, &|| false)
        .ok_or_else(|| Refusal(format!("reading `{revision}` was cancelled")))?;
    Ok(Past { workspace, commit, _folder: folder })
}
