//! The rules of the base held against the decisions of a change: who may confirm, which changes need a proof,
//! which words no reason may hold. Takes the base's policy, gives items. What the change itself says of the policy
//! counts for nothing here; that it is another one is told.

use super::{Audit, Item, Outcome, Record, short, wrong};
use crate::ledger::{Amendment, Entry, Kind};
use crate::places::RelPath;
use crate::survey::SETTINGS;

impl Audit<'_> {
    pub(super) fn policy(&mut self, record: &Record, commit: &str) {
        let policy = &self.base.project.settings.policy;
        for entry in record.entries.iter().filter(|entry| record.fresh.contains(&entry.path)) {
            let amendment = &entry.amendment;
            if !policy.holds_for(files(amendment)) {
                continue;
            }
            if let Some(message) = self.unconfirmed(entry) {
                self.items.push(wrong(&entry.path, message));
            }
            if let Some(word) = policy.forbids(&amendment.reason) {
                let message = format!(
                    "{}: the policy at the base allows no reason with {word:?}; withdraw it, and say what it stands for",
                    entry.path
                );
                self.items.push(wrong(&entry.path, message));
            }
            if amendment.kind == Kind::Drift && policy.wants_proof(files(amendment)) && !proven(amendment) {
                let test = amendment.pin.as_ref().map_or(amendment.oracle.as_str(), |pin| pin.test.as_str());
                let message = format!(
                    "{}: the policy at the base wants a proof for {}; withdraw it, run `pindrift prove --test {test} \
                     --proof SPEC --base {}`, and accept with `--proof`",
                    entry.path, amendment.oracle, self.named
                );
                self.items.push(wrong(&entry.path, message));
            }
        }
        for trouble in &policy.troubles {
            let (Some(file), base) = (RelPath::new(SETTINGS), short(commit)) else { continue };
            self.items.push(Item {
                outcome: Outcome::Noted,
                amendments: Vec::new(),
                ..wrong(&file, format!("the policy at {base} is not whole, so this rule held nothing back: {trouble}"))
            });
        }
        let now = &self.workspace.project.settings.policy;
        if now != policy && *policy != Default::default() {
            let (Some(file), counts) = (RelPath::new(SETTINGS), short(commit)) else { return };
            self.items.push(Item {
                outcome: Outcome::Noted,
                amendments: Vec::new(),
                ..wrong(&file, format!("[policy] is changed here; the one of {counts} counts until this is merged"))
            });
        }
    }

    fn unconfirmed(&self, entry: &Entry) -> Option<String> {
        let people = &self.base.project.settings.policy.confirm;
        let amendment = &entry.amendment;
        let who = match (&amendment.confirmed_by, &amendment.proposed_by) {
            (Some(who), _) => who.as_str(),
            (None, None) => amendment.author.as_str(),
            (None, Some(_)) => "",
        };
        let (name, mail) =
            who.split_once('<').map_or((who, ""), |(name, mail)| (name.trim(), mail.trim_end_matches('>')));
        if people.is_empty() || people.iter().any(|person| person == who || person == name || person == mail) {
            return None;
        }
        let who = if who.is_empty() { "nobody" } else { who };
        Some(format!(
            "{} was confirmed by {who}; the policy at the base wants one of {}",
            entry.path,
            people.join(", ")
        ))
    }
}

/// The four results are those of a proof.
fn proven(amendment: &Amendment) -> bool {
    amendment.proof.is_some() && amendment.proven.as_ref().is_some_and(|proven| proven.proves())
}

/// The baseline and the test file that a decision is about.
fn files(amendment: &Amendment) -> impl Iterator<Item = &str> {
    let oracle = amendment.oracle.split('#').next();
    oracle.into_iter().chain(amendment.pin.as_ref().map(|pin| pin.file.as_str()))
}
