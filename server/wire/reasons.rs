//! What a prompt for a reason can show before it sends one: the reasons given last, and whether what is
//! typed so far will do. Takes the open ledgers and a text, gives plain values. Decides nothing: the
//! commands ask again.

use std::sync::Arc;

use serde_json::{Value, json};

use super::room::View;
use crate::rationale;

/// Most reasons that are offered again.
const MOST: usize = 8;

/// `{"last": […], "refusal": …}`; `refusal` is `null` for a reason that may stand, or where none is given.
pub fn answer(views: &[Arc<View>], typed: Option<&str>) -> Value {
    let mut entries: Vec<_> = views.iter().flat_map(|view| &view.workspace().ledger.entries).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.amendment.at));
    let mut last: Vec<&str> = Vec::new();
    for entry in entries {
        let reason = entry.amendment.reason.as_str();
        if last.len() < MOST && !last.contains(&reason) && rationale::refuse_reason(reason).is_none() {
            last.push(reason);
        }
    }
    json!({ "last": last, "refusal": typed.and_then(rationale::refuse_reason) })
}
