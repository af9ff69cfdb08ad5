//! What sets are worth.

use clap::{ArgAction, Args as ClapArgs, ValueEnum};

/// What sets are measured by: of several methods.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Utility")]
pub(crate) struct UtilityArgs {
    /// Rows that measure what sets are worth, with the columns of the reference; repeat for several
    /// files. knn, knn-shapley: rows that the nearest are to predict; by default the reference rows,
    /// each by the others, or a sample of them (--samples). d-shapley, tmc-shapley, exact-shapley,
    /// loo: by default one row in five of the reference, or of the points, which then have no value.
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    pub(crate) test: Vec<String>,
    /// What a model of labels that is fitted to a set is judged by. second-order: log-loss by
    /// default. d-shapley, tmc-shapley, exact-shapley, loo: accuracy by default, or log-loss.
    #[arg(long, value_name = "WHAT")]
    pub(crate) utility: Option<UtilityArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UtilityArg {
    LogLoss,
    Accuracy,
    Brier,
}
