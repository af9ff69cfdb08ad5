//! Being told how far an experiment is.

/// Told how far an experiment is.
pub trait Watch: Sync {
    /// Work begins: `total` units, of which `done` were found done.
    fn begin(&self, what: &str, done: usize, total: usize);

    /// So many units are done.
    fn advance(&self, done: usize);

    /// All units are done.
    fn end(&self);

    /// Something that readers of the results should know.
    fn doubt(&self, what: &str);
}

/// Looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn begin(&self, _: &str, _: usize, _: usize) {}
    fn advance(&self, _: usize) {}
    fn end(&self) {}
    fn doubt(&self, _: &str) {}
}
