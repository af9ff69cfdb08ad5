//! The method, and what it may be told.

use super::{DensityArgs, NeighbourArgs, SecondOrderArgs, UtilityArgs};
use clap::{Args as ClapArgs, ValueEnum};
use dshap::linear::Constant;
use dshap_run::{AnyMethod, parse_constant};

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    /// What is predicted: a number, a label, or nothing (density). Guessed from the target when
    /// absent: classification if it is text, true or false, or has two values.
    #[arg(long)]
    pub(crate) task: Option<TaskArg>,
    /// How rows are valued: exactly for Gaussian inputs, calibrated to other ones, by drawing
    /// sets (general: any inputs, with a ridge), bounded, or by the paper's Monte Carlo; by nearest
    /// neighbours (knn), also as Shapley values of a finite dataset (knn-shapley). Default: gaussian.
    /// Labels: also for a model that is refitted on each set (second-order).
    /// Densities: in closed form, or by the paper's Monte Carlo. Default: closed.
    /// Baselines, for every task, with all rows in memory: d-shapley, tmc-shapley, exact-shapley
    /// (up to 20 rows, of densities any number), loo (leave-one-out), random (docs/baselines.md).
    #[arg(long, value_name = "NAME")]
    pub(crate) method: Option<MethodArg>,
    #[command(flatten)]
    pub(crate) options: OptionArgs,
}

/// What methods may be told; which of them know it, each option says.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Method")]
pub(crate) struct OptionArgs {
    #[command(flatten)]
    pub(crate) sizes: SizeArgs,
    /// The model has no intercept: nothing is centred, and classification has no column of ones.
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// Value a model that fits its intercept anew on each set, instead of taking the reference
    /// means as known.
    #[arg(long, conflicts_with = "no_intercept")]
    pub(crate) refit_intercept: bool,
    /// Ridge penalty for features as given. Regression (general, lower, upper): added to the sum of
    /// squares; a column that depends on others is left out all the same. Classification (every
    /// method): half of it times the squared coefficients is added to the log-loss of the fit.
    /// Default: 0.
    #[arg(long, value_name = "G", value_parser = parse_penalty)]
    pub(crate) ridge: Option<f64>,
    /// lower, upper: c of the eigenvalues' tail. Default: 0.5 (proved), 1 with --convention printed.
    #[arg(long, value_name = "NUMBER", value_parser = parse_positive)]
    pub(crate) bound_c: Option<f64>,
    /// lower, upper: C of the eigenvalues' edge. Default: 1.
    #[arg(long = "bound-C", value_name = "NUMBER", value_parser = parse_penalty)]
    pub(crate) bound_edge: Option<f64>,
    /// The row-independent constant: gain, theorem or full:C. Default: gain.
    #[arg(long, value_parser = parse_constant)]
    pub(crate) constant: Option<Constant>,
    /// The sum as defined, or as printed in the paper's Theorem 2 (off by one, with its constant);
    /// bounds of a classification as printed are on the authors' variables. Default: definition.
    #[arg(long)]
    pub(crate) convention: Option<ConventionArg>,
    /// algorithm-3: stop when the sum moves by less (ρ₂), 0 never; default 0.005. general: errors
    /// wanted, as a share of the spread of values; default 0.02. Printed bounds: Algorithm 4's rule, 0.005 in the paper; without it, full sums.
    /// d-shapley, tmc-shapley: stop when means move by less in a hundred iterations; default 0.05.
    #[arg(long, value_name = "RHO", value_parser = parse_tolerance)]
    pub(crate) stop: Option<f64>,
    /// algorithm-3: stop drawing when the mean moves by less (ρ₁). Default: 0.01.
    #[arg(long, value_name = "RHO", value_parser = parse_tolerance)]
    pub(crate) stop_draws: Option<f64>,
    /// algorithm-3: at most so many draws per set size (T); default 1000. general: rounds; default
    /// 4096. Density: reference rows, of more so many are drawn; default 20000. knn, knn-shapley:
    /// reference rows that are test rows, of more so many are drawn; default 10000. d-shapley,
    /// tmc-shapley: iterations; default 10000.
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) samples: Option<u64>,
    /// Seed of random methods, of standard errors and the measured shift (second-order), and of a sample
    /// of the reference or of its test rows. Default: 0.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) second_order: SecondOrderArgs,
    #[command(flatten)]
    pub(crate) density: DensityArgs,
    #[command(flatten)]
    pub(crate) neighbours: NeighbourArgs,
    #[command(flatten)]
    pub(crate) utility: UtilityArgs,
}

/// The set sizes averaged over.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Method")]
pub(crate) struct SizeArgs {
    /// Largest set size, the row included. Default: the number of reference rows.
    #[arg(long, value_parser = parse_size)]
    pub(crate) m: Option<usize>,
    /// Smallest set whose utility counts. Default: p + max(p, 10) for p design
    /// columns, at most m, at least p + 3; of knn k + 1; of tmc-shapley, exact-shapley and loo at
    /// most half of the rows, and 1 with a ridge, which labels have; of second-order with all
    /// coefficients of a softmax model for p, and as far above a shift as above p + 1.
    #[arg(long, value_parser = parse_size)]
    pub(crate) q: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskArg {
    Regression,
    Classification,
    Density,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    Gaussian,
    Calibrated,
    General,
    Lower,
    Upper,
    #[value(name = "algorithm-3")]
    Algorithm3,
    SecondOrder,
    Closed,
    MonteCarlo,
    Knn,
    KnnShapley,
    DShapley,
    TmcShapley,
    ExactShapley,
    Loo,
    Random,
}

impl MethodArg {
    /// What the engine calls it.
    pub(crate) fn any(self) -> AnyMethod {
        let name = self.to_possible_value().and_then(|value| AnyMethod::parse(value.get_name()));
        name.expect("every method that can be typed is one of the engine")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConventionArg {
    Definition,
    Printed,
}

pub(super) fn parse_size(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        // Beyond this, sums of set sizes no longer fit the numbers they are counted with.
        Ok(size) if (1..=1_000_000_000_000_000).contains(&size) => Ok(size),
        _ => Err("expected a whole number from 1 to 1000000000000000".into()),
    }
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rho) if (0.0..1.0).contains(&rho) => Ok(rho),
        _ => Err("expected a number from 0 to below 1".into()),
    }
}

pub(super) fn parse_penalty(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..f64::INFINITY).contains(&number) => Ok(number),
        _ => Err("expected a number of at least 0".into()),
    }
}

fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("expected a number above 0".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_that_can_be_typed_is_known() {
        for method in MethodArg::value_variants() {
            let name = method.to_possible_value().map(|value| value.get_name().to_string());
            assert_eq!(Some(method.any().word().to_string()), name);
        }
    }
}
