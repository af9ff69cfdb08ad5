//! How a front end watches, and stops, a run.

/// A pass over the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Levels and means of the reference are collected.
    Survey,
    /// Moments of all columns are collected, for their principal components.
    Components,
    /// Moments of the reference are collected.
    Fit,
    /// A fit made in steps takes its next one.
    Refine,
    /// Bandwidths are tried; thousandths are counted instead of bytes.
    Bandwidth,
    /// Distances of the reference rows are collected.
    Calibrate,
    /// Moments of rows to be forgotten are collected.
    Forget,
    /// Points are valued.
    Value,
    /// Sets of points are valued; sets are counted instead of bytes.
    Sets,
    /// Sets are drawn; rounds are counted instead of bytes.
    Draw,
    /// Rows are read into memory.
    Read,
    /// Coalitions of owners are tried; coalitions, or rounds of them, are counted instead
    /// of bytes.
    Coalitions,
    /// Steps of a trial, whose name this is, are counted instead of bytes.
    Trial(&'static str),
}

impl Stage {
    /// What is going on, for a progress bar.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Survey => "surveying",
            Stage::Components => "reducing",
            Stage::Fit => "fitting",
            Stage::Refine => "refining",
            Stage::Bandwidth => "smoothing",
            Stage::Calibrate => "calibrating",
            Stage::Forget => "forgetting",
            Stage::Value => "valuing",
            Stage::Sets => "valuing sets",
            Stage::Draw => "drawing sets",
            Stage::Read => "reading",
            Stage::Coalitions => "owners",
            Stage::Trial(name) => name,
        }
    }
}

/// Sees how far a run has come. Called from any thread.
pub trait Observer: Sync {
    /// A pass over `total_bytes` begins; 0 if the total is not known.
    fn begin(&self, stage: Stage, total_bytes: u64);
    /// Bytes and rows of the current pass that are done.
    fn advance(&self, bytes: u64, rows: u64);
    /// The current pass has ended.
    fn end(&self);
    /// Whether the run should stop.
    fn is_interrupted(&self) -> bool;
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Observer for Unwatched {
    fn begin(&self, _: Stage, _: u64) {}
    fn advance(&self, _: u64, _: u64) {}
    fn end(&self) {}
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// Hides a pass that is watched in another way; the run can still be stopped.
pub struct Quiet<'a>(pub &'a dyn Observer);

impl Observer for Quiet<'_> {
    fn begin(&self, _: Stage, _: u64) {}
    fn advance(&self, _: u64, _: u64) {}
    fn end(&self) {}
    fn is_interrupted(&self) -> bool {
        self.0.is_interrupted()
    }
}
