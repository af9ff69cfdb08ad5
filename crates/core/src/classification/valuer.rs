//! A logistic fit and a formula: everything needed to value rows.

use super::fit::{LogisticFit, PanelWork};
use super::influence::{Influence, InfluencePanel};
use super::prediction::LabelFacts;
use super::working::RowGeometry;
use crate::linear::calibrated::{FEWEST_TO_DOUBT, doubt};
use crate::linear::fit::PANEL_ROWS;
use crate::linear::target::{LeftOut, PanelLook};
use crate::linear::{
    Bound, BoundForm, Calibration, Constant, Convention, DistanceTable, GaussianForm, PointValue, TargetForm,
    TargetGeometry, TargetStats, TestMoments,
};
use crate::valuer::go_on;
use crate::values::{Note, Part, Valued, Values};
use crate::{Error, Place, Rows, Sizes, Valuer, Warning, Watch};
use rayon::prelude::*;

/// What the fit alone says about a row.
pub(super) const OF_FIT: [Part; 6] =
    [Part::DistSq, Part::Prob, Part::Weight, Part::GivenLabel, Part::LabelProb, Part::PredictedLabel];

/// How a row's statistics become a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClassificationMethod {
    /// Theorem 2 on the working variables.
    Gaussian {
        /// The point-independent constant.
        constant: Constant,
        /// The sum over set sizes.
        convention: Convention,
    },
    /// Theorem 3 on the working variables: a valid bound, or Corollary 4 as printed. That of the
    /// authors' program is [`AuthorsValuer`](super::AuthorsValuer).
    Bound(Bound),
}

impl Default for ClassificationMethod {
    fn default() -> Self {
        ClassificationMethod::Gaussian { constant: Constant::default(), convention: Convention::default() }
    }
}

/// Values any row, seen or unseen, against a fitted reference.
#[derive(Debug)]
pub struct ClassificationValuer {
    fit: LogisticFit,
    form: Form,
    influence: Option<Influence>,
    /// Whether labels are not known but expected.
    expects_targets: bool,
}

/// What turns the statistics of a row into a value.
#[derive(Debug)]
enum Form {
    Exact(GaussianForm),
    Target(Box<Target>),
    Bound(BoundForm),
}

/// The closed form for test rows, and these rows as the fit sees them.
#[derive(Debug)]
struct Target {
    form: TargetForm,
    geometry: TargetGeometry,
}

impl ClassificationValuer {
    /// A valuer of rows against `fit` by `method`, averaging over `sizes`.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] when the sums do not exist for these sizes;
    /// [`Error::BadOption`] for a bound of the authors' program, or with a ridge of its own.
    pub fn new(fit: LogisticFit, sizes: Sizes, method: ClassificationMethod) -> Result<Self, Error> {
        let dim = fit.dim();
        let form = match method {
            ClassificationMethod::Gaussian { constant, convention } => {
                Form::Exact(GaussianForm::new(dim, sizes, constant, convention)?)
            }
            ClassificationMethod::Bound(bound) => {
                check_bound(bound, false)?;
                Form::Bound(BoundForm::new(dim, sizes, bound, (1.0, 1.0))?)
            }
        };
        Ok(Self::of_form(fit, form))
    }

