//! Values of rows for a softmax model that is refitted on each set.

use super::drawn::DrawnStart;
use super::fit::{ClassProbabilities, SoftmaxFit, predictors};
use super::passes::{SoftmaxOptions, SoftmaxPasses, SoftmaxStep};
use super::row::{RowForms, Small, Split, moves};
use super::sums::{forms, pair};
use crate::classification::design::DesignPanel;
use crate::classification::prediction::LabelFacts;
use crate::labels::check_classes;
use crate::linear::fit::PANEL_ROWS;
use crate::second_order::bootstrap::{BootstrapOptions, Drawn, replicates, std_errors};
use crate::second_order::options::{check_shifted, shift_warning};
use crate::second_order::resummed::ShiftedSizes;
use crate::second_order::valuer::note_of;
use crate::valuer::go_on;
use crate::values::{Note, Part, Valued, Values};
use crate::{Error, Place, Rows, Sizes, Valuer, Wants, Warning, Watch};
use faer::Mat;
use rayon::prelude::*;
use std::sync::Arc;

/// Values rows of any of several classes, seen or unseen, for a softmax model
/// that is refitted on each set and judged by log-loss.
///
/// ```
/// use dshap::second_order::{SoftmaxOptions, SoftmaxValuer};
/// use dshap::{Rows, Sizes, Valuer};
/// use faer::mat;
///
/// // Every class at both places, once more at its own: 0 on the left, 2 on the right.
/// let x = mat![[-1.0], [-1.0], [-1.0], [-1.0], [1.0], [1.0], [1.0], [1.0_f64]];
/// let y = [0.0, 0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 2.0];
/// let rows = Rows::new(x.as_ref(), &y)?;
/// let valuer = SoftmaxValuer::of(rows, 3, Sizes::new(50, 200), SoftmaxOptions::default())?;
/// // The log-odds of 2 against 0 go from −log 2 to log 2.
/// let coef = valuer.fit().coef(2).unwrap_or_default();
/// assert!((coef[0] - 2.0_f64.ln()).abs() < 1e-12);
/// // By symmetry a 0 on the right is worth what a 2 on the left is.
/// let values = valuer.values(Rows::new(mat![[1.0], [-1.0_f64]].as_ref(), &[0.0, 2.0])?)?;
/// assert!((values.value[0] / values.value[1] - 1.0).abs() < 1e-9);
/// # Ok::<(), dshap::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SoftmaxValuer {
    pub(super) fit: Arc<SoftmaxFit>,
    pub(super) moments: Arc<SoftmaxMoments>,
    pub(super) sizes: Sizes,
    pub(super) options: SoftmaxOptions,
    shifted: ShiftedSizes,
    parts_by_class: bool,
    /// The same for drawn references, if standard errors were asked for.
    drawn: Drawn<SoftmaxValuer>,
}

/// Moments of estimates from sets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SoftmaxMoments {
    /// `H⁻¹`.
    pub(super) inverse: Mat<f64>,
    /// `V`.
    pub(super) spread: Mat<f64>,
    /// `b`, class by class.
    pub(super) bias: Vec<f64>,
}

impl SoftmaxValuer {
    /// A valuer of rows against `reference`, which is in memory. See
    /// [`SoftmaxPasses`] for others.
    ///
    /// # Errors
    ///
    /// As for [`SoftmaxPasses`].
    pub fn of(
        reference: Rows<'_>,
        n_classes: usize,
        sizes: Sizes,
        options: SoftmaxOptions,
    ) -> Result<Self, Error> {
        let mut passes = SoftmaxPasses::new(reference.n_features(), n_classes, sizes, options)?;
        loop {
            let mut pass = passes.begin_pass();
            pass.push(reference)?;
            if let SoftmaxStep::Done(valuer) = passes.finish_pass(pass)? {
                return Ok(*valuer);
            }
        }
    }

