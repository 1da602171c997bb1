//! What a prompt for a reason can show before it sends one: the reasons given last, and whether what is
//! typed so far will do. Takes the open ledgers and a text, gives plain values. Decides nothing: the
//! commands ask again.

use std::sync::Arc;

use serde_json::{Value, json};

use super::room::View;
use crate::ledger::Entry;
use crate::rationale;

/// Most reasons that are offered again.
const MOST: usize = 8;

/// `{"last": […], "same": …, "refusal": …}`; `refusal` is `null` for a reason that may stand, or where none is
/// given, `same` the decision that accepted the same change elsewhere, its reason then the first of the last.
pub fn answer(views: &[Arc<View>], same: Option<&Arc<Entry>>, typed: Option<&str>) -> Value {
    let mut entries: Vec<_> = views.iter().flat_map(|view| &view.workspace().ledger.entries).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.amendment.at));
    let mut last: Vec<&str> = same.iter().map(|entry| entry.amendment.reason.as_str()).collect();
    for entry in entries {
        let reason = entry.amendment.reason.as_str();
        if last.len() < MOST && !last.contains(&reason) && rationale::refuse_reason(reason).is_none() {
            last.push(reason);
        }
    }
    let same = same.map(|entry| {
        let test = entry.amendment.pin.as_ref().map(|pin| pin.test.clone());
        json!({ "reason": entry.amendment.reason, "test": test, "amendment": entry.path.as_str() })
    });
    json!({ "last": last, "same": same, "refusal": typed.and_then(rationale::refuse_reason) })
}
