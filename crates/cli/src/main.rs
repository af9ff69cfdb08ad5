//! `dshap` on the command line.

mod args;
mod commands;
mod failure;
mod progress;
mod table;

use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = args::Args::parse();
    // Destructors do not run on exit, so unfinished files are removed by hand.
    // Should the handler not be installable, an interrupt still ends the program.
    let _ = ctrlc::set_handler(|| {
        dshap_io::remove_unfinished_files();
        std::process::exit(failure::INTERRUPTED);
    });
    match commands::run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Writes text to standard output; a closed pipe ends the program quietly.
fn print(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::output)
}
