//! What was said about a density estimate, and what it comes to.

use crate::Error;
use crate::request::{Method, Model};
use dshap::density::{BANDWIDTH_RANGE, Bandwidth, DensityOptions, Kernel, Scaling, Search};

/// Most reference rows of a density estimate unless more are asked for: time
/// grows with the product of points and reference rows.
pub const DEFAULT_SAMPLES: usize = 20_000;

/// What was said about a density estimate, as far as anything was.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DensityChoice {
    /// The kernel; Gaussian by default.
    pub kernel: Option<Kernel>,
    /// How wide it is; cross-validated by default.
    pub bandwidth: Option<Bandwidth>,
    /// How columns are made comparable; by their standard deviations by default.
    pub scaling: Option<Scaling>,
    /// Sums go over every reference row, also those too far away to matter.
    pub every_row: bool,
    /// Most reference rows; of more, so many are drawn. [`DEFAULT_SAMPLES`] by
    /// default.
    pub samples: Option<usize>,
    /// Seed of that sample; 0 by default.
    pub seed: Option<u64>,
}

impl DensityChoice {
    /// What core is to do.
    pub(crate) fn options(&self) -> DensityOptions {
        DensityOptions {
            kernel: self.kernel.unwrap_or_default(),
            bandwidth: self.bandwidth.unwrap_or_default(),
            scaling: self.scaling.unwrap_or_default(),
            search: if self.every_row { Search::All } else { Search::Auto },
        }
    }

    /// The most reference rows.
    pub(crate) fn most_rows(&self) -> usize {
        self.samples.unwrap_or(DEFAULT_SAMPLES)
    }

    /// The first option that only a density has, if one was given.
    pub fn first_said(&self) -> Option<&'static str> {
        let said = [
            ("--kernel", self.kernel.is_some()),
            ("--bandwidth", self.bandwidth.is_some()),
            ("--scale", self.scaling.is_some()),
            ("--every-row", self.every_row),
        ];
        said.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

/// The bandwidth that a word stands for: `auto`, `scott`, `silverman` or a number.
///
/// # Errors
///
/// What was expected instead.
pub fn parse_bandwidth(text: &str) -> Result<Bandwidth, String> {
    match text {
        "auto" => Ok(Bandwidth::CrossValidated),
        "scott" => Ok(Bandwidth::Scott),
        "silverman" => Ok(Bandwidth::Silverman),
        _ => match text.parse::<f64>() {
            Ok(number) if BANDWIDTH_RANGE.contains(&number) => Ok(Bandwidth::Given(number)),
            _ => Err("expected auto, scott, silverman or a number from 1e-30 to 1e30".into()),
        },
    }
}

impl Model {
    /// The method for a density, unless something was said that only predictions
    /// have.
    pub(crate) fn settled_for_density(&self) -> Result<Method, Error> {
        let misplaced = |what: String| Err(Error::Misplaced { what });
        if let Some(target) = &self.selection.target {
            return misplaced(format!(
                "a density has no target, every column is a feature: leave `--target` out, and `--exclude \
                 {target}` if the density should not be of that column too"
            ));
        }
        let said = [
            ("--weight", self.selection.weight.is_some(), "reference rows of a density count alike"),
            ("--positive", self.positive.is_some(), "a density has no labels"),
            ("--ridge", self.ridge.is_some(), NO_RIDGE),
            ("--no-intercept", !self.fit.intercept, "a density has no intercept"),
            ("--refit-intercept", self.fit.refit_intercept, "a density has no intercept"),
            (
                "--dependent",
                !self.fit.allow_dependent,
                "a density leaves out constant columns only, and `--strict` makes that an error",
            ),
        ];
        if let Some((flag, _, why)) = said.into_iter().find(|(_, given, _)| *given) {
            return misplaced(format!("`{flag}` does not go with `--task density`: {why}"));
        }
        if self.sizes.min.is_some() {
            return misplaced(NO_MIN_SIZE.into());
        }
        match self.method {
            Method::Closed | Method::MonteCarlo(_) => Ok(self.method),
            method => misplaced(format!(
                "`--method {}` is for predictions; a density is valued by `closed` or `monte-carlo`",
                method.name()
            )),
        }
    }
}

/// Why a density takes no ridge.
pub(crate) const NO_RIDGE: &str = "how smooth a density is, `--bandwidth` says";

/// Why a density takes no `q`.
pub(crate) const NO_MIN_SIZE: &str = "`--q` does not go with `--task density`: an estimate can be made of any set, so sets of every size count";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_are_words_or_numbers_in_range() {
        assert_eq!(parse_bandwidth("auto"), Ok(Bandwidth::CrossValidated));
        assert_eq!(parse_bandwidth("scott"), Ok(Bandwidth::Scott));
        assert_eq!(parse_bandwidth("silverman"), Ok(Bandwidth::Silverman));
        assert_eq!(parse_bandwidth("0.25"), Ok(Bandwidth::Given(0.25)));
        for wrong in ["", "Auto", "0", "-1", "nan", "inf", "1e31"] {
            assert!(parse_bandwidth(wrong).is_err(), "{wrong}");
        }
    }
}
