//! Flags of `--method knn` and `--method knn-shapley`.

use super::shared::parse_size;
use clap::{ArgAction, Args as ClapArgs, ValueEnum};
use dshap::neighbours::Metric;

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Nearest neighbours")]
pub(crate) struct NeighbourArgs {
    /// knn, knn-shapley: how many nearest rows of a set predict. Default: 5.
    #[arg(long, value_parser = parse_size)]
    pub(crate) k: Option<usize>,
    /// knn, knn-shapley: how far apart rows are; cosine is one less the cosine of the angle, seen from
    /// the mean of the reference, or from 0 with --scale none. Default: euclidean.
    #[arg(long)]
    pub(crate) metric: Option<MetricArg>,
    /// knn, knn-shapley: rows that the nearest are to predict, with the columns of the reference;
    /// repeat for several files. Default: the reference rows, each by the others, or a sample of
    /// them (--samples).
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    pub(crate) test: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MetricArg {
    Euclidean,
    Manhattan,
    Cosine,
}

impl From<MetricArg> for Metric {
    fn from(metric: MetricArg) -> Self {
        match metric {
            MetricArg::Euclidean => Metric::Euclidean,
            MetricArg::Manhattan => Metric::Manhattan,
            MetricArg::Cosine => Metric::Cosine,
        }
    }
}
