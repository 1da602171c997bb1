//! The terminal itself: keys in, a screen out. Takes what it is set to and puts it back when dropped, also
//! when the program is asked to end. Never knows what is shown.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// How long a key that begins with Escape may take to arrive whole.
const REST_OF_A_KEY: Duration = Duration::from_millis(40);
/// How often the size is looked at while no key comes.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Enter,
    Escape,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// Control with a letter.
    Control(char),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Key(Key),
    /// A character that was pasted: text, and never a command. Line ends are blanks.
    Pasted(char),
    Resized,
    /// The terminal is gone, or the program is to end.
    Over,
}

pub struct Terminal {
    before: Termios,
    size: (usize, usize),
    end: Arc<AtomicBool>,
    /// Bytes that came and are no whole key yet.
    waiting: Vec<u8>,
    /// Between the marks around pasted text.
    pasting: bool,
}

impl Terminal {
    /// Takes the terminal; an error says what to use instead.
    pub fn take() -> Result<Terminal, String> {
        let none = || "review talks with a person at a terminal; use `check`, `diff` and `accept` here".to_string();
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Err(none());
        }
        if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
            return Err("this terminal (TERM=dumb) cannot place text; use `check`, `diff` and `accept` here".into());
        }
        let stdin = std::io::stdin();
        let before = tcgetattr(&stdin).map_err(|_| none())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&stdin, OptionalActions::Flush, &raw).map_err(|err| format!("the terminal takes no keys: {err}"))?;
        let end = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
            let _ = signal_hook::flag::register(signal, Arc::clone(&end));
        }
        let mut terminal = Terminal { before, size: (80, 24), end, waiting: Vec::new(), pasting: false };
        terminal.size = terminal.measured();
        // The other screen, marks around pasted text, no cursor.
        terminal.write("\u{1b}[?1049h\u{1b}[?2004h\u{1b}[?25l\u{1b}[2J");
        Ok(terminal)
    }

    fn measured(&self) -> (usize, usize) {
        match tcgetwinsize(std::io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
            _ => (80, 24),
        }
    }

    /// Columns and rows.
    pub fn size(&self) -> (usize, usize) {
        self.size
    }

    fn write(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        // Who hung up sees nothing; the next key says that it is over.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    /// Shows these lines, which fit; `cursor` is a column of the last but one of them.
    pub fn show(&self, lines: &[String], cursor: Option<(usize, usize)>) {
        let mut text = String::from("\u{1b}[?25l\u{1b}[H");
        for (at, line) in lines.iter().enumerate() {
            text.push_str(if at > 0 { "\r\n" } else { "" });
            text.push_str(line);
            text.push_str("\u{1b}[K");
        }
        text.push_str("\u{1b}[J");
        if let Some((row, column)) = cursor {
            text.push_str(&format!("\u{1b}[{};{}H\u{1b}[?25h", row + 1, column + 1));
        }
        self.write(&text);
    }

    /// Waits for what happens next.
    pub fn next(&mut self) -> Event {
        loop {
            if self.end.load(Ordering::Relaxed) {
                return Event::Over;
            }
            if let Some(event) = self.key(false) {
                return event;
            }
            let size = self.measured();
            if size != self.size {
                self.size = size;
                return Event::Resized;
            }
            let patience = if self.waiting.is_empty() { LOOK } else { REST_OF_A_KEY };
            match self.read(patience) {
                Ok(0) => return Event::Over,
                Ok(_) => {}
                Err(()) if !self.waiting.is_empty() => {
                    if let Some(event) = self.key(true) {
                        return event;
                    }
                }
                Err(()) => {}
            }
        }
    }

    /// Reads what is there; `Err` when nothing came in time.
    fn read(&mut self, patience: Duration) -> Result<usize, ()> {
        let stdin = std::io::stdin();
        let timeout = rustix::event::Timespec { tv_sec: 0, tv_nsec: patience.as_nanos() as i64 };
        let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut polled, Some(&timeout)) {
            Ok(0) | Err(_) => return Err(()),
            Ok(_) => {}
        }
        let mut bytes = [0u8; 256];
        // Past the buffer of `Stdin`, which nothing here fills: what it held could not be waited for.
        let got = rustix::io::read(&stdin, &mut bytes).unwrap_or(0);
        self.waiting.extend_from_slice(bytes.get(..got).unwrap_or_default());
        Ok(got)
    }

    /// The first whole key of what came. `all`: nothing more comes, so Escape is a key of its own.
    fn key(&mut self, all: bool) -> Option<Event> {
        loop {
            let (input, used) = decoded(&self.waiting, all)?;
            self.waiting.drain(..used.min(self.waiting.len()));
            match input {
                Input::Pasting(pasting) => self.pasting = pasting,
                Input::Key(Key::Char(c)) if self.pasting => return Some(Event::Pasted(c)),
                Input::Key(Key::Enter) if self.pasting => return Some(Event::Pasted(' ')),
                Input::Key(key) if !self.pasting => return Some(Event::Key(key)),
                Input::Key(_) | Input::Nothing => {}
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Key(Key),
    Pasting(bool),
    Nothing,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.write("\u{1b}[?2004l\u{1b}[?25h\u{1b}[?1049l");
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.before);
    }
}

