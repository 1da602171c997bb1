//! Open, see, hover, a filler refused, a reason accepted, undo, history: in every profile, with the same
//! bytes at the end.

use std::time::Duration;

use serde_json::json;

use super::client::Session;
use super::fixture::Fixture;
use super::{BILL, PROFILES, TEST, accept_on_disk, amendments, drift_id, drifted, nothing_accepted, options};

const REASON: &str = "the bill counts the fee since rule 7";

/// What stays.
#[derive(Debug, PartialEq)]
struct End {
    test: String,
    golden: String,
    amendments: Vec<String>,
}

impl End {
    fn of(fixture: &Fixture) -> End {
        let amendments = amendments(fixture);
        End { test: fixture.read(TEST), golden: fixture.read("tests/golden/bill.txt"), amendments }
    }
}

/// What stays after the accept, and at the end.
fn story(name: &str, prompts: bool) -> [End; 2] {
    let fixture = Fixture::committed(BILL);
    let before = fixture.read(TEST);
    let mut session = Session::open(name, fixture.path(), options(prompts));
    session.open_document(TEST);
    session.until("the drift", |session| drifted(session, TEST));

    let hover = session.hover(TEST, "render(11)").expect("a hover on the pin");
    assert!(hover.contains("total 10") && hover.contains("total 11"), "{name}: {hover}");
    assert!(hover.lines().count() <= 16, "{name}: {hover}");
    assert_eq!(session.hover(TEST, "from pathlib"), None);

    let id = drift_id(&mut session, TEST);
    let titles: Vec<String> = session
        .actions(TEST, "render(11)", None)
        .iter()
        .filter_map(|action| action["title"].as_str().map(str::to_string))
        .collect();
    assert!(titles.iter().any(|title| title.starts_with("Accept drift: ")), "{titles:?}");
    assert!(session.actions(TEST, "render(11)", Some("source.organizeImports")).is_empty());
    assert!(!session.actions(TEST, "render(11)", Some("quickfix")).is_empty());

    // A filler is refused, however it comes.
    let refused = session.execute("pindrift.accept", json!({ "drift": id, "reason": "update snapshot" }));
    assert!(refused["error"]["message"].is_string(), "{refused}");
    if !prompts {
        session.until("a word to the person", |session| !session.shown.is_empty());
        session.take_shown();
    }
    nothing_accepted(&mut session, &fixture);

    accept(&mut session, &fixture, &id, prompts, REASON);
    session.save(TEST);
    session.until("the drift to go", |session| !drifted(session, TEST));
    assert_eq!(fixture.read("tests/golden/bill.txt"), "total 11\n", "{name}");
    session.until("the record", |_| amendments(&fixture).len() == 1);
    assert_ne!(fixture.read(TEST), before, "{name}: the rationale stands in the test");

    let hover = session.hover(TEST, "render(11)").expect("a hover on the matching pin");
    assert!(hover.contains(REASON), "{name}: {hover}");
    let line1 = line_of(session.text(TEST), "render(11)");
    let uri = session.uri(TEST);
    let history = session.execute("pindrift.history", json!({ "uri": uri, "line1": line1 }));
    let markdown = history["result"]["markdown"].as_str().unwrap_or_else(|| panic!("{history}"));
    assert!(markdown.contains(REASON), "{name}: {markdown}");

    let accepted = End::of(&fixture);

    // Taken back, and decided again: the record says both.
    let actions = session.actions(TEST, "render(11)", Some("quickfix"));
    let withdraw = actions.iter().find(|action| action["kind"] == "quickfix.pindrift.withdraw");
    let withdraw = withdraw.unwrap_or_else(|| panic!("{name}: {actions:#?}"));
    let argument = withdraw["command"]["arguments"][0].clone();
    let answer = session.execute("pindrift.withdraw", argument);
    assert!(answer["result"]["amendment"].is_string(), "{name}: {answer}");
    session.until("the record of it", |_| amendments(&fixture).len() == 2);
    session.save(TEST);
    session.until("the drift again", |session| drifted(session, TEST));
    assert_eq!(fixture.read("tests/golden/bill.txt"), "total 10\n", "{name}");
    [accepted, End::of(&fixture)]
}

fn line_of(text: &str, needle: &str) -> usize {
    text[..text.find(needle).expect("the needle")].matches('\n').count() + 1
}

/// Gives the reason in the way that the client has.
fn accept(session: &mut Session, fixture: &Fixture, id: &str, prompts: bool, reason: &str) {
    if prompts {
        let answer = session.execute("pindrift.accept", json!({ "drift": id }));
        assert!(answer["error"]["message"].is_string(), "the plugin asks, the server insists: {answer}");
        let answer = session.execute("pindrift.accept", json!({ "drift": id, "reason": reason }));
        assert_eq!(answer["result"]["accepted"], true, "{answer}");
    } else {
        write_by_comment(session, fixture, id, reason);
        let answer = session.execute("pindrift.accept", json!({ "drift": id }));
        assert_eq!(answer["result"]["accepted"], true, "{answer}");
    }
    session.until("the comment", |session| {
        session.text(TEST).contains(reason) && !session.text(TEST).contains("[pindrift")
    });
}

/// The comment flow up to the typed reason: every few keys a save, and nothing is accepted by it.
fn write_by_comment(session: &mut Session, fixture: &Fixture, id: &str, reason: &str) {
    let answer = session.execute("pindrift.accept", json!({ "drift": id }));
    assert_eq!(answer["result"]["accepted"], false, "{answer}");
    session.until("the comment that asks", |session| session.text(TEST).contains(id));
    let range = &answer["result"]["placeholder"];
    let text = session.text(TEST).to_string();
    let line = range["start"]["line"].as_u64().expect("a line") as usize;
    let start = text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
    let from = start + range["start"]["character"].as_u64().expect("a column") as usize;
    let to = start + range["end"]["character"].as_u64().expect("a column") as usize;
    assert_eq!(line, range["end"]["line"].as_u64().expect("a line") as usize);
    session.save(TEST);
    session.edit(TEST, from..to, "");
    let mut at = from;
    for (count, key) in reason.chars().enumerate() {
        session.edit(TEST, at..at, key.encode_utf8(&mut [0; 4]));
        at += key.len_utf8();
        if count % 8 == 7 {
            session.idle(Duration::from_millis(300));
            session.save(TEST);
        }
    }
    session.save(TEST);
    nothing_accepted(session, fixture);
    assert!(session.text(TEST).contains(id), "the comment still waits");
}

#[test]
fn the_story_ends_with_the_same_bytes_in_every_editor() {
    let ends: Vec<(&str, [End; 2])> = std::thread::scope(|scope| {
        let running: Vec<_> =
            PROFILES.iter().map(|(name, prompts)| (*name, scope.spawn(move || story(name, *prompts)))).collect();
        running.into_iter().map(|(name, story)| (name, story.join().unwrap_or_else(|_| panic!("{name}")))).collect()
    });
    let (_, first) = &ends[0];
    assert_eq!(first[1].amendments.len(), 2);
    let fixture = Fixture::committed(BILL);
    accept_on_disk(&fixture, REASON);
    assert_eq!(first[0], End::of(&fixture), "the command line");
    for (name, end) in &ends {
        assert_eq!(end, first, "{name}");
    }
}
