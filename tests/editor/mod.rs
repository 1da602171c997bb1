//! The editor's end of the pipes: starts the real server, writes frames or any bytes, reads messages on
//! a thread of its own so that nothing is lost.
#![allow(dead_code)]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longest wait for anything; the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A limit as long as it has to be while other programs want the processor too.
pub fn stretched(limit: Duration) -> Duration {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load.split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or(1.0);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    limit.mul_f64((load / cores as f64).clamp(1.0, 10.0))
}

pub struct Pipe {
    pub child: Child,
    pub stdin: Option<ChildStdin>,
    incoming: Receiver<Value>,
    /// Read and not yet asked for.
    pub waiting: VecDeque<Value>,
    next: i64,
}

pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pindrift"));
    command.arg("server");
    command
}

impl Pipe {
    pub fn open() -> Pipe {
        Pipe::with(&mut command())
    }

    pub fn with(command: &mut Command) -> Pipe {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the server starts");
        let stdout = child.stdout.take().expect("its output");
        let (tx, incoming) = channel();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while let Some(message) = read(&mut stdout) {
                if tx.send(message).is_err() {
                    break;
                }
            }
        });
        Pipe { stdin: child.stdin.take(), child, incoming, waiting: VecDeque::new(), next: 1 }
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            // A server that has ended is told by its status, not here.
            let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
        }
    }

    pub fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request; gives its id.
    pub fn request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The next message that fits, among those already here first. `None` when none came in time.
    pub fn find(&mut self, patience: Duration, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        if let Some(at) = self.waiting.iter().position(&fits) {
            return self.waiting.remove(at);
        }
        let until = Instant::now() + patience;
        loop {
            match self.incoming.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(message) if fits(&message) => return Some(message),
                Ok(message) => self.waiting.push_back(message),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Whatever has come by now.
    pub fn drain(&mut self) -> Vec<Value> {
        self.waiting.extend(self.incoming.try_iter());
        self.waiting.drain(..).collect()
    }

    pub fn answer(&mut self, id: i64) -> Value {
        self.find(stretched(PATIENCE), |message| message["id"] == id && message.get("method").is_none())
            .unwrap_or_else(|| panic!("no answer to request {id}"))
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    pub fn initialize(&mut self, params: Value) -> Value {
        let answer = self.ask("initialize", params);
        self.notify("initialized", json!({}));
        answer
    }

    /// The exit status, if the server ends in time.
    pub fn ended(&mut self, patience: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + stretched(patience);
        loop {
            if let Some(status) = self.child.try_wait().expect("the server's state") {
                return Some(status);
            }
            if Instant::now() > until {
                return None;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn goodbye(&mut self) -> Option<i32> {
        self.ask("shutdown", Value::Null);
        self.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        self.ended(Duration::from_secs(5)).and_then(|status| status.code())
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One framed message; `None` at the end or on anything that is not one.
pub fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut size = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            header => {
                if let Some(digits) = header.strip_prefix("Content-Length: ") {
                    size = digits.parse().ok();
                }
            }
        }
    }
    let mut body = vec![0; size?];
    input.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
