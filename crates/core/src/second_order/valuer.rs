//! An expansion and a sum over set sizes: everything needed to value rows.

use super::bootstrap::{BootstrapOptions, Drawn, replicates, std_errors};
use super::drawn::DrawnStart;
use super::expansion::Expansion;
use super::nodes::{NodeWeight, SizeNodes};
use super::options::{SecondOrderOptions, shift_warning};
use super::passes::{SecondOrderPasses, SecondOrderStep};
use super::resummed::ShiftedSizes;
use super::row_value::RowValue;
use super::terms::{RowForm, RowTerms, TermsWork, largest_penalty};
use crate::classification::LogisticFit;
use crate::classification::fit::PanelWork;
use crate::labels::check_labels;
use crate::linear::fit::PANEL_ROWS;
use crate::valuer::go_on;
use crate::values::{Note, Part, Valued, Values};
use crate::{Error, Place, Rows, Sizes, Valuer, Wants, Warning, Watch};
use rayon::prelude::*;
use std::sync::Arc;

/// A ridge above this share of the curvature changes coefficients too much for its first
/// order: the relative error is as large as the share.
const LARGEST_SMALL_RIDGE: f64 = 0.1;

/// The largest first-order move of a row's own log-odds in the smallest set that counts.
/// Models are curved over a few units of log-odds: far beyond that, an expansion is not
/// even bounded like the utility.
pub const LARGEST_MOVE: f64 = 20.0;

/// Values any row, seen or unseen, for a logistic model that is refitted on
/// each set.
#[derive(Debug, Clone)]
pub struct SecondOrderValuer {
    pub(super) fit: Arc<LogisticFit>,
    /// The sizes that expansions were made for. If expansions change with the size, only
    /// sizes among them can be summed over.
    pub(super) made_for: Sizes,
    sizes: Sizes,
    pub(super) options: SecondOrderOptions,
    /// One for each size at which the expansion was made.
    pub(super) rows: Arc<[RowForm]>,
    form: Form,
    /// The same for drawn references, if standard errors were asked for.
    drawn: Drawn<Vec<RowForm>>,
}

/// How the sum over set sizes is computed.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// Log-loss without the ridge of a fit.
    Resummed { sizes: ShiftedSizes, shift: f64 },
    /// The weights of each expansion.
    Nodes(Vec<NodeWeight>),
}

impl Form {
    fn new(fit: &LogisticFit, made_for: Sizes, sizes: Sizes, options: SecondOrderOptions) -> Self {
        if options.is_resummed(fit.ridge()) {
            let shift = options.shift_for(fit.dim());
            let first = sizes.min() as f64 - 0.5 - shift;
            return Form::Resummed { sizes: ShiftedSizes::new(first, sizes.count()), shift };
        }
        Form::Nodes(SizeNodes::new(made_for, options.depends_on_size(fit.ridge())).weights_for(sizes))
    }
}

impl SecondOrderValuer {
    /// A valuer of rows against `fit`; `reference` are the rows it was made from, in
    /// memory. See [`SecondOrderPasses`] for others.
    ///
    /// # Errors
    ///
    /// As for [`SecondOrderPasses`].
    pub fn of(
        fit: LogisticFit,
        reference: Rows<'_>,
        sizes: Sizes,
        options: SecondOrderOptions,
    ) -> Result<Self, Error> {
        let mut passes = SecondOrderPasses::new(fit, sizes, options)?;
        loop {
            let mut pass = passes.begin_pass();
            pass.push(reference)?;
            if let SecondOrderStep::Done(valuer) = passes.finish_pass(pass)? {
                return Ok(*valuer);
            }
        }
    }

    /// From expansions for `sizes`, which were checked.
    pub(super) fn new(
        fit: Arc<LogisticFit>,
        sizes: Sizes,
        options: SecondOrderOptions,
        rows: Vec<RowForm>,
    ) -> Self {
        let form = Form::new(&fit, sizes, sizes, options);
        Self { fit, made_for: sizes, sizes, options, rows: rows.into(), form, drawn: Drawn::default() }
    }

    /// The same valuer for other set sizes, without standard errors. If the expansion
    /// changes with the size of the sets (accuracy, the ridge of a fit), the sizes must
    /// be among those it was made for.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] when the sums do not exist for these sizes,
    /// [`Error::OtherSizes`] when the expansion was not made for them.
    pub fn with_sizes(&self, sizes: Sizes) -> Result<Self, Error> {
        self.options.check_sizes(&self.fit, sizes)?;
        let made_for = self.made_for;
        let is_within = sizes.min() >= made_for.min() && sizes.max() <= made_for.max();
        if self.options.depends_on_size(self.fit.ridge()) && !is_within {
            return Err(Error::OtherSizes { min: made_for.min(), max: made_for.max() });
        }
        let form = Form::new(&self.fit, made_for, sizes, self.options);
        Ok(Self { sizes, form, drawn: Drawn::default(), ..self.clone() })
    }

