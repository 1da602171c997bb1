use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{server, trigger};

const SOON: Duration = Duration::from_secs(5);

#[test]
fn after_shutdown_and_exit_the_status_is_0_though_the_input_stays_open() {
    let mut pipe = server();
    let started = Instant::now();
    assert_eq!(pipe.goodbye(), Some(0));
    assert!(started.elapsed() < SOON);
}

#[test]
fn after_exit_alone_it_is_1() {
    let mut pipe = server();
    pipe.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(pipe.ended(SOON).and_then(|status| status.code()), Some(1));
}

#[test]
fn after_the_end_of_input_it_is_1() {
    let mut pipe = server();
    pipe.stdin = None;
    assert_eq!(pipe.ended(SOON).and_then(|status| status.code()), Some(1));
}

#[test]
fn a_computing_request_holds_up_no_end() {
    let mut pipe = server();
    trigger(&mut pipe, "compute");
    pipe.stdin = None;
    assert_eq!(pipe.ended(SOON).and_then(|status| status.code()), Some(1));

    let mut pipe = server();
    trigger(&mut pipe, "compute");
    assert_eq!(pipe.goodbye(), Some(0));
}

/// The input stays open in a sibling while the parent dies.
#[test]
fn the_server_goes_when_the_editor_is_killed() {
    let mut parent = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("sleep starts");
    let mut pipe = super::editor::Pipe::open();
    pipe.initialize(json!({ "processId": parent.id(), "capabilities": {} }));
    assert!(pipe.ended(Duration::from_millis(1500)).is_none(), "the parent still lives");
    parent.kill().expect("killed");
    // Not collected yet: a zombie is as gone as any.
    assert!(pipe.ended(SOON).is_some());
    parent.wait().expect("collected");
}

#[test]
fn a_process_that_cannot_be_seen_is_not_taken_for_dead() {
    let mut pipe = super::editor::Pipe::open();
    pipe.initialize(json!({ "processId": 4_000_000_000u32, "capabilities": {} }));
    assert!(pipe.ended(Duration::from_millis(1500)).is_none());
    assert_eq!(pipe.goodbye(), Some(0));
}
