//! How the process ends: after `exit`, at the end of the input, or when the editor is gone. Takes what
//! the reader saw, gives the exit status: 0 after a `shutdown`, 1 without one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::outlet;

/// How long answers in flight may take after the end was announced.
pub const GRACE: Duration = Duration::from_millis(500);

static SHUT_DOWN: AtomicBool = AtomicBool::new(false);

pub fn shutting_down() {
    SHUT_DOWN.store(true, Ordering::SeqCst);
}

/// Ends the process, what was already said written out first if the editor still reads.
pub fn leave() -> ! {
    let until = Instant::now() + GRACE;
    while !outlet::drained() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::process::exit(if SHUT_DOWN.load(Ordering::SeqCst) { 0 } else { 1 })
}

/// Ends the process within two seconds of the death of `parent`, looking once a second. On systems
/// without `/proc`, or where the process is not to be seen from here (a container), does nothing.
pub fn watch(parent: u32) {
    if !alive(parent) {
        return;
    }
    let watching = std::thread::Builder::new().name("parent".into()).spawn(move || {
        while alive(parent) {
            std::thread::sleep(Duration::from_secs(1));
        }
        leave()
    });
    if let Err(err) = watching {
        tracing::warn!("the editor's process is not watched: {err}");
    }
}

/// There, and more than a process that nobody has collected yet.
fn alive(process: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X'))
}
