//! How far a run has come, and whether it should stop.

use crate::wire::Progress;
use dshap_run::{Observer, Stage};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Why a run was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    Cancelled,
    TooLong,
}

/// Watches one run.
#[derive(Debug)]
pub(crate) struct Watch {
    most: Duration,
    started: OnceLock<Instant>,
    cancelled: AtomicBool,
    stage: Mutex<Option<Stage>>,
    total: AtomicU64,
    done: AtomicU64,
    rows: AtomicU64,
}

impl Watch {
    /// For a run that may take so long.
    pub(crate) fn new(most: Duration) -> Self {
        Self {
            most,
            started: OnceLock::new(),
            cancelled: AtomicBool::new(false),
            stage: Mutex::new(None),
            total: AtomicU64::new(0),
            done: AtomicU64::new(0),
            rows: AtomicU64::new(0),
        }
    }

    pub(crate) fn start(&self) {
        self.started.get_or_init(Instant::now);
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    pub(crate) fn stopped(&self) -> Option<Stopped> {
        match self.cancelled.load(Ordering::Relaxed) {
            true => Some(Stopped::Cancelled),
            false => (self.elapsed() > self.most).then_some(Stopped::TooLong),
        }
    }

    pub(crate) fn progress(&self) -> Progress {
        let stage = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let (total, done) = (self.total.load(Ordering::Relaxed), self.done.load(Ordering::Relaxed));
        Progress {
            stage: stage.map_or("starting", Stage::name),
            share: (total > 0).then(|| (done as f64 / total as f64).min(1.0)),
            rows: self.rows.load(Ordering::Relaxed),
        }
    }

    fn set(&self, stage: Option<Stage>, total: u64) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        self.total.store(total, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.rows.store(0, Ordering::Relaxed);
    }
}

impl Observer for Watch {
    fn begin(&self, stage: Stage, total_bytes: u64) {
        self.set(Some(stage), total_bytes);
    }

    fn advance(&self, bytes: u64, rows: u64) {
        self.done.store(bytes, Ordering::Relaxed);
        self.rows.store(rows, Ordering::Relaxed);
    }

    fn end(&self) {
        let total = self.total.load(Ordering::Relaxed);
        self.done.store(total, Ordering::Relaxed);
    }

    fn is_interrupted(&self) -> bool {
        self.stopped().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_stopped_by_people_or_by_time() {
        let watch = Watch::new(Duration::from_secs(100));
        watch.start();
        assert_eq!(watch.stopped(), None);
        watch.cancel();
        assert_eq!(watch.stopped(), Some(Stopped::Cancelled));
        let short = Watch::new(Duration::ZERO);
        assert_eq!(short.stopped(), None, "waiting does not count");
        short.start();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(short.stopped(), Some(Stopped::TooLong));
    }

    #[test]
    fn progress_is_a_share_of_the_current_pass() {
        let watch = Watch::new(Duration::from_secs(100));
        assert_eq!(watch.progress(), Progress { stage: "starting", share: None, rows: 0 });
        watch.begin(Stage::Fit, 200);
        watch.advance(50, 7);
        assert_eq!(watch.progress(), Progress { stage: "fitting", share: Some(0.25), rows: 7 });
        watch.begin(Stage::Value, 0);
        assert_eq!(watch.progress(), Progress { stage: "valuing", share: None, rows: 0 });
    }
}
