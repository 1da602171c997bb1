//! Where things are: the root of a workspace, paths from it, and whether a path stays inside it.
//! Takes paths, gives paths. Never writes, never runs a program.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// A path from the root, with `/` and without `.` or `..`. The empty path is the root itself.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RelPath(Arc<str>);

impl RelPath {
    /// Normalises `.`, `..`, doubled and backward slashes are left alone (they are legal in names).
    /// `None` when the path climbs out of the root.
    pub fn new(path: &str) -> Option<RelPath> {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop()?;
                }
                part => parts.push(part),
            }
        }
        Some(RelPath(parts.join("/").into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Folder that holds this path; the root for a top-level name.
    pub fn parent(&self) -> RelPath {
        RelPath(self.0.rsplit_once('/').map_or("", |(dir, _)| dir).into())
    }

    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// Name without its last extension.
    pub fn stem(&self) -> &str {
        let name = self.name();
        match name.rfind('.') {
            Some(0) | None => name,
            Some(i) => &name[..i],
        }
    }

    /// This folder joined with a relative path; `None` when that climbs out of the root or is absolute.
    pub fn join(&self, path: &str) -> Option<RelPath> {
        if path.starts_with('/') {
            return None;
        }
        RelPath::new(&format!("{}/{}", self.0, path))
    }

    pub fn starts_with(&self, folder: &RelPath) -> bool {
        folder.0.is_empty()
            || self.0.strip_prefix(&*folder.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// Why this folder is the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootKind {
    /// It holds `pindrift.toml`.
    Settings,
    /// It is the top of the git work tree.
    Git,
    /// Neither was found: the folder that was opened. There is no ledger, and accepting refuses.
    Opened,
}

/// The folder on which ids, reported paths and the ledger hang. `path` has its links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    pub path: PathBuf,
    pub kind: RootKind,
    /// Top of the git work tree that holds the root, if any.
    pub git_top: Option<PathBuf>,
}

impl Root {
    /// The root of a file or folder: the nearest ancestor with `pindrift.toml`, else the top of the git
    /// work tree, else `opened`. Neither search leaves the git work tree.
    pub fn of(path: &Path, opened: &Path) -> std::io::Result<Root> {
        let path = path.canonicalize()?;
        let start = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(&path) };
        let git_top = start.ancestors().find(|dir| dir.join(".git").exists()).map(Path::to_path_buf);
        for dir in start.ancestors() {
            if dir.join("pindrift.toml").is_file() {
                return Ok(Root { path: dir.to_path_buf(), kind: RootKind::Settings, git_top });
            }
            if Some(dir) == git_top.as_deref() {
                return Ok(Root { path: dir.to_path_buf(), kind: RootKind::Git, git_top });
            }
        }
        Ok(Root { path: opened.canonicalize()?, kind: RootKind::Opened, git_top: None })
    }

    /// Where a path of this root lies on disk; links are not resolved.
    pub fn absolute(&self, path: &RelPath) -> PathBuf {
        self.path.join(path.as_str())
    }

    /// The path from the root of an absolute path; `None` when it lies elsewhere or is not UTF-8.
    pub fn relative(&self, path: &Path) -> Option<RelPath> {
        let rest = path.strip_prefix(&self.path).ok()?;
        let mut parts = Vec::new();
        for part in rest.components() {
            match part {
                Component::Normal(name) => parts.push(name.to_str()?),
                Component::CurDir => {}
                _ => return None,
            }
        }
        RelPath::new(&parts.join("/"))
    }

    /// The file that `path` really names, after links, if that is inside the root. A file that does not
    /// exist yet is judged by its nearest existing folder.
    pub fn resolved(&self, path: &RelPath) -> std::io::Result<Option<PathBuf>> {
        let whole = self.absolute(path);
        let mut missing = Vec::new();
        let mut at = whole.as_path();
        let real = loop {
            match at.canonicalize() {
                Ok(real) => break real,
                Err(err) if err.kind() == std::io::ErrorKind::NotFound && at.symlink_metadata().is_err() => {
                    let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else { return Err(err) };
                    missing.push(name.to_owned());
                    at = parent;
                }
                Err(err) => return Err(err),
            }
        };
        if !real.starts_with(&self.path) {
            return Ok(None);
        }
        Ok(Some(missing.iter().rev().fold(real, |path, name| path.join(name))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_never_climbs_out() {
        assert_eq!(RelPath::new("a/./b/../c.txt").unwrap().as_str(), "a/c.txt");
        assert_eq!(RelPath::new("../x"), None);
        assert_eq!(RelPath::new("tests").unwrap().join("/etc/passwd"), None);
        assert_eq!(RelPath::new("tests").unwrap().join("../../x"), None);
        assert!(RelPath::new("tests/a").unwrap().starts_with(&RelPath::new("tests").unwrap()));
        assert!(!RelPath::new("tests2/a").unwrap().starts_with(&RelPath::new("tests").unwrap()));
    }

    #[test]
    fn a_link_out_of_the_root_is_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        let inside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), inside.path().join("out")).unwrap();
        let root = Root::of(inside.path(), inside.path()).unwrap();
        assert_eq!(root.kind, RootKind::Opened);
        assert_eq!(root.resolved(&RelPath::new("out/x.txt").unwrap()).unwrap(), None);
        assert!(root.resolved(&RelPath::new("new/x.txt").unwrap()).unwrap().is_some());
    }
}
