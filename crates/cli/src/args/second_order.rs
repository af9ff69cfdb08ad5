//! Flags of `--method second-order`.

use super::UtilityArg;
use clap::{Args as ClapArgs, ValueEnum};
use dshap::second_order::{Spread, Utility};
use dshap_run::{SecondOrderSaid, Shift, parse_shift};

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Second-order values")]
pub(crate) struct SecondOrderArgs {
    /// How the spread of its coefficients is known: from the residuals of the reference, which is
    /// right also where the logistic model is not, or from the model, which has less noise.
    /// Default: sandwich.
    #[arg(long, value_name = "HOW")]
    pub(crate) spread: Option<SpreadArg>,
    /// Ridge penalty of the sets, to first order, the reference being fitted without one; `--ridge`
    /// is for penalties of ordinary size. Not under accuracy. Default: 0.
    #[arg(long, value_name = "G", value_parser = super::method::parse_penalty)]
    pub(crate) small_ridge: Option<f64>,
    /// How many rows fewer a set seems to have than it has, under log-loss without a ridge: a
    /// number, or measured on a thousand refitted sets. Default: p + 1.
    #[arg(long, value_name = "ROWS", value_parser = parse_shift)]
    pub(crate) shift: Option<Shift>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SpreadArg {
    Sandwich,
    Model,
}

impl SecondOrderArgs {
    /// What was said.
    pub(crate) fn said(&self, utility: Option<UtilityArg>) -> SecondOrderSaid {
        SecondOrderSaid {
            utility: utility.map(|utility| match utility {
                UtilityArg::LogLoss => Utility::LogLoss,
                UtilityArg::Accuracy => Utility::Accuracy,
                UtilityArg::Brier => Utility::Brier,
            }),
            spread: self.spread.map(|spread| match spread {
                SpreadArg::Sandwich => Spread::Sandwich,
                SpreadArg::Model => Spread::ModelBased,
            }),
            small_ridge: self.small_ridge,
            shift: self.shift,
        }
    }
}
