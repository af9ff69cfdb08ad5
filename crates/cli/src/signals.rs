//! Signals that end the program.
//!
//! Destructors do not run on exit, so unfinished files are removed by hand. A signal
//! that was ignored when the program started stays ignored: that is how `nohup` and
//! background jobs protect a run.

/// Ends the program with 128 and the number of the signal, as shells count.
///
/// If this cannot be installed, a signal still ends the program.
#[cfg(unix)]
pub(crate) fn end_on_signals() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let ignored = ignored();
    let caught = [SIGINT, SIGTERM]
        .into_iter()
        .chain(ignored.is_some().then_some(signal_hook::consts::SIGHUP))
        .filter(|signal| ignored.unwrap_or(0) >> (signal - 1) & 1 == 0);
    if let Ok(mut signals) = Signals::new(caught) {
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                dshap_io::remove_unfinished_files();
                std::process::exit(128 + signal);
            }
        });
    }
}

/// The signals that were ignored when the program started, as bits. Where that is not
/// known, SIGHUP is left alone: it ends the program anyway, and the next run removes
/// what was unfinished.
#[cfg(target_os = "linux")]
fn ignored() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(bits.trim(), 16).ok()
}

#[cfg(all(unix, not(target_os = "linux")))]
fn ignored() -> Option<u64> {
    None
}

/// Ends the program on Ctrl-C, with the code that Unix shells give it.
#[cfg(not(unix))]
pub(crate) fn end_on_signals() {
    let _ = ctrlc::set_handler(|| {
        dshap_io::remove_unfinished_files();
        std::process::exit(130);
    });
}
