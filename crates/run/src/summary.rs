//! What ran, for people and for the record.

use crate::quality::{BINS, LabelQuality, LabelTally, StandingOut, ValueTally};
use crate::several_sizes::SizesUsed;
use dshap::{Note, Part, Sizes, Values};
use dshap_models::Action;
use dshap_models::linear::LinearModel;
use dshap_models::{Error, ExtraPass, Facts, FittedValuer, InputFile, Step, Warning};
use serde::Serialize;

/// What was valued and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Version of dshap.
    pub version: &'static str,
    /// The reference and the method.
    #[serde(flatten)]
    pub facts: Facts,
    /// Rows valued, those left out included.
    pub n_points: u64,
    /// Whether each row was valued against the others of its own table.
    pub leave_one_out: bool,
    /// Whether points have no target, so that values are what is expected of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub expected_targets: bool,
    /// Passes over the reference, from its files or from memory; none with a saved valuer.
    pub reference_passes: usize,
    /// Why more than once.
    pub extra_passes: Vec<ExtraPass>,
    /// Rounds of sets drawn, for methods that draw them.
    pub rounds: Option<usize>,
    /// Sets that were valued instead of rows, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_sets: Option<usize>,
    /// All set sizes, if rows were valued for several `m`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<SizesUsed>,
    /// Iterations, for baselines that draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<usize>,
    /// Whether their means converged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converged: Option<bool>,
    /// Share of the gains of chains that were computed before truncation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluated_share: Option<f64>,
    /// How the values are spread.
    pub values: Spread,
    /// Share of the target's variance that the model predicts in rows left out, for a
    /// regression whose rows are valued against each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out_r_squared: Option<f64>,
    /// How well labels of rows left out are predicted, if rows are valued against each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out_labels: Option<LabelQuality>,
    /// How many values stand out, if rows are valued against each other by a closed form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing_out: Option<StandingOut>,
    /// What is doubtful; front ends make the sentences.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
    /// The files read, with digests if asked for.
    pub points: Vec<InputFile>,
    /// The reference files; absent when points are their own reference.
    pub reference: Option<Vec<InputFile>>,
    /// The test files, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Vec<InputFile>>,
    /// The valuer used, if one was.
    pub valuer: Option<InputFile>,
}

/// What was fitted, updated or merged, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitSummary {
    /// Version of dshap.
    pub version: &'static str,
    /// The reference and the method.
    #[serde(flatten)]
    pub facts: Facts,
    /// Decimal digits left in the moments of the column that lost most, once rows
    /// were forgotten.
    pub digits: Option<f64>,
    /// Rows that a killed run had read before this one resumed.
    pub resumed_rows: Option<u64>,
    /// What changed of the defaults: `m` and `q` before.
    pub sizes_before: Option<(usize, usize)>,
    /// Text levels that the reference did not have before.
    pub new_levels: Vec<String>,
    /// Text levels that no reference row has any more.
    pub lost_levels: Vec<String>,
    /// Where the reference rows came from.
    pub history: Vec<Step>,
    /// What is doubtful; front ends make the sentences.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

impl FitSummary {
    /// The summary of a valuer.
    pub(crate) fn of(valuer: &FittedValuer, mut warnings: Vec<Warning>) -> Result<Self, Error> {
        for warning in valuer.warnings()? {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        let linear = valuer.model.of::<LinearModel>();
        if linear.is_some_and(|model| model.fit.wants_triangle()) {
            // Only a reference that was changed can be left so.
            warnings.push(Warning::LostDigits);
        }
        let has_forgotten = valuer.history.iter().any(|step| step.action == Action::Forget);
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            facts: valuer.facts()?,
            digits: linear.filter(|_| has_forgotten).map(|model| model.moments.digits()),
            sizes_before: None,
            resumed_rows: None,
            new_levels: Vec::new(),
            lost_levels: Vec::new(),
            history: valuer.history.clone(),
            warnings,
        })
    }
}

/// How values are spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Rows with a value.
    pub n_valued: u64,
    /// Rows without one.
    pub n_without: u64,
    /// Rows with a negative value.
    pub n_negative: u64,
    /// The lowest value.
    pub lowest: Option<f64>,
    /// The highest value.
    pub highest: Option<f64>,
    /// The values that a quarter, half and three quarters of the rows lie below.
    pub quartiles: Option<[f64; 3]>,
    /// How many of the values quartiles are made from, where there are too many to keep all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quartiles_of: Option<u64>,
    /// The sum of the values.
    pub total: f64,
    /// How many values lie in each of 32 equal parts of their range, unless all are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<[u64; BINS]>,
}

