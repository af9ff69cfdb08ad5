//! What was said about a method, and what it comes to.
//!
//! Front ends collect words; which of them go together is settled here, once.
//! Options are called as on the command line.

use crate::density_choice::NO_RIDGE;
use crate::neighbour_choice::NO_RIDGE as NO_COEFFICIENTS;
use crate::request::Method;
use crate::second_order_choice::SecondOrderSaid;
use dshap::density::Algorithm5;
use dshap::linear::{Algorithm3, Bound, Constant, Convention, GeneralOptions, Side};
use dshap::neighbours::DEFAULT_K;
use std::ops::RangeBounds;

/// Why a ridge is refused in regression.
pub(crate) const RIDGE_MISPLACED: &str =
    "the closed form has no ridge; `--ridge` goes with `--method general`, `lower` and `upper`";

/// The name of a method, without its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodName {
    /// Theorem 2.
    Gaussian,
    /// Theorem 2, calibrated to other inputs.
    Calibrated,
    /// Proposition 1, by drawing sets.
    General,
    /// Theorem 3, from below.
    Lower,
    /// Theorem 3, from above.
    Upper,
    /// The paper's Monte Carlo.
    Algorithm3,
    /// A model that is refitted on each set.
    SecondOrder,
    /// Theorem 5.
    Closed,
    /// The paper's Monte Carlo for densities.
    MonteCarlo,
    /// Nearest neighbours, in closed form.
    Knn,
    /// The same for a finite dataset.
    KnnShapley,
}

impl MethodName {
    /// Those that value densities.
    pub const OF_DENSITIES: [MethodName; 2] = [MethodName::Closed, MethodName::MonteCarlo];

    /// Those that value what predictions are made from.
    pub const ALL: [MethodName; 9] = [
        MethodName::Gaussian,
        MethodName::Calibrated,
        MethodName::General,
        MethodName::Lower,
        MethodName::Upper,
        MethodName::Algorithm3,
        MethodName::SecondOrder,
        MethodName::Knn,
        MethodName::KnnShapley,
    ];

    /// Those that value rows by their neighbours.
    pub const OF_NEIGHBOURS: [MethodName; 2] = [MethodName::Knn, MethodName::KnnShapley];

    /// The word users know it by.
    pub fn word(self) -> &'static str {
        match self {
            MethodName::Gaussian => "gaussian",
            MethodName::Calibrated => "calibrated",
            MethodName::General => "general",
            MethodName::Lower => "lower",
            MethodName::Upper => "upper",
            MethodName::Algorithm3 => "algorithm-3",
            MethodName::SecondOrder => "second-order",
            MethodName::Closed => "closed",
            MethodName::MonteCarlo => "monte-carlo",
            MethodName::Knn => "knn",
            MethodName::KnnShapley => "knn-shapley",
        }
    }

    /// The method of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().chain(Self::OF_DENSITIES).find(|name| name.word() == word)
    }
}

/// What was said about a method, as far as anything was.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MethodChoice {
    /// Its name.
    pub name: Option<MethodName>,
    /// `γ`.
    pub ridge: Option<f64>,
    /// `c` of a bound.
    pub bound_c: Option<f64>,
    /// `C` of a bound.
    pub bound_edge: Option<f64>,
    /// The row-independent constant.
    pub constant: Option<Constant>,
    /// The sum as defined or as printed.
    pub convention: Option<Convention>,
    /// When sums or draws are good enough.
    pub stop: Option<f64>,
    /// When the draws for one set size are good enough.
    pub stop_draws: Option<f64>,
    /// How many draws at most.
    pub samples: Option<u64>,
    /// Seed of random methods.
    pub seed: Option<u64>,
    /// Whether models fit their intercept anew on each set.
    pub refit_intercept: bool,
    /// How many neighbours are averaged over.
    pub k: Option<usize>,
    /// What only second-order values have.
    pub second_order: SecondOrderSaid,
}

