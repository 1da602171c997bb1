//! The words of the command line. Takes arguments, gives a [`Call`]; decides nothing.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Amend characterization tests on purpose: see where code drifted from what its tests recorded,
/// review the exact difference, write down why it may change.
#[derive(Debug, Parser)]
#[command(name = "pindrift", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "Exit status: 0 nothing needs a person, 1 something does, 2 the call or the workspace \
                        is unusable.")]
pub struct Call {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// The language server, over standard input and output
    Server {
        /// Accepted because many clients pass it; there is no other transport
        #[arg(long)]
        stdio: bool,
    },
    /// Write a small workspace with history and fresh drifts, and show what there is to see
    Demo {
        /// An empty or new folder
        #[arg(default_value = "pindrift-demo")]
        dir: PathBuf,
    },
    /// Every pin with its oracle; nothing is compared
    Pins {
        /// Files or folders; the whole workspace when none is given
        paths: Vec<PathBuf>,
        #[arg(long, value_enum, default_value_t)]
        format: Shape,
    },
    /// Pins, observations, drifts and findings: what an editor would underline
    Check {
        /// Files or folders; the whole workspace when none is given
        paths: Vec<PathBuf>,
        /// Fail also when nothing on disk tells what a pin's code does now
        #[arg(long)]
        require_observed: bool,
        /// Fail also on warnings
        #[arg(long)]
        strict: bool,
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Run the tests, all or these, and record what they produce
    Observe {
        /// Test ids or files; every test when none is given
        tests: Vec<String>,
        /// Run them N times under other time zones, locales, hash seeds and orders, to find what moves
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=20))]
        repeat: u8,
        #[arg(long, value_enum, default_value_t)]
        format: Shape,
    },
    /// Go through the drifts one by one in the terminal, and decide on each
    Review {
        /// Files or folders; the whole workspace when none is given
        paths: Vec<PathBuf>,
    },
    /// One drift as a diff
    Diff {
        /// A drift's id, or a test's
        #[arg(value_name = "DRIFT|TEST")]
        of: String,
        #[arg(long, value_enum, default_value_t)]
        format: DiffShape,
    },
    /// Amend one oracle, with a reason
    Accept {
        /// The drift's id, as check shows it
        #[arg(value_name = "DRIFT", required_unless_present_any = ["test", "finish"], conflicts_with = "test")]
        drift: Option<String>,
        /// Instead of an id: a test that has exactly one drift
        #[arg(long, value_name = "ID")]
        test: Option<String>,
        /// With --test: the oracle, when the test has several
        #[arg(long, value_name = "KEY", requires = "test")]
        oracle: Option<String>,
        #[command(flatten)]
        why: Why,
        /// Take the reason that was given for another drift of the same change
        #[arg(long, conflicts_with = "reason")]
        same_reason: bool,
        /// Specification test that expects exactly the new behaviour
        #[arg(long, value_name = "TEST")]
        proof: Option<String>,
        /// The rule or decision on which the new behaviour rests
        #[arg(long, value_name = "TEXT")]
        authority: Option<String>,
        /// Show everything that would be written, write nothing
        #[arg(long)]
        dry_run: bool,
        /// Finish what an interrupted call left half done
        #[arg(long, conflicts_with_all = ["drift", "test", "dry_run"])]
        finish: bool,
        #[arg(long, value_enum, default_value_t)]
        format: Shape,
    },
    /// Take new baselines, and only new ones, into the record
    Record {
        /// Files or folders; the whole workspace when none is given
        paths: Vec<PathBuf>,
        #[command(flatten)]
        why: Why,
        /// List what would be recorded, write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Write the reason after the fact, for a baseline that has already changed
    Explain {
        /// A baseline's path, or a test
        #[arg(value_name = "PATH|TEST")]
        what: String,
        /// Revision with the content before the change
        #[arg(long, value_name = "REV")]
        base: Option<String>,
        #[command(flatten)]
        why: Why,
        #[arg(long, value_name = "TEXT")]
        authority: Option<String>,
    },
    /// Say what kind of test this is: characterization or specification
    Reclassify {
        test: String,
        #[arg(long, value_enum)]
        to: RoleWord,
        #[command(flatten)]
        why: Why,
        /// Specification: where the intended behaviour is written
        #[arg(long, value_name = "TEXT")]
        authority: Option<String>,
    },
    /// Keep the oracle: say of a drift, or of places of it, that the code or the harness is to be fixed
    Verdict {
        drift: String,
        #[arg(value_enum)]
        verdict: VerdictWord,
        /// A place of the drift, counted as `diff` shows them; may be given several times. All when absent
        #[arg(long = "hunk", value_name = "N")]
        hunks: Vec<usize>,
        #[command(flatten)]
        why: Why,
    },
    /// For programs: leave a verdict and a draft of the reason. Without a verdict the reviewer of your settings is asked
    Propose {
        /// The drift; all that have no proposal when none is given
        drift: Option<String>,
        #[arg(long, value_enum)]
        verdict: Option<ProposedVerdict>,
        #[command(flatten)]
        why: Why,
        /// Name of the program
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        /// An observed line that looks suspicious, from 1; may be given several times
        #[arg(long = "line", value_name = "N")]
        lines: Vec<usize>,
        /// The oracle as drafted: a file that holds exactly what was observed
        #[arg(long, value_name = "FILE")]
        oracle: Option<PathBuf>,
        /// Print the drift as the reviewer gets it, ask nobody
        #[arg(long)]
        show: bool,
    },
    /// Make a decision of what a program proposed
    Confirm {
        drift: String,
        /// Another reason than the draft
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        reason: Option<String>,
        /// Specification test that expects exactly the new behaviour, where the change is intended
        #[arg(long, value_name = "TEST")]
        proof: Option<String>,
        /// The rule or decision on which the new behaviour rests
        #[arg(long, value_name = "TEXT")]
        authority: Option<String>,
    },
    /// Say what you think of pinned behaviour
    Judge {
        test: String,
        #[arg(value_enum)]
        judgement: JudgementWord,
        /// The oracle, when the test has several
        #[arg(long, value_name = "KEY")]
        oracle: Option<String>,
        #[command(flatten)]
        why: Why,
    },
    /// End a pin on the record, before or after it is deleted
    Retire {
        /// A test, or the path of a baseline
        #[arg(value_name = "TEST|PATH")]
        what: String,
        /// Revision that still has the pin; HEAD when it is not in the work tree any more
        #[arg(long, value_name = "REV")]
        base: Option<String>,
        #[command(flatten)]
        why: Why,
    },
    /// Undo an amendment with another one
    Withdraw {
        /// The amendment's file, or the ten digits at the end of its name
        amendment: String,
        #[command(flatten)]
        why: Why,
    },
    /// Why a baseline is what it is
    Log {
        /// A baseline, a test file, or a test; everything when none is given
        #[arg(value_name = "PATH|TEST")]
        what: Option<String>,
        /// Only pins that somebody marked as a suspected bug
        #[arg(long)]
        suspected: bool,
        #[arg(long, value_enum, default_value_t)]
        format: Shape,
    },
    /// The gate: every oracle changed since the merge base has its decisions
    Audit {
        /// The branch or revision that the change is to be merged into
        #[arg(long, value_name = "REV")]
        base: String,
        #[arg(long, value_enum, default_value_t)]
        format: GateFormat,
    },
    /// Prove a drift intended: runs a specification test that expects the new behaviour, and the pin, on an older
    /// revision in a folder of its own, and now
    Prove {
        /// The pinned test
        #[arg(long, value_name = "PIN")]
        test: String,
        /// The oracle, when the test has several
        #[arg(long, value_name = "KEY")]
        oracle: Option<String>,
        /// The specification test
        #[arg(long, value_name = "SPEC")]
        proof: String,
        /// Revision before the change
        #[arg(long, value_name = "REV")]
        base: String,
        #[arg(long, value_enum, default_value_t)]
        format: Shape,
    },
    /// What was found here, and why: root, settings, git, tools, editors
    Doctor,
}

/// The reason of a decision.
#[derive(Debug, Args)]
pub struct Why {
    /// One honest sentence; the variable DRIFT_REASON serves where this is absent
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: Option<String>,
}

impl Why {
    /// What was given, or `""`: whether that will do is decided elsewhere.
    pub fn text(self) -> String {
        self.reason.or_else(|| std::env::var("DRIFT_REASON").ok()).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Json,
    Github,
    Sarif,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum GateFormat {
    #[default]
    Text,
    Json,
    /// Annotations of a pull request
    Github,
    Sarif,
    /// A summary of a pull request's decisions
    Markdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Shape {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum DiffShape {
    #[default]
    Text,
    Patch,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RoleWord {
    Characterization,
    Specification,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerdictWord {
    /// The code is to be fixed
    Unintended,
    /// The test harness is to be fixed
    Noise,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProposedVerdict {
    Intended,
    Unintended,
    Noise,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum JudgementWord {
    Deliberate,
    SuspectedBug,
    /// A product contract: somebody relies on it
    Contract,
    /// Takes an earlier judgement back
    Unjudged,
}
