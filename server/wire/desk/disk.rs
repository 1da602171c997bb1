//! What changes on disk: which folders are watched, and what is looked at again. Never reads a baseline itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::super::room::Changed;
use super::super::scan::Job;
use super::Desk;
use crate::places::RelPath;

/// Most new folders that are watched before anything in them is known to matter.
const FRESH: usize = 200;

impl Desk {
    pub(super) fn look_again_unless_watching(&mut self) {
        if !self.watching {
            self.refresh_all();
        }
    }

    pub(super) fn refresh_all(&mut self) {
        for root in self.rooms.keys().cloned().collect::<Vec<PathBuf>>() {
            let mut paths: BTreeSet<PathBuf> = self.folders_of(&root);
            paths.extend(self.changed.iter().filter(|path| path.starts_with(&root)).cloned());
            self.refresh(&root, Changed { paths, saved: None, all: true });
        }
        self.changed.clear();
        self.changed_at = None;
    }

    pub(super) fn look_at_disk(&mut self) {
        self.changed_at = None;
        let changed = std::mem::take(&mut self.changed);
        let fresh: Vec<PathBuf> = changed
            .iter()
            .filter(|path| !self.fresh.contains(*path) && !self.wanted.contains(*path) && path.is_dir())
            .take(FRESH.saturating_sub(self.fresh.len()))
            .cloned()
            .collect();
        if !fresh.is_empty() {
            // What is written into it before it is watched is found by looking once more.
            self.fresh.extend(fresh.iter().cloned());
            self.changed.extend(fresh);
            self.changed_at = Some((Instant::now(), Instant::now()));
            self.watch_folders();
        }
        for root in self.rooms.keys().cloned().collect::<Vec<PathBuf>>() {
            let git = self.rooms.get(&root).and_then(|room| room.root.git_top.as_ref().map(|top| top.join(".git")));
            let paths: BTreeSet<PathBuf> = changed
                .iter()
                .filter(|path| match &git {
                    Some(git) if path.starts_with(git) => tells_of_a_commit(path),
                    _ => path.starts_with(&root),
                })
                .cloned()
                .collect();
            if !paths.is_empty() {
                self.refresh(&root, Changed { paths, saved: None, all: false });
            }
        }
    }

    pub(super) fn refresh(&mut self, root: &Path, changed: Changed) {
        if let Some(room) = self.rooms.get_mut(root) {
            room.refreshing += 1;
            // A survey of everything must not hold this up.
            room.newest.fetch_add(1, Ordering::Relaxed);
            let _ = self.scan.jobs.send(Job::Refresh(room.root.clone(), changed));
        }
    }

    /// One look at a root is done, with a new base or without.
    pub(super) fn looked(&mut self, root: &Path) {
        if let Some(room) = self.rooms.get_mut(root) {
            room.refreshing = room.refreshing.saturating_sub(1);
        }
        if self.rooms.values().all(|room| room.refreshing == 0) {
            for then in self.rechecks.drain(..) {
                let _ = then.send(());
            }
        }
    }

    /// Absolute paths of the folders of a root that matter.
    pub(super) fn folders_of(&self, root: &Path) -> BTreeSet<PathBuf> {
        let Some(room) = self.rooms.get(root) else { return BTreeSet::new() };
        let mut folders: BTreeSet<RelPath> = room.folders.clone();
        for open in self.documents.values() {
            if let Some((_, path)) = open.room.as_ref().filter(|(at, _)| at == root) {
                folders.insert(path.parent());
                folders.extend(open.folders.iter().cloned());
            }
        }
        let mut all: BTreeSet<PathBuf> = folders.iter().map(|folder| room.root.absolute(folder)).collect();
        all.insert(room.root.path.clone());
        all
    }

    pub(super) fn watch_folders(&mut self) {
        let mut wanted = BTreeSet::new();
        for (root, room) in &self.rooms {
            wanted.extend(self.folders_of(root));
            let own = root.join(".pindrift");
            let year = |name: &str| own.join("amendments").join(name);
            wanted.extend([own.clone(), own.join("amendments"), own.join("observed")]);
            wanted.extend([own.join("queries"), own.join("queries/python"), own.join("queries/rust")]);
            if let Some(base) = &room.base {
                let folders = base.ledger.entries.iter().map(|entry| entry.path.parent());
                wanted.extend(folders.map(|folder| year(folder.name())));
            }
            if let Some(top) = &room.root.git_top {
                wanted.insert(top.join(".git"));
            }
        }
        wanted.extend(self.fresh.iter().cloned());
        // A folder that was made since must be watched too, so the same set is sent again.
        if wanted != self.wanted || self.watching {
            self.wanted = wanted.clone();
            let _ = self.watch.send(wanted);
        }
    }
}

/// Files of `.git` that change with what is committed.
fn tells_of_a_commit(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    matches!(name, "HEAD" | "index" | "ORIG_HEAD" | "packed-refs" | "COMMIT_EDITMSG" | "MERGE_HEAD")
}
