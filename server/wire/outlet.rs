//! The server's own writer of standard output and of its log. Takes whole messages, writes them on a
//! thread of its own, so that a client that never reads stops nobody. Never reorders.

use std::io::Write;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;

use super::life;

/// Bytes that may wait for a client that does not read. Beyond it the client is taken for dead.
const MOST_WAITING: usize = 512 << 20;

static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Everything said so far was written.
pub fn drained() -> bool {
    WAITING.load(Ordering::SeqCst) == 0
}

/// A writer that never blocks.
pub struct Outlet {
    tx: mpsc::Sender<Vec<u8>>,
    part: Vec<u8>,
}

pub fn open() -> std::io::Result<Outlet> {
    let (tx, rx) = mpsc::channel::<Vec<u8>>();
    std::thread::Builder::new().name("outlet".into()).spawn(move || {
        let mut out = std::io::stdout();
        for bytes in rx {
            if out.write_all(&bytes).and_then(|()| out.flush()).is_err() {
                WAITING.store(0, Ordering::SeqCst);
                life::leave();
            }
            WAITING.fetch_sub(bytes.len(), Ordering::SeqCst);
        }
    })?;
    Ok(Outlet { tx, part: Vec::new() })
}

impl Outlet {
    fn send(&mut self) {
        if self.part.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.part);
        let size = bytes.len();
        if WAITING.fetch_add(size, Ordering::SeqCst) + size > MOST_WAITING {
            tracing::error!("the editor has not read {} MB of answers; the server ends", MOST_WAITING >> 20);
            std::process::exit(1);
        }
        if self.tx.send(bytes).is_err() {
            WAITING.fetch_sub(size, Ordering::SeqCst);
        }
    }
}

impl AsyncWrite for Outlet {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.part.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.send();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.send();
        Poll::Ready(Ok(()))
    }
}

/// Sends the log to standard error, at most a thousand lines ahead of whoever reads it; what does not
/// fit is lost, and nobody waits. `PINDRIFT_LOG` names the level; warnings without it.
pub fn log() {
    let level = std::env::var("PINDRIFT_LOG").ok().and_then(|level| level.parse().ok());
    let (tx, rx) = mpsc::sync_channel::<Vec<u8>>(1000);
    let writing = std::thread::Builder::new().name("log".into()).spawn(move || {
        let mut out = std::io::stderr();
        for line in rx {
            if out.write_all(&line).is_err() {
                break;
            }
        }
    });
    if writing.is_err() {
        return;
    }
    let started = tracing_subscriber::fmt()
        .with_max_level(level.unwrap_or(tracing::Level::WARN))
        .with_ansi(false)
        .with_writer(move || Line { tx: tx.clone(), part: Vec::new() })
        .try_init();
    if started.is_ok() {
        std::panic::set_hook(Box::new(|panic| tracing::error!("a bug in the server: {panic}")));
    }
}

struct Line {
    tx: mpsc::SyncSender<Vec<u8>>,
    part: Vec<u8>,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.part.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let _ = self.tx.try_send(std::mem::take(&mut self.part));
    }
}