impl MethodChoice {
    /// All that can be said about a method.
    pub fn of(method: Method) -> Self {
        let named = |name| Self { name: Some(name), ..Self::default() };
        match method {
            Method::Gaussian { constant, convention } => Self {
                // Printed, the constant is settled.
                constant: (convention == Convention::Definition).then_some(constant),
                convention: Some(convention),
                ..named(MethodName::Gaussian)
            },
            Method::Calibrated => named(MethodName::Calibrated),
            Method::General(options) => Self {
                ridge: Some(options.ridge),
                stop: Some(options.tolerance),
                samples: Some(options.max_rounds as u64),
                seed: Some(options.seed),
                ..named(MethodName::General)
            },
            Method::Bound(bound) => Self {
                ridge: Some(bound.ridge),
                bound_c: Some(bound.tail),
                bound_edge: Some(bound.edge),
                convention: Some(bound.convention),
                stop: bound.stop,
                ..named(match bound.side {
                    Side::Lower => MethodName::Lower,
                    Side::Upper => MethodName::Upper,
                })
            },
            Method::Algorithm3(algorithm) => Self {
                stop: Some(algorithm.outer_tolerance),
                stop_draws: Some(algorithm.inner_tolerance),
                samples: Some(algorithm.max_draws as u64),
                seed: Some(algorithm.seed),
                ..named(MethodName::Algorithm3)
            },
            Method::SecondOrder(choice) => Self {
                seed: Some(choice.seed),
                second_order: SecondOrderSaid::of(choice),
                ..named(MethodName::SecondOrder)
            },
            Method::Closed => named(MethodName::Closed),
            Method::MonteCarlo(Algorithm5 { seed }) => {
                Self { seed: Some(seed), ..named(MethodName::MonteCarlo) }
            }
            Method::Knn { k } => Self { k: Some(k), ..named(MethodName::Knn) },
            Method::KnnShapley { k } => Self { k: Some(k), ..named(MethodName::KnnShapley) },
        }
    }

    /// The method of a valuer with what was said differently. Another name
    /// starts from that method's defaults, the same name or none from what the
    /// valuer was fitted with.
    ///
    /// # Errors
    ///
    /// As [`settle`](Self::settle).
    pub fn over(self, fitted: Method) -> Result<Method, String> {
        let stored = Self::of(fitted);
        let is_same = self.name.is_none() || self.name == stored.name;
        let base = if is_same { stored } else { Self::default() };
        if self == Self::default() {
            return Ok(fitted);
        }
        // Another convention has other constants.
        let keeps = self.convention.is_none() || self.convention == base.convention;
        let said = Self {
            name: self.name.or(base.name),
            ridge: self.ridge.or(base.ridge),
            bound_c: self.bound_c.or(base.bound_c.filter(|_| keeps)),
            bound_edge: self.bound_edge.or(base.bound_edge.filter(|_| keeps)),
            constant: self.constant.or(base.constant.filter(|_| keeps)),
            convention: self.convention.or(base.convention),
            stop: self.stop.or(base.stop.filter(|_| keeps)),
            stop_draws: self.stop_draws.or(base.stop_draws),
            samples: self.samples.or(base.samples),
            seed: self.seed.or(base.seed),
            refit_intercept: false,
            k: self.k.or(base.k),
            second_order: base.second_order,
        };
        Ok(said.settle()?.unwrap_or_default())
    }

