//! What is asked.

use dshap_catalogue::Given;
use dshap_io::Source;
use dshap_models::Method;
use dshap_run::Resources;
use std::path::PathBuf;

/// Owners whose rows are to be valued.
#[derive(Debug, Clone)]
pub struct OwnersRequest {
    /// Files with the rows of all owners.
    pub rows: Vec<String>,
    /// The method of row values, if one was named; `knn` also decides on the game.
    pub method: Option<&'static Method>,
    /// Every option as given; `by` names the column of owners.
    pub given: Given,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
    /// Limits. There are no checkpoints.
    pub resources: Resources,
    /// Whether the report should have digests of the inputs.
    pub digests: bool,
}

/// Tables that are open already, or in memory.
#[derive(Debug, Clone)]
pub struct OpenTables {
    /// The rows of all owners.
    pub rows: Source,
    /// Rows that measure utility.
    pub test: Option<Source>,
    /// Rows that the buyer has.
    pub own: Option<Source>,
}
