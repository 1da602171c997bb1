//! A program that may hang, print without end or leave children. Takes a command, gives how it ended and the
//! first and last part of what it printed; on a time limit, on cancelling and when this process dies, its whole
//! process group is killed. Never looks at what was printed.

use std::collections::VecDeque;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Kept of what was printed, at its beginning and at its end, in bytes each.
const KEPT: usize = 1 << 20;
/// Longest line that is kept whole, in bytes.
const LONGEST_LINE: usize = 1 << 20;
/// How long a program's output is waited for after its end: a child of it may hold the pipe.
const AFTER: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(20);

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Exited(ExitStatus),
    /// It ran longer than this.
    TooLong(Duration),
    Cancelled,
}

/// What a program printed, the middle of a long output left out.
#[derive(Debug, Default)]
pub struct Printed {
    first: Vec<u8>,
    last: VecDeque<u8>,
    left_out: u64,
}

impl Printed {
    fn add(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.first.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.first.extend_from_slice(first);
        self.last.extend(rest);
        let over = self.last.len().saturating_sub(KEPT);
        self.last.drain(..over);
        self.left_out += over as u64;
    }

    pub fn text(&self) -> String {
        let first = String::from_utf8_lossy(&self.first);
        let last: Vec<u8> = self.last.iter().copied().collect();
        let last = String::from_utf8_lossy(&last);
        match self.left_out {
            0 => format!("{first}{last}"),
            bytes => format!("{first}\n[… {bytes} bytes left out …]\n{last}"),
        }
    }
}

/// Runs the command to its end. `tick` is called every few milliseconds.
pub fn run(
    command: &mut Command,
    limit: Duration,
    cancelled: &dyn Fn() -> bool,
    tick: &mut dyn FnMut(),
) -> std::io::Result<(End, String)> {
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    carried_out(command, limit, cancelled, tick)
}

/// Runs the command on an input; gives what it printed as its answer. What it complains of goes where this
/// program's own complaints go.
pub fn answer(
    command: &mut Command,
    input: std::fs::File,
    limit: Duration,
    cancelled: &dyn Fn() -> bool,
) -> std::io::Result<(End, String)> {
    command.stdin(Stdio::from(input)).stderr(Stdio::inherit());
    carried_out(command, limit, cancelled, &mut || {})
}

fn carried_out(
    command: &mut Command,
    limit: Duration,
    cancelled: &dyn Fn() -> bool,
    tick: &mut dyn FnMut(),
) -> std::io::Result<(End, String)> {
    let mut child = command.process_group(0).stdout(Stdio::piped()).spawn()?;
    let printed: Arc<Mutex<Printed>> = Arc::default();
    let (done, ended) = mpsc::channel();
    let pipes: [Option<Box<dyn Read + Send>>; 2] =
        [child.stdout.take().map(|pipe| Box::new(pipe) as _), child.stderr.take().map(|pipe| Box::new(pipe) as _)];
    for mut pipe in pipes.into_iter().flatten() {
        let (printed, done) = (printed.clone(), done.clone());
        std::thread::spawn(move || {
            let mut buffer = [0; 1 << 16];
            let mut held: Vec<u8> = Vec::new();
            let add = |bytes: &[u8]| printed.lock().unwrap_or_else(PoisonError::into_inner).add(bytes);
            while let Ok(read @ 1..) = pipe.read(&mut buffer) {
                held.extend(buffer.get(..read).unwrap_or_default());
                // Whole lines: what the other pipe says in between stands between lines.
                let whole = held.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                let told = if held.len() > LONGEST_LINE { held.len() } else { whole };
                add(held.get(..told).unwrap_or_default());
                held.drain(..told);
            }
            add(&held);
            let _ = done.send(());
        });
    }
    drop(done);
    let mut watcher = watcher(child.id());
    let started = Instant::now();
    let end = loop {
        if let Some(status) = child.try_wait()? {
            break End::Exited(status);
        }
        if cancelled() {
            kill(&mut child);
            break End::Cancelled;
        }
        if started.elapsed() > limit {
            kill(&mut child);
            break End::TooLong(limit);
        }
        tick();
        std::thread::sleep(LOOK);
    };
    if let Some(watcher) = &mut watcher {
        let _ = watcher.kill();
        let _ = watcher.wait();
    }
    let deadline = Instant::now() + AFTER;
    while let Ok(()) = ended.recv_timeout(deadline.saturating_duration_since(Instant::now())) {}
    let text = printed.lock().unwrap_or_else(PoisonError::into_inner).text();
    Ok((end, text))
}

fn kill(child: &mut Child) {
    if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// A shell that kills the group when this process is gone: then the pipe that it reads from ends.
fn watcher(group: u32) -> Option<Child> {
    Command::new("sh")
        .args(["-c", "cat >/dev/null 2>&1; kill -KILL -- \"-$0\" 2>/dev/null", &group.to_string()])
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: u64) -> (End, String, Duration) {
        let started = Instant::now();
        let limit = Duration::from_millis(limit);
        let (end, text) = run(Command::new("sh").args(["-c", script]), limit, &|| false, &mut || {}).unwrap();
        (end, text, started.elapsed())
    }

    #[test]
    fn a_hang_ends_with_all_its_children() {
        let (end, text, took) = shell("echo begun; sleep 1000 & sleep 1000", 300);
        assert_eq!((end, text.as_str()), (End::TooLong(Duration::from_millis(300)), "begun\n"));
        // The pipe is held open by a child that was left alive.
        assert!(took < Duration::from_secs(2), "{took:?}");
    }

    #[test]
    fn what_one_pipe_says_breaks_no_line_of_the_other() {
        let (_, text, _) =
            shell("printf '{\"a\":'; sleep 0.2; echo between >&2; sleep 0.2; echo '1}'; printf end", 60_000);
        assert_eq!(text, "between\n{\"a\":1}\nend");
    }

    #[test]
    fn of_endless_output_the_ends_are_kept() {
        let (end, text, _) = shell("echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo last", 60_000);
        assert!(matches!(end, End::Exited(status) if status.success()));
        assert!(text.starts_with("first\nxxx") && text.ends_with("xxxlast\n"));
        assert!(text.contains("bytes left out") && text.len() < 3 << 20, "{}", text.len());
    }
}
