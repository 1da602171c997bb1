//! The server's own reader of standard input. Takes bytes, passes on only frames that hold one whole
//! JSON-RPC message; anything else is dropped, counted, and the stream found again at the next header.
//! Never answers, never waits for whoever takes the frames.
//!
//! The protocol library ends its stream at the first frame that it cannot decode and then hangs; so it
//! never sees one.

use std::io::{BufRead, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

use serde_json::Value;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

use super::life;

/// Deepest nesting of brackets in a message; the protocol never needs twenty.
const DEEPEST: usize = 100;
/// Largest body, in bytes.
const LARGEST: usize = 256 << 20;
/// Longest part of a line that is looked at for a header, in bytes.
const LINE: u64 = 8 << 10;

/// The frames that passed, as a byte stream for the protocol library.
pub struct Intake {
    frames: mpsc::UnboundedReceiver<Vec<u8>>,
    have: Vec<u8>,
    at: usize,
}

/// Starts the reading thread. When the input ends, or after `exit`, the process ends too: at once when
/// nothing is left to answer, else after a short grace.
pub fn open() -> std::io::Result<Intake> {
    let (tx, frames) = mpsc::unbounded_channel();
    std::thread::Builder::new().name("intake".into()).spawn(move || {
        let mut input = std::io::BufReader::with_capacity(1 << 16, std::io::stdin());
        let mut dropped = 0u64;
        while let Some(body) = frame(&mut input, &mut dropped) {
            let (body, what) = match message(body) {
                Ok(passed) => passed,
                Err(why) => {
                    dropped += 1;
                    if dropped <= 20 {
                        tracing::warn!("a message from the editor was dropped: {why}");
                    }
                    continue;
                }
            };
            match what {
                What::Initialize(Some(parent)) => life::watch(parent),
                What::Shutdown => life::shutting_down(),
                _ => {}
            }
            let mut framed = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
            framed.extend_from_slice(&body);
            if tx.send(framed).is_err() || matches!(what, What::Exit) {
                break;
            }
        }
        drop(tx);
        std::thread::sleep(life::GRACE);
        life::leave();
    })?;
    Ok(Intake { frames, have: Vec::new(), at: 0 })
}

/// What a message means for the life of the process.
#[derive(Debug, PartialEq)]
enum What {
    Initialize(Option<u32>),
    Shutdown,
    Exit,
    /// A request of a method that nobody here knows.
    Unknown,
    Other,
}

/// The body if it is a message that the library can decode. `shutdown` and `exit` lose their parameters:
/// some clients send `{}` there, and the library refuses it. What `initialize` says is moved whole into
/// its free-form field, so that a capability of a shape that the library does not know costs nothing.
fn message(body: Vec<u8>) -> Result<(Vec<u8>, What), &'static str> {
    if depth(&body) > DEEPEST {
        return Err("it is nested too deep");
    }
    let value: Value = serde_json::from_slice(&body).map_err(|_| "it is not JSON")?;
    let Value::Object(mut fields) = value else { return Err("it is not a JSON object") };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err("it is not JSON-RPC 2.0");
    }
    let id_fits = match fields.get("id") {
        None | Some(Value::Null | Value::String(_)) => true,
        Some(Value::Number(number)) => number.is_i64(),
        Some(_) => false,
    };
    if !id_fits {
        return Err("its id is neither a whole number nor a text");
    }
    let what = match fields.get("method") {
        None => {
            let error_fits = fields.get("error").is_some_and(|error| {
                error.get("code").is_some_and(Value::is_i64) && error.get("message").is_some_and(Value::is_string)
            });
            if !fields.contains_key("id") || !(fields.contains_key("result") || error_fits) {
                return Err("it is neither a request nor an answer");
            }
            What::Other
        }
        Some(Value::String(method)) => match method.as_str() {
            "initialize" => {
                let parent = fields.get("params").and_then(|params| params.get("processId")).and_then(Value::as_u64);
                What::Initialize(parent.and_then(|parent| u32::try_from(parent).ok()))
            }
            "shutdown" => What::Shutdown,
            "exit" => What::Exit,
            // The library takes every `$/` for a notification; a request wants its answer.
            optional if optional.starts_with("$/") && fields.contains_key("id") => What::Unknown,
            _ => What::Other,
        },
        Some(_) => return Err("its method is not a text"),
    };
    match what {
        What::Initialize(_) => {
            let said = fields.remove("params").unwrap_or_default();
            fields.insert("params".into(), serde_json::json!({ "capabilities": {}, "initializationOptions": said }));
        }
        What::Shutdown | What::Exit => {
            fields.remove("params");
        }
        What::Unknown => {
            fields.insert("method".into(), "unknown".into());
        }
        What::Other => return Ok((body, what)),
    }
    let body = serde_json::to_vec(&fields).map_err(|_| "it cannot be written again")?;
    Ok((body, what))
}

