//! Runs that ended without a result, in words.

mod misuse;
mod neighbour_sizes;
mod warnings;

pub use misuse::misuse;
pub(crate) use warnings::warning;

use crate::owners_words::{owners_error, owners_hint};
use crate::{
    Speech, container_error, container_hint, core_error, core_hint, io_error, io_hint, table_error,
    table_error_at, table_hint,
};
use dshap_baselines::Error as BaselineError;
use dshap_catalogue::spelled;
use dshap_models::methods::METHODS;
use dshap_models::sets::{TEST_SHARE, rows_to_leave};
use dshap_models::{CheckpointDifference, Error, ExtraPass, Fixed, MergeConflict};
use dshap_table::Error::Differs;
use dshap_table::{Difference, Names};
use neighbour_sizes::{neighbour_sizes, neighbour_sizes_hint};

/// What went wrong.
pub(crate) fn error(error: &Error, speech: &dyn Speech) -> String {
    let option = |name: &str| speech.option(name);
    match error {
        Error::Io(error) => io_error(error, speech),
        Error::Owners(fault) => owners_error(fault, speech),
        Error::Container(error) => container_error(error, speech),
        Error::BadContents { file, what } => format!("`{file}` is damaged: {what}"),
        Error::Misuse(fault) => misuse(fault, speech),
        Error::SettledByValuer { option: "checkpoint" } => {
            format!("{} keeps the state of a fit, and the valuer is fitted already", option("checkpoint"))
        }
        Error::SettledByValuer { option: name } => format!("{} is fixed by the valuer", option(name)),
        Error::OtherMethod { fitted, method, .. } => {
            format!("a valuer fitted with `{fitted}` cannot value rows with `{method}`")
        }
        Error::NotSaved { method, why } => {
            format!("{} has no valuer to save: {}", speech.method(method), catalogue_text(why, speech))
        }
        Error::NotSpread { method } => {
            format!("{} cannot be fitted on several machines, since it needs all rows in one place", speech.method(method))
        }
        Error::BadPart { what } => format!("the state of a distributed pass cannot be used: {what}"),
        Error::OtherColumns { valuer, file, missing, .. } => {
            format!("valuer `{valuer}` is for other columns: `{file}` has no {}", quoted(missing))
        }
        Error::OtherTest { file, missing, .. } => {
            format!("the test rows have other columns than the reference: `{file}` has no {}", quoted(missing))
        }
        Error::CannotMerge { first, second, why } => {
            format!("`{first}` and `{second}` cannot be merged: {}", merge_conflict(why, speech))
        }
        Error::FewTestRows { n_test, method, .. } => format!(
            "{} not enough: `{method}` must not be judged on the rows it values by",
            agreed(*n_test as u64, "test row", "is", "are")
        ),
        Error::Baseline(error) => baseline_error(error, speech),
        Error::Incomplete { method, needs } => incomplete(method, *needs),
        Error::FixedReference { why } => fixed_reference(why),
        Error::GuessedWrong { target, more_later: true } => {
            format!("the task cannot be guessed: target `{target}` has two values in its first rows and more later")
        }
        Error::GuessedWrong { target, more_later: false } => format!(
            "the task cannot be guessed: target `{target}` has two values, but the first rows have only one of them"
        ),
        Error::NothingToMerge => "there is nothing to merge".into(),
        Error::CannotForget { files, column, n_rows, n_reference } => {
            let why = match column {
                Some(column) => format!("column `{column}` varies more in them than in the whole reference"),
                None => format!("they are {}, and the reference has {n_reference}", counted(*n_rows, "row")),
            };
            format!("the rows of {} cannot be forgotten: {why}", quoted(files))
        }
        Error::OtherCheckpoint { file, difference } => {
            format!("checkpoint `{file}` is of another run: {}", checkpoint_difference(difference, speech))
        }
        Error::Checkpoint { file, reason } => format!("cannot write checkpoint `{file}`: {reason}"),
        Error::TooLittleMemory { limit, needed, .. } => format!(
            "{} of memory is too little for this table; about {} is needed",
            size(*limit, false),
            size(*needed, true)
        ),
        Error::LongLists { room, needed } => format!(
            "the lists of neighbours take {} of memory, and {} leaves {} for them",
            size(*needed, true),
            option("memory"),
            size(*room, false)
        ),
        Error::TooMuchHeld { n_rows } => format!(
            "sorting keeps all rows in memory, and {n_rows} of them are already more than {} allows",
            option("memory")
        ),
        Error::Table { location, error } => table_error_at(location.as_ref(), error, speech),
        Error::OutputIsInput { file } => format!("`{file}` is an input; writing there would destroy it"),
        Error::NumbersAsText { location, name, text } => {
            format!("{} holds the number `{text}` as text", speech.cell(Some(location), name))
        }
        Error::MixedColumn { location, name, text } => {
            format!("{} holds `{text}`, but most of the column is numbers", speech.cell(Some(location), name))
        }
        Error::Core { error, names, .. } => core_error(error, names, speech),
        Error::NeighbourSizes(fault) => neighbour_sizes(fault),
        Error::OneNeighbour => {
            "there is 1 reference row, which has no spread: distances are in standard deviations of the reference"
                .into()
        }
        Error::NoMeasuredShift { weighted: true } => {
            format!("{} draws sets of reference rows, which have no weights", speech.set("shift", "measured"))
        }
        Error::NoMeasuredShift { weighted: false } => {
            format!("{} is for two labels, and the target has more", speech.set("shift", "measured"))
        }
        Error::NoPenalty => format!(
            "{} needs values with a penalty, which {} have",
            speech.set("sort", "penalty"),
            misuse::names(&with_part("penalty"), "and")
        ),
        Error::SetsOfSample { n_reference } => format!(
            "{} values rows against all others, and only a sample of the {n_reference} rows is kept",
            option("sets")
        ),
        Error::NoSets { column } => format!("column `{column}` is empty in every row, so it names no set"),
        Error::NoSuchSet { name, .. } => format!("there is no set `{name}`"),
        Error::MissingCells { name, n_cells, first } => {
            format!("column `{name}` has {}, the first in {first}", crate::counted(*n_cells, "missing cell"))
        }
        Error::Several(errors) => {
            let all: Vec<String> = errors.iter().map(|one| with_hint(one, speech)).collect();
            format!("there are {} problems: {}", errors.len(), all.join(". "))
        }
        Error::NoSuchRow { row, n_rows } => {
            format!("there is no row {row}: the table has {}", crate::counted(*n_rows, "row"))
        }
        Error::EmptySet { name } => format!("every row of set `{name}` has a missing cell"),
        Error::Case { location, reason } => format!("{location}, {reason}"),
        Error::NothingLeft => "every row of the reference has a missing cell".into(),
        Error::TooMuchText => {
            "the columns carried through hold more than 2 GiB of text, which cannot be sorted in memory".into()
        }
        Error::Changed { before, after } => format!(
            "the input changed while it was read: {before} usable rows in the first pass, {after} in the second"
        ),
        Error::WeightsInTrial => {
            format!("{} does not go with several methods: all rows count the same in them", option("weight"))
        }
        Error::TopTooLarge { top, n_rows } => format!(
            "{} is more than the number of rows to be valued, {n_rows}",
            speech.set("top", &top.to_string())
        ),
        Error::NoTargets => {
            format!("{} does not go with densities: there are no targets to make wrong", option("noise"))
        }
        Error::NothingToClean => "a density has no targets that could be wrong; name a target".into(),
        Error::ValueCount { name, found, n_rows } => {
            format!("`{name}` has {found} values, and there are {n_rows} rows")
        }
        Error::BadOutput(path) => format!("`{}` cannot be written", path.display()),
        // What was added since speaks for itself.
        other => other.to_string(),
    }
}