    /// A valuer for inputs that are not Gaussian: `distances` are those of the
    /// reference rows, [`LogisticFit::distances`].
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] when the sums do not exist for these sizes.
    pub fn calibrated(fit: LogisticFit, sizes: Sizes, distances: &DistanceTable) -> Result<Self, Error> {
        let calibration = Calibration::new(fit.dim(), distances, 0.0);
        let form = Form::Exact(GaussianForm::calibrated(fit.dim(), sizes, &calibration)?);
        Ok(Self::of_form(fit, form))
    }

    /// A valuer of rows for the data that one predicts: `tests`, from
    /// [`WorkingMoments`](super::WorkingMoments). Utility is measured on the working
    /// variables of the test rows under the reference fit. With the `distances` of the
    /// reference rows it is calibrated to inputs that are not Gaussian.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] when the sums do not exist for these sizes; [`Error::FeatureCount`],
    /// [`Error::TooLarge`].
    pub fn on_tests(
        fit: LogisticFit,
        sizes: Sizes,
        distances: Option<&DistanceTable>,
        tests: &TestMoments,
    ) -> Result<Self, Error> {
        let form = TargetForm::for_inputs(fit.dim(), sizes, distances)?;
        let (lower, penalised) = fit.factors();
        let geometry = TargetGeometry::of_working(lower.as_ref(), penalised.map(|l| l.as_ref()), tests)?;
        Ok(Self::of_form(fit, Form::Target(Box::new(Target { form, geometry }))))
    }

    /// Without standard errors, for rows with labels.
    fn of_form(fit: LogisticFit, form: Form) -> Self {
        Self { fit, form, influence: None, expects_targets: false }
    }

    /// Also reports standard errors, if the method has them. `sample` is all of the
    /// reference, or an even selection of it; a thousand rows are enough.
    ///
    /// Each valued row then costs `6Rp` more operations for `R` rows in the sample.
    /// Errors are those of the finite reference (its coefficients and `Σ̃`) by the
    /// sandwich: no distribution of the inputs is assumed.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values), and [`Error::NoRows`].
    pub fn with_std_error(self, sample: Rows<'_>) -> Result<Self, Error> {
        self.with_std_error_of(sample, None)
    }

    /// The same from a sample in which rows stand for different numbers of reference
    /// rows, `stands_for` each: a sample can then hold all rows of rare labels.
    ///
    /// # Errors
    ///
    /// As for [`with_std_error`](Self::with_std_error), and [`Error::RowCount`].
    pub fn with_std_error_of(mut self, sample: Rows<'_>, stands_for: Option<&[f64]>) -> Result<Self, Error> {
        if let Form::Exact(_) = self.form {
            self.influence = Some(Influence::new(&self.fit, sample, stands_for)?);
        }
        Ok(self)
    }

    /// The fit of the reference.
    pub fn fit(&self) -> &LogisticFit {
        &self.fit
    }

    /// Valuers by the default formula and by the one calibrated on a sample of the
    /// reference, if the sample is large enough.
    pub(super) fn plain_and_calibrated(&self, sample: Rows<'_>) -> Result<Option<(Self, Self)>, Error> {
        let mut table = DistanceTable::new();
        table.add(&self.fit.distances(sample)?, sample.weights());
        let is_exact = matches!(self.form, Form::Exact(_) | Form::Target(_));
        if !is_exact || sample.len() < FEWEST_TO_DOUBT || table.is_empty() {
            return Ok(None);
        }
        // Sizes that the default constant does not allow are not checked.
        let plain = Self::new(self.fit.clone(), self.sizes(), ClassificationMethod::default());
        let calibrated = Self::calibrated(self.fit.clone(), self.sizes(), &table);
        Ok(plain.ok().zip(calibrated.ok()))
    }

    /// Values `rows`, which are some or all of the reference rows themselves:
    /// each is valued against the reference without it, by one step of Newton's
    /// method. `prob` and `weight` stay those of the full fit.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn leave_one_out(&self, rows: Rows<'_>) -> Result<Values, Error> {
        self.value_rows(rows, true)
    }

    /// Values that `rows` would have with the other label, against the same reference: a row
    /// that is part of it is left out as it is. NaN where there is none.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn with_other_label(&self, rows: Rows<'_>, left_out: bool) -> Result<Vec<f64>, Error> {
        self.fit.check_width(rows)?;
        let mut work = ValuerWork::new(self);
        let mut out = vec![f64::NAN; rows.len()];
        for (panel, out) in out.chunks_mut(PANEL_ROWS).enumerate() {
            let start = panel * PANEL_ROWS;
            self.solve(rows, start, out.len(), left_out, &mut work)?;
            for (i, out) in out.iter_mut().enumerate() {
                let own = left_out.then(|| rows.weights().map_or(1.0, |weights| weights[start + i]));
                let Some(mut geometry) = self.fit.geometry(&work.panel, i, own) else { continue };
                geometry.surprise += 1.0 - 2.0 * rows.y()[start + i];
                *out = self.value_row(&work, i, Some(&geometry), own).value;
            }
        }
        Ok(out)
    }

    fn value_rows(&self, rows: Rows<'_>, left_out: bool) -> Result<Values, Error> {
        self.fit.check_width(rows)?;
        crate::labels::check_labels(rows)?;
        let mut out = vec![RowValue::default(); rows.len()];
        let valued = out.par_chunks_mut(PANEL_ROWS).enumerate().try_for_each_init(
            || ValuerWork::new(self),
            |work, (panel, out)| {
                self.value_panel(rows, panel * PANEL_ROWS, left_out, work, out)?;
                if let (Some(influence), Some(psi)) = (&self.influence, &mut work.psi) {
                    let variances = influence.variances(psi);
                    for (out, variance) in out.iter_mut().zip(variances).filter(|(out, _)| out.note.is_none())
                    {
                        out.std_error = (variance / out.effective).sqrt();
                    }
                    psi.clear();
                }
                Ok(())
            },
        );
        // Which panel fails first is random, but the reported cell is not.
        valued.map_err(|_: Error| rows.explain_not_finite(0, rows.len()))?;
        Ok(self.collect(&out))
    }

    /// Solves for what the formula needs to know of `n` rows from `start` on.
    fn solve(
        &self,
        rows: Rows<'_>,
        start: usize,
        n: usize,
        left_out: bool,
        work: &mut ValuerWork,
    ) -> Result<(), Error> {
        self.fit.solve_panel(rows, start, n, left_out, &mut work.panel)?;
        if let (Form::Target(target), Some(look)) = (&self.form, &mut work.look) {
            target.geometry.look_at(work.panel.panel.x.as_ref(), look);
        }
        Ok(())
    }

    /// Values a panel of rows from `start` on; influences are added to those in
    /// `work`.
    pub(super) fn value_panel(
        &self,
        rows: Rows<'_>,
        start: usize,
        left_out: bool,
        work: &mut ValuerWork,
        out: &mut [RowValue],
    ) -> Result<(), Error> {
        let fit = &self.fit;
        self.solve(rows, start, out.len(), left_out, work)?;
        work.rows.clear();
        for (i, out) in out.iter_mut().enumerate() {
            let own = left_out.then(|| rows.weights().map_or(1.0, |weights| weights[start + i]));
            let geometry = fit.geometry(&work.panel, i, own);
            *out = self.value_row(work, i, geometry.as_ref(), own);
            out.label = fit.label_of(&work.panel, i, rows.y()[start + i], own);
            work.rows.push(geometry);
        }
        if let (Form::Exact(form), Some(influence), Some(psi)) = (&self.form, &self.influence, &mut work.psi)
        {
            influence.add(fit, form, &work.panel, &work.rows, psi);
        }
        Ok(())
    }

    #[inline]
    fn value_row(
        &self,
        work: &ValuerWork,
        i: usize,
        geometry: Option<&RowGeometry>,
        own: Option<f64>,
    ) -> RowValue {
        let (prob, weight) = (work.panel.row[i].prob, work.panel.row[i].weight);
        let none = RowValue { prob, weight, ..RowValue::default() };
        let Some(geometry) = geometry else {
            return RowValue { note: Some(Note::LeverageOne), ..none };
        };
        let mut stats = geometry.stats();
        if self.expects_targets {
            // (y − π)² is W on average.
            stats.product = stats.dist_sq;
        }
        let known = RowValue { dist_sq: stats.dist_sq, effective: geometry.effective, ..none };
        let of_point = |point: PointValue| {
            let PointValue { value, potential, penalty } = point;
            if !value.is_finite() {
                let note = if potential.is_finite() { Note::NoWeight } else { Note::Infinite };
                return RowValue { note: Some(note), ..known };
            }
            RowValue { value, potential, penalty, ..known }
        };
        match &self.form {
            Form::Exact(form) => of_point(form.value_of_product(stats.dist_sq, stats.product, 1.0)),
            Form::Target(target) => {
                let tests = self.target_stats(target, (work, i), geometry, own);
                of_point(target.form.value_of_product(stats.dist_sq, stats.product, 1.0, tests))
            }
            Form::Bound(form) => {
                let point = stats.to_point();
                let truncation = form.truncation(point).unwrap_or(known.truncation);
                RowValue { value: form.value(point), truncation, ..known }
            }
        }
    }

    /// What test rows say about a row of a solved panel.
    #[inline]
    fn target_stats(
        &self,
        target: &Target,
        (work, i): (&ValuerWork, usize),
        geometry: &RowGeometry,
        own: Option<f64>,
    ) -> TargetStats {
        let n = self.fit.n_rows() as f64;
        let spread = work.panel.spread[i];
        // A label that is not known agrees with its probability on average.
        let surprise = |surprise: f64| if self.expects_targets { 0.0 } else { surprise };
        let left_out = own.map(|own| own * self.fit.weight_scale()).filter(|&c| c > 0.0).map(|c| {
            let in_products = c * geometry.row.weight;
            LeftOut {
                weight: c,
                in_products,
                is_centred: false,
                residual: surprise(geometry.surprise),
                room: 1.0 - in_products * spread,
            }
        });
        let look = work.look.as_ref().expect("a valuer for test rows looks at every panel");
        target.geometry.stats(look, i, (n, spread, surprise(geometry.row.surprise)), left_out)
    }

    fn collect(&self, rows: &[RowValue]) -> Values {
        let errors = || rows.iter().map(|row| row.std_error).collect();
        Values {
            std_error: self.influence.as_ref().map(|_| errors()),
            truncation: self.stops().then(|| rows.iter().map(|row| row.truncation).collect()),
            ..Values::of(rows, self.parts())
        }
    }

    /// Whether sums may stop before the largest set size.
    pub(super) fn stops(&self) -> bool {
        matches!(&self.form, Form::Bound(form) if form.bound().stop.is_some())
    }

    pub(super) fn influence(&self) -> Option<&Influence> {
        self.influence.as_ref()
    }
}

