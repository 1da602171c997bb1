//! Progress of long work, for clients that declare it. Begins when the client has taken the token, so
//! that the work itself never waits; says at most ten times a second how far it is.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tower_lsp::ls_types::{
    NumberOrString, ProgressParams, ProgressParamsValue, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressCreateParams, WorkDoneProgressEnd, WorkDoneProgressReport,
};

use super::outbox::{Message, Outbox};

#[derive(Clone)]
pub struct Progress(Arc<Mutex<State>>);

struct State {
    outbox: Outbox,
    token: NumberOrString,
    title: String,
    /// The client took the token.
    taken: bool,
    begun: bool,
    ended: bool,
    last: Instant,
}

impl Progress {
    pub fn open(outbox: &Outbox, token: String, title: String) -> Progress {
        let token = NumberOrString::String(token);
        let state = State {
            outbox: outbox.clone(),
            token: token.clone(),
            title,
            taken: false,
            begun: false,
            ended: false,
            last: Instant::now(),
        };
        let progress = Progress(Arc::new(Mutex::new(state)));
        let waiting = progress.clone();
        outbox.say(Message::CreateProgress(
            WorkDoneProgressCreateParams { token },
            Box::new(move |answer| {
                if answer.is_some() {
                    waiting.with(|state| {
                        state.taken = true;
                        state.begin();
                        if state.ended {
                            state.say(WorkDoneProgress::End(WorkDoneProgressEnd { message: None }));
                        }
                    });
                }
            }),
        ));
        progress
    }

    fn with(&self, act: impl FnOnce(&mut State)) {
        act(&mut self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    }

    pub fn report(&self, done: usize, all: usize) {
        self.with(|state| {
            if !state.begun || state.ended || state.last.elapsed() < Duration::from_millis(100) {
                return;
            }
            state.last = Instant::now();
            let percentage = (done * 100).checked_div(all).map(|percent| percent.min(100) as u32);
            state.say(WorkDoneProgress::Report(WorkDoneProgressReport {
                cancellable: Some(true),
                message: Some(format!("{done} of {all} files")),
                percentage,
            }));
        });
    }

    /// The same where it is not known how much there is to do.
    pub fn say(&self, message: String) {
        self.with(|state| {
            if !state.begun || state.ended || state.last.elapsed() < Duration::from_millis(100) {
                return;
            }
            state.last = Instant::now();
            state.say(WorkDoneProgress::Report(WorkDoneProgressReport {
                cancellable: Some(true),
                message: Some(message),
                percentage: None,
            }));
        });
    }

    pub fn end(&self) {
        self.with(|state| {
            if state.begun && !state.ended {
                state.say(WorkDoneProgress::End(WorkDoneProgressEnd { message: None }));
            }
            state.ended = true;
        });
    }
}

impl State {
    fn begin(&mut self) {
        self.begun = true;
        let title = self.title.clone();
        self.say(WorkDoneProgress::Begin(WorkDoneProgressBegin {
            title,
            cancellable: Some(true),
            message: None,
            percentage: Some(0),
        }));
    }

    fn say(&self, value: WorkDoneProgress) {
        let value = ProgressParamsValue::WorkDone(value);
        self.outbox.say(Message::Progress(ProgressParams { token: self.token.clone(), value }));
    }
}