impl Spread {
    pub(crate) fn new() -> Self {
        Self {
            n_valued: 0,
            n_without: 0,
            n_negative: 0,
            lowest: None,
            highest: None,
            quartiles: None,
            quartiles_of: None,
            total: 0.0,
            histogram: None,
        }
    }

    pub(crate) fn add(&mut self, n_rows: usize, values: &[f64]) {
        let before = self.n_valued;
        for &value in values.iter().filter(|value| !value.is_nan()) {
            self.n_valued += 1;
            self.n_negative += u64::from(value < 0.0);
            self.lowest = Some(self.lowest.map_or(value, |lowest| lowest.min(value)));
            self.highest = Some(self.highest.map_or(value, |highest| highest.max(value)));
            self.total += value;
        }
        self.n_without += n_rows as u64 - (self.n_valued - before);
    }
}

/// What is remembered of values that have been handed over.
pub(crate) struct Tally {
    pub(crate) spread: Spread,
    values: ValueTally,
    labels: LabelTally,
    /// Squared residuals: their sum, and how many there were.
    resid_sq: (f64, u64),
    /// Values that are exactly 0.
    n_zero: u64,
    n_leverage_one: usize,
    n_too_far: usize,
    truncation: Vec<(usize, f64)>,
}

impl Tally {
    /// The same for values that come with standard errors.
    pub(crate) fn with_errors(self) -> Self {
        Self { values: self.values.with_errors(), ..self }
    }

    pub(crate) fn new() -> Self {
        Self {
            spread: Spread::new(),
            values: ValueTally::default(),
            labels: LabelTally::default(),
            resid_sq: (0.0, 0),
            n_zero: 0,
            n_leverage_one: 0,
            n_too_far: 0,
            truncation: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, n_rows: usize, values: &Values) {
        self.spread.add(n_rows, &values.value);
        self.values.add(&values.value, values.std_error.as_deref());
        self.n_zero += values.value.iter().filter(|value| **value == 0.0).count() as u64;
        self.labels.add(values);
        for resid_sq in values.part(Part::ResidSq).into_iter().flatten().filter(|square| !square.is_nan()) {
            self.resid_sq = (self.resid_sq.0 + resid_sq, self.resid_sq.1 + 1);
        }
        let n_with = |note: Note| values.notes.iter().filter(|(_, found)| *found == note).count();
        self.n_leverage_one += n_with(Note::LeverageOne);
        self.n_too_far += n_with(Note::TooFar);
        self.truncation.extend(values.truncation.iter().flatten().filter(|(_, share)| share.is_finite()));
    }

    /// Most values are 0 because of a tolerance, if there is one.
    pub(crate) fn mostly_zero(&self, tolerance: Option<f64>) -> Option<Warning> {
        let (n_zero, n_valued) = (self.n_zero, self.spread.n_valued);
        let tolerance = tolerance.filter(|_| 2 * n_zero > n_valued)?;
        Some(Warning::MostlyZero { n_zero, n_valued, tolerance })
    }

    /// How the values are spread.
    pub(crate) fn spread(&mut self) -> Spread {
        let histogram = self.values.histogram();
        let quartiles_of = self.values.n_thinned();
        Spread { quartiles: self.values.quartiles(), quartiles_of, histogram, ..self.spread }
    }

    /// How well labels are predicted, if the values say so.
    pub(crate) fn label_quality(&self) -> Option<LabelQuality> {
        self.labels.quality()
    }

    /// How many values stand out.
    pub(crate) fn standing_out(&mut self) -> Option<StandingOut> {
        self.values.standing_out()
    }

    /// The mean of the squared residuals, if the values come with them.
    pub(crate) fn mean_resid_sq(&self) -> Option<f64> {
        let (sum, n) = self.resid_sq;
        (n > 0).then(|| sum / n as f64)
    }

    pub(crate) fn warnings(&mut self, sizes: Sizes) -> Vec<dshap::Warning> {
        use dshap::Warning;
        let mut warnings = Vec::new();
        if self.n_leverage_one > 0 {
            warnings.push(Warning::LeverageOne { n_rows: self.n_leverage_one });
        }
        if self.n_too_far > 0 {
            warnings.push(Warning::TooFar { n_rows: self.n_too_far, min: sizes.min() });
        }
        if !self.truncation.is_empty() {
            let middle = self.truncation.len() / 2;
            let n_visited = self.truncation.select_nth_unstable_by_key(middle, |row| row.0).1.0;
            self.truncation.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
            let quantile =
                |share: f64| self.truncation[(share * (self.truncation.len() - 1) as f64) as usize].1;
            let (share, range) = (self.truncation[middle].1, (quantile(0.05), quantile(0.95)));
            if n_visited < sizes.count() {
                warnings.push(Warning::Truncated { n_visited, n_sizes: sizes.count(), share, range });
            }
        }
        warnings
    }
}
