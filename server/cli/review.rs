//! `review`: one drift after the other in the terminal, with what a person needs to decide on it. Shows and
//! asks; what is decided goes to the amendments, and every refusal is theirs. Accepting is possible once the
//! whole difference stood on the screen.

use std::path::PathBuf;
use std::sync::Arc;

mod line;
mod page;
mod queue;
mod screen;
mod terminal;
#[cfg(test)]
mod tests;

use line::{Line, Typed};
use queue::{Fate, Queue};
use terminal::{Event, Key, Terminal};

use super::look::Scope;
use super::{FINE, Outcome, Place, UNUSABLE, WANTS_A_PERSON, decide, propose};
use crate::amendment;
use crate::changes;
use crate::ledger::Verdict;
use crate::oracles::Refusal;
use crate::proposals::{self, Proposal};
use crate::rationale;
use crate::survey::Case;

/// What a typed reason is for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ask {
    Accept,
    /// Places, 1-based; empty means all.
    Verdict(Verdict, Vec<usize>),
    Withdraw,
    /// What a program proposed.
    Confirm,
}

enum Mode {
    Reading,
    Asking(Ask, Line),
    Help,
}

/// What is on the screen.
struct Desk {
    queue: Queue,
    mode: Mode,
    /// The drift's values in place of its lines.
    values: bool,
    /// First line of the body that is shown.
    top: usize,
    /// Which place of the drift the keys are about.
    hunk: usize,
    /// Lines of the body that stood on the screen, for the width in which they were laid out.
    seen: Vec<bool>,
    laid_out: usize,
    /// The whole difference was shown.
    whole: bool,
    /// What the last key came to.
    message: String,
    colour: bool,
    /// Reasons given here, newest first.
    given: Vec<String>,
}

/// Goes through the drifts of the paths.
pub fn review(paths: &[PathBuf], place: &Place) -> Outcome {
    let scope = match Scope::of(paths, place) {
        Ok(scope) => scope,
        Err(outcome) => return outcome,
    };
    let queue = Queue::of(scope);
    if queue.is_empty() {
        return Outcome::new("no drift waits for a person\n".into(), FINE);
    }
    let mut terminal = match Terminal::take() {
        Ok(terminal) => terminal,
        Err(why) => return Outcome::refused(why, UNUSABLE),
    };
    let mut desk = Desk {
        queue,
        mode: Mode::Reading,
        values: false,
        top: 0,
        hunk: 0,
        seen: Vec::new(),
        laid_out: 0,
        whole: false,
        message: String::new(),
        colour: place.colour,
        given: Vec::new(),
    };
    desk.opened();
    loop {
        let size = terminal.size();
        let drawn = screen::draw(&mut desk, size);
        terminal.show(&drawn.lines, drawn.cursor);
        match terminal.next() {
            Event::Over => break,
            Event::Resized => {}
            Event::Pasted(c) => {
                if let Mode::Asking(_, line) = &mut desk.mode {
                    line.key(Key::Char(c));
                }
            }
            Event::Key(key) => {
                if desk.key(key, drawn.page) {
                    break;
                }
            }
        }
    }
    drop(terminal);
    let open = desk.queue.open();
    Outcome::new(desk.queue.ending(), if open == 0 { FINE } else { WANTS_A_PERSON })
}

impl Desk {
    /// Another drift is shown.
    fn opened(&mut self) {
        (self.top, self.hunk, self.whole, self.values) = (0, 0, false, false);
        self.seen.clear();
        self.laid_out = 0;
    }

    fn case(&self) -> Option<Arc<Case>> {
        self.queue.case()
    }

