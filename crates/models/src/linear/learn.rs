//! One pass for moments; a second where columns are nearly combinations of others.

use super::{KnownNoise, LinearModel};
use crate::Error;
use crate::how::How;
use crate::model::Learned;
use crate::observer::Stage;
use crate::reference::{ExtraPass, Pass, Reference, RowCounts};
use crate::sample::RowSample;
use dshap::linear::{FitOptions, LinearFit};
use dshap::{Moments, MomentsBuilder, MomentsForm, Rows};
use dshap_catalogue::options::{DEPENDENT, REFIT_INTERCEPT};
use dshap_table::Design;

/// With more columns than this, rows are counted before anything is allocated
/// for each pair of columns.
const MANY_COLUMNS: usize = 2000;

/// How far a fit has come.
#[derive(Debug, Clone)]
pub struct Progress {
    /// Moments of the rows so far.
    pub moments: MomentsBuilder,
    /// Some of the rows.
    pub sample: RowSample,
    /// What became of the rows so far.
    pub rows: RowCounts,
    /// Passes before this one.
    pub extra_passes: Vec<ExtraPass>,
}

/// Keeps the state of a fit for the case that the run is killed.
pub trait Keeper: Send {
    /// The state that a killed run left, if there is one.
    fn resumed(&mut self) -> Option<Progress>;

    /// Whether the state should be kept now.
    fn is_due(&self) -> bool;

    /// Keeps the state.
    ///
    /// # Errors
    ///
    /// [`Error::Checkpoint`].
    fn keep(&mut self, progress: &Progress) -> Result<(), Error>;
}

/// How least squares is fitted with these settings.
pub(crate) fn fit_options(how: &How) -> FitOptions {
    FitOptions {
        intercept: how.intercept(),
        refit_intercept: how.given.has(&REFIT_INTERCEPT),
        allow_dependent: !how.given.is(&DEPENDENT, "error"),
    }
}

/// Fits a reference.
///
/// # Errors
///
/// [`Error`].
pub fn learn(
    how: &How,
    reference: &dyn Reference,
    mut keeper: Option<&mut dyn Keeper>,
) -> Result<Learned, Error> {
    let (design, options) = (reference.design(), fit_options(how));
    let begun = Progress {
        moments: builder(design, options, None),
        sample: RowSample::new(design.n_columns()),
        rows: RowCounts::default(),
        extra_passes: Vec::new(),
    };
    let mut progress = keeper.as_mut().and_then(|keeper| keeper.resumed()).unwrap_or(begun);
    loop {
        match keeper.as_mut() {
            Some(keeper) => read_keeping(&mut progress, reference, *keeper)?,
            None => read(&mut progress, reference)?,
        }
        let Progress { moments, sample, rows, mut extra_passes } = progress;
        let moments = finish(moments, design, rows)?;
        if let Some(learned) = learned_of(how, design, moments, sample, rows, extra_passes.clone())? {
            return Ok(learned);
        }
        // The first rows did not show that products lose too many digits.
        extra_passes.push(ExtraPass::HardColumns);
        progress = Progress {
            moments: builder(design, options, Some(MomentsForm::Triangle)),
            sample: RowSample::new(design.n_columns()),
            rows: RowCounts::default(),
            extra_passes,
        };
    }
}

/// The fit of moments; nothing if they have to be summed again as a triangle.
///
/// # Errors
///
/// [`Error::Core`].
pub fn learned_of(
    how: &How,
    design: &Design,
    moments: Moments,
    sample: RowSample,
    rows: RowCounts,
    extra_passes: Vec<ExtraPass>,
) -> Result<Option<Learned>, Error> {
    let options = fit_options(how);
    let fit = LinearFit::new(&moments, options).map_err(|e| Error::core(e, design))?;
    if fit.wants_triangle() {
        return Ok(None);
    }
    let model = Box::new(LinearModel::new(moments, fit, options, KnownNoise::of_sample(sample.clone())));
    let n_passes = 1 + extra_passes.len();
    Ok(Some(Learned { model, rows, n_passes, extra_passes, sample: Some(sample) }))
}