    /// Also reports standard errors: the spread of values over references drawn from
    /// `reference`, the rows the fit was made from.
    ///
    /// Nothing is assumed about the inputs or the model. The coefficients of a drawn
    /// reference are one step of Newton's method away from those of the reference, its
    /// moments are summed again, and values cost as many times more as there are drawn
    /// references. Drawn references whose sums are singular are left out; if more than
    /// one in ten is, errors are NaN, and [`warnings`](Valuer::warnings) say so.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for fewer than two, [`Error::NoRows`],
    /// [`Error::BadWeight`], [`Error::NotBinary`], [`Error::FeatureCount`] and
    /// [`Error::NotFinite`].
    pub fn with_std_error(self, reference: Rows<'_>, bootstrap: BootstrapOptions) -> Result<Self, Error> {
        self.with_std_error_of(reference, None, bootstrap)
    }

    /// The same from a sample of the reference, each row of which `stands_for` a number
    /// of rows: its weight in a drawn reference has the mean and the spread of that
    /// number of rows.
    ///
    /// # Errors
    ///
    /// As for [`with_std_error`](Self::with_std_error); [`Error::RowCount`] and
    /// [`Error::BadOption`] unless there is a number of at least 1 for each row.
    pub fn with_std_error_of(
        mut self,
        sample: Rows<'_>,
        stands_for: Option<&[f64]>,
        bootstrap: BootstrapOptions,
    ) -> Result<Self, Error> {
        self.check(sample)?;
        let start = |rows: Rows<'_>| DrawnStart::new(&self.rows, self.options, rows);
        self.drawn = replicates(sample, stands_for, bootstrap, start, DrawnStart::with_weights)?;
        Ok(self)
    }

    /// Bytes that one drawn reference takes.
    pub fn n_bytes_of_draw(&self) -> usize {
        self.rows.iter().map(RowForm::n_bytes).sum()
    }

    /// The largest number of expansions for sets of up to `largest` rows, if they change
    /// with the size.
    pub fn most_expansions(largest: u64) -> usize {
        let largest = usize::try_from(largest).unwrap_or(usize::MAX).max(2);
        SizeNodes::new(Sizes::new(2, largest), true).sizes.len()
    }

    /// Rows that are valued together; fewer take just as long.
    pub const ROWS_AT_ONCE: usize = PANEL_ROWS;

    /// The parts that values come with, in order, without those about labels: `value =
    /// potential − penalty + correction`.
    pub const PARTS: [Part; 6] =
        [Part::Potential, Part::Penalty, Part::Correction, Part::DistSq, Part::Prob, Part::Weight];

    /// The fit of the reference.
    pub fn fit(&self) -> &LogisticFit {
        &self.fit
    }

    /// How values are computed.
    pub fn options(&self) -> SecondOrderOptions {
        self.options
    }

    /// `κ`, if the sum over sizes has one.
    pub fn shift(&self) -> Option<f64> {
        match self.form {
            Form::Resummed { shift, .. } => Some(shift),
            Form::Nodes(_) => None,
        }
    }

    /// The fits and expansions at which sizes are summed, by size: one if the
    /// expansion is the same for all.
    pub fn expansions(&self) -> impl ExactSizeIterator<Item = (&LogisticFit, &Expansion)> {
        self.rows.iter().map(|row| (&*row.fit, &row.expansion))
    }

    /// A warning if a small ridge is not small compared with the curvature of the
    /// smallest sets, in the direction where its share is largest.
    fn ridge_warning(&self) -> Option<Warning> {
        let ridge = self.options.small_ridge;
        let share = ridge / self.sizes.min() as f64 * largest_penalty(&self.fit);
        (share > LARGEST_SMALL_RIDGE).then_some(Warning::RidgeNotSmall { ridge, share })
    }