    /// `true`: the review is over. `page`: lines of the body that fit.
    fn key(&mut self, key: Key, page: usize) -> bool {
        if let Mode::Asking(ask, line) = &mut self.mode {
            match line.key(key) {
                Typed::More => self.message.clear(),
                Typed::Left => {
                    self.mode = Mode::Reading;
                    self.message = "nothing was decided".into();
                }
                Typed::Done(reason) => {
                    let ask = ask.clone();
                    self.decide(ask, reason);
                }
            }
            return false;
        }
        if matches!(self.mode, Mode::Help) {
            self.mode = Mode::Reading;
            return false;
        }
        self.message.clear();
        match key {
            Key::Char('q') | Key::Control('c' | 'd') => return true,
            Key::Char(' ') | Key::PageDown | Key::Control('f') => self.scroll(page as isize, page),
            Key::Char('b') | Key::PageUp | Key::Control('b') => self.scroll(-(page as isize), page),
            Key::Char('j') | Key::Down | Key::Enter => self.scroll(1, page),
            Key::Char('k') | Key::Up => self.scroll(-1, page),
            Key::Char('n') => self.turn_to_hunk(1),
            Key::Char('p') => self.turn_to_hunk(-1),
            Key::Char('v') => {
                self.values = !self.values;
                self.top = 0;
            }
            Key::Char(']' | 's') | Key::Right => {
                if key == Key::Char('s') {
                    self.queue.skip();
                }
                self.queue.next();
                self.opened();
            }
            Key::Char('[') | Key::Left => {
                self.queue.back();
                self.opened();
            }
            Key::Char('a') => self.ask(Ask::Accept),
            Key::Char('u') => self.ask(Ask::Verdict(Verdict::Unintended, vec![self.hunk + 1])),
            Key::Char('x') => self.ask(Ask::Verdict(Verdict::Noise, vec![self.hunk + 1])),
            Key::Char('U') => self.ask(Ask::Verdict(Verdict::Unintended, Vec::new())),
            Key::Char('X') => self.ask(Ask::Verdict(Verdict::Noise, Vec::new())),
            Key::Char('w') => self.ask(Ask::Withdraw),
            Key::Char('c') => self.ask(Ask::Confirm),
            Key::Char('?' | 'h') => self.mode = Mode::Help,
            _ => {}
        }
        false
    }

    fn scroll(&mut self, by: isize, page: usize) {
        let last = self.seen.len().saturating_sub(page);
        self.top = self.top.saturating_add_signed(by).min(last);
    }

    fn turn_to_hunk(&mut self, by: isize) {
        let count = self.case().and_then(|case| case.drift.as_ref().map(|drift| drift.hunks.len())).unwrap_or(0);
        self.hunk = self.hunk.saturating_add_signed(by).min(count.saturating_sub(1));
        self.values = false;
        // The screen goes where it stands.
        self.top = usize::MAX;
    }

    /// Opens the line for a reason, or says why there is nothing to decide.
    fn ask(&mut self, ask: Ask) {
        let fate = self.queue.fate();
        // A further place may be judged after one was; what one is unintended of is not accepted.
        let decided = match fate {
            Fate::Open | Fate::Skipped => false,
            Fate::Judged(..) => matches!(ask, Ask::Accept | Ask::Confirm),
            Fate::Accepted(_) | Fate::Gone => true,
        };
        match &ask {
            Ask::Withdraw => {
                if self.queue.decision().is_none() {
                    self.message = "nothing was decided on this one here".into();
                    return;
                }
            }
            _ if decided => {
                self.message = format!("{}; w takes it back", fate.words());
                return;
            }
            Ask::Confirm if self.case().is_none_or(|case| case.proposal.is_none()) => {
                self.message = "no program proposed anything about this one".into();
                return;
            }
            Ask::Accept | Ask::Confirm if !self.whole => {
                let left = self.seen.iter().filter(|seen| !**seen).count();
                self.message = format!("accept takes what was shown whole: {left} lines are left, space shows them");
                return;
            }
            Ask::Accept | Ask::Verdict(..) | Ask::Confirm => {}
        }
        let mut before = self.given.clone();
        let mut first = String::new();
        if ask == Ask::Accept
            && let Some(drift) = self.case().and_then(|case| case.drift.clone())
            && let Some(entry) = changes::offered(&drift.change, &self.queue.workspace().ledger)
        {
            first = entry.amendment.reason.clone();
            self.message = "the same change was accepted for this reason; Enter confirms it here too".into();
        }
        if ask == Ask::Confirm
            && let Some(proposal) = self.case().and_then(|case| case.proposal.clone())
        {
            first = proposal.reason.clone();
            self.message = format!("{} drafted this reason for {}; Enter confirms it", proposal.by, proposal.verdict);
        }
        for entry in self.queue.workspace().ledger.entries.iter().take(50) {
            let reason = &entry.amendment.reason;
            if !before.contains(reason) && rationale::refuse_reason(reason).is_none() {
                before.push(reason.clone());
            }
        }
        self.mode = Mode::Asking(ask, Line::new(&first, before));
    }

