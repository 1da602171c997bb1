//! Which roots are served, and in which one a document lies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tower_lsp::ls_types::Uri;

use super::super::offer;
use super::super::scan::Job;
use super::{Desk, Room};
use crate::places::{RelPath, Root, RootKind};

impl Desk {
    /// The root and the path from it of a document; the root is opened where it is new.
    pub(super) fn place(&mut self, uri: &Uri) -> Option<(PathBuf, RelPath)> {
        let path = offer::path_of(uri)?;
        let path = match path.canonicalize() {
            Ok(real) => real,
            // Not on disk yet: where it will be.
            Err(_) => path.parent()?.canonicalize().ok()?.join(path.file_name()?),
        };
        let start = if path.exists() { path.as_path() } else { path.parent()? };
        let root = Root::of(start, &self.opened_folder(&path)).ok()?;
        let relative = root.relative(&path)?;
        let key = root.path.clone();
        self.enter(root);
        Some((key, relative))
    }

    /// The folder that was opened around a path; its own folder where that would be a whole home or disk.
    pub(super) fn opened_folder(&self, path: &Path) -> PathBuf {
        let own = path.parent().unwrap_or(path).to_path_buf();
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let around = self.declared.folders.iter().filter_map(|folder| folder.canonicalize().ok());
        around
            .filter(|folder| path.starts_with(folder) && folder.parent().is_some() && Some(folder) != home.as_ref())
            .max_by_key(|folder| folder.components().count())
            .unwrap_or(own)
    }

    pub(super) fn folders(&mut self, added: &[PathBuf]) {
        for folder in added {
            let Ok(folder) = folder.canonicalize() else { continue };
            if !self.declared.folders.contains(&folder) {
                Arc::make_mut(&mut self.declared).folders.push(folder.clone());
            }
            // A folder that is no root of its own is read when a document in it is opened.
            if let Ok(root) = Root::of(&folder, &folder)
                && root.kind != RootKind::Opened
            {
                self.enter(root);
            }
        }
    }

    pub(super) fn leave(&mut self, removed: &[PathBuf]) {
        let removed: Vec<PathBuf> = removed.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
        Arc::make_mut(&mut self.declared).folders.retain(|folder| !removed.contains(folder));
        let used: BTreeSet<PathBuf> =
            self.documents.values().filter_map(|open| open.room.as_ref().map(|(root, _)| root.clone())).collect();
        let gone: Vec<PathBuf> = removed.into_iter().filter(|root| !used.contains(root)).collect();
        for root in gone {
            if let Some(room) = self.rooms.remove(&root) {
                for path in room.published.keys() {
                    if let Some(uri) = Uri::from_file_path(room.root.absolute(path)) {
                        self.publish(uri, Vec::new(), None);
                    }
                }
            }
        }
        self.watch_folders();
    }

    pub(super) fn enter(&mut self, root: Root) {
        if self.rooms.contains_key(&root.path) {
            return;
        }
        let _ = self.scan.jobs.send(Job::Load(root.clone()));
        self.rooms.insert(
            root.path.clone(),
            Room {
                root,
                base: None,
                complete: false,
                whole: None,
                view: None,
                due: None,
                newest: Arc::default(),
                folders: BTreeSet::new(),
                published: BTreeMap::new(),
                refreshing: 1,
            },
        );
    }
}
