//! Looks at folders, not trees: takes the set of folders that matter, tells what changes in them.
//! Runs on a thread of its own; where a folder cannot be watched, says so and looks at nothing.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc;

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecursiveMode, Watcher};

/// Most folders that are watched; a root with more is looked at again on open, save, hover and action.
const MOST: usize = 4000;

pub enum Seen {
    /// Files or folders that were made, changed, moved or removed.
    Changed(Vec<PathBuf>),
    /// Events were lost: anything may have changed.
    Lost,
    /// Whether every wanted folder is watched.
    Watching(bool),
}

/// Sends the whole set that is wanted from now on.
pub type Wanted = mpsc::Sender<BTreeSet<PathBuf>>;

pub fn open(tell: impl Fn(Seen) + Send + Clone + 'static) -> std::io::Result<Wanted> {
    let (tx, wanted) = mpsc::channel::<BTreeSet<PathBuf>>();
    let telling = tell.clone();
    std::thread::Builder::new().name("watch".into()).spawn(move || {
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| match event {
            Ok(event) if event.need_rescan() => telling(Seen::Lost),
            Ok(event) if matters(&event.kind) => telling(Seen::Changed(event.paths)),
            Ok(_) => {}
            Err(err) => tracing::warn!("watching files: {err}"),
        });
        if let Err(err) = &watcher {
            tracing::warn!("files are not watched, they are looked at again on use: {err}");
        }
        let mut watched = BTreeSet::new();
        while let Ok(mut want) = wanted.recv() {
            while let Ok(newer) = wanted.try_recv() {
                want = newer;
            }
            let Ok(watcher) = &mut watcher else {
                tell(Seen::Watching(false));
                continue;
            };
            for gone in watched.difference(&want).cloned().collect::<Vec<PathBuf>>() {
                let _ = watcher.unwatch(&gone);
                watched.remove(&gone);
            }
            let mut all = want.len() <= MOST;
            for new in want.into_iter().take(MOST) {
                if watched.contains(&new) || !new.is_dir() {
                    continue;
                }
                match watcher.watch(&new, RecursiveMode::NonRecursive) {
                    Ok(()) => {
                        watched.insert(new);
                    }
                    Err(err) => {
                        all = false;
                        tracing::info!("{} is not watched: {err}", new.display());
                    }
                }
            }
            tell(Seen::Watching(all));
        }
    })?;
    Ok(tx)
}

/// Reading a file is no change of it.
fn matters(kind: &EventKind) -> bool {
    match kind {
        EventKind::Access(kind) => *kind == AccessKind::Close(AccessMode::Write),
        EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Any => true,
        EventKind::Other => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_change_is_told_and_a_read_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().canonicalize().unwrap();
        let file = dir.join("a.txt");
        std::fs::write(&file, "one").unwrap();
        let (tx, seen) = mpsc::channel();
        let wanted = open(move |what| {
            let _ = tx.send(what);
        })
        .unwrap();
        wanted.send(BTreeSet::from([dir.clone()])).unwrap();
        assert!(matches!(seen.recv_timeout(Duration::from_secs(10)), Ok(Seen::Watching(true))));
        std::fs::read(&file).unwrap();
        assert!(seen.recv_timeout(Duration::from_millis(300)).is_err());
        std::fs::write(&file, "two").unwrap();
        match seen.recv_timeout(Duration::from_secs(10)) {
            Ok(Seen::Changed(paths)) => assert_eq!(paths, [file]),
            _ => panic!("the change was not told"),
        }
    }
}
