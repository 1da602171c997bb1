//! The commands that change nothing but the record: a verdict, a judgement, the end of a pin.

use serde_json::{Value, json};

use super::{Answer, Office, text};
use crate::amendment::{self, Plan};
use crate::ledger::{Judgement, Verdict};
use crate::oracles::Refusal;
use crate::wire::room::View;
use crate::wire::service::Cancelled;

impl Office {
    pub(super) fn verdict(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let verdict = text(argument, "verdict").and_then(Verdict::of);
        let verdict = verdict.ok_or("say what it is: {\"verdict\": \"unintended\"} or {\"verdict\": \"noise\"}")?;
        let hunks = argument.get("hunks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let hunks: Option<Vec<usize>> =
            hunks.iter().map(|nth| nth.as_u64().and_then(|nth| usize::try_from(nth).ok())).collect();
        let hunks = hunks.ok_or("`hunks` counts the places of the drift from 1")?;
        let meant = self.meant(argument, &|case| case.acceptable(), cancelled)?;
        let workspace = meant.view.workspace();
        let request = self.request(argument, meant.case.drift_id.clone(), why(argument)?, workspace);
        self.record(&meant.view, amendment::plan_verdict(&meant.case, workspace, verdict, &hunks, &request))
    }

    pub(super) fn judge(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let to = text(argument, "judgement").and_then(Judgement::of).ok_or(
            "say what it is: {\"judgement\": \"deliberate\"}, \"suspected-bug\", \"contract\" or \"unjudged\"",
        )?;
        let meant = self.meant(argument, &|_| true, cancelled)?;
        let workspace = meant.view.workspace();
        let request = self.request(argument, None, why(argument)?, workspace);
        self.record(&meant.view, amendment::plan_judge(&meant.case.pin, workspace, to, &request))
    }

    pub(super) fn retire(&self, argument: &Value, cancelled: &Cancelled) -> Answer {
        let meant = self.meant(argument, &|_| true, cancelled)?;
        let workspace = meant.view.workspace();
        let request = self.request(argument, None, why(argument)?, workspace);
        let case = &meant.case;
        self.record(&meant.view, amendment::plan_retire(&case.pin, &case.baseline, workspace, &request))
    }

    fn record(&self, view: &std::sync::Arc<View>, plan: Result<Plan, Refusal>) -> Answer {
        let applied = plan.and_then(|plan| amendment::apply(view.root(), &plan, &|_| false)).map_err(|why| why.0)?;
        self.carry_out(view, &applied, Vec::new())?;
        Ok(json!({ "amendment": applied.record.as_str() }))
    }
}

fn why(argument: &Value) -> Result<String, String> {
    let reason = text(argument, "reason").map(str::to_string);
    reason.ok_or_else(|| "a reason is needed: say in one sentence what made you decide".to_string())
}