/// What to do about it.
pub(crate) fn hint(error: &Error, speech: &dyn Speech) -> Option<String> {
    let option = |name: &str| speech.option(name);
    Some(match error {
        Error::Io(error) => io_hint(error, speech)?,
        Error::Owners(fault) => owners_hint(fault, speech)?,
        Error::Container(error) => container_hint(error, speech)?,
        Error::BadContents { .. } => "copy the file again, or make it again".into(),
        Error::SettledByValuer { option: "checkpoint" } => "leave it out".into(),
        Error::SettledByValuer { .. } => "leave it out, or fit another valuer".into(),
        Error::OtherMethod { method, .. } => format!("fit a valuer with {}", speech.method(method)),
        Error::OtherColumns { suggestion: Some(name), .. }
        | Error::OtherTest { suggestion: Some(name), .. } => {
            format!("is it called `{name}` there?")
        }
        Error::OtherColumns { valuer, .. } => speech.columns_of(valuer),
        Error::OtherTest { .. } => {
            "test rows need the target and every feature of the reference; leave out other features".into()
        }
        // The error itself says what to do.
        Error::CannotMerge { why: MergeConflict::Size { .. }, .. } => return None,
        Error::CannotMerge { why: MergeConflict::Columns(Differs(Difference::Pooled { .. })), .. } => {
            format!("fit all rows together, or the parts without {}", option("rare_levels"))
        }
        Error::CannotMerge { .. } => "fit the parts with the same columns and settings".into(),
        Error::FewTestRows { are_kept_back: true, .. } => format!(
            "one row in {TEST_SHARE} is a test row: give at least {} rows, better hundreds, or separate test rows with \
             {}",
            2 * TEST_SHARE,
            speech.test_rows()
        ),
        Error::FewTestRows { .. } => "give at least 2 test rows, better hundreds".into(),
        Error::Baseline(error) => baseline_hint(error, speech)?,
        Error::Incomplete { needs: Some(ExtraPass::Authors), .. } => {
            format!("fit it with {}", speech.set("convention", "authors"))
        }
        Error::Incomplete { method, .. } => format!("fit it with {}", speech.method(method)),
        Error::NotSpread { .. } => {
            "fit a sample of the rows on one machine, or use a method that sums over rows".into()
        }
        Error::BadPart { .. } => "use the same version of dshap on every machine".into(),
        Error::FixedReference { why } => fixed_reference_hint(why, speech),
        Error::GuessedWrong { .. } => {
            format!("use {} or {}", speech.task("regression"), speech.task("classification"))
        }
        Error::CannotForget { .. } => {
            "only rows that were fitted or added can be forgotten, and not all of them".into()
        }
        Error::OtherCheckpoint { .. } => "delete it to start again, or name another file".into(),
        Error::TooLittleMemory { n_threads, .. } if *n_threads > 1 => format!(
            "allow more with {}, use {}, or use fewer than {n_threads} threads with {}: each needs memory",
            option("memory"),
            speech.fewer_columns(),
            option("threads")
        ),
        Error::TooLittleMemory { .. } => {
            format!("allow more with {}, or use {}", option("memory"), speech.fewer_columns())
        }
        Error::LongLists { .. } => {
            format!("allow more with {}, or do without {}", option("memory"), option("lists"))
        }
        Error::TooMuchHeld { .. } => format!(
            "{} and {} need little memory; or write the rows unsorted to a file with {}",
            option("top"),
            option("bottom"),
            option("output")
        ),
        Error::Table { error, .. } => table_hint(error, speech)?,
        Error::OutputIsInput { .. } => format!("name another file with {}", option("output")),
        Error::NumbersAsText { name, .. } => format!(
            "{}; if the column holds categories, use {}",
            speech.as_numbers(name),
            speech.set("categorical", name)
        ),
        Error::MixedColumn { name, .. } => format!(
            "correct the cell; if the value is unknown, {}; if the column holds categories, use {}",
            speech.missing_cell(),
            speech.set("categorical", name)
        ),
        Error::Core { error: dshap::Error::TooFewRows { needed, .. }, kept_back: true, .. } => format!(
            "one row in {TEST_SHARE} is kept back as a test row: at least {} rows are needed in all, or {needed} and \
             separate test rows with {}, or {}",
            rows_to_leave(*needed),
            speech.test_rows(),
            speech.fewer_columns()
        ),
        Error::Core { error, without_ridge, .. } if !without_ridge.is_empty() && is_separated(error) => {
            let options: Vec<String> = without_ridge.iter().map(|name| option(name)).collect();
            let them = if options.len() == 1 { "it" } else { "them" };
            format!(
                "leave out {}: without {them} there can be a {}, and with a ridge every fit exists",
                listed(&options, "and"),
                option("ridge")
            )
        }
        Error::Core { error, names, .. } => core_hint(error, names, speech)?,
        Error::NeighbourSizes(fault) => neighbour_sizes_hint(fault, speech),
        Error::OneNeighbour => format!(
            "give more rows; to value rows by a single one, {} takes columns as they are",
            speech.set("scale", "none")
        ),
        Error::NoMeasuredShift { weighted: true } => {
            format!("leave out {}, or give {} as a number", option("weight"), option("shift"))
        }
        Error::NoMeasuredShift { weighted: false } => format!("give {} as a number", option("shift")),
        Error::SetsOfSample { n_reference } => format!(
            "give {} to keep all of them, or a separate {}",
            speech.set("samples", &n_reference.to_string()),
            option("reference")
        ),
        Error::NoSuchSet { suggestion: Some(name), .. } => format!("did you mean `{name}`?"),
        Error::MissingCells { .. } => format!(
            "{} leaves out such rows, {} fills in the mean of the column",
            speech.set("missing", "drop"),
            speech.set("missing", "mean")
        ),
        Error::NoSuchRow { .. } => "rows are counted from 0, as in the column `row` of the values".into(),
        Error::NothingLeft => {
            format!("{} fills in the mean of a column", speech.set("missing", "mean"))
        }
        Error::TooMuchText => format!(
            "keep fewer columns, or leave out {}, {} and {}",
            option("sort"),
            option("top"),
            option("bottom")
        ),
        _ => return None,
    })
}

