//! The server over real pipes against everything that a client may do to it: broken frames, every way to
//! end, panics, computing requests, unanswered and unread messages, large and fast documents.

#[path = "../editor/mod.rs"]
mod editor;

mod ends;
mod frames;
mod load;

use editor::{Pipe, command};
use serde_json::{Value, json};

pub const URI: &str = "file:///tmp/pindrift-robust/nothing/test_nothing.py";

/// A server with the test triggers on, initialized without any capability.
pub fn server() -> Pipe {
    let mut pipe = Pipe::with(command().env("PINDRIFT_TEST_PANIC", "1").env("PINDRIFT_LOG", "error"));
    pipe.initialize(json!({ "processId": null, "capabilities": {} }));
    pipe
}

pub fn open(pipe: &mut Pipe, text: &str) {
    pipe.notify(
        "textDocument/didOpen",
        json!({ "textDocument": { "uri": URI, "languageId": "python", "version": 0, "text": text } }),
    );
}

pub fn trigger(pipe: &mut Pipe, what: &str) -> i64 {
    pipe.request(
        "workspace/executeCommand",
        json!({ "command": "pindrift.test", "arguments": [{ "do": what, "uri": URI }] }),
    )
}

/// An ordinary hover is answered.
pub fn alive(pipe: &mut Pipe) -> Value {
    let answer = pipe.ask(
        "textDocument/hover",
        json!({ "textDocument": { "uri": URI }, "position": { "line": 0, "character": 0 } }),
    );
    assert!(answer.get("result").is_some(), "{answer}");
    answer
}