    pub(super) fn new(
        fit: SoftmaxFit,
        inverse: Mat<f64>,
        spread: Mat<f64>,
        bias: Vec<f64>,
        sizes: Sizes,
        options: SoftmaxOptions,
    ) -> Result<Self, Error> {
        Self::check_sizes(fit.dim(), options.shift, sizes)?;
        let shifted = shifted(fit.dim(), options, sizes);
        let (fit, moments) = (Arc::new(fit), Arc::new(SoftmaxMoments { inverse, spread, bias }));
        Ok(Self { fit, moments, sizes, options, shifted, parts_by_class: false, drawn: Drawn::default() })
    }

    pub(super) fn check_sizes(dim: usize, shift: Option<f64>, sizes: Sizes) -> Result<(), Error> {
        check_shifted(sizes, shift, dim)
    }

    /// The same valuer for other set sizes, without standard errors.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] when the sums do not exist for these sizes.
    pub fn with_sizes(&self, sizes: Sizes) -> Result<Self, Error> {
        Self::check_sizes(self.fit.dim(), self.options.shift, sizes)?;
        let shifted = shifted(self.fit.dim(), self.options, sizes);
        Ok(Self { sizes, shifted, drawn: Drawn::default(), ..self.clone() })
    }

    /// Also returns the probability of each class.
    pub fn with_parts_by_class(mut self) -> Self {
        self.parts_by_class = true;
        self
    }

    /// Also reports standard errors: the spread of values over references drawn from `sample`, each
    /// row of which `stands_for` a number of reference rows, or itself; see
    /// [`SecondOrderValuer::with_std_error_of`](crate::second_order::SecondOrderValuer::with_std_error_of).
    ///
    /// # Errors
    ///
    /// As there, and [`Error::NotAClass`].
    pub fn with_std_error_of(
        mut self,
        sample: Rows<'_>,
        stands_for: Option<&[f64]>,
        bootstrap: BootstrapOptions,
    ) -> Result<Self, Error> {
        self.check(sample)?;
        let start = |rows: Rows<'_>| DrawnStart::new(&self, rows);
        self.drawn = replicates(sample, stands_for, bootstrap, start, DrawnStart::with_weights)?;
        Ok(self)
    }

    /// Bytes that one drawn reference takes.
    pub fn n_bytes_of_draw(&self) -> usize {
        let (d, p) = (self.moments.bias.len(), self.fit.dim());
        8 * (d * (2 * d + 2) + p * (p + 4))
    }

    /// The parts that values come with, in order, without those of classes and labels:
    /// `value = potential − penalty + correction`.
    pub const PARTS: [Part; 4] = [Part::Potential, Part::Penalty, Part::Correction, Part::DistSq];

    /// The fit of the reference.
    pub fn fit(&self) -> &SoftmaxFit {
        &self.fit
    }

    /// How values are computed.
    pub fn options(&self) -> SoftmaxOptions {
        self.options
    }

    /// `κ`.
    pub fn shift(&self) -> f64 {
        self.options.shift.unwrap_or(self.fit.dim() as f64 + 1.0)
    }

    /// `b_k`: `b/s` is the bias of an estimate from `s` rows, for the columns of
    /// the fit, which are recombined to be uncorrelated.
    pub fn bias(&self) -> &[f64] {
        &self.moments.bias
    }

