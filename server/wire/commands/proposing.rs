//! `pindrift.propose` and `pindrift.confirm`: a program leaves what it thinks of a drift, a person makes a decision
//! of it. Decides nothing.

use serde_json::{Value, json};

use super::{Answer, Office, text};
use crate::git;
use crate::proposals::{self, Proposal};
use crate::reviewer;
use crate::settings::Personal;
use crate::wire::desk::Event;
use crate::wire::service::Cancelled;

impl Office {
    /// Leaves the proposal of the argument, or without a verdict that of the reviewer in the person's own settings.
    pub(super) fn propose(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let meant = self.meant(argument, &|case| case.drift.is_some(), cancelled)?;
        let case = meant.case.compared();
        let (id, shown) = case.drift_id.as_ref().zip(case.shown()).ok_or("there is no drift here")?;
        let proposal = match text(argument, "verdict") {
            Some(_) => {
                let answer = serde_json::from_value::<proposals::Answer>(argument.clone());
                let answer = answer.map_err(|err| format!("this is no proposal: {err}"))?;
                Proposal::of(answer, id, &shown.after, text(argument, "by").unwrap_or("a program"))?
            }
            None => reviewer::ask(&case, &Personal::read(), &|| cancelled.is_set())?,
        };
        let file = proposals::leave(meant.view.root(), &proposal)?;
        let _ = self.queue.send(Event::Disk(vec![meant.view.root().absolute(&file)]));
        Ok(json!({ "proposal": proposal, "file": file.as_str() }))
    }

    /// Accepts or judges as was proposed, with the draft of the reason or with another one.
    pub(super) fn confirm(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let meant = self.meant(argument, &|case| case.proposal.is_some(), cancelled)?;
        let proposal = meant.case.proposal.clone().ok_or("no program proposed anything about this drift")?;
        let person = git::author(meant.view.workspace().git.as_deref());
        let reason = text(argument, "reason").unwrap_or(&proposal.reason);
        let mut said = json!({
            "drift": proposal.drift, "reason": reason, "proposed-by": proposal.by, "confirmed-by": person,
        });
        for key in ["proof", "authority"] {
            if let Some(value) = text(argument, key) {
                said[key] = json!(value);
            }
        }
        let answer = if proposal.verdict == "intended" {
            self.accept(&said, cancelled)?
        } else {
            said["verdict"] = json!(proposal.verdict);
            self.verdict(&said, cancelled)?
        };
        proposals::done(meant.view.root(), &proposal.drift);
        Ok(answer)
    }
}