/// A text of the catalogue, with its options spelled by the front end.
fn catalogue_text(text: &str, speech: &dyn Speech) -> String {
    spelled(text, |name, value| match (name, value) {
        ("method", Some(method)) => speech.method(method),
        (_, Some(value)) => speech.set(name, value),
        (_, None) => speech.option(name),
    })
}

fn merge_conflict(why: &MergeConflict, speech: &dyn Speech) -> String {
    match why {
        MergeConflict::Tasks(one, other) => {
            format!("one is for {}, the other for {}", one.name(), other.name())
        }
        MergeConflict::Intercept => "only one of them has an intercept".into(),
        MergeConflict::Tests => {
            "their values are for different data: test rows, inputs without targets, or rows like the reference"
                .into()
        }
        MergeConflict::Methods => "they value rows by different methods or settings".into(),
        MergeConflict::Size { option, first, second } => {
            let word =
                |size: &Option<usize>| size.map_or("chosen by default".into(), |size| size.to_string());
            let (first, second) = (word(first), word(second));
            format!("{option} is {first} in one and {second} in the other; give {}", speech.option(option))
        }
        MergeConflict::Columns(error) => table_error(error, speech),
        MergeConflict::Kernels(one, other) => format!("their kernels are `{one}` and `{other}`"),
        MergeConflict::Scaling => "only one of them scales its columns".into(),
        MergeConflict::Bandwidths(one, other) => format!("their bandwidths are {one} and {other}"),
    }
}