/// Targets are labels, 0 or 1.
impl Valuer for ClassificationValuer {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        go_on(watch, 0, rows.len())?;
        self.value_rows(rows, place.in_reference)
    }

    fn parts(&self) -> Vec<Part> {
        match self.form {
            Form::Exact(_) | Form::Target(_) if self.expects_targets => {
                vec![Part::Potential, Part::Penalty, Part::DistSq, Part::Prob, Part::Weight]
            }
            Form::Exact(_) | Form::Target(_) => {
                [&[Part::Potential, Part::Penalty], OF_FIT.as_slice()].concat()
            }
            Form::Bound(_) => OF_FIT.to_vec(),
        }
    }

    fn sizes(&self) -> Sizes {
        match &self.form {
            Form::Exact(form) => form.sizes(),
            Form::Target(target) => target.form.sizes(),
            Form::Bound(form) => form.sizes(),
        }
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.fit.warnings();
        warnings.extend(self.sizes().warning());
        if let Form::Bound(form) = &self.form {
            let first = form.bound().first_size(self.fit.dim(), self.sizes().max()) + 1;
            let is_valid = form.bound().convention == Convention::Definition;
            if is_valid && self.sizes().min() < first {
                warnings.push(Warning::SilentBound { first });
            }
            warnings.extend(form.warning());
        }
        warnings
    }

    fn expect_targets(&mut self) -> bool {
        self.expects_targets = !matches!(self.form, Form::Bound(_));
        if self.expects_targets {
            self.influence = None;
        }
        self.expects_targets
    }

    fn check_inputs(&self, sample: Rows<'_>) -> Result<Option<Warning>, Error> {
        let Some((plain, calibrated)) = self.plain_and_calibrated(sample)? else { return Ok(None) };
        let plain = plain.with_std_error(sample)?.leave_one_out(sample)?;
        Ok(doubt(&plain, &calibrated.leave_one_out(sample)?))
    }
}