/// Reads all rows, in place where they are numbers in memory.
fn read(progress: &mut Progress, reference: &dyn Reference) -> Result<(), Error> {
    let begun = progress.clone();
    let Progress { moments, sample, .. } = progress;
    let in_place = reference.each_in_place(Stage::Fit, &mut |rows| {
        moments.push(rows)?;
        sample.look_at(rows);
        Ok(())
    })?;
    if in_place {
        progress.rows = RowCounts::all(progress.moments.n_rows());
        return Ok(());
    }
    *progress = begun;
    let Progress { moments, sample, rows, .. } = progress;
    *rows = reference.each(Pass::new(Stage::Fit), &mut |slice, _| {
        sample.look_at(slice);
        moments.push(slice)
    })?;
    Ok(())
}

/// Reads the rows that are left, keeping the state from time to time.
fn read_keeping(
    progress: &mut Progress,
    reference: &dyn Reference,
    keeper: &mut dyn Keeper,
) -> Result<(), Error> {
    let before = progress.rows;
    let pass = Pass { skip_rows: before.n_read, ..Pass::new(Stage::Fit) };
    let mut failed = None;
    let done = reference.each(pass, &mut |slice, counts| {
        progress.sample.look_at(slice);
        progress.moments.push(slice)?;
        progress.rows = RowCounts {
            n_read: before.n_read + counts.n_read,
            n_usable: before.n_usable + counts.n_usable,
            n_filled: before.n_filled + counts.n_filled,
        };
        if keeper.is_due()
            && let Err(error) = keeper.keep(progress)
        {
            failed = Some(error);
            return Err(dshap::Error::Interrupted);
        }
        Ok(())
    });
    match (failed, done) {
        (Some(error), _) => Err(error),
        (None, done) => done.map(|_| ()),
    }
}

/// Moments of rows for a design that is known, in the form given or in one that
/// fits; none where no row has a weight.
///
/// # Errors
///
/// [`Error`].
pub fn moments_of(
    reference: &dyn Reference,
    options: FitOptions,
    form: Option<MomentsForm>,
    stage: Stage,
) -> Result<(Option<Moments>, RowCounts), Error> {
    let (moments, _, rows) = sampled_moments_of(reference, options, form, stage)?;
    Ok((moments, rows))
}

/// The same, with an even sample of the rows.
///
/// # Errors
///
/// [`Error`].
pub fn sampled_moments_of(
    reference: &dyn Reference,
    options: FitOptions,
    form: Option<MomentsForm>,
    stage: Stage,
) -> Result<(Option<Moments>, RowSample, RowCounts), Error> {
    let design = reference.design();
    let begun = || (builder(design, options, form), RowSample::new(design.n_columns()));
    let (mut moments, mut sample) = begun();
    let mut push = |rows: Rows<'_>| {
        sample.look_at(rows);
        moments.push(rows)
    };
    let rows = if reference.each_in_place(stage, &mut push)? {
        RowCounts::all(moments.n_rows())
    } else {
        (moments, sample) = begun();
        reference.each(Pass::new(stage), &mut |rows, _| {
            sample.look_at(rows);
            moments.push(rows)
        })?
    };
    // Rows that all have weight 0 are no rows, and change nothing.
    match finish(moments, design, rows) {
        Err(Error::Core { error: dshap::Error::NoRows, .. }) => Ok((None, sample, rows)),
        finished => Ok((Some(finished?), sample, rows)),
    }
}

/// Collects moments for a fit, in the form given or in one that fits.
fn builder(design: &Design, options: FitOptions, form: Option<MomentsForm>) -> MomentsBuilder {
    let mut builder = MomentsBuilder::new(design.n_columns());
    if !options.intercept {
        builder = builder.without_intercept();
    }
    match form {
        Some(form) => builder.with_form(form),
        None => builder,
    }
}

fn finish(moments: MomentsBuilder, design: &Design, rows: RowCounts) -> Result<Moments, Error> {
    let (n_rows, dim) = (moments.n_rows(), design.n_columns());
    if n_rows > 0 && n_rows < dim && dim > MANY_COLUMNS {
        return Err(Error::core(dshap::Error::TooFewRows { n_rows, dim, needed: dim + 3 }, design));
    }
    match moments.finish() {
        Err(dshap::Error::NoRows) if rows.n_usable == 0 => Err(Error::NothingLeft),
        finished => finished.map_err(|e| Error::core(e, design)),
    }
}
