//! Everything doubtful about a run of `value`, in the order of the work: files, the
//! fit, the values, rows left out.

use crate::file_warnings;
use crate::fit::input_warning;
use crate::prepare::{Against, Prepared};
use crate::set_aside::SetAside;
use crate::value::{Job, Valued};
use dshap::Sizes;
use dshap_models::neighbours::NeighbourModel;
use dshap_models::{Error, RowRole, Warning, density, files_in, second_order};

/// The warnings of a run.
pub(crate) fn of(job: &Job<'_>, valued: &mut Valued, are_sets: bool) -> Result<Vec<Warning>, Error> {
    let Prepared { valuer, how, .. } = job.prepared;
    let sizes = valuer.sizes(how)?;
    let mut warnings = about_files(job)?;
    about_values(job, valued, sizes, &mut warnings);
    about_rows(job, valued, are_sets, &mut warnings)?;
    Ok(warnings)
}

/// A valuer at hand was fitted before, and what is doubtful about that was reported.
fn is_fitted_now(job: &Job<'_>) -> bool {
    !matches!(job.prepared.against, Against::Fitted)
}

fn about_files(job: &Job<'_>) -> Result<Vec<Warning>, Error> {
    let Prepared { valuer, design, against, tests, how, .. } = job.prepared;
    let is_new = is_fitted_now(job);
    let mut warnings = file_warnings::of_sources(job.points, against.reference().filter(|_| is_new));
    match against {
        Against::Valuer(file) => {
            let files = files_in(&valuer.history);
            warnings.extend(file_warnings::of_points_in_reference(job.points, &files, file)?);
            if let Some(model) = valuer.model.of::<NeighbourModel>() {
                warnings.extend(file_warnings::of_points_in_tests(job.points, &model.test_files, file)?);
            }
        }
        Against::Fitted => {}
        Against::Themselves | Against::Reference(_) => {
            warnings.extend(file_warnings::of_constant_text(design));
            let source = against.reference().unwrap_or(job.points);
            warnings.extend(file_warnings::of_few_numbers(valuer, source)?);
            let aside = SetAside::of(source, &how.given)?;
            warnings.retain(|warning| !aside.explains(warning));
            warnings.extend(aside.warning());
        }
    }
    let tests = tests.as_ref().filter(|_| is_new);
    warnings.extend(tests.and_then(|tests| file_warnings::of_tests(tests, job.points, against.reference())));
    Ok(warnings)
}

fn about_values(job: &Job<'_>, valued: &mut Valued, sizes: Sizes, warnings: &mut Vec<Warning>) {
    let Prepared { valuer, design, how, .. } = job.prepared;
    let is_new = is_fitted_now(job);
    if is_new {
        warnings.append(&mut valued.warnings);
        warnings.extend(values_by_class(job, valued));
    }
    if job.in_reference {
        warnings.extend(second_order::large_sets(how, sizes, valuer.model.n_rows()));
    }
    warnings.extend(Warning::of_core(valued.tally.warnings(sizes), design));
    warnings.append(&mut valued.outcome.warnings);
    if is_new {
        warnings.extend(valuer.model.label_warnings(how, sizes, design));
    }
    let tolerance = valuer.model.of::<NeighbourModel>().and_then(NeighbourModel::tolerance);
    warnings.extend(valued.tally.mostly_zero(tolerance));
    let spread = &valued.tally.spread;
    warnings.extend(density::swallowed_digits(how.method, spread.lowest, spread.highest, spread.n_valued));
    if job.extras.std_error && how.method.entry.has_std_errors() {
        warnings.extend(valuer.model.error_warnings(how));
    }
}

/// Values by class where there are none.
fn values_by_class(job: &Job<'_>, valued: &Valued) -> Option<Warning> {
    let n_classes = job.prepared.design.labels().map_or(0, |labels| labels.n_classes());
    match (job.extras.by_class, n_classes) {
        (true, 2) => Some(Warning::PerClassOfTwo),
        (true, 3..) if !valued.has_class_values => Some(Warning::WholeValues),
        _ => None,
    }
}

fn about_rows(
    job: &Job<'_>,
    valued: &Valued,
    are_sets: bool,
    warnings: &mut Vec<Warning>,
) -> Result<(), Error> {
    let Prepared { valuer, design, how, fit, .. } = job.prepared;
    let is_baseline = how.method.baseline().is_some();
    if let Some(tests) = valued.outcome.tests {
        warnings.extend(Warning::rows_left_out(RowRole::Test, tests.n_left_out(), design));
    }
    if let Some(fit) = fit {
        warnings.extend(fit.warnings.iter().cloned());
        warnings.extend(input_warning(valuer, how, fit.sample.as_ref(), warnings)?);
        let role = if how.method.is_of_neighbours() { RowRole::Neighbour } else { RowRole::Reference };
        // A baseline has no fit that rows could be left out of.
        warnings.extend(Warning::rows_left_out(role, fit.rows.n_left_out(), design).filter(|_| !is_baseline));
    }
    if !job.in_reference || is_baseline {
        let role = if are_sets { RowRole::SetMember } else { RowRole::Point };
        warnings.extend(Warning::rows_left_out(role, valued.n_points - valued.n_usable, design));
    }
    Ok(())
}
