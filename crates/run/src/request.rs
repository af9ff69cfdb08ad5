//! What a front end asks for.

use dshap::linear::{Algorithm3, Constant, Convention, LinearMethod};
use dshap_table::{Missing, Selection, Unseen};
use std::path::PathBuf;

/// What kind of model the rows are valued for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// A number is predicted.
    Regression,
    /// A label is predicted.
    Classification,
}

impl Task {
    /// The word users know it by.
    pub fn name(self) -> &'static str {
        match self {
            Task::Regression => "regression",
            Task::Classification => "classification",
        }
    }
}

/// A way of valuing rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Theorem 2, exactly.
    Gaussian {
        /// The point-independent constant.
        constant: Constant,
        /// The sum over set sizes.
        convention: Convention,
    },
    /// The paper's Monte Carlo.
    Algorithm3(Algorithm3),
}

impl Method {
    /// The word users know it by.
    pub fn name(self) -> &'static str {
        match self {
            Method::Gaussian { .. } => "gaussian",
            Method::Algorithm3(_) => "algorithm-3",
        }
    }

    pub(crate) fn linear(self) -> LinearMethod {
        match self {
            Method::Gaussian { constant, convention } => LinearMethod::Gaussian { constant, convention },
            Method::Algorithm3(algorithm) => LinearMethod::Algorithm3(algorithm),
        }
    }
}

/// Rows to be valued, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueRequest {
    /// Files with the points.
    pub points: Vec<String>,
    /// Files with the reference; without them the points are their own.
    pub reference: Option<Vec<String>>,
    /// Which column plays which part.
    pub selection: Selection,
    /// Missing cells.
    pub missing: Missing,
    /// Levels the reference does not have.
    pub unseen: Unseen,
    /// The task, if said.
    pub task: Option<Task>,
    /// The method.
    pub method: Method,
    /// `m`, if said.
    pub max_size: Option<usize>,
    /// `q`, if said.
    pub min_size: Option<usize>,
    /// Whether to centre by the reference means.
    pub intercept: bool,
    /// Whether dependent columns may be dropped.
    pub allow_dependent: bool,
    /// Whether standard errors are wanted.
    pub std_error: bool,
    /// Whether the summary should have digests of the inputs.
    pub digests: bool,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
}

impl ValueRequest {
    /// The points valued against themselves, everything else as by default.
    pub fn new(points: Vec<String>, target: &str) -> Self {
        Self {
            points,
            reference: None,
            selection: Selection { target: Some(target.into()), ..Selection::default() },
            missing: Missing::default(),
            unseen: Unseen::default(),
            task: None,
            method: Method::Gaussian { constant: Constant::default(), convention: Convention::default() },
            max_size: None,
            min_size: None,
            intercept: true,
            allow_dependent: true,
            std_error: false,
            digests: false,
            outputs: Vec::new(),
        }
    }
}