    fn decide(&mut self, ask: Ask, reason: String) {
        if let Some(why) = rationale::refuse_reason(&reason) {
            self.message = why;
            return;
        }
        self.mode = Mode::Reading;
        match self.carry_out(&ask, &reason) {
            Ok(message) => {
                self.given.retain(|known| *known != reason);
                self.given.insert(0, reason);
                self.message = message;
            }
            Err(refusal) => self.message = refusal.0,
        }
    }

    fn carry_out(&mut self, ask: &Ask, reason: &str) -> Result<String, Refusal> {
        let Some(proposal) = self.case().and_then(|case| case.proposal.clone()).filter(|_| *ask == Ask::Confirm) else {
            return self.recorded(ask, reason, None);
        };
        let ask = match Verdict::of(&proposal.verdict) {
            Some(verdict) => Ask::Verdict(verdict, Vec::new()),
            None => Ask::Accept,
        };
        let root = self.queue.workspace().project.root.clone();
        let message = self.recorded(&ask, reason, Some(&proposal))?;
        proposals::done(&root, &proposal.drift);
        Ok(message)
    }

    fn recorded(&mut self, ask: &Ask, reason: &str, proposal: Option<&Proposal>) -> Result<String, Refusal> {
        if *ask == Ask::Withdraw {
            // It undoes what was written since everything was read.
            self.queue.read_again();
        }
        if *ask == Ask::Accept && !self.queue.still_there().map_err(Refusal)? {
            return Err(Refusal(
                "what the code produces or what is recorded changed since this was shown; nothing was accepted. Start \
                 the review again to see what is there now"
                    .into(),
            ));
        }
        let (case, workspace) = (self.case(), self.queue.workspace().clone());
        let gone = || Refusal("this drift is not there any more".into());
        let request = amendment::Request { via: "review".into(), ..decide::request(&workspace, reason.to_string()) };
        let request = match proposal {
            Some(proposal) => propose::confirmed(request, proposal, &proposal.drift),
            None => request,
        };
        match ask {
            Ask::Accept => {
                let case = case.ok_or_else(gone)?;
                let id = case.drift_id.clone().ok_or_else(gone)?;
                let request = amendment::Request { drift: Some(id.clone()), ..request };
                let applied = decide::accepted(&id, case, workspace, &request)?;
                self.queue.accepted(applied.record.clone());
                self.queue.next();
                self.opened();
                Ok(format!("accepted; recorded in {}", applied.record))
            }
            Ask::Verdict(verdict, hunks) => {
                let case = case.ok_or_else(gone)?;
                let request = amendment::Request { drift: case.drift_id.clone(), ..request };
                // What has no places is judged as a whole.
                let places = case.drift.as_ref().map_or(0, |drift| drift.shapes().len());
                let hunks: &[usize] = if places < 2 { &[] } else { hunks };
                let plan = amendment::plan_verdict(&case, &workspace, *verdict, hunks, &request)?;
                let applied = amendment::apply(&workspace.project.root, &plan, &|_| false)?;
                self.queue.judged(applied.record.clone());
                let case = self.case().ok_or_else(gone)?;
                if let Some(spoken) = case.verdict() {
                    self.queue.decided(Fate::Judged(spoken.verdict, applied.record.clone()));
                }
                let mut message = format!("judged {}; recorded in {}", verdict.word(), applied.record);
                match case.spoken.iter().position(Option::is_none) {
                    Some(open) => {
                        (self.hunk, self.top) = (open, usize::MAX);
                        message = format!("place {} is not judged yet; ] goes on. {message}", open + 1);
                    }
                    None => {
                        self.queue.next();
                        self.opened();
                    }
                }
                Ok(message)
            }
            // What it proposes is one of the others.
            Ask::Confirm => Err(gone()),
            Ask::Withdraw => {
                let record = self.queue.decision().ok_or_else(gone)?;
                let record = decide::taken_back(&workspace, record.as_str(), &request)?;
                self.queue.read_again();
                let there = self.queue.undone();
                self.opened();
                Ok(match there {
                    true => format!("taken back; recorded in {record}"),
                    false => format!("taken back, recorded in {record}; run the test to see the drift again"),
                })
            }
        }
    }
}