/// What the first bytes say, and how many they are. `None`: not whole yet.
fn decoded(bytes: &[u8], all: bool) -> Option<(Input, usize)> {
    let first = *bytes.first()?;
    let key = |key: Key| Some((Input::Key(key), 1));
    match first {
        b'\r' | b'\n' => key(Key::Enter),
        0x7f | 0x08 => key(Key::Backspace),
        b'\t' => key(Key::Char('\t')),
        0x1b => sequence(bytes, all),
        1..=26 => key(Key::Control(char::from(first + b'a' - 1))),
        0..=0x1f => Some((Input::Nothing, 1)),
        _ => character(bytes, all),
    }
}

fn character(bytes: &[u8], all: bool) -> Option<(Input, usize)> {
    let length = match bytes.first()? {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => return Some((Input::Nothing, 1)),
    };
    match bytes.get(..length).map(std::str::from_utf8) {
        Some(Ok(text)) => Some((text.chars().next().map_or(Input::Nothing, |c| Input::Key(Key::Char(c))), length)),
        Some(Err(_)) => Some((Input::Nothing, 1)),
        None if all => Some((Input::Nothing, bytes.len())),
        None => None,
    }
}

/// `ESC [ … letter`, `ESC O letter`; Escape alone once it is known that nothing follows.
fn sequence(bytes: &[u8], all: bool) -> Option<(Input, usize)> {
    let Some(second) = bytes.get(1) else {
        return all.then_some((Input::Key(Key::Escape), 1));
    };
    if !matches!(second, b'[' | b'O') {
        return Some((Input::Key(Key::Escape), 1));
    }
    let Some(length) = bytes.iter().skip(2).position(|byte| (0x40..=0x7e).contains(byte)) else {
        return (all || bytes.len() > 32).then_some((Input::Nothing, bytes.len()));
    };
    let end = 2 + length;
    let key = match (bytes.get(2..end).unwrap_or_default(), bytes.get(end).copied().unwrap_or_default()) {
        (b"200", b'~') => return Some((Input::Pasting(true), end + 1)),
        (b"201", b'~') => return Some((Input::Pasting(false), end + 1)),
        (_, b'A') => Key::Up,
        (_, b'B') => Key::Down,
        (_, b'C') => Key::Right,
        (_, b'D') => Key::Left,
        (_, b'H') => Key::Home,
        (_, b'F') => Key::End,
        (b"1" | b"7", b'~') => Key::Home,
        (b"4" | b"8", b'~') => Key::End,
        (b"3", b'~') => Key::Delete,
        (b"5", b'~') => Key::PageUp,
        (b"6", b'~') => Key::PageDown,
        _ => return Some((Input::Nothing, end + 1)),
    };
    Some((Input::Key(key), end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(mut bytes: &[u8]) -> Vec<Input> {
        let mut out = Vec::new();
        while let Some((input, used)) = decoded(bytes, true) {
            out.push(input);
            bytes = &bytes[used..];
        }
        out.retain(|input| *input != Input::Nothing);
        out
    }

    #[test]
    fn keys_are_read_and_strange_sequences_are_none() {
        let keys = |keys: &[Key]| keys.iter().map(|key| Input::Key(*key)).collect::<Vec<_>>();
        assert_eq!(inputs(b"a\x1b[B\x1b[6~\r"), keys(&[Key::Char('a'), Key::Down, Key::PageDown, Key::Enter]));
        assert_eq!(inputs("ü修".as_bytes()), keys(&[Key::Char('ü'), Key::Char('修')]));
        assert_eq!(inputs(b"\x1b"), keys(&[Key::Escape]));
        assert_eq!(inputs(b"\x1b[99~x\x1b[1;5C\xff\x03"), keys(&[Key::Char('x'), Key::Right, Key::Control('c')]));
        assert_eq!(decoded(b"\x1b[", false), None, "the rest is waited for");
        assert_eq!(decoded(b"\xc3", false), None);
        let x = Input::Key(Key::Char('x'));
        assert_eq!(inputs(b"\x1b[200~x\x1b[201~"), [Input::Pasting(true), x, Input::Pasting(false)]);
    }
}
