//! Progress of a trial: which method, and how many of all steps are done.

use crate::entrant::Entrant;
use dshap_models::{Observer, Stage};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the steps of a trial. What happens within a step is not shown.
pub(crate) struct Steps<'a> {
    observer: &'a dyn Observer,
    n_done: AtomicU64,
    total: u64,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(observer: &'a dyn Observer, total: u64) -> Self {
        Self { observer, n_done: AtomicU64::new(0), total }
    }

    /// The next steps are those of `entrant`.
    pub(crate) fn of_method(&self, entrant: &Entrant) {
        self.observer.begin(Stage::Trial(entrant.method.name()), self.total);
        self.observer.advance(self.n_done.load(Ordering::Relaxed), 0);
    }

    /// A step is done.
    pub(crate) fn done(&self) {
        let n_done = self.n_done.fetch_add(1, Ordering::Relaxed) + 1;
        self.observer.advance(n_done.min(self.total), 0);
    }

    /// All are.
    pub(crate) fn finished(&self) {
        self.observer.end();
    }
}

impl Observer for Steps<'_> {
    fn begin(&self, _: Stage, _: u64) {}
    fn advance(&self, _: u64, _: u64) {}
    fn end(&self) {}
    fn is_interrupted(&self) -> bool {
        self.observer.is_interrupted()
    }
}