/// Deepest bracket nesting outside strings.
fn depth(body: &[u8]) -> usize {
    let (mut now, mut deepest, mut text, mut skip) = (0usize, 0, false, false);
    for byte in body {
        if std::mem::take(&mut skip) {
            continue;
        }
        match byte {
            b'\\' if text => skip = true,
            b'"' => text = !text,
            b'[' | b'{' if !text => {
                now += 1;
                deepest = deepest.max(now);
            }
            b']' | b'}' if !text => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// One body, or `None` at the end of input. Skips whatever is not a usable `Content-Length` block.
fn frame(input: &mut impl BufRead, dropped: &mut u64) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let mut size: Option<usize> = None;
        loop {
            // A part of an endless line: its tail may hold the beginning of a header.
            if line.len() as u64 >= LINE && !line.ends_with(b"\n") {
                line.drain(..line.len() - 64);
            } else {
                line.clear();
            }
            if input.by_ref().take(LINE).read_until(b'\n', &mut line).ok()? == 0 {
                return None;
            }
            let trimmed = line.trim_ascii();
            if trimmed.is_empty() {
                break;
            }
            // The header may follow the tail of a body of wrong size on the same line.
            if let Some(at) = rfind(&trimmed.to_ascii_lowercase(), b"content-length:") {
                size = trimmed
                    .get(at + 15..)
                    .and_then(|digits| std::str::from_utf8(digits).ok())
                    .and_then(|digits| digits.trim().parse().ok())
                    .filter(|size| *size <= LARGEST);
            }
        }
        match size {
            None | Some(0) => *dropped += 1,
            Some(size) => {
                let mut body = Vec::with_capacity(size.min(1 << 20));
                let got = input.by_ref().take(size as u64).read_to_end(&mut body).ok()?;
                return (got == size).then_some(body);
            }
        }
    }
}

fn rfind(hay: &[u8], needle: &[u8]) -> Option<usize> {
    hay.windows(needle.len()).rposition(|window| window == needle)
}

impl AsyncRead for Intake {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        loop {
            let at = self.at;
            if let Some(rest) = self.have.get(at..).filter(|rest| !rest.is_empty()) {
                let count = rest.len().min(buf.remaining());
                buf.put_slice(&rest[..count]);
                self.at += count;
                return Poll::Ready(Ok(()));
            }
            match self.frames.poll_recv(cx) {
                Poll::Ready(Some(frame)) => {
                    self.have = frame;
                    self.at = 0;
                }
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(input: &[u8]) -> Vec<String> {
        let mut input = std::io::BufReader::with_capacity(16, input);
        let mut dropped = 0;
        std::iter::from_fn(|| frame(&mut input, &mut dropped))
            .map(|body| String::from_utf8_lossy(&body).into_owned())
            .collect()
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn the_stream_is_found_again_after_any_bad_header() {
        for bad in [
            "\n",
            "\r\n\r\n",
            "Foo: 1\r\n\r\n",
            "Content-Length: abc\r\n\r\n",
            "Content-Length: 0\r\n\r\n",
            "Content-Length: -4\r\n\r\n",
            "Content-Length: 9000000000000000000\r\n\r\n{}",
            "{\"jsonrpc\":\"2.0\"}\n",
            "Content-Length: 2\r\n\r\n",
        ] {
            let input = format!("{bad}{}{}", framed("{\"a\":1}"), framed("{\"b\":2}"));
            let got = bodies(input.as_bytes());
            assert_eq!(got.last().map(String::as_str), Some("{\"b\":2}"), "after {bad:?}: {got:?}");
        }
    }

    #[test]
    fn a_header_behind_an_endless_line_is_seen() {
        for length in [8 << 10, (8 << 10) - 5, (16 << 10) - 7, 70_000] {
            let input = format!("{}{}", "x".repeat(length), framed("{\"a\":1}"));
            assert_eq!(bodies(input.as_bytes()), ["{\"a\":1}"], "{length}");
        }
    }

    #[test]
    fn several_headers_and_bare_line_ends_are_accepted() {
        let input = "Content-Type: x\r\ncontent-length: 2\r\nOther: y\r\n\r\n{}Content-Length: 2\n\n[]";
        assert_eq!(bodies(input.as_bytes()), ["{}", "[]"]);
    }

    #[test]
    fn only_whole_messages_pass() {
        let deep =
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{}1{}}}", "[".repeat(200), "]".repeat(200));
        for bad in [
            "{",
            "[]",
            "{}",
            "null",
            "{\"jsonrpc\":\"1.0\",\"method\":\"x\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}",
            "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}",
            "{\"jsonrpc\":\"2.0\",\"method\":7}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"\\ud800\"}",
            deep.as_str(),
        ] {
            assert!(message(bad.as_bytes().to_vec()).is_err(), "{bad}");
        }
        assert!(message(b"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"\xff\"}".to_vec()).is_err());
        for good in [
            "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"x\",\"params\":[]}",
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":null}",
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-1,\"message\":\"no\"}}",
        ] {
            assert_eq!(message(good.as_bytes().to_vec()).map(|(body, _)| body), Ok(good.as_bytes().to_vec()), "{good}");
        }
    }

    #[test]
    fn the_ends_of_a_life_are_seen() {
        let what = |text: &str| message(text.as_bytes().to_vec()).map(|(body, what)| (String::from_utf8(body), what));
        assert_eq!(
            what("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\",\"params\":{}}"),
            Ok((Ok("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\"}".into()), What::Shutdown))
        );
        assert_eq!(what("{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}").map(|(_, what)| what), Ok(What::Exit));
        assert_eq!(
            what("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"processId\":42}}")
                .map(|(_, what)| what),
            Ok(What::Initialize(Some(42)))
        );
    }
}