    /// The method, if anything was said about it.
    ///
    /// # Errors
    ///
    /// What does not go together, or makes no sense, in words.
    pub fn settle(&self) -> Result<Option<Method>, String> {
        let name = self.name.unwrap_or(MethodName::Gaussian);
        let bounds = matches!(name, MethodName::Lower | MethodName::Upper);
        let printed = self.convention == Some(Convention::Printed);
        let general = name == MethodName::General;
        let density = MethodName::OF_DENSITIES.contains(&name);
        let neighbours = MethodName::OF_NEIGHBOURS.contains(&name);
        if self.ridge.is_some() && density {
            return Err(format!("`--ridge` does not go with `--task density`: {NO_RIDGE}"));
        }
        if self.ridge.is_some() && neighbours {
            return Err(format!("`--ridge` does not go with `--method {}`: {NO_COEFFICIENTS}", name.word()));
        }
        if self.ridge.is_some() && !bounds && !general {
            return Err(RIDGE_MISPLACED.into());
        }
        let own = |flag: &'static str, given: bool, goes: bool, with: &'static str| {
            (given && !goes).then(|| format!("`{flag}` goes with {with} only"))
        };
        let algorithm = name == MethodName::Algorithm3;
        let misplaced = [
            own("--k", self.k.is_some(), neighbours, "`--method knn` and `knn-shapley`"),
            own("--bound-c", self.bound_c.is_some(), bounds, "`--method lower` and `--method upper`"),
            own("--bound-C", self.bound_edge.is_some(), bounds, "`--method lower` and `--method upper`"),
            own(
                "--stop",
                self.stop.is_some(),
                algorithm || general || bounds && printed,
                "`--method algorithm-3`, `general` and printed bounds",
            ),
            own("--stop-draws", self.stop_draws.is_some(), algorithm, "`--method algorithm-3`"),
            own(
                "--samples",
                self.samples.is_some(),
                algorithm || general,
                "`algorithm-3`, `general`, `knn`, `knn-shapley`, `d-shapley`, `tmc-shapley` and `--task density`",
            ),
            own("--constant", self.constant.is_some(), name == MethodName::Gaussian, "`--method gaussian`"),
            own(
                "--convention",
                self.convention.is_some(),
                bounds || name == MethodName::Gaussian,
                "`gaussian`, `lower` and `upper`",
            ),
            own(
                self.second_order.first_said().unwrap_or_default(),
                self.second_order.first_said().is_some(),
                name == MethodName::SecondOrder,
                "`--method second-order`",
            ),
            own(
                "--refit-intercept",
                self.refit_intercept,
                !bounds && !density && !neighbours && name != MethodName::SecondOrder,
                "`gaussian`, `calibrated` and `general`",
            ),
        ];
        if let Some(message) = misplaced.into_iter().flatten().next() {
            return Err(message);
        }
        self.check_ranges()?;
        let convention = if printed { Convention::Printed } else { Convention::Definition };
        match name {
            MethodName::Gaussian => {
                if printed && !matches!(self.constant, None | Some(Constant::Theorem)) {
                    return Err(
                        "`--convention printed` is Theorem 2 as printed, whose constant is `theorem`; \
                                leave `--constant` out"
                            .into(),
                    );
                }
                // A seed does no harm to a method that draws nothing.
                let is_said = self.name.is_some() || self.constant.is_some() || self.convention.is_some();
                Ok(is_said
                    .then(|| Method::Gaussian { constant: self.constant.unwrap_or_default(), convention }))
            }
            MethodName::Calibrated => Ok(Some(Method::Calibrated)),
            MethodName::General => {
                let default = GeneralOptions::default();
                let max_rounds = self.samples.map_or(default.max_rounds, |rounds| rounds as usize);
                Ok(Some(Method::General(GeneralOptions {
                    ridge: self.ridge.unwrap_or(default.ridge),
                    tolerance: self.stop.unwrap_or(default.tolerance),
                    min_rounds: default.min_rounds.min(max_rounds),
                    max_rounds,
                    seed: self.seed.unwrap_or(default.seed),
                })))
            }
            MethodName::Lower | MethodName::Upper => {
                let side = if name == MethodName::Lower { Side::Lower } else { Side::Upper };
                let default = Bound::new(side, convention);
                Ok(Some(Method::Bound(Bound {
                    tail: self.bound_c.unwrap_or(default.tail),
                    edge: self.bound_edge.unwrap_or(default.edge),
                    ridge: self.ridge.unwrap_or(default.ridge),
                    stop: self.stop,
                    ..default
                })))
            }
            MethodName::Algorithm3 => {
                let default = Algorithm3::default();
                Ok(Some(Method::Algorithm3(Algorithm3 {
                    inner_tolerance: self.stop_draws.unwrap_or(default.inner_tolerance),
                    outer_tolerance: self.stop.unwrap_or(default.outer_tolerance),
                    max_draws: self.samples.map_or(default.max_draws, |draws| draws as usize),
                    seed: self.seed.unwrap_or(default.seed),
                })))
            }
            MethodName::SecondOrder => Ok(Some(Method::SecondOrder(self.second_order.settle(self.seed)?))),
            MethodName::Closed => Ok(Some(Method::Closed)),
            MethodName::MonteCarlo => {
                let seed = self.seed.unwrap_or(Algorithm5::default().seed);
                Ok(Some(Method::MonteCarlo(Algorithm5 { seed })))
            }
            MethodName::Knn => Ok(Some(Method::Knn { k: self.k.unwrap_or(DEFAULT_K) })),
            MethodName::KnnShapley => Ok(Some(Method::KnnShapley { k: self.k.unwrap_or(DEFAULT_K) })),
        }
    }

