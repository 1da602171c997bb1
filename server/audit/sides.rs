//! Oracles that moved on both sides since the merge base: what was accepted here was held against code that is
//! not the other side's any more. Takes the pairs, looks at the other side only where one of its files that
//! matter changed.

use std::collections::HashMap;

use super::pairs::{self, Held, Pairs};
use super::{Audit, Outcome, short};
use crate::oracles::Refusal;
use crate::past::past;
use crate::pins::Extent;
use crate::survey;

impl Audit<'_> {
    pub(super) fn sides(&mut self, pairs: &Pairs, old: &[Held], new: &[Held], commit: &str) -> Result<(), Refusal> {
        let Some(tip) = self.git.commit(self.named).filter(|tip| tip != commit) else { return Ok(()) };
        let (Some(before), Some(there)) = (self.git.tree(commit), self.git.tree(&tip)) else { return Ok(()) };
        let changed: Vec<(&Held, &Held)> = pairs
            .pairs
            .iter()
            .filter_map(|(was, is)| Some((old.get(*was)?, new.get(*is)?)))
            .filter(|(was, is)| was.digest.is_some() && was.digest != is.digest)
            .filter(|(was, _)| was.pin.oracle.path.as_ref().is_some_and(|path| before.get(path) != there.get(path)))
            .collect();
        if changed.is_empty() {
            return Ok(());
        }
        let other = past(&self.workspace.project.root, self.git, &tip)?;
        let pins = survey::pins(&other.workspace.project, &Extent::All);
        let held = pairs::held(&other.workspace.project, &pins);
        let name = |held: &Held| (held.pin.oracle.key.clone(), held.pin.oracle.span.map(|_| held.pin.test.clone()));
        let theirs: HashMap<_, &Held> = held.iter().map(|held| (name(held), held)).collect();
        for (was, is) in changed {
            // Their decisions came here with their change.
            let theirs_about =
                || other.workspace.ledger.entries.iter().filter(|entry| entry.amendment.is_about(&was.pin));
            let new = || theirs_about().filter(|entry| !before.contains_key(&entry.path));
            if new().next().is_some() && new().all(|entry| self.workspace.ledger.entry(entry.path.as_str()).is_some()) {
                continue;
            }
            let Some(there) = theirs.get(&name(was)).map(|held| &held.digest) else { continue };
            if *there != was.digest && *there != is.digest {
                let message = format!(
                    "changed here and on {} since they parted at {}, so what was accepted here was never held against \
                     the code of both; merge or rebase, run the test again and decide on what it shows then",
                    self.named,
                    short(commit)
                );
                self.item(Outcome::Failed, is, message, vec![]);
            }
        }
        Ok(())
    }
}
