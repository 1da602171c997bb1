//! What the pytest plugin wrote, read as it is documented in `pindrift_observe.py`. Takes the folder of a run,
//! gives tests with what they compared. A line that cannot be read costs only itself.

use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use serde::Deserialize;

use crate::observations::records::{Value, base64};

/// File from the root and 1-based line.
pub type At = (String, usize);

/// One side of a comparison.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Side {
    #[serde(rename = "s")]
    text: Option<String>,
    #[serde(rename = "b")]
    bytes: Option<String>,
    #[serde(rename = "r")]
    literal: Option<String>,
    /// Digest of a long value, as [`crate::oracles::Content::digest`] has it.
    #[serde(rename = "h")]
    pub digest: Option<String>,
    #[serde(rename = "p")]
    preimage: Option<String>,
    /// What was printed is not certainly the whole value.
    #[serde(skip)]
    pub lossy: bool,
}

impl Side {
    pub fn of_text(text: &str) -> Side {
        Side { text: Some(text.to_string()), ..Side::default() }
    }

    /// A value inside quotation marks: a text, or what `Debug` gave for something else.
    pub fn of_quoted(inner: &str) -> Side {
        Side { text: Some(inner.to_string()), literal: Some(inner.to_string()), ..Side::default() }
    }

    /// The same, read off a diff that shows no carriage returns.
    pub fn of_diff(text: &str) -> Side {
        Side { lossy: true, ..Side::of_quoted(text) }
    }

    /// A value as its language prints it.
    pub fn of_source(source: &str) -> Side {
        Side { literal: Some(source.to_string()), ..Side::default() }
    }

    /// The value as it is recorded; `None` where only its digest is known, or nothing.
    pub fn value(&self) -> Option<Value> {
        let text = self.text.clone().map(Value::Text);
        text.or_else(|| self.bytes.clone().map(Value::Base64)).or_else(|| self.literal.clone().map(Value::Literal))
    }

    /// The same where both a text and a literal are known and the recorded value is no text.
    pub fn literal(&self) -> Option<Value> {
        self.literal.clone().map(Value::Literal)
    }

    /// The bytes behind a digest.
    pub fn preimage(&self) -> Option<Vec<u8>> {
        base64(self.preimage.as_deref()?)
    }

    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "k", rename_all = "kebab-case")]
pub enum Event {
    Session {
        pytest: String,
        python: String,
    },
    Start {
        id: String,
    },
    /// A comparison whose innermost place of the project is that of a pin.
    Cmp {
        op: String,
        ok: bool,
        #[serde(rename = "l")]
        left: Box<Side>,
        #[serde(rename = "r")]
        right: Box<Side>,
        at: Vec<At>,
        /// Baselines that the test opened before, the last one last.
        #[serde(default, rename = "o")]
        opened: Vec<String>,
    },
    /// An assert without a comparison held.
    Pass {
        at: Vec<At>,
    },
    /// A file was held against a baseline; `bytes`: of one that differs, where they are known.
    File {
        path: String,
        ok: bool,
        #[serde(default, rename = "b")]
        bytes: Option<String>,
        at: Vec<At>,
    },
    /// A value was held against an entry, a file of its own or a folder, by a snapshot plugin.
    Snap {
        path: String,
        entry: Option<String>,
        ok: bool,
        #[serde(rename = "v")]
        value: Box<Side>,
        at: Vec<At>,
    },
    /// An assertion failed that prints no values.
    Broke {
        message: String,
        at: Vec<At>,
    },
    /// The test opened a baseline for writing, or moved or removed it.
    Write {
        path: String,
        at: Vec<At>,
    },
    /// An option or variable that was neutralised.
    Option {
        name: String,
    },
    Variable {
        name: String,
    },
    Report {
        when: String,
        outcome: String,
        at: Vec<At>,
        /// What failed is an assertion of the test, no other error.
        #[serde(default)]
        asserted: bool,
    },
    End,
    Collect {
        id: String,
        message: String,
    },
    Finish {
        status: i32,
    },
}

/// One run of one test.
#[derive(Debug, Clone, Default)]
pub struct Test {
    pub id: String,
    pub events: Vec<Event>,
    /// It came to its end; else the process died in it.
    pub ended: bool,
}

impl Test {
    pub fn reports(&self) -> impl Iterator<Item = (&str, &str, &[At])> {
        self.events.iter().filter_map(|event| match event {
            Event::Report { when, outcome, at, .. } => Some((when.as_str(), outcome.as_str(), at.as_slice())),
            _ => None,
        })
    }

    /// It was set up, and then an assertion of it failed.
    pub fn failed_by_assertion(&self) -> bool {
        self.events.iter().any(|event| {
            matches!(event, Event::Report { when, outcome, asserted: true, .. } if when == "call" && outcome == "failed")
        })
    }

    pub fn is(&self, word: &str) -> bool {
        self.reports().any(|(_, outcome, _)| outcome == word)
    }
}

/// Everything of one run.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub tests: Vec<Test>,
    /// Outside of tests.
    pub others: Vec<Event>,
}

/// Longest line that is read, in bytes, and most of all.
const LONGEST: u64 = 24 << 20;
const MOST: u64 = 2 << 30;

/// Reads all files of the folder.
pub fn read(folder: &Path) -> Seen {
    let mut seen = Seen::default();
    let Ok(entries) = std::fs::read_dir(folder) else { return seen };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext == "jsonl"));
    files.sort();
    let mut left = MOST;
    for file in files {
        let Ok(file) = std::fs::File::open(file) else { continue };
        seen.add(&mut BufReader::new(file), &mut left);
    }
    seen
}

impl Seen {
    /// Adds the lines of one process.
    pub fn add(&mut self, lines: &mut dyn BufRead, left: &mut u64) {
        let mut test: Option<Test> = None;
        loop {
            let mut line = Vec::new();
            let Ok(read @ 1..) = lines.take(LONGEST).read_until(b'\n', &mut line) else { break };
            *left = left.saturating_sub(read as u64);
            if *left == 0 {
                break;
            }
            let Ok(event) = serde_json::from_slice::<Event>(&line) else { continue };
            match (event, &mut test) {
                (Event::Start { id }, _) => {
                    self.tests.extend(test.take());
                    test = Some(Test { id, ..Test::default() });
                }
                (Event::End, open) => {
                    self.tests.extend(open.take().map(|test| Test { ended: true, ..test }));
                }
                (event, Some(test)) => test.events.push(event),
                (event, None) => self.others.push(event),
            }
        }
        self.tests.extend(test.take());
    }
}
