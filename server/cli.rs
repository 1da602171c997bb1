//! The command line, a thin front: takes arguments, calls the flow, gives text and an exit status.
//! Decides nothing about a drift. Only `review` asks something on a terminal. A panic below ends as one line and exit 2,
//! a reader that hangs up (`| head`) as silence.

mod args;
mod decide;
mod demo;
mod doctor;
mod gate;
mod judge;
mod look;
mod observe;
mod past;
mod propose;
mod prove;
mod render;
mod review;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Call, Command};

/// What one call prints and how it ends.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// For standard output.
    pub out: String,
    /// For standard error.
    pub err: String,
    pub status: u8,
}

/// Nothing needs a person.
pub const FINE: u8 = 0;
/// A drift, a refusal, a broken chain: something needs a person.
pub const WANTS_A_PERSON: u8 = 1;
/// The call or the workspace is unusable.
pub const UNUSABLE: u8 = 2;

impl Outcome {
    pub fn new(out: String, status: u8) -> Outcome {
        Outcome { out, err: String::new(), status }
    }

    /// One line to standard error that says what to do.
    pub fn refused(message: impl std::fmt::Display, status: u8) -> Outcome {
        Outcome { out: String::new(), err: format!("pindrift: {message}\n"), status }
    }
}

/// Where and how a call runs.
#[derive(Debug, Clone)]
pub struct Place {
    pub cwd: PathBuf,
    /// Colour may be used.
    pub colour: bool,
}

/// Stack of the thread that does the work: sources are nested as deep as their authors like.
const STACK: usize = 256 << 20;

/// The whole program.
pub fn main() -> ExitCode {
    let call = match Call::try_parse() {
        Ok(call) => call,
        Err(asked) => {
            let one_line = asked.use_stderr() && asked.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
            if one_line {
                return finish(Outcome::refused(usage(&asked.render().to_string()), UNUSABLE));
            }
            // A reader that hung up has nothing to be told.
            let _ = asked.print();
            return ExitCode::from(if asked.use_stderr() { UNUSABLE } else { FINE });
        }
    };
    if matches!(call.command, Command::Server { .. }) {
        return crate::wire::serve();
    }
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let outcome = match std::env::current_dir() {
        Ok(cwd) => guarded(move || run(call.command, &Place { cwd, colour })),
        Err(err) => Outcome::refused(format_args!("the current folder cannot be read: {err}"), UNUSABLE),
    };
    finish(outcome)
}

/// What the parser says in several lines, in one: what is wrong, then the usage.
fn usage(said: &str) -> String {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let (usage, wrong): (Vec<&str>, Vec<&str>) = lines
        .iter()
        .filter(|line| !line.starts_with("For more information"))
        .partition(|line| line.starts_with("Usage:"));
    let wrong = wrong.join(" ");
    let wrong = wrong.strip_prefix("error: ").unwrap_or(&wrong);
    match usage.first().and_then(|usage| usage.strip_prefix("Usage: ")) {
        Some(usage) => format!("{wrong}; use: {usage}"),
        None => format!("{wrong}; `pindrift --help` lists the calls"),
    }
}

fn finish(outcome: Outcome) -> ExitCode {
    // Both ignore a closed pipe: whoever closed it has read enough.
    let _ = std::io::stdout().lock().write_all(outcome.out.as_bytes()).and_then(|()| std::io::stdout().flush());
    let _ = std::io::stderr().lock().write_all(outcome.err.as_bytes());
    ExitCode::from(outcome.status)
}

/// Runs on a deep stack; a panic becomes one line.
fn guarded(work: impl FnOnce() -> Outcome + Send + 'static) -> Outcome {
    static WHERE: std::sync::Mutex<Option<String>> = std::sync::Mutex::new(None);
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
        *WHERE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = place;
    }));
    let ended = std::thread::Builder::new().name("pindrift".into()).stack_size(STACK).spawn(work).map(|it| it.join());
    match ended {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => {
            let place = WHERE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
            let place = place.unwrap_or_else(|| "an unknown place".into());
            Outcome::refused(
                format_args!(
                    "stopped by a fault of its own, at {place}. Files are written whole or not at all; \
                     `pindrift check` names an unfinished amendment, if there is one. Please report this."
                ),
                UNUSABLE,
            )
        }
        Err(err) => Outcome::refused(format_args!("could not start its worker: {err}"), UNUSABLE),
    }
}

fn run(command: Command, place: &Place) -> Outcome {
    match command {
        Command::Pins { paths, format } => look::pins(&paths, format, place),
        Command::Check { paths, require_observed, strict, format } => {
            look::check(&paths, require_observed, strict, format, place)
        }
        Command::Diff { of, format } => look::diff(&of, format, place),
        Command::Doctor => doctor::doctor(place),
        // Answered in `main`: it has its own threads and its own way to end.
        Command::Server { .. } => Outcome::refused("`server` is a call of its own", UNUSABLE),
        Command::Demo { dir } => demo::demo(&dir, place),
        Command::Accept { finish: true, .. } => decide::finish(place),
        Command::Accept { drift, test, oracle, why, same_reason, proof, authority, dry_run, format, .. } => {
            let reason = if same_reason { None } else { Some(why.text()) };
            let said = decide::Accept { drift, test, oracle, reason, proof, authority, dry_run, shape: format };
            decide::accept(said, place)
        }
        Command::Record { paths, why, dry_run } => decide::record(&paths, why.text(), dry_run, place),
        Command::Explain { what, base, why, authority } => {
            decide::explain(&what, base.as_deref(), why.text(), authority, place)
        }
        Command::Reclassify { test, to, why, authority } => decide::reclassify(&test, to, why.text(), authority, place),
        Command::Withdraw { amendment, why } => decide::withdraw(&amendment, why.text(), place),
        Command::Log { what, suspected, format } => past::log(what.as_deref(), suspected, format, place),
        Command::Audit { base, format } => gate::audit(&base, format, place),
        Command::Observe { tests, repeat, format } => observe::observe(&tests, repeat.into(), format, place),
        Command::Review { paths } => review::review(&paths, place),
        Command::Retire { what, base, why } => judge::retire(&what, base.as_deref(), why.text(), place),
        Command::Prove { test, oracle, proof, base, format } => {
            prove::prove(&prove::Said { test, oracle, proof, base, shape: format }, place)
        }
        Command::Verdict { drift, verdict, hunks, why } => judge::verdict(&drift, verdict, &hunks, why.text(), place),
        Command::Judge { test, judgement, oracle, why } => {
            judge::judge(&test, judgement, oracle.as_deref(), why.text(), place)
        }
        Command::Propose { drift, verdict, why, by, lines, oracle, show } => {
            let said = propose::Propose { drift, verdict, reason: why.text(), by, lines, oracle, show };
            propose::propose(said, place)
        }
        Command::Confirm { drift, reason, proof, authority } => {
            propose::confirm(propose::Confirm { drift, reason, proof, authority }, place)
        }
    }
}
