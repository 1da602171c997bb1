//! What programs think of a drift: `.pindrift/observed/proposals/<drift>.json`, one file a drift, ignored by git.
//! Takes and gives [`Proposal`]s by the drift's id, so that one about another value is never shown. A proposal is no
//! decision: nothing but a person's `confirm` makes one of it. Never touches another file.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::oracles::Content;
use crate::pins::Trouble;
use crate::places::{RelPath, Root};
use crate::text::one_line;

/// Folder of the proposals, from the root.
pub const FOLDER: &str = ".pindrift/observed/proposals";
/// Largest proposal that is read, in bytes, and most of them.
const LARGEST: u64 = 1 << 20;
const MOST: usize = 10_000;
/// Longest draft of a reason, in characters, and most lines that are pointed at.
const REASON: usize = 1_000;
const LINES: usize = 200;

/// A verdict and a draft made by a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Id of the drift that was looked at.
    pub drift: String,
    /// The program.
    pub by: String,
    /// `intended`, `unintended` or `noise`.
    pub verdict: String,
    /// Draft of the reason.
    pub reason: String,
    /// 1-based lines of the observed content that look suspicious.
    #[serde(default)]
    pub lines: Vec<usize>,
    #[serde(default)]
    pub at: Option<String>,
}

/// What a program answers, not held against anything yet.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    pub verdict: String,
    pub reason: String,
    pub lines: Vec<usize>,
    /// The oracle as the program would write it: exactly what was observed.
    pub oracle: Option<String>,
}

pub const VERDICTS: [&str; 3] = ["intended", "unintended", "noise"];

impl Proposal {
    /// The answer of a program about this drift; an error says what is wrong with it.
    pub fn of(answer: Answer, drift: &str, observed: &Content, by: &str) -> Result<Proposal, String> {
        if !VERDICTS.contains(&answer.verdict.as_str()) {
            let word = one_line(&answer.verdict, 40);
            return Err(format!("the verdict is one of {}, not \"{word}\"", VERDICTS.join(", ")));
        }
        if let Some(oracle) = &answer.oracle
            && *oracle != text(observed)
        {
            return Err("the drafted oracle is not what was observed; leave it out, or copy the observed text".into());
        }
        let reason = one_line(answer.reason.trim(), REASON);
        if reason.is_empty() {
            return Err("the draft of a reason is missing".into());
        }
        let count = text(observed).lines().count().max(1);
        if let Some(line) = answer.lines.iter().find(|line| **line == 0 || **line > count) {
            return Err(format!("line {line} is none of the {count} observed ones"));
        }
        let mut lines = answer.lines;
        lines.sort_unstable();
        lines.dedup();
        lines.truncate(LINES);
        let by = one_line(by.trim(), 100);
        let at = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).ok().map(|at| at.to_string());
        Ok(Proposal { drift: drift.to_string(), by, verdict: answer.verdict, reason, lines, at })
    }

    /// `reviewer proposes unintended (lines 3, 7): the owner must stay`.
    pub fn words(&self) -> String {
        let lines: Vec<String> = self.lines.iter().take(10).map(usize::to_string).collect();
        let lines = match lines.as_slice() {
            [] => String::new(),
            [one] => format!(" (look at line {one})"),
            more => format!(" (look at lines {})", more.join(", ")),
        };
        format!("{} proposes {}{lines}: {}", one_line(&self.by, 60), self.verdict, one_line(&self.reason, 200))
    }
}