/// Bounds have no ridge here: that of the fit is already in the weights.
pub(super) fn check_bound(bound: Bound, on_authors_variables: bool) -> Result<(), Error> {
    let wrong = |what| Err(Error::BadOption { what });
    match (bound.convention == Convention::Authors, on_authors_variables) {
        _ if bound.ridge != 0.0 => wrong("bounds for classification have no ridge of their own"),
        (true, false) => wrong("bounds of the authors' program need the authors' variables"),
        (false, true) => wrong("the authors' variables are only for bounds of the authors' program"),
        _ => Ok(()),
    }
}

/// Buffers of one thread.
#[derive(Debug)]
pub(super) struct ValuerWork {
    pub(super) panel: PanelWork,
    rows: Vec<Option<RowGeometry>>,
    pub(super) psi: Option<InfluencePanel>,
    look: Option<PanelLook>,
}

impl ValuerWork {
    pub(super) fn new(valuer: &ClassificationValuer) -> Self {
        Self {
            panel: PanelWork::new(&valuer.fit),
            rows: Vec::with_capacity(PANEL_ROWS),
            psi: valuer.influence.as_ref().map(Influence::panel),
            look: match &valuer.form {
                Form::Target(target) => Some(target.geometry.look()),
                _ => None,
            },
        }
    }
}

/// Everything known about a valued row.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowValue {
    pub(super) value: f64,
    pub(super) std_error: f64,
    pub(super) potential: f64,
    pub(super) penalty: f64,
    pub(super) dist_sq: f64,
    pub(super) prob: f64,
    pub(super) weight: f64,
    pub(super) label: LabelFacts,
    /// The effective number of its reference rows.
    pub(super) effective: f64,
    /// Set sizes visited and share of the sum kept, for Algorithm 4.
    pub(super) truncation: (usize, f64),
    pub(super) note: Option<Note>,
}

impl Valued for RowValue {
    fn value(&self) -> f64 {
        self.value
    }

    fn part(&self, part: Part) -> f64 {
        match part {
            Part::Potential => self.potential,
            Part::Penalty => self.penalty,
            Part::DistSq => self.dist_sq,
            Part::Prob => self.prob,
            Part::Weight => self.weight,
            part => self.label.part(part),
        }
    }

    fn note(&self) -> Option<Note> {
        self.note
    }
}

impl Default for RowValue {
    fn default() -> Self {
        let none = f64::NAN;
        Self {
            value: none,
            std_error: none,
            potential: none,
            penalty: none,
            dist_sq: none,
            prob: none,
            weight: none,
            label: LabelFacts::NONE,
            effective: none,
            truncation: (0, none),
            note: None,
        }
    }
}