fn incomplete(method: &str, needs: Option<ExtraPass>) -> String {
    match needs {
        Some(ExtraPass::Calibration) => "the valuer stores no distances to calibrate with".into(),
        Some(ExtraPass::Rows) => "the valuer stores no reference rows to draw sets from".into(),
        Some(ExtraPass::Expansion) => "the valuer stores no moments of models refitted on each set".into(),
        Some(ExtraPass::Authors) => {
            "the valuer stores no moments of the authors' variables, which bounds of the authors' program need".into()
        }
        _ => format!("the valuer does not store what `{method}` needs"),
    }
}

fn fixed_reference(why: &Fixed) -> String {
    match why {
        Fixed::Method(method) => format!(
            "the reference of a `{method}` valuer cannot change: it stores per-row data, which cannot be updated \
             incrementally"
        ),
        Fixed::Components => {
            "the reference of a valuer with principal components cannot change: they depend on all its rows".into()
        }
        Fixed::Logistic => {
            "the reference of a classification valuer cannot change: a logistic fit cannot be updated incrementally"
                .into()
        }
        Fixed::Density => {
            "a density valuer cannot be updated: its bandwidth and its scaling depend on all its rows".into()
        }
        Fixed::Neighbours => {
            "the reference of a nearest-neighbour valuer cannot change: its scaling and its test rows depend on all \
             its rows"
                .into()
        }
    }
}