    /// `c` of rows that are not part of the reference: the expected gain of
    /// joining sets of `s` rows is `c/s² + O(s⁻³)`.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn coefficients(&self, points: Rows<'_>) -> Result<Vec<f64>, Error> {
        self.check(points)?;
        let mut out = Vec::with_capacity(points.len());
        let mut work = Work::new(&self.fit);
        for start in (0..points.len()).step_by(PANEL_ROWS) {
            let len = PANEL_ROWS.min(points.len() - start);
            self.solve(points, start, len, &mut work)?;
            out.extend((0..len).map(|i| {
                let row = ClassProbabilities::new(work.eta.iter().map(|eta| eta[i]));
                let axes = work.forms(i).axes(&row, points.y()[start + i] as usize);
                axes.iter().map(|axis| axis.spread - axis.surprise + axis.bias).sum::<f64>()
            }));
        }
        Ok(out)
    }

    /// Values `rows`, which are some or all of the reference rows themselves: each is
    /// valued against the reference without it, by one step of Newton's method for its
    /// own probabilities, and is left out of `H` and `V`. Third moments stay, which is an
    /// error of order `1/n`.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn leave_one_out(&self, rows: Rows<'_>) -> Result<Values, Error> {
        self.value_rows(rows, true)
    }

    fn check(&self, rows: Rows<'_>) -> Result<(), Error> {
        self.fit.check(rows)?;
        check_classes(rows, self.fit.n_classes())
    }

    fn value_rows(&self, rows: Rows<'_>, left_out: bool) -> Result<Values, Error> {
        self.check(rows)?;
        let mut out = self.row_values(rows, left_out)?;
        for row in out.iter_mut().filter(|row| row.note.is_none()) {
            row.note = note_of(row.moves, row.is_only_of_label);
        }
        if out.iter().any(|row| row.note.is_none() && !row.split.value().is_finite()) {
            return Err(rows.explain_not_finite(0, rows.len()));
        }
        let mut values = Values::of(&out, self.parts());
        values.std_error = std_errors(&values.value, &self.drawn, |drawn| {
            Ok(drawn.row_values(rows, left_out)?.iter().map(Valued::value).collect())
        })?;
        Ok(values)
    }

    fn row_values(&self, rows: Rows<'_>, left_out: bool) -> Result<Vec<RowValue>, Error> {
        let mut out: Vec<RowValue> = vec![RowValue::default(); rows.len()];
        let valued = out.par_chunks_mut(PANEL_ROWS).enumerate().try_for_each_init(
            || Work::new(&self.fit),
            |work, (panel, out)| self.value_panel(rows, panel * PANEL_ROWS, left_out, work, out),
        );
        // Which panel fails first is random, but the reported cell is not.
        valued.map_err(|_: Error| rows.explain_not_finite(0, rows.len()))?;
        Ok(out)
    }

    fn value_panel(
        &self,
        rows: Rows<'_>,
        start: usize,
        left_out: bool,
        work: &mut Work,
        out: &mut [RowValue],
    ) -> Result<(), Error> {
        self.solve(rows, start, out.len(), work)?;
        let n = self.fit.n_rows() as f64;
        let m = self.sizes.max() as f64;
        for (i, out) in out.iter_mut().enumerate() {
            let label = rows.y()[start + i] as usize;
            let eta: Vec<f64> = work.eta.iter().map(|eta| eta[i]).collect();
            let row = ClassProbabilities::new(eta.iter().copied());
            let forms = work.forms(i);
            if self.parts_by_class {
                out.prob = row.prob.clone();
            }
            // A row of weight 0 is in the table but not in the reference.
            let own = rows.weights().map_or(1.0, |weights| weights[start + i]) * self.fit.weight_scale;
            let row = if left_out && own > 0.0 {
                forms
                    .left_out(&eta, &row, label, own / n, self.options.spread)
                    .map(|(eta, forms)| (ClassProbabilities::new(eta.into_iter()), forms))
            } else {
                Some((row, forms))
            };
            match row {
                Some((row, forms)) => {
                    out.label = LabelFacts::of_classes(label, &row.prob);
                    let axes = forms.axes(&row, label);
                    out.split = Split::of(&axes, &self.shifted, m);
                    out.moves = moves(&axes, self.sizes.min() as f64);
                    out.is_only_of_label = left_out && own > 0.0 && self.fit.n_labels()[label] == 1;
                }
                None => out.note = Some(Note::LeverageOne),
            }
        }
        Ok(())
    }

    /// Leaves predictors and forms of `len ≤ PANEL_ROWS` rows in `work`.
    fn solve(&self, rows: Rows<'_>, start: usize, len: usize, work: &mut Work) -> Result<(), Error> {
        let Work { panel, eta, inverse, spread, bias } = work;
        self.fit.columns.fill(rows, start, len, panel);
        predictors(panel, &self.fit.theta, eta);
        *inverse = forms(panel, &self.moments.inverse);
        *spread = forms(panel, &self.moments.spread);
        let dim = self.fit.dim();
        for (a, bias) in bias.iter_mut().enumerate() {
            panel.times(&self.moments.bias[a * dim..(a + 1) * dim], bias);
        }
        let finite = |columns: &[[f64; PANEL_ROWS]]| {
            columns.iter().all(|column| column[..len].iter().all(|cell| cell.is_finite()))
        };
        if finite(eta) && finite(inverse) && finite(spread) { Ok(()) } else { Err(Error::TooLarge) }
    }
}

