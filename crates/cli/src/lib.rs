//! `dshap` on the command line: what the program `dshap` and the command of the
//! Python package run.

mod args;
mod commands;
mod failure;
mod progress;
mod signals;
mod speech;
mod table;
#[cfg(feature = "experiments")]
mod unit_bar;

use failure::Failure;
use std::ffi::OsString;

/// Carries out what was typed, the name of the program first. Returns the exit code.
///
/// It takes over the process: signals, panics and `--help` end it.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let matches =
        args::command().try_get_matches_from(words).unwrap_or_else(|error| args::with_tip(error).exit());
    let typed = args::Typed::of(&matches).unwrap_or_else(|error| error.exit());
    if let Err(failure) = typed.check_pairs() {
        return failure.report();
    }
    if typed.memory().is_some() {
        restart_with_tame_allocator();
    }
    if !typed.handles_signals() {
        signals::end_on_signals();
    }
    silence_decoders();
    match std::panic::catch_unwind(|| commands::run(typed)) {
        Ok(Ok(())) => 0,
        Ok(Err(failure)) => failure.report(),
        Err(_) => {
            dshap_io::remove_unfinished_files();
            eprintln!("error: dshap itself failed, as the lines above show; nothing was written");
            2
        }
    }
}

/// The C library's allocator learns from large blocks that are freed to keep
/// ever larger ones, which breaks a limit on memory within minutes. With a fixed
/// threshold it returns larger blocks at once. It reads the threshold only when a
/// program starts, so the program starts once more, as the same process.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn restart_with_tame_allocator() {
    use std::os::unix::process::CommandExt;
    const THRESHOLD: &str = "MALLOC_MMAP_THRESHOLD_";
    if std::env::var_os(THRESHOLD).is_some() {
        return;
    }
    let mut words = std::env::args_os();
    if let (Ok(program), Some(name)) = (std::env::current_exe(), words.next()) {
        // This returns only if it failed; then the limit is kept less closely.
        let _ = std::process::Command::new(program).arg0(name).args(words).env(THRESHOLD, "4194304").exec();
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn restart_with_tame_allocator() {}

/// The decoders of damaged Parquet files may panic. `dshap-io` catches that and
/// makes it an error, which the user should see instead of a trace.
fn silence_decoders() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let from_decoder = panic
            .location()
            .is_some_and(|at| at.file().contains("/parquet-") || at.file().contains("/arrow-"));
        if !from_decoder {
            report(panic);
        }
    }));
}

/// Writes text to standard output; a closed pipe ends the program quietly.
fn print(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::output)
}
