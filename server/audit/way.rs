//! Whether amendments lead from one content to another: a path through their digests, or their changes
//! put together as a clean merge does. Pure functions of contents and amendments.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::ledger::{Amendment, merged, patched};
use crate::oracles::Content;

/// Most contents that are put together before giving up.
const MOST: usize = 64;

/// A step that a decision allows; taken back when the amendment went with its effect (a revert).
#[derive(Debug, Clone, Copy)]
pub struct Edge<'a> {
    pub amendment: &'a Amendment,
    pub backwards: bool,
}

impl Edge<'_> {
    fn from(&self) -> Option<&str> {
        let end = if self.backwards { &self.amendment.after } else { &self.amendment.before };
        end.as_deref()
    }

    fn to(&self) -> Option<&str> {
        let end = if self.backwards { &self.amendment.before } else { &self.amendment.after };
        end.as_deref()
    }
}

/// Indices of the edges that lead from `old` to one of `wanted`; `None` stands for no oracle at all.
pub fn way(old: Option<&Content>, wanted: &[Option<String>], edges: &[Edge]) -> Option<BTreeSet<usize>> {
    path(old.map(Content::digest), wanted, edges).or_else(|| composed(old?, wanted, edges))
}

fn path(old: Option<String>, wanted: &[Option<String>], edges: &[Edge]) -> Option<BTreeSet<usize>> {
    // Content → the edge by which it was reached.
    let mut reached: BTreeMap<Option<String>, Option<usize>> = BTreeMap::from([(old.clone(), None)]);
    let mut open = VecDeque::from([old]);
    while let Some(at) = open.pop_front() {
        if wanted.contains(&at) {
            let mut used = BTreeSet::new();
            let mut at = at;
            while let Some(Some(index)) = reached.get(&at) {
                used.insert(*index);
                at = edges[*index].from().map(str::to_string);
            }
            return Some(used);
        }
        for (index, edge) in edges.iter().enumerate() {
            let to = edge.to().map(str::to_string);
            if edge.from() == at.as_deref() && !reached.contains_key(&to) {
                reached.insert(to.clone(), Some(index));
                open.push_back(to);
            }
        }
    }
    None
}

fn composed(old: &Content, wanted: &[Option<String>], edges: &[Edge]) -> Option<BTreeSet<usize>> {
    let mut known: Vec<(Content, String, BTreeSet<usize>)> = vec![(old.clone(), old.digest(), BTreeSet::new())];
    let mut at = 0;
    while at < known.len() && known.len() < MOST {
        let (content, digest, used) = known[at].clone();
        let mut found: Vec<(Content, BTreeSet<usize>)> = Vec::new();
        for (index, edge) in edges.iter().enumerate() {
            if edge.from() != Some(digest.as_str()) {
                continue;
            }
            let (Some(to), Some(diff)) = (edge.to(), &edge.amendment.diff) else { continue };
            if let Some(content) = patched(Some(&content), diff, to, edge.backwards) {
                found.push((content, used.iter().copied().chain([index]).collect()));
            }
        }
        for (other, _, also) in known.iter().take(at).skip(1) {
            if let Some(both) = merged(old, other, &content) {
                found.push((both, used.union(also).copied().collect()));
            }
        }
        for (content, used) in found {
            let digest = content.digest();
            if wanted.iter().any(|wanted| wanted.as_ref() == Some(&digest)) {
                return Some(used);
            }
            if known.iter().all(|(_, known, _)| *known != digest) {
                known.push((content, digest, used));
            }
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Kind, diff};

    fn text(text: &str) -> Content {
        Content::Text(text.into())
    }

    fn amendment(before: &str, after: &str) -> Amendment {
        let (before, after) = (text(before), text(after));
        Amendment {
            at: jiff::Timestamp::UNIX_EPOCH,
            author: String::new(),
            via: String::new(),
            proposed_by: None,
            confirmed_by: None,
            kind: Kind::Drift,
            pin: None,
            oracle: "a.txt".into(),
            framework: None,
            verdict: None,
            reason: String::new(),
            authority: None,
            before: Some(before.digest()),
            after: Some(after.digest()),
            proof: None,
            proven: None,
            observed: None,
            diff: Some(diff(Some(&before), Some(&after))),
            after_the_fact: false,
            withdraws: None,
            to: None,
            hunks: Vec::new(),
            change: None,
            pending: false,
        }
    }

    fn check(old: &str, new: &str, steps: &[(&str, &str)]) -> Option<Vec<usize>> {
        let amendments: Vec<Amendment> = steps.iter().map(|(before, after)| amendment(before, after)).collect();
        let edges: Vec<Edge> = amendments.iter().map(|amendment| Edge { amendment, backwards: false }).collect();
        way(Some(&text(old)), &[Some(text(new).digest())], &edges).map(|used| used.into_iter().collect())
    }

    const BASE: &str = "1\n2\n3\n4\n5\n6\n";

    #[test]
    fn a_path_leads_through_every_decision() {
        assert_eq!(check("a", "c", &[("b", "c"), ("a", "b"), ("x", "c")]), Some(vec![0, 1]));
        assert_eq!(check("a", "c", &[("a", "b")]), None);
        assert_eq!(check("a", "a", &[]), Some(vec![]));
        assert_eq!(check("a", "b", &[("b", "a")]), None, "only as it was decided");
    }

    #[test]
    fn changes_of_two_branches_lead_to_their_clean_merge_and_to_nothing_else() {
        let (one, two) = ("one\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\nsix\n");
        let both = "one\n2\n3\n4\n5\nsix\n";
        assert_eq!(check(BASE, both, &[(BASE, one), (BASE, two)]), Some(vec![0, 1]));
        assert_eq!(check(BASE, "one\n2\n3\nX\n5\nsix\n", &[(BASE, one), (BASE, two)]), None);
        assert_eq!(check(BASE, both, &[(BASE, one)]), None);
        // And on from there.
        let on = "one\n2\n3\nfour\n5\nsix\n";
        assert_eq!(check(BASE, on, &[(BASE, one), (BASE, two), (both, on)]), Some(vec![0, 1, 2]));
        // Three branches.
        let three = "1\n2\ndrei\n4\n5\n6\n";
        let all = "one\n2\ndrei\n4\n5\nsix\n";
        assert_eq!(check(BASE, all, &[(BASE, one), (BASE, two), (BASE, three)]), Some(vec![0, 1, 2]));
    }
}
