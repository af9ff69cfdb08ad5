//! A progress bar on a terminal, silence elsewhere.

use dshap_run::{Observer, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A run shorter than this needs no bar.
const PATIENCE: Duration = Duration::from_millis(400);

/// Rate and time left of the current pass.
pub(crate) struct Progress {
    visible: bool,
    started: Instant,
    bar: Mutex<Option<ProgressBar>>,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            visible: !quiet && std::io::stderr().is_terminal(),
            started: Instant::now(),
            bar: Mutex::new(None),
        }
    }

    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Progress {
    fn begin(&self, stage: Stage, total_bytes: u64) {
        if !self.visible {
            return;
        }
        // The methods of a trial share one bar: the time left is that of the whole.
        if let (Stage::Trial(name), Some(bar)) = (stage, &*self.bar())
            && bar.length() == Some(total_bytes)
        {
            bar.set_prefix(name);
            return;
        }
        let is_known = total_bytes > 0;
        let bar =
            ProgressBar::with_draw_target(is_known.then_some(total_bytes), ProgressDrawTarget::hidden());
        let style = match stage {
            _ if !is_known => "{prefix:>10} {spinner} {binary_bytes_per_sec}  {msg}  {elapsed} elapsed",
            Stage::Draw => "{prefix:>10} [{bar:30}] {pos} of at most {len} rounds  {eta} left at most",
            Stage::Sets => "{prefix:>10} [{bar:30}] {pos} of {len} sets  {eta} left",
            Stage::Coalitions | Stage::Trial(_) => "{prefix:>10} [{bar:30}] {percent:>3} %  {eta} left",
            Stage::Bandwidth => "{prefix:>10} [{bar:30}] {percent:>3} %  {msg}  {eta} left",
            _ => "{prefix:>10} [{bar:30}] {percent:>3} %  {binary_bytes_per_sec}  {msg}  {eta} left",
        };
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(stage.name());
        *self.bar() = Some(bar);
    }

    fn advance(&self, bytes: u64, rows: u64) {
        if let Some(bar) = &*self.bar() {
            if bar.is_hidden() && self.started.elapsed() > PATIENCE {
                bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
            }
            bar.set_message(format!("{} rows", crate::table::grouped(rows)));
            bar.set_position(bytes);
        }
    }

    fn end(&self) {
        if let Some(bar) = self.bar().take() {
            bar.finish_and_clear();
        }
    }

    fn is_interrupted(&self) -> bool {
        // Ctrl-C ends the program itself; see `main`.
        false
    }
}
