//! A bar that counts units of work, such as the repetitions of an experiment.

use dshap_experiments::Watch;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Units done and time left of an experiment.
pub(crate) struct UnitBar {
    quiet: bool,
    visible: bool,
    bar: Mutex<Option<ProgressBar>>,
}

impl UnitBar {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, visible: !quiet && std::io::stderr().is_terminal(), bar: Mutex::new(None) }
    }

    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for UnitBar {
    fn begin(&self, what: &str, done: usize, total: usize) {
        if !self.visible {
            return;
        }
        let bar = ProgressBar::new(total as u64).with_position(done as u64);
        let style = "{prefix:>10} [{bar:30}] {pos} of {len}  {elapsed} elapsed  {msg}";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(what.to_string());
        // Units of an earlier run do not tell how fast this one is.
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_secs(1));
        *self.bar() = Some(bar);
    }

    fn advance(&self, done: usize) {
        if let Some(bar) = &*self.bar() {
            bar.set_position(done as u64);
            // The time left is known once something is done.
            bar.set_message(format!("{} left", indicatif::HumanDuration(bar.eta())));
        }
    }

    fn end(&self) {
        if let Some(bar) = self.bar().take() {
            bar.finish_and_clear();
        }
    }

    fn doubt(&self, what: &str) {
        if !self.quiet {
            eprintln!("warning: {}", crate::table::visible(what));
        }
    }
}
