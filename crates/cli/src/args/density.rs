//! Flags of `--task density`.

use clap::{Args as ClapArgs, ValueEnum};
use dshap::density::{Bandwidth, Kernel};
use dshap::neighbours::Scale;
use dshap_run::parse_bandwidth;

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Density")]
pub(crate) struct DensityArgs {
    /// What each reference row is smoothed by. Default: gaussian.
    #[arg(long)]
    pub(crate) kernel: Option<KernelArg>,
    /// How wide the kernel is, in units of the scaled columns: auto (the best of 0.01 … 10 by
    /// five-fold cross-validation), scott, silverman, or a number. Default: auto.
    #[arg(long, value_name = "H", value_parser = parse_bandwidth)]
    pub(crate) bandwidth: Option<Bandwidth>,
    /// Also knn, knn-shapley: how columns are made comparable, over their standard deviations, or not
    /// at all. Default: std.
    #[arg(long)]
    pub(crate) scale: Option<ScaleArg>,
    /// Add up over every reference row, also those too far away to matter (less than 1e-12 of a sum).
    #[arg(long)]
    pub(crate) every_row: bool,
}

/// Groups of rows valued as sets.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Density")]
pub(crate) struct SetArgs {
    /// Value sets of rows in the place of rows: those with the same cell in this column, which is
    /// no feature. One row for each set: set, n, value (comparable between sizes) and
    /// sum_of_members, what the rows are worth one by one.
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["by", "id", "keep"])]
    pub(crate) sets: Option<String>,
    /// Only what two of the sets are worth together beyond what they are worth apart.
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        num_args = 1,
        requires = "sets",
        conflicts_with = "stderr"
    )]
    pub(crate) synergy: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KernelArg {
    Gaussian,
    Uniform,
    Epanechnikov,
    Triangular,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleArg {
    Std,
    None,
}

impl From<KernelArg> for Kernel {
    fn from(kernel: KernelArg) -> Self {
        match kernel {
            KernelArg::Gaussian => Kernel::Gaussian,
            KernelArg::Uniform => Kernel::Uniform,
            KernelArg::Epanechnikov => Kernel::Epanechnikov,
            KernelArg::Triangular => Kernel::Triangular,
        }
    }
}

impl From<ScaleArg> for Scale {
    fn from(scale: ScaleArg) -> Self {
        match scale {
            ScaleArg::Std => Scale::Standard,
            ScaleArg::None => Scale::AsGiven,
        }
    }
}