    /// The method, if anything was said about it, and beside it a ridge that the
    /// method does not take in regression: the task may turn out to be
    /// classification, where every fit takes one.
    ///
    /// # Errors
    ///
    /// As [`settle`](Self::settle).
    pub fn settle_beside_ridge(&self) -> Result<(Option<Method>, Option<f64>), String> {
        use MethodName::{General, Lower, Upper};
        if matches!(self.name, Some(General | Lower | Upper)) {
            return Ok((self.settle()?, None));
        }
        self.check_ranges()?;
        Ok((Self { ridge: None, ..*self }.settle()?, self.ridge))
    }

    pub(crate) fn check_ranges(&self) -> Result<(), String> {
        within("--ridge", self.ridge, 0.0..f64::INFINITY, "a number of at least 0")?;
        within("--bound-c", self.bound_c, f64::MIN_POSITIVE..f64::INFINITY, "a number above 0")?;
        within("--bound-C", self.bound_edge, 0.0..f64::INFINITY, "a number of at least 0")?;
        within("--stop", self.stop, 0.0..1.0, "a number from 0 to below 1")?;
        within("--stop-draws", self.stop_draws, 0.0..1.0, "a number from 0 to below 1")?;
        if self.k == Some(0) {
            return Err("`--k` is 0; expected a whole number from 1 on".into());
        }
        if self.samples == Some(0) {
            return Err("`--samples` is 0; expected a whole number from 1 on".into());
        }
        Ok(())
    }
}

/// The constant that a word stands for: `gain`, `theorem` or `full:C`.
///
/// # Errors
///
/// What was expected instead.
pub fn parse_constant(text: &str) -> Result<Constant, String> {
    match text {
        "gain" => Ok(Constant::Gain),
        "theorem" => Ok(Constant::Theorem),
        _ => match text.strip_prefix("full:").map(str::parse::<f64>) {
            Some(Ok(c)) if c.is_finite() => Ok(Constant::Full(c)),
            _ => Err("expected gain, theorem or full:C with a number C, such as full:2.5".into()),
        },
    }
}

fn within(flag: &str, number: Option<f64>, range: impl RangeBounds<f64>, what: &str) -> Result<(), String> {
    match number.filter(|number| !range.contains(number)) {
        Some(number) => Err(format!("`{flag}` is {number}; expected {what}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(change: impl FnOnce(&mut MethodChoice)) -> Result<Option<Method>, String> {
        let mut choice = MethodChoice::default();
        change(&mut choice);
        choice.settle()
    }

    #[test]
    fn silence_is_told_from_the_default() {
        assert_eq!(settle(|_| ()), Ok(None));
        assert_eq!(settle(|c| c.name = Some(MethodName::Gaussian)), Ok(Some(Method::default())));
    }

    #[test]
    fn every_method_has_its_word() {
        for name in MethodName::ALL.into_iter().chain(MethodName::OF_DENSITIES) {
            assert_eq!(MethodName::parse(name.word()), Some(name));
            let method = settle(|c| c.name = Some(name)).unwrap().unwrap();
            assert_eq!(method.name(), name.word());
        }
    }

    #[test]
    fn options_of_other_methods_and_numbers_out_of_range_are_refused() {
        let refused = |change: fn(&mut MethodChoice)| settle(change).unwrap_err();
        assert!(refused(|c| c.ridge = Some(1.0)).contains("has no ridge"));
        assert!(refused(|c| c.stop_draws = Some(0.1)).contains("`--stop-draws` goes with"));
        assert!(refused(|c| (c.name, c.ridge) = (Some(MethodName::Lower), Some(-1.0))).contains("is -1"));
        assert!(
            refused(|c| (c.name, c.stop) = (Some(MethodName::General), Some(f64::NAN))).contains("is NaN")
        );
        assert!(refused(|c| (c.name, c.samples) = (Some(MethodName::General), Some(0))).contains("is 0"));
        assert!(refused(|c| c.k = Some(3)).contains("`--k` goes with `--method knn` and `knn-shapley` only"));
        assert!(refused(|c| (c.name, c.k) = (Some(MethodName::Knn), Some(0))).contains("`--k` is 0"));
        assert!(refused(|c| (c.name, c.ridge) = (Some(MethodName::Knn), Some(1.0))).contains("coefficients"));
    }
}
