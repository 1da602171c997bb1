//! Results of proofs between `prove` and `accept`: one file beside the observations, ignored by git. A result
//! belongs to one drift and to the text of the specification that was run.

use serde::{Deserialize, Serialize};

use crate::ledger::Proven;
use crate::observations::records::FOLDER;
use crate::places::RelPath;
use crate::survey::{Case, Workspace};

const NAME: &str = "proofs.json";
/// Results that are kept, the oldest go first.
const MOST: usize = 200;
/// Largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

#[derive(Serialize, Deserialize, Clone, PartialEq)]
#[serde(rename_all = "kebab-case")]
struct Row {
    drift: String,
    proof: String,
    /// Digest of the file of the specification.
    text: String,
    base: String,
    proof_at_base: String,
    pin_at_base: String,
    proof_now: String,
    pin_now: String,
}

fn text_of(workspace: &Workspace, proof: &str) -> Option<String> {
    super::function_of(&workspace.project, proof).map(|(unit, _)| unit.text.digest().to_string())
}

fn read(workspace: &Workspace) -> Vec<Row> {
    let path = RelPath::new(FOLDER).and_then(|folder| folder.join(NAME));
    let real = path.and_then(|path| workspace.project.root.resolved(&path).ok().flatten());
    let small = real.filter(|real| real.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST));
    let text = small.and_then(|real| std::fs::read_to_string(real).ok());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Keeps a result.
pub(super) fn keep(workspace: &Workspace, case: &Case, proof: &str, proven: &Proven) -> Result<(), String> {
    let (Some(drift), Some(text)) = (&case.drift_id, text_of(workspace, proof)) else { return Ok(()) };
    let mut rows = read(workspace);
    rows.retain(|row| row.drift != *drift || row.proof != proof);
    let proven = proven.clone();
    rows.push(Row {
        drift: drift.clone(),
        proof: proof.into(),
        text,
        base: proven.base,
        proof_at_base: proven.proof_at_base,
        pin_at_base: proven.pin_at_base,
        proof_now: proven.proof_now,
        pin_now: proven.pin_now,
    });
    let from = rows.len().saturating_sub(MOST);
    let refuse = |err: &dyn std::fmt::Display| format!("{FOLDER} cannot be written: {err}");
    let folder = RelPath::new(FOLDER).unwrap_or_default();
    let folder = workspace.project.root.resolved(&folder).map_err(|err| refuse(&err))?;
    let folder = folder.ok_or_else(|| refuse(&"it is a link that leads out of the workspace"))?;
    let json = serde_json::to_vec_pretty(&rows[from..]).map_err(|err| refuse(&err))?;
    let mut file = tempfile::NamedTempFile::new_in(&folder).map_err(|err| refuse(&err))?;
    std::io::Write::write_all(&mut file, &json).map_err(|err| refuse(&err))?;
    file.persist(folder.join(NAME)).map_err(|err| refuse(&err))?;
    Ok(())
}

/// The results of a proof of this very drift, where the specification is still the one that was run.
pub fn kept(workspace: &Workspace, case: &Case, proof: &str) -> Option<Proven> {
    let (drift, text) = (case.drift_id.as_ref()?, text_of(workspace, proof)?);
    let row = read(workspace).into_iter().find(|row| row.drift == *drift && row.proof == proof && row.text == text)?;
    Some(Proven {
        base: row.base,
        proof_at_base: row.proof_at_base,
        pin_at_base: row.pin_at_base,
        proof_now: row.proof_now,
        pin_now: row.pin_now,
    })
}
