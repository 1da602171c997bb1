//! The language server: a thin front on the flow. Takes protocol messages, gives protocol messages, and
//! decides nothing. The only place with protocol types and asynchronous code.
//!
//! Four guards keep it alive: its own reader ([`intake`]) and writer ([`outlet`]), an end of life
//! ([`life`]), a panic boundary around every request ([`service`]), and an outbox, so that no handler
//! ever waits for the client ([`outbox`]). One thread ([`desk`]) owns all state and publishes snapshots;
//! requests work on snapshots elsewhere.

mod commands;
mod desk;
mod documents;
mod features;
mod intake;
mod judge;
mod life;
mod offer;
mod outbox;
mod outlet;
mod pages;
mod progress;
mod reasons;
mod room;
mod runs;
mod scan;
mod service;
mod speak;
mod watch;

use std::process::ExitCode;

/// Stack of the threads that read source texts, in bytes; reserved, not used, until a text is nested deep.
const STACK: usize = 64 << 20;

/// Serves one client over standard input and output until it says goodbye or goes away. Returns only
/// when the server cannot start; else the process ends here, with 0 after a `shutdown` and 1 without.
pub fn serve() -> ExitCode {
    outlet::log();
    match start() {
        Ok(()) => life::leave(),
        Err(err) => {
            eprintln!("pindrift: the language server cannot start: {err}");
            ExitCode::from(2)
        }
    }
}

fn start() -> std::io::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).max_blocking_threads(16).enable_time().build()?;
    let intake = intake::open()?;
    let outlet = outlet::open()?;
    let (service, socket) = tower_lsp::LspService::build(service::Service::new)
        .custom_method("window/workDoneProgress/cancel", service::Service::cancel_progress)
        .finish();
    runtime.block_on(tower_lsp::Server::new(intake, outlet, socket).concurrency_level(256).serve(service));
    // What still computes is not waited for.
    runtime.shutdown_background();
    Ok(())
}
