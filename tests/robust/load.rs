use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::editor::stretched;
use super::{URI, alive, open, server, trigger};

fn type_at(pipe: &mut super::Pipe, version: i32, column: usize, text: &str) {
    let at = json!({ "line": 0, "character": column });
    pipe.notify(
        "textDocument/didChange",
        json!({
            "textDocument": { "uri": URI, "version": version },
            "contentChanges": [{ "range": { "start": at, "end": at }, "text": text }],
        }),
    );
}

#[test]
fn a_read_after_2000_edits_sees_all_of_them() {
    let mut pipe = server();
    open(&mut pipe, "# \n");
    let mut typed = String::new();
    for version in 1..=2000 {
        let letter = char::from(b'a' + (version % 26) as u8).to_string();
        type_at(&mut pipe, version, version as usize + 1, &letter);
        typed.push_str(&letter);
    }
    let id = trigger(&mut pipe, "text");
    assert_eq!(pipe.answer(id)["result"], Value::String(format!("# {typed}\n")));
}

#[test]
fn reads_among_edits_see_those_before_them() {
    let mut pipe = server();
    open(&mut pipe, "# \n");
    let mut asked = Vec::new();
    for version in 1..=200 {
        type_at(&mut pipe, version, 2, "x");
        asked.push((version as usize, trigger(&mut pipe, "text")));
    }
    for (count, id) in asked {
        assert_eq!(pipe.answer(id)["result"], Value::String(format!("# {}\n", "x".repeat(count))));
    }
}

#[test]
fn a_change_that_does_not_fit_is_waited_out() {
    let mut pipe = server();
    open(&mut pipe, "one\n");
    let range = json!({ "start": { "line": 90, "character": 0 }, "end": { "line": 91, "character": 0 } });
    pipe.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": URI, "version": 1 }, "contentChanges": [{ "range": range, "text": "x" }] }),
    );
    let id = trigger(&mut pipe, "text");
    assert_eq!(pipe.answer(id)["result"], Value::Null, "no wrong text");
    pipe.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": [{ "text": "two\n" }] }),
    );
    let id = trigger(&mut pipe, "text");
    assert_eq!(pipe.answer(id)["result"], "two\n");
}

#[test]
fn a_panic_is_one_request_s_error() {
    let mut pipe = server();
    open(&mut pipe, "x = 1\n");
    let id = trigger(&mut pipe, "panic");
    let answer = pipe.answer(id);
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    alive(&mut pipe);
    assert_eq!(pipe.goodbye(), Some(0));
}

#[test]
fn a_hover_does_not_wait_for_computing_requests() {
    let mut pipe = server();
    open(&mut pipe, "x = 1\n");
    for _ in 0..4 {
        trigger(&mut pipe, "compute");
    }
    let started = Instant::now();
    alive(&mut pipe);
    assert!(started.elapsed() < stretched(Duration::from_secs(3)), "{:?}", started.elapsed());
}

#[test]
fn a_cancelled_request_is_answered_at_once_and_stops() {
    let mut pipe = server();
    let ids: Vec<i64> = (0..40).map(|_| trigger(&mut pipe, "compute")).collect();
    for id in &ids {
        pipe.notify("$/cancelRequest", json!({ "id": id }));
    }
    for id in ids {
        assert_eq!(pipe.answer(id)["error"]["code"], -32800);
    }
    // Forty would have filled every worker, had they not stopped.
    alive(&mut pipe);
}

#[test]
fn unanswered_edits_stop_nothing() {
    let mut pipe = server();
    open(&mut pipe, "# \n");
    for _ in 0..8 {
        trigger(&mut pipe, "edit");
    }
    for version in 1..=300 {
        type_at(&mut pipe, version, 2, "x");
    }
    let id = trigger(&mut pipe, "text");
    assert_eq!(pipe.answer(id)["result"].as_str().map(str::len), Some(303));
}

#[test]
fn a_document_of_20_mb_is_taken() {
    let mut pipe = server();
    let text = "x = 'some text that is not short'\n".repeat(600_000);
    assert!(text.len() > 20_000_000);
    open(&mut pipe, &text);
    alive(&mut pipe);
    type_at(&mut pipe, 1, 0, "# ");
    let id = trigger(&mut pipe, "text");
    assert_eq!(pipe.answer(id)["result"].as_str().map(str::len), Some(text.len() + 2));
}

/// The editor writes 20,000 requests, reads no answer, and goes: all input is taken, the server ends.
#[test]
fn a_client_that_never_reads_stops_nothing() {
    use std::io::Write;
    let mut child = super::command()
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the server starts");
    let mut stdin = child.stdin.take().expect("its input");
    let writing = std::thread::spawn(move || {
        let mut send = |value: Value| {
            let body = value.to_string();
            stdin.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
        };
        send(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "capabilities": {} } }))?;
        for id in 1..=20_000 {
            let params = json!({ "command": "pindrift.nothing", "arguments": [{ "a": "x".repeat(100) }] });
            send(json!({ "jsonrpc": "2.0", "id": id, "method": "workspace/executeCommand", "params": params }))?;
            // Warnings go to the log, which nobody reads either.
            send(json!({ "jsonrpc": "1.0", "method": "x" }))?;
        }
        Ok::<(), std::io::Error>(())
    });
    let until = Instant::now() + Duration::from_secs(240);
    while !writing.is_finished() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    let all_taken = writing.is_finished();
    let ended = (0..3000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        child.try_wait().is_ok_and(|status| status.is_some())
    });
    let _ = child.kill();
    let _ = child.wait();
    assert!(all_taken, "the server stopped reading");
    assert!(writing.join().is_ok_and(|sent| sent.is_ok()));
    assert!(ended, "the server did not end with its input");
}