    /// Terms of rows that are not part of the reference, for each expansion in
    /// turn.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn terms(&self, points: Rows<'_>) -> Result<Vec<Vec<RowTerms>>, Error> {
        self.check(points)?;
        let of_form = |form: &RowForm| {
            let mut out = vec![None; points.len()];
            let mut work = form.work();
            for (panel, out) in out.chunks_mut(PANEL_ROWS).enumerate() {
                form.panel(points, panel * PANEL_ROWS, false, &mut work, out)?;
            }
            Ok(out.into_iter().map(Option::unwrap_or_default).collect())
        };
        self.rows.iter().map(of_form).collect()
    }

    /// Values `rows`, which are some or all of the reference rows themselves: each is
    /// valued against the reference without it, by one step of Newton's method for its
    /// own probability. Under log-loss without a ridge it is left out of `H` and `V`,
    /// otherwise of the slope of the utility; other moments stay, which is an error of
    /// order `1/n`. `prob` and `weight` stay those of the full fit.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn leave_one_out(&self, rows: Rows<'_>) -> Result<Values, Error> {
        self.value_rows(rows, true)
    }

    fn check(&self, rows: Rows<'_>) -> Result<(), Error> {
        self.fit.check_width(rows)?;
        rows.check_weights()?;
        check_labels(rows)
    }

    fn value_rows(&self, rows: Rows<'_>, left_out: bool) -> Result<Values, Error> {
        self.check(rows)?;
        let mut out = vec![RowValue::default(); rows.len()];
        let valued = out.par_chunks_mut(PANEL_ROWS).enumerate().try_for_each_init(
            || (works(&self.rows), PanelWork::new(&self.fit)),
            |(work, reference), (panel, out)| {
                let start = panel * PANEL_ROWS;
                self.value_panel(&self.rows, rows, start, left_out, work, out)?;
                self.note_rows(rows, start, left_out, out);
                let is_finite = |row: &RowValue| row.note.is_some() || row.sum().is_finite();
                if !out.iter().all(is_finite) {
                    return Err(Error::TooLarge);
                }
                self.describe_panel(rows, start, left_out, reference, out)
            },
        );
        // Which panel fails first is random, but the reported cell is not.
        valued.map_err(|_: Error| rows.explain_not_finite(0, rows.len()))?;
        let mut values = Values::of(&out, Self::PARTS.to_vec());
        values.parts.extend(self.fit.label_parts(rows, left_out)?);
        values.std_error =
            std_errors(&values.value, &self.drawn, |forms| self.values_by(forms, rows, left_out))?;
        Ok(values)
    }

    /// Values by expansions about a drawn reference, NaN where there is none.
    pub(super) fn values_by(
        &self,
        forms: &[RowForm],
        rows: Rows<'_>,
        left_out: bool,
    ) -> Result<Vec<f64>, Error> {
        let mut out = vec![RowValue::default(); rows.len()];
        out.par_chunks_mut(PANEL_ROWS).enumerate().try_for_each_init(
            || works(forms),
            |work, (panel, out)| self.value_panel(forms, rows, panel * PANEL_ROWS, left_out, work, out),
        )?;
        Ok(out.iter().map(Valued::value).collect())
    }

    fn value_panel(
        &self,
        forms: &[RowForm],
        rows: Rows<'_>,
        start: usize,
        left_out: bool,
        work: &mut [TermsWork],
        out: &mut [RowValue],
    ) -> Result<(), Error> {
        let mut terms = vec![None; out.len()];
        for (node, (form, work)) in forms.iter().zip(work).enumerate() {
            form.panel(rows, start, left_out, work, &mut terms)?;
            for (out, terms) in out.iter_mut().zip(&terms) {
                let Some(terms) = terms else {
                    out.note = Some(Note::LeverageOne);
                    continue;
                };
                out.add(node, terms, &self.form, form, self.sizes, self.options.utility);
            }
        }
        Ok(())
    }

    /// Removes meaningless values, with a note.
    fn note_rows(&self, rows: Rows<'_>, start: usize, left_out: bool, out: &mut [RowValue]) {
        let n_labels = [self.fit.n_rows() - self.fit.n_positive(), self.fit.n_positive()];
        for (i, out) in out.iter_mut().enumerate().filter(|(_, out)| out.note.is_none()) {
            let is_part = left_out && rows.weights().is_none_or(|weights| weights[start + i] > 0.0);
            out.note = note_of(out.moves, is_part && n_labels[rows.y()[start + i] as usize] == 1);
        }
    }

    /// The row in the fit of the reference, which with a ridge differs from the fits of
    /// the expansions.
    fn describe_panel(
        &self,
        rows: Rows<'_>,
        start: usize,
        left_out: bool,
        work: &mut PanelWork,
        out: &mut [RowValue],
    ) -> Result<(), Error> {
        if self.fit.ridge() == 0.0 {
            return Ok(());
        }
        self.fit.solve_panel(rows, start, out.len(), left_out, work)?;
        for (i, out) in out.iter_mut().enumerate() {
            let own = left_out.then(|| rows.weights().map_or(1.0, |weights| weights[start + i]));
            (out.prob, out.weight) = (work.row[i].prob, work.row[i].weight);
            let weight = self.fit.logit_of(work, i, rows.y()[start + i], own).map(|row| row.weight);
            out.dist_sq = weight.unwrap_or(f64::NAN) * self.fit.n_rows() as f64 * work.spread[i];
        }
        Ok(())
    }
}

/// Targets are labels, 0 or 1.
impl Valuer for SecondOrderValuer {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        go_on(watch, 0, rows.len())?;
        self.value_rows(rows, place.in_reference)
    }

    fn parts(&self) -> Vec<Part> {
        [Self::PARTS.as_slice(), &Part::OF_LABEL].concat()
    }

    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.fit.warnings();
        warnings.extend(self.sizes.warning());
        warnings.extend(self.shift().and_then(|shift| shift_warning(self.sizes, shift)));
        warnings.extend(self.ridge_warning());
        warnings.extend(self.drawn.warning());
        warnings
    }

    fn wants(&self) -> Wants {
        self.drawn.wants()
    }
}

/// Why a row has no value, if it has none: it is too far out for the expansion, or there
/// is no model without it.
pub(super) fn note_of(moves: f64, is_only_of_label: bool) -> Option<Note> {
    if is_only_of_label {
        return Some(Note::OnlyOfLabel);
    }
    // NaN is too far, too.
    (moves.is_nan() || moves > LARGEST_MOVE).then_some(Note::TooFar)
}

fn works(forms: &[RowForm]) -> Vec<TermsWork> {
    forms.iter().map(RowForm::work).collect()
}