/// A content as a program reads it.
pub fn text(content: &Content) -> String {
    match content {
        Content::Text(text) | Content::Value(text) => text.clone(),
        Content::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// All proposals of a root, by drift.
#[derive(Debug, Clone, Default)]
pub struct Proposals {
    by_drift: HashMap<String, Arc<Proposal>>,
    pub troubles: Vec<Trouble>,
}

impl Proposals {
    pub fn read(root: &Root) -> Proposals {
        let mut proposals = Proposals::default();
        let Some(folder) = RelPath::new(FOLDER) else { return proposals };
        let Ok(Some(real)) = root.resolved(&folder) else { return proposals };
        let names = std::fs::read_dir(&real).into_iter().flatten().flatten();
        let mut names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        for name in names.iter().filter(|name| name.ends_with(".json")).take(MOST) {
            let Some(file) = folder.join(name) else { continue };
            match read_one(root, &file) {
                Ok(proposal) => {
                    proposals.by_drift.insert(proposal.drift.clone(), Arc::new(proposal));
                }
                Err(why) => {
                    let message = format!("this proposal cannot be read: {why}; delete it, or let it be made again");
                    proposals.troubles.push(Trouble { file, at: None, message });
                }
            }
        }
        proposals
    }

    pub fn of(&self, drift: &str) -> Option<&Arc<Proposal>> {
        self.by_drift.get(drift)
    }
}

fn read_one(root: &Root, file: &RelPath) -> Result<Proposal, String> {
    let real = root.resolved(file).ok().flatten().ok_or("it leads out of the workspace")?;
    let meta = std::fs::metadata(&real).map_err(|err| err.to_string())?;
    if !meta.is_file() || meta.len() > LARGEST {
        return Err("it is no ordinary file of at most 1 MB".into());
    }
    let bytes = std::fs::read(&real).map_err(|err| err.to_string())?;
    let proposal: Proposal = serde_json::from_slice(&bytes).map_err(|err| err.to_string())?;
    if !VERDICTS.contains(&proposal.verdict.as_str()) || name(&proposal.drift).as_deref() != Some(file.name()) {
        return Err("its verdict is none, or its name is not that of its drift".into());
    }
    Ok(proposal)
}

/// The file's name: an id is 12 hexadecimal digits and nothing else.
fn name(drift: &str) -> Option<String> {
    let is_id = drift.len() == 12 && drift.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| format!("{drift}.json"))
}

/// Leaves a proposal, in place of an older one about the same drift; gives its path.
pub fn leave(root: &Root, proposal: &Proposal) -> Result<RelPath, String> {
    let refuse = |err: &dyn std::fmt::Display| format!("{FOLDER} cannot be written: {err}");
    let folder = RelPath::new(FOLDER).unwrap_or_default();
    let file = name(&proposal.drift).and_then(|name| folder.join(&name)).ok_or("this is no id of a drift")?;
    let real = root.resolved(&folder).map_err(|err| refuse(&err))?;
    let real = real.ok_or_else(|| refuse(&"it is a link that leads out of the workspace"))?;
    std::fs::create_dir_all(&real).map_err(|err| refuse(&err))?;
    let write = |name: &str, bytes: &[u8]| -> Result<(), String> {
        let mut temporary = tempfile::NamedTempFile::new_in(&real).map_err(|err| refuse(&err))?;
        std::io::Write::write_all(&mut temporary, bytes).map_err(|err| refuse(&err))?;
        temporary.persist(real.join(name)).map(drop).map_err(|err| refuse(&err))
    };
    if std::fs::read(real.join(".gitignore")).ok().as_deref() != Some(b"*\n") {
        write(".gitignore", b"*\n")?;
    }
    let text = serde_json::to_string_pretty(proposal).map_err(|err| err.to_string())?;
    write(file.name(), (text + "\n").as_bytes())?;
    Ok(file)
}

/// The proposal was decided on.
pub fn done(root: &Root, drift: &str) {
    let file = name(drift).and_then(|name| RelPath::new(FOLDER)?.join(&name));
    if let Some(Ok(Some(real))) = file.map(|file| root.resolved(&file)) {
        // Left behind it is about a drift that is not there any more, and is never shown.
        let _ = std::fs::remove_file(real);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_held_against_what_was_observed() {
        let observed = Content::Text("net: 10.39\npaid\n".into());
        let answer = |verdict: &str, oracle: Option<&str>, lines: &[usize]| Answer {
            verdict: verdict.into(),
            reason: "rounds half\u{1b}[31m up".into(),
            lines: lines.to_vec(),
            oracle: oracle.map(str::to_string),
        };
        let of = |answer| Proposal::of(answer, "0123456789ab", &observed, "reviewer");
        let proposal = of(answer("intended", Some("net: 10.39\npaid\n"), &[2, 1, 2])).expect("a proposal");
        assert_eq!(proposal.words(), "reviewer proposes intended (look at lines 1, 2): rounds half\\u{1b}[31m up");
        assert!(of(answer("accept", None, &[])).unwrap_err().contains("intended, unintended, noise"));
        assert!(of(answer("intended", Some("net: 10.40\n"), &[])).unwrap_err().contains("not what was observed"));
        assert!(of(answer("noise", None, &[3])).unwrap_err().contains("line 3 is none of the 2"));
        assert!(of(Answer { reason: " ".into(), ..answer("noise", None, &[]) }).unwrap_err().contains("missing"));
    }
}
