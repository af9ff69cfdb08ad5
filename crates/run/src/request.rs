//! What a front end asks for.

use dshap_catalogue::Given;
use dshap_io::ReadOptions;
use dshap_models::{Method, SizeChoice};
use std::path::PathBuf;
use std::time::Duration;

/// Rows to be valued, and how.
#[derive(Debug, Clone)]
pub struct ValueRequest {
    /// Files with the points.
    pub points: Vec<String>,
    /// A saved valuer, if rows are valued by one. Without it and without a
    /// reference among the options, each row is valued against the others.
    pub valuer: Option<PathBuf>,
    /// The method, if one was named.
    pub method: Option<&'static Method>,
    /// Every option as given, reference and test files included.
    pub given: Given,
    /// Whether the summary should have digests of the inputs.
    pub digests: bool,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
    /// Limits.
    pub resources: Resources,
}

impl ValueRequest {
    /// The points valued against each other, everything else by default.
    pub fn new(points: Vec<String>, given: Given) -> Self {
        Self {
            points,
            valuer: None,
            method: None,
            given,
            digests: false,
            outputs: Vec::new(),
            resources: Resources::default(),
        }
    }
}

/// A reference to be fitted and saved.
#[derive(Debug, Clone)]
pub struct FitRequest {
    /// Files with the reference.
    pub reference: Vec<String>,
    /// The method, if one was named.
    pub method: Option<&'static Method>,
    /// Every option as given, test files included.
    pub given: Given,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
    /// Limits.
    pub resources: Resources,
}

/// A valuer whose reference changes.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateRequest {
    /// The valuer.
    pub valuer: PathBuf,
    /// Files with rows to be added.
    pub add: Vec<String>,
    /// Files with rows to be taken away.
    pub forget: Vec<String>,
    /// How text files are written.
    pub reading: ReadOptions,
    /// Set sizes from now on, where given.
    pub sizes: SizeChoice,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
    /// Limits.
    pub resources: Resources,
}

/// Valuers of disjoint references to be made one.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeRequest {
    /// The valuers.
    pub valuers: Vec<PathBuf>,
    /// Set sizes from now on, where given.
    pub sizes: SizeChoice,
}

/// How much memory may be used, and what is kept for the case that the run is
/// killed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resources {
    /// Bytes of resident memory, if there is a limit.
    pub memory: Option<u64>,
    /// Where the state of a fit is kept from time to time.
    pub checkpoint: Option<CheckpointFile>,
}

/// A file for the state of a fit under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointFile {
    /// Where.
    pub path: PathBuf,
    /// How often, at most.
    pub every: Duration,
}
