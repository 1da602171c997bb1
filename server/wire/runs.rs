//! Runs of the tests that a person asked for in the editor. Takes the root and the tests, gives what was observed
//! with the counts of the protocol. One at a time; ended by cancelling the request or its progress, and with
//! the server. Never runs anything unasked.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::desk::{Event, Queue};
use super::outbox::Outbox;
use super::progress::Progress;
use super::service::Cancelled;
use crate::observations::records::FOLDER;
use crate::observe::{self, Request};
use crate::report::{self, Purpose};
use crate::settings::Personal;
use crate::survey::Workspace;

/// First part of the tokens of their progress.
pub const TOKEN: &str = "pindrift-observe";

/// The run that goes on, if any.
#[derive(Clone, Default)]
pub struct Runs(Arc<State>);

#[derive(Default)]
struct State {
    busy: AtomicBool,
    cancelled: AtomicBool,
}

/// Lets the next run begin, however this one ends.
struct Busy(Runs);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.0.busy.store(false, Ordering::Release);
    }
}

impl Runs {
    /// Cancel was pressed on the progress.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    fn begin(&self) -> Option<Busy> {
        let free = self.0.busy.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        free.then(|| {
            self.0.cancelled.store(false, Ordering::Relaxed);
            Busy(self.clone())
        })
    }

    /// Runs the tests, all when none is named, as often as is asked for, from what is saved.
    pub fn observe(
        &self,
        root: &Path,
        tests: Vec<String>,
        repeat: usize,
        outbox: Option<&Outbox>,
        queue: &Queue,
        asked: &Cancelled,
    ) -> Result<Value, String> {
        let busy = self.begin().ok_or("a run is going on; wait for its end, or cancel it")?;
        let workspace = Workspace::open(root)?;
        let token = format!("{TOKEN}-{}", jiff::Timestamp::now().as_nanosecond());
        let progress = outbox.map(|outbox| Progress::open(outbox, token, "Pindrift: running tests".into()));
        let tell = |ran: usize, test: &str| {
            if let Some(progress) = &progress {
                progress.say(format!("{ran} tests, now {}", crate::text::one_line(test, 80)));
            }
        };
        let request = Request {
            tests,
            personal: Personal::read(),
            environment: std::env::vars().collect(),
            repeat,
            cancelled: &|| asked.is_set() || self.0.cancelled.load(Ordering::Relaxed),
            progress: Some(&tell),
        };
        let observed = observe::observe(&workspace, &request);
        if let Some(progress) = &progress {
            progress.end();
        }
        drop(busy);
        let observed = observed?;
        let _ = queue.send(Event::Disk(records(root)));
        if observed.unusable && observed.ran == 0 {
            return Err(observed.problems.into_iter().next().unwrap_or_else(|| "nothing was run".into()));
        }
        let mut after = workspace.clone();
        after.reread_records();
        let survey = after.survey(&crate::pins::Extent::All, &|| false).unwrap_or_default();
        let summary = report::summary(&survey, Purpose::Check);
        let findings: Vec<Value> = observed
            .notes
            .iter()
            .map(|note| {
                let (file, line) =
                    note.at.as_ref().map_or((None, None), |(file, line)| (Some(file.as_str()), Some(line)));
                json!({ "code": note.code.word(), "file": file, "line": line, "message": note.message })
            })
            .collect();
        Ok(json!({
            "ran": observed.ran,
            "drifts": summary.drifts,
            "notReached": observed.not_reached,
            "unobserved": summary.unobserved,
            "problems": observed.problems,
            "findings": findings,
            "log": observed.log.map(|log| workspace.project.root.absolute(&log).display().to_string()),
        }))
    }
}

/// Files of records, for the desk to read again.
fn records(root: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(root.join(FOLDER)).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect()
}
