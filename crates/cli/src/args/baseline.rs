//! Flags of baselines.

use super::MethodArg;
use clap::{ArgAction, Args as ClapArgs, ValueEnum};
use dshap_run::{Baseline, UtilityName};

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Baselines")]
pub(crate) struct BaselineArgs {
    /// d-shapley, tmc-shapley, exact-shapley, loo: rows that measure what sets are worth, with the
    /// columns of the points; repeat for several files. Default: one row in five of the reference,
    /// or of the points, which then have no value.
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    pub(crate) test: Vec<String>,
    /// What a set of labelled rows is worth by the logistic model fitted to it. Default: accuracy.
    #[arg(long)]
    pub(crate) utility: Option<UtilityArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UtilityArg {
    Accuracy,
    LogLoss,
}

impl From<UtilityArg> for UtilityName {
    fn from(utility: UtilityArg) -> Self {
        match utility {
            UtilityArg::Accuracy => UtilityName::Accuracy,
            UtilityArg::LogLoss => UtilityName::LogLoss,
        }
    }
}

impl MethodArg {
    /// The baseline, if it is one.
    pub(crate) fn baseline(self) -> Option<Baseline> {
        match self {
            MethodArg::DShapley => Some(Baseline::DShapley),
            MethodArg::TmcShapley => Some(Baseline::TmcShapley),
            MethodArg::ExactShapley => Some(Baseline::ExactShapley),
            MethodArg::Loo => Some(Baseline::LeaveOneOut),
            MethodArg::Random => Some(Baseline::Random),
            _ => None,
        }
    }
}
