//! Which drifts are the same change, and what people said of it already. Takes a survey and the decisions,
//! gives groups of cases and the reason that may be offered again. Never decides: a reason that is offered
//! counts for the next drift only when a person confirms it there.

use std::sync::Arc;

use crate::drift;
use crate::ledger::{Entry, Kind, Ledger};
use crate::survey::{Case, State, Survey};

/// One change with its drifts.
#[derive(Debug, Clone)]
pub struct Distinct<'a> {
    /// See [`drift::Drift::change`].
    pub change: &'a str,
    /// The difference of the first member.
    pub drift: &'a drift::Drift,
    /// In the order of the survey, never empty.
    pub members: Vec<&'a Arc<Case>>,
    /// The newest decision that accepted the same change elsewhere.
    pub offered: Option<&'a Arc<Entry>>,
}

/// The drifts of a survey by the change that they are, in the order of their first members.
pub fn distinct<'a>(survey: &'a Survey, ledger: &'a Ledger) -> Vec<Distinct<'a>> {
    let mut groups: Vec<Distinct> = Vec::new();
    let mut known = std::collections::HashMap::new();
    for case in survey.cases.iter().filter(|case| case.state == State::Drift) {
        let Some(found) = &case.drift else { continue };
        let at = *known.entry(found.change.as_str()).or_insert_with(|| {
            let offered = offered(&found.change, ledger);
            groups.push(Distinct { change: &found.change, drift: found, members: Vec::new(), offered });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(at) {
            group.members.push(case);
        }
    }
    groups
}

/// The newest decision that accepted this change somewhere and was not taken back.
pub fn offered<'a>(change: &str, ledger: &'a Ledger) -> Option<&'a Arc<Entry>> {
    let back = |entry: &Entry| {
        let undoes = |other: &Arc<Entry>| other.amendment.withdraws.as_deref() == Some(entry.path.as_str());
        ledger.entries.iter().any(undoes)
    };
    ledger
        .entries
        .iter()
        .filter(|entry| entry.amendment.kind == Kind::Drift && entry.amendment.change.as_deref() == Some(change))
        .find(|entry| !back(entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::pins::Extent;
    use crate::survey::Workspace;

    #[test]
    fn numbers_that_moved_the_same_way_are_one_change_and_a_moved_date_is_another() {
        let fixture = Fixture::committed(
            "//- tests/test_a.py\n\
             from pathlib import Path\n\
             HERE = Path(__file__).parent\n\
             def same(name):\n    \
                 text = make(name)\n    \
                 (HERE / 'actual' / name).write_text(text)\n    \
                 assert text == (HERE / 'golden' / name).read_text()\n\
             def test_a():\n    same('a.txt')\n\
             def test_b():\n    same('b.txt')\n\
             def test_c():\n    same('c.txt')\n\
             //- pindrift.toml\n\
             [pairs]\n\
             'tests/golden/*' = 'tests/actual/*'\n\
             //- tests/golden/a.txt\ntax 0.38\n//- tests/golden/b.txt\nfee 4\ntax 0.24\n//- tests/golden/c.txt\ndue 2026-01-31\n",
        );
        fixture.write(
            "//- tests/actual/a.txt\ntax 0.39\n//- tests/actual/b.txt\nfee 4\ntax 0.25\n//- tests/actual/c.txt\ndue 2026-02-01\n",
        );
        let workspace = Workspace::open(fixture.path()).expect("a workspace");
        let survey = workspace.survey(&Extent::All, &|| false).expect("a survey");
        let groups = distinct(&survey, &workspace.ledger);
        let shown: Vec<(&str, Vec<&str>)> = groups
            .iter()
            .map(|group| {
                let members = group.members.iter().map(|case| case.pin.test.as_str()).collect();
                (group.drift.brief.as_str(), members)
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("tax 0.38 → tax 0.39", vec!["tests/test_a.py::test_a", "tests/test_a.py::test_b"]),
                ("due 2026-01-31 → due 2026-02-01", vec!["tests/test_a.py::test_c"]),
            ]
        );
        assert!(groups.iter().all(|group| group.offered.is_none()));
    }
}
