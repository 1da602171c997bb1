//! Decisions that keep the oracle, from a menu.

use serde_json::{Value, json};

use super::client::Session;
use super::fixture::Fixture;
use super::{BILL, TEST, amendments, drifted, options};

fn codes(session: &Session, path: &str) -> Vec<String> {
    let shown = session.diagnostics.get(&session.uri(path)).cloned().unwrap_or_default();
    shown.iter().filter_map(|one| one["code"].as_str().map(str::to_string)).collect()
}

fn titled<'a>(actions: &'a [Value], title: &str) -> &'a Value {
    let found = actions.iter().find(|action| action["title"].as_str().is_some_and(|own| own.starts_with(title)));
    found.unwrap_or_else(|| panic!("no {title} among {actions:#?}"))
}

#[test]
fn a_drift_is_judged_and_what_was_said_is_shown() {
    let fixture = Fixture::committed(BILL);
    let mut session = Session::open("vscode-languageclient-10.1", fixture.path(), options(true));
    session.open_document(TEST);
    session.until("the drift", |session| drifted(session, TEST));
    let actions = session.actions(TEST, "render(11)", None);
    let unintended = titled(&actions, "Keep the oracle: unintended change");
    assert_eq!(unintended["kind"], "quickfix.pindrift.decide");
    titled(&actions, "Keep the oracle: harness noise");
    let mut argument = unintended["command"]["arguments"][0].clone();
    assert_eq!(unintended["command"]["command"], "pindrift.verdict");

    let refused = session.execute("pindrift.verdict", argument.clone());
    assert!(refused["error"]["message"].as_str().is_some_and(|why| why.starts_with("a reason is needed")), "{refused}");
    argument["reason"] = json!("the fee must not be in the bill");
    let answer = session.execute("pindrift.verdict", argument);
    assert!(
        answer["result"]["amendment"].as_str().is_some_and(|path| path.starts_with(".pindrift/amendments/")),
        "{answer}"
    );
    session.until("the error", |session| codes(session, TEST).contains(&"drift-unintended".to_string()));
    assert_eq!(amendments(&fixture).len(), 1);
    let hover = session.hover(TEST, "render(11)").expect("a hover");
    assert!(hover.contains("Judged unintended on "), "{hover}");
}
