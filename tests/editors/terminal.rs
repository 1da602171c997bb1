//! A terminal of its own for one program: keys in, the screen out. tmux does the work.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::editor::stretched;

pub const COLUMNS: usize = 110;
pub const ROWS: usize = 34;

/// Longest wait for something on the screen or on the disk.
const PATIENCE: Duration = Duration::from_secs(12);

pub struct Terminal {
    socket: String,
    /// Names the captures.
    name: String,
}

impl Terminal {
    /// Starts `program` in `folder` with this home; `environment` beside it.
    pub fn open(name: &str, program: &str, folder: &Path, home: &Path, environment: &[(&str, String)]) -> Terminal {
        Terminal::sized((COLUMNS, ROWS), name, program, folder, home, environment)
    }

    /// The same with so many columns and rows.
    pub fn sized(
        (columns, rows): (usize, usize),
        name: &str,
        program: &str,
        folder: &Path,
        home: &Path,
        environment: &[(&str, String)],
    ) -> Terminal {
        let socket = format!("pindrift-{name}-{}", std::process::id());
        let terminal = Terminal { socket, name: name.into() };
        let mut all = vec![
            ("HOME".to_string(), home.display().to_string()),
            ("XDG_CONFIG_HOME".into(), home.join(".config").display().to_string()),
            ("XDG_STATE_HOME".into(), home.join(".state").display().to_string()),
            ("XDG_DATA_HOME".into(), home.join(".data").display().to_string()),
            ("XDG_CACHE_HOME".into(), home.join(".cache").display().to_string()),
            ("TERM".into(), "tmux-256color".into()),
            ("COLORTERM".into(), "truecolor".into()),
            ("LANG".into(), "C.UTF-8".into()),
        ];
        all.extend(environment.iter().map(|(key, value)| (key.to_string(), value.clone())));
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let mut words = vec!["-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", &columns, "-y", &rows, "-c"];
        let folder = folder.display().to_string();
        words.push(&folder);
        let pairs: Vec<String> = all.iter().map(|(key, value)| format!("{key}={value}")).collect();
        for pair in &pairs {
            words.extend(["-e", pair]);
        }
        words.push(program);
        terminal.tmux(&words);
        terminal.tmux(&["set-option", "-g", "escape-time", "0"]);
        terminal
    }

    fn tmux(&self, words: &[&str]) -> String {
        // tmux takes PATH from whoever calls it, and the rest from its arguments.
        let mut tmux = Command::new("tmux");
        tmux.args(["-u", "-L", &self.socket]).args(words).env_remove("TMUX").env("PATH", super::demo::path());
        let out = tmux.output();
        let out = out.expect("tmux starts; ./tests/run installs it");
        assert!(out.status.success(), "tmux {words:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    /// Keys by their names in tmux: `Enter`, `Escape`, `C-r`, `x`.
    pub fn keys(&self, keys: &[&str]) -> &Terminal {
        for key in keys {
            self.tmux(&["send-keys", "-t", "t", key]);
            // Escape and a key close behind it would be one key with Alt.
            std::thread::sleep(Duration::from_millis(if *key == "Escape" { 600 } else { 120 }));
        }
        self
    }

    /// Text as typed.
    pub fn text(&self, text: &str) -> &Terminal {
        self.tmux(&["send-keys", "-t", "t", "-l", text]);
        std::thread::sleep(Duration::from_millis(150));
        self
    }

    pub fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-t", "t"])
    }

    /// The same with its colours, as escape sequences.
    pub fn painted(&self) -> String {
        self.tmux(&["capture-pane", "-e", "-p", "-t", "t"])
    }

    /// Waits until the screen shows all of these.
    pub fn shows(&self, parts: &[&str]) -> &Terminal {
        self.until(&format!("{parts:?} on the screen"), || {
            let screen = self.screen();
            parts.iter().all(|part| screen.contains(part))
        })
    }

    pub fn until(&self, what: &str, holds: impl Fn() -> bool) -> &Terminal {
        let end = Instant::now() + stretched(PATIENCE);
        while !holds() {
            assert!(Instant::now() < end, "{}: waited in vain for {what}\n{}", self.name, self.screen());
            std::thread::sleep(Duration::from_millis(50));
        }
        self
    }

    /// Keeps the screen, with its colours, in the ignored folder of captures.
    pub fn keep(&self, name: &str) -> &Terminal {
        std::thread::sleep(Duration::from_millis(300));
        let file = captures().join(format!("{}-{name}.ansi", self.name));
        std::fs::write(file, self.tmux(&["capture-pane", "-e", "-p", "-t", "t"])).expect("written");
        self
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).env_remove("TMUX").output();
    }
}

/// What the runs leave to look at.
pub fn captures() -> PathBuf {
    let folder = super::demo::tools().join("captures");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}