fn fixed_reference_hint(why: &Fixed, speech: &dyn Speech) -> String {
    match why {
        Fixed::Method(_) => format!("fit the whole reference again, or use {}", speech.method("gaussian")),
        Fixed::Components => format!("fit the whole reference again, or leave out {}", speech.option("pca")),
        Fixed::Logistic => "fit the whole reference again".into(),
        Fixed::Density => format!(
            "fit the new rows alone and combine both with {}, or fit the whole reference again",
            speech.command("merge")
        ),
        Fixed::Neighbours => "fit the whole reference again: that reads it once".into(),
    }
}

fn checkpoint_difference(difference: &CheckpointDifference, speech: &dyn Speech) -> String {
    match difference {
        CheckpointDifference::Version(version) => format!("it was made by dshap {version}"),
        CheckpointDifference::Files(files) => format!("its input is {}", quoted(files)),
        CheckpointDifference::ChangedFile(file) => format!("`{file}` has changed since"),
        CheckpointDifference::Option(name) => format!("{} was different", speech.option(name)),
    }
}

fn baseline_error(error: &BaselineError, speech: &dyn Speech) -> String {
    match error {
        BaselineError::Core(error) => core_error(error, &Names::default(), speech),
        BaselineError::SetSizes { min, max } => {
            format!("set sizes q = {min}, m = {max} are impossible: 1 ≤ q ≤ m is needed")
        }
        BaselineError::TooManySets { n_rows, most } => {
            format!("{n_rows} rows have too many sets to visit all of them; {most} rows are the limit")
        }
        BaselineError::KernelRange { bandwidth, dim } => {
            format!("a kernel of bandwidth {bandwidth} in {dim} columns is beyond the range of doubles")
        }
        other => other.to_string(),
    }
}

fn baseline_hint(error: &BaselineError, speech: &dyn Speech) -> Option<String> {
    Some(match error {
        BaselineError::Core(error) => core_hint(error, &Names::default(), speech)?,
        BaselineError::SetSizes { min, .. } => {
            format!("set {} to at least {min}, or use a smaller {}", speech.option("m"), speech.option("q"))
        }
        BaselineError::TooManySets { .. } => {
            format!("{} estimates the same values for any number of rows", speech.method("tmc-shapley"))
        }
        BaselineError::KernelRange { .. } => {
            format!(
                "{} sets another width, {} makes fewer columns",
                speech.option("bandwidth"),
                speech.option("pca")
            )
        }
        _ => return None,
    })
}

/// Names in backticks, with commas between them.
/// Whether the features separate the labels, so that there is no fit without a ridge.
fn is_separated(error: &dshap::Error) -> bool {
    match error {
        dshap::Error::Separated { .. } | dshap::Error::ClassesSeparated { .. } => true,
        dshap::Error::InClass { error, .. } | dshap::Error::InTest { error } => is_separated(error),
        _ => false,
    }
}

fn quoted<T: AsRef<str>>(names: &[T]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// Phrases as a list: "a, b and c", or with another last word.
fn listed(phrases: &[String], last: &str) -> String {
    match phrases.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        _ => phrases.concat(),
    }
}

/// The methods whose values come with a part.
fn with_part(name: &str) -> Vec<&'static str> {
    METHODS.iter().filter(|method| method.entry.parts.have(name)).map(|method| method.name()).collect()
}

/// A number of things: "1 row", "2 rows".
fn counted(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// The same with a verb: "1 row is", "2 rows are".
fn agreed(n: u64, thing: &str, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {thing} {one}") } else { format!("{n} {thing}s {many}") }
}

/// A number of bytes as people give it, rounded up where it is a demand.
fn size(bytes: u64, up: bool) -> String {
    let (unit, name) = match bytes {
        1_000_000.. => (1_000_000, "MB"),
        1_000.. => (1_000, "kB"),
        _ => (1, "bytes"),
    };
    let n_units = if up { bytes.div_ceil(unit) } else { bytes / unit };
    format!("{n_units} {name}")
}

#[cfg(test)]
mod tests;

/// What is wrong, and what to do about it.
pub(crate) fn with_hint(error: &Error, speech: &dyn Speech) -> String {
    match hint(error, speech) {
        Some(hint) => format!("{}: {hint}", self::error(error, speech)),
        None => self::error(error, speech),
    }
}
