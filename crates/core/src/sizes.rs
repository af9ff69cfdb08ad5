//! The set sizes a value averages over.

use crate::{Error, Semivalue, Warning};

/// Fewer set sizes than this make a doubtful average.
const FEW_SIZES: usize = 10;

/// If sizes below `q` have more of the weight than this, the rest is not what was asked for.
const MOST_LOST: f64 = 0.5;

/// Rows of each kind that the smallest sets should have on average.
const ENOUGH_OF_A_KIND: f64 = 5.0;

/// No set is larger than this. Counts up to here are exact as doubles.
pub(crate) const MAX_SIZE: usize = 1_000_000_000_000_000;

/// The smallest set size whose utility counts, and the largest in the average.
///
/// A value sums the gain of joining sets of `min − 1 ..= max − 1` rows and
/// divides by `max`; a [`Semivalue`] weighs the sizes otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    min: usize,
    max: usize,
    semivalue: Semivalue,
}

impl Sizes {
    /// `min` is the paper's `q`, `max` its `m`; both count the point itself. Each method
    /// checks them itself, because what it needs depends on the number of columns.
    pub fn new(min: usize, max: usize) -> Self {
        Self { min, max, semivalue: Semivalue::Shapley }
    }

    /// With other weights of the sizes.
    pub fn with_semivalue(self, semivalue: Semivalue) -> Self {
        Self { semivalue, ..self }
    }

    /// The weights of the sizes.
    pub fn semivalue(&self) -> Semivalue {
        self.semivalue
    }

    /// The default `q` for a design of `dim` columns: `p + max(p, 10)`, at
    /// most `m`, at least `p + 3`.
    pub fn default_min(dim: usize, max: usize) -> usize {
        (dim + dim.max(10)).min(max).max(dim + 3)
    }

    /// The smallest sets that have five rows on average of a kind that is this share of all
    /// rows: those with a one in a column of zeros and ones, say.
    pub fn enough_of(share: f64) -> usize {
        // Rounding of the share should not ask for one more row.
        (ENOUGH_OF_A_KIND / share - 1e-6).ceil().clamp(1.0, MAX_SIZE as f64) as usize
    }

    /// The share of all rows of which sets of `size` have five on average.
    pub fn share_for(size: usize) -> f64 {
        ENOUGH_OF_A_KIND / size.max(1) as f64
    }

    /// `q`, the smallest set whose utility counts.
    pub fn min(&self) -> usize {
        self.min
    }

    /// `m`, the largest set size, the point included.
    pub fn max(&self) -> usize {
        self.max
    }

    /// How many set sizes the average has.
    pub fn count(&self) -> usize {
        (self.max + 1).saturating_sub(self.min)
    }

    /// A warning if the average has few set sizes, or if most of the weight that was asked
    /// for is that of sizes without utility.
    pub fn warning(&self) -> Option<Warning> {
        match self.semivalue {
            Semivalue::Shapley => {}
            Semivalue::AtMax => return None,
            law => {
                let share = law.weight_below(self.min.saturating_sub(1), self.max);
                if share > MOST_LOST {
                    return Some(Warning::WeightBelow { share });
                }
            }
        }
        (self.count() < FEW_SIZES).then_some(Warning::FewSizes { n_sizes: self.count() })
    }

    pub(crate) fn check(&self, dim: usize, least: usize) -> Result<(), Error> {
        if self.max > MAX_SIZE {
            return Err(Error::TooLargeSize { max: self.max });
        }
        if self.min < least || self.max < self.min {
            return Err(Error::Sizes { min: self.min, max: self.max, least, dim });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_min_is_twice_p_within_its_limits() {
        assert_eq!(Sizes::default_min(3, 200), 13);
        assert_eq!(Sizes::default_min(30, 200), 60);
        assert_eq!(Sizes::default_min(30, 50), 50);
        assert_eq!(Sizes::default_min(30, 31), 33, "too few rows is left to the method to refuse");
    }

    #[test]
    fn enough_of_a_rare_kind_are_five_rows() {
        assert_eq!(Sizes::enough_of(0.25), 20);
        assert_eq!(Sizes::enough_of(0.03), 167);
        assert_eq!(Sizes::enough_of(0.0), MAX_SIZE, "no set has any");
        for size in [3, 49, 1000] {
            assert_eq!(Sizes::enough_of(Sizes::share_for(size)), size);
        }
    }

    #[test]
    fn sizes_beyond_all_reason_are_refused() {
        let huge = Sizes::new(10, usize::MAX);
        assert_eq!(huge.check(3, 6), Err(Error::TooLargeSize { max: usize::MAX }));
        assert_eq!(Sizes::new(10, MAX_SIZE).check(3, 6), Ok(()));
    }

    #[test]
    fn short_averages_are_doubted() {
        assert_eq!(Sizes::new(10, 18).warning(), Some(Warning::FewSizes { n_sizes: 9 }));
        assert_eq!(Sizes::new(10, 19).warning(), None);
    }
}
