use std::time::Duration;

use serde_json::{Value, json};

use super::{URI, alive, open, server};

fn framed(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}

#[test]
fn an_ordinary_hover_is_answered_after_any_malformed_input() {
    let hover = json!({
        "jsonrpc": "2.0", "id": 900, "method": "textDocument/hover",
        "params": { "textDocument": { "uri": URI }, "position": { "line": 0, "character": 0 } },
    })
    .to_string();
    let deep = |count: usize| {
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{}{}}}", "[".repeat(count), "]".repeat(count))
    };
    let table: Vec<(&str, Vec<u8>)> = vec![
        ("broken JSON", framed(b"{\"jsonrpc\":\"2.0\",")),
        ("an array", framed(b"[]")),
        ("an empty object", framed(b"{}")),
        ("a number", framed(b"7")),
        ("bad UTF-8", framed(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\xfe\"}")),
        ("lone surrogate", framed(b"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":[\"\\ud800\"]}")),
        ("nested 10,000 deep", framed(deep(10_000).as_bytes())),
        ("nested 120 deep", framed(deep(120).as_bytes())),
        ("a bare JSON line", b"{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n".to_vec()),
        ("only another header", b"Foo: 1\r\n\r\n".to_vec()),
        ("a length that is no number", b"Content-Length: abc\r\n\r\n".to_vec()),
        ("a stray newline", b"\n".to_vec()),
        ("several stray newlines", b"\r\n\r\n\r\n".to_vec()),
        ("three headers", {
            let body = b"{\"jsonrpc\":\"2.0\",\"method\":\"$/x\"}";
            let mut all = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nX-Y: z\r\n".to_vec();
            all.extend(framed(body));
            all
        }),
        ("line feeds alone in the header", {
            let body = "{\"jsonrpc\":\"2.0\",\"method\":\"$/x\"}";
            format!("Content-Length: {}\n\n{body}", body.len()).into_bytes()
        }),
        ("length 0", b"Content-Length: 0\r\n\r\n".to_vec()),
        ("length 9e18", b"Content-Length: 9000000000000000000\r\n\r\n".to_vec()),
        ("a negative length", b"Content-Length: -1\r\n\r\n".to_vec()),
        ("length too short", {
            let body = "{\"jsonrpc\":\"2.0\",\"method\":\"$/x\"}";
            format!("Content-Length: {}\r\n\r\n{body}", body.len() - 9).into_bytes()
        }),
        (
            "wrong parameters",
            framed(b"{\"jsonrpc\":\"2.0\",\"id\":800,\"method\":\"textDocument/hover\",\"params\":7}"),
        ),
        ("an unknown method", framed(b"{\"jsonrpc\":\"2.0\",\"id\":801,\"method\":\"no/such\"}")),
        (
            "a notification of wrong shape",
            framed(b"{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didChange\",\"params\":[1]}"),
        ),
        ("an answer that nobody waits for", framed(b"{\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":null}")),
        ("a malformed answer", framed(b"{\"jsonrpc\":\"2.0\",\"id\":4711,\"error\":{}}")),
        (
            "initialize again",
            framed(b"{\"jsonrpc\":\"2.0\",\"id\":802,\"method\":\"initialize\",\"params\":{\"capabilities\":{}}}"),
        ),
    ];
    for (name, bytes) in table {
        let mut pipe = server();
        open(&mut pipe, "x = 1\n");
        pipe.bytes(&bytes);
        pipe.bytes(&framed(hover.as_bytes()));
        let answer = pipe.find(Duration::from_secs(10), |message| message["id"] == 900);
        assert!(answer.is_some_and(|answer| answer.get("result").is_some()), "after {name}");
        assert_eq!(pipe.goodbye(), Some(0), "after {name}");
    }
}

#[test]
fn a_length_that_is_too_long_costs_one_message() {
    let mut pipe = server();
    let body = "{\"jsonrpc\":\"2.0\",\"method\":\"$/x\"}";
    pipe.bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len() + 10).as_bytes());
    let lost = pipe.request(
        "textDocument/hover",
        json!({ "textDocument": { "uri": URI }, "position": { "line": 0, "character": 0 } }),
    );
    alive(&mut pipe);
    assert!(pipe.find(Duration::from_millis(10), |message| message["id"] == lost).is_none());
}

#[test]
fn anything_at_all_before_the_first_header_is_survived() {
    let mut pipe = super::editor::Pipe::open();
    pipe.bytes(b"\n\n\x00\xff garbage \n");
    pipe.initialize(json!({ "capabilities": {} }));
    alive(&mut pipe);
}

#[test]
fn shutdown_may_have_parameters() {
    let mut pipe = server();
    let answer = pipe.ask("shutdown", json!({}));
    assert_eq!(answer.get("result"), Some(&Value::Null), "{answer}");
    pipe.notify("exit", json!({}));
    assert_eq!(pipe.ended(Duration::from_secs(5)).and_then(|status| status.code()), Some(0));
}

#[test]
fn capabilities_of_unknown_shape_cost_nothing() {
    let mut pipe = super::editor::Pipe::open();
    let answer = pipe.ask(
        "initialize",
        json!({
            "processId": "none", "rootUri": 7, "workspaceFolders": {},
            "capabilities": { "workspace": [], "textDocument": { "hover": 3, "codeAction": { "codeActionLiteralSupport": 1 } },
                              "general": { "positionEncodings": "utf-8" } },
        }),
    );
    assert_eq!(answer["result"]["capabilities"]["positionEncoding"], "utf-16", "{answer}");
}

#[test]
fn a_request_of_an_unknown_method_is_told_so() {
    let mut pipe = server();
    for method in ["no/such", "$/no/such"] {
        let answer = pipe.ask(method, json!({}));
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    pipe.notify("$/no/such", json!({}));
    alive(&mut pipe);
}
