//! Progress of an experiment.

/// Follows the progress of an experiment.
pub trait Watch: Sync {
    /// Work begins: `total` units, of which `done` are done already.
    fn begin(&self, what: &str, done: usize, total: usize);

    /// `done` units are done.
    fn advance(&self, done: usize);

    /// All units are done.
    fn end(&self);

    /// Something that readers of the results should know.
    fn doubt(&self, what: &str);
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn begin(&self, _: &str, _: usize, _: usize) {}
    fn advance(&self, _: usize) {}
    fn end(&self) {}
    fn doubt(&self, _: &str) {}
}
