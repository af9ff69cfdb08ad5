//! Flags of `--method knn` and `--method knn-shapley`.

use super::method::parse_size;
use clap::{Args as ClapArgs, ValueEnum};
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