/// Targets are classes.
impl Valuer for SoftmaxValuer {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        go_on(watch, 0, rows.len())?;
        self.value_rows(rows, place.in_reference)
    }

    fn parts(&self) -> Vec<Part> {
        let n_told = if self.parts_by_class { self.fit.n_classes() } else { 0 };
        Self::PARTS.into_iter().chain((0..n_told).map(Part::ProbOf)).chain(Part::OF_LABEL).collect()
    }

    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.fit.warnings();
        warnings.extend(self.sizes.warning());
        warnings.extend(shift_warning(self.sizes, self.shift()));
        warnings.extend(self.drawn.warning());
        warnings
    }

    fn wants(&self) -> Wants {
        self.drawn.wants()
    }
}

fn shifted(dim: usize, options: SoftmaxOptions, sizes: Sizes) -> ShiftedSizes {
    let shift = options.shift.unwrap_or(dim as f64 + 1.0);
    ShiftedSizes::new(sizes.min() as f64 - 0.5 - shift, sizes.count())
}

/// Everything known about a valued row.
#[derive(Debug, Clone, Default)]
struct RowValue {
    split: Split,
    moves: f64,
    is_only_of_label: bool,
    prob: Vec<f64>,
    label: LabelFacts,
    note: Option<Note>,
}

impl Valued for RowValue {
    fn value(&self) -> f64 {
        if self.note.is_some() { f64::NAN } else { self.split.value() }
    }

    fn part(&self, part: Part) -> f64 {
        let known = |cell: f64| if self.note.is_some() { f64::NAN } else { cell };
        match part {
            Part::Potential => known(self.split.potential),
            Part::Penalty => known(self.split.penalty),
            Part::Correction => known(self.split.correction),
            Part::ProbOf(class) => self.prob[class],
            Part::GivenLabel | Part::LabelProb | Part::PredictedLabel => self.label.part(part),
            _ => known(self.split.dist_sq),
        }
    }

    fn note(&self) -> Option<Note> {
        self.note
    }
}

/// Buffers of one thread.
struct Work {
    panel: DesignPanel,
    eta: Vec<[f64; PANEL_ROWS]>,
    inverse: Vec<[f64; PANEL_ROWS]>,
    spread: Vec<[f64; PANEL_ROWS]>,
    bias: Vec<[f64; PANEL_ROWS]>,
}

impl Work {
    fn new(fit: &SoftmaxFit) -> Self {
        let zeros = vec![[0.0; PANEL_ROWS]; fit.n_classes() - 1];
        Self {
            panel: fit.columns.design.panel(),
            eta: zeros.clone(),
            inverse: Vec::new(),
            spread: Vec::new(),
            bias: zeros,
        }
    }

    /// The moments at the position of row `i` of the panel.
    fn forms(&self, i: usize) -> RowForms {
        let n = self.eta.len();
        RowForms {
            inverse: Small::from_fn(n, |a, b| self.inverse[pair(a, b)][i]),
            spread: Small::from_fn(n, |a, b| self.spread[pair(a, b)][i]),
            bias: self.bias.iter().map(|bias| bias[i]).collect(),
        }
    }
}
