//! Warnings about files: rows that play two roles, and rows that count twice.

use crate::guess::few_whole_numbers;
use crate::inputs::TestTable;
use dshap_catalogue::Task;
use dshap_io::Source;
use dshap_models::{Error, FittedValuer, InputFile, Step, Warning, forgotten_again, repeated};
use dshap_table::{Design, Missing};
use std::path::Path;

/// What readers noticed, and files that are both points and reference.
pub(crate) fn of_sources(points: &Source, reference: Option<&Source>) -> Vec<Warning> {
    let sources = reference.into_iter().chain([points]);
    let notes = |source: &Source| [source.notes(), &source.late_notes()].concat();
    let mut warnings: Vec<Warning> = sources.flat_map(notes).map(Warning::Reader).collect();
    let shared = reference.and_then(|reference| shared_file(points, reference));
    warnings.extend(shared.map(|file| Warning::PointsAreReference { file }));
    warnings
}

/// Test rows that are also reference rows or points, because they share a file.
pub(crate) fn of_tests(tests: &TestTable, points: &Source, reference: Option<&Source>) -> Option<Warning> {
    of_tests_in_reference(reference.unwrap_or(points), &tests.source, tests.has_targets).or_else(|| {
        let file = shared_file(points, &tests.source)?;
        Some(Warning::PointsAreTests { file, valuer: None })
    })
}

/// Test rows that are also reference rows.
pub(crate) fn of_tests_in_reference(
    reference: &Source,
    tests: &Source,
    have_targets: bool,
) -> Option<Warning> {
    if tests.is_in_memory() {
        return None;
    }
    shared_file(reference, tests).map(|file| Warning::TestsAreReference { file, have_targets })
}

/// The first file that two tables share, whatever it is called.
fn shared_file(one: &Source, other: &Source) -> Option<String> {
    one.shared_file(other).map(String::from)
}

/// Points that a saved valuer was fitted to.
pub(crate) fn of_points_in_reference(
    points: &Source,
    reference: &[&InputFile],
    valuer: &Path,
) -> Result<Option<Warning>, Error> {
    let valuer = valuer.display().to_string();
    Ok(shared_contents(points, reference)?.map(|file| Warning::PointsInValuer { file, valuer }))
}

/// Points that are the test rows of a saved valuer.
pub(crate) fn of_points_in_tests(
    points: &Source,
    tests: &[InputFile],
    valuer: &Path,
) -> Result<Option<Warning>, Error> {
    let tests: Vec<&InputFile> = tests.iter().collect();
    let valuer = Some(valuer.display().to_string());
    Ok(shared_contents(points, &tests)?.map(|file| Warning::PointsAreTests { file, valuer }))
}

/// The first file of a table that has the contents of one of these. Only files of
/// the same length are read again to make sure.
fn shared_contents(table: &Source, known: &[&InputFile]) -> Result<Option<String>, Error> {
    let lengths: Vec<u64> = table.stamps().iter().map(|stamp| stamp.bytes).collect();
    if !known.iter().any(|file| file.bytes.is_some_and(|bytes| lengths.contains(&bytes))) {
        return Ok(None);
    }
    let is_known = |file: &InputFile| known.iter().any(|other| other.same_contents(file));
    Ok(InputFile::of(table, true)?.into_iter().find(is_known).map(|file| file.name))
}

/// A target of few whole numbers that was taken for a quantity by a guess.
pub(crate) fn of_few_numbers(valuer: &FittedValuer, source: &Source) -> Result<Option<Warning>, Error> {
    let target = valuer.design.target().filter(|_| valuer.task_guessed && valuer.task() == Task::Regression);
    let Some(target) = target else { return Ok(None) };
    let n_numbers = few_whole_numbers(source, target)?;
    Ok(n_numbers.map(|n_numbers| Warning::FewNumbers { target: target.into(), n_numbers }))
}

/// Text columns with one level, found or made by pooling.
pub(crate) fn of_constant_text(design: &Design) -> Vec<Warning> {
    let is_pooled = |name: &String| design.pooled_features().any(|(pooled, _)| pooled == name);
    let (pooled, columns): (Vec<_>, Vec<_>) =
        design.constant_features().map(String::from).partition(is_pooled);
    let mut warnings = Vec::new();
    warnings.extend((!columns.is_empty()).then_some(Warning::ConstantText { columns }));
    warnings.extend((!pooled.is_empty()).then_some(Warning::AllLevelsRare { columns: pooled }));
    warnings
}

/// Files whose rows count twice, or were taken away twice.
pub(crate) fn of_repeated_files(history: &[Step]) -> Vec<Warning> {
    let twice = repeated(history).into_iter().map(|file| Warning::RepeatedFile { file });
    twice.chain(forgotten_again(history).into_iter().map(|file| Warning::ForgottenAgain { file })).collect()
}

/// Text columns whose pooled levels were settled by an earlier reference, or would be
/// pooled by a fit of all rows.
pub(crate) fn of_pooled_levels(design: &Design) -> Option<Warning> {
    design.parts().rare_levels?;
    let columns: Vec<String> = design.text_features().map(String::from).collect();
    (!columns.is_empty()).then_some(Warning::PoolIsKept { columns })
}

/// Cells that were filled with means which are not those of the whole.
pub(crate) fn of_filled_cells(design: &Design, steps: &[Step]) -> Option<Warning> {
    let n_cells: u64 = steps.iter().map(|step| step.filled).sum();
    (design.parts().missing == Missing::Mean && n_cells > 0).then_some(Warning::FilledCells { n_cells })
}
