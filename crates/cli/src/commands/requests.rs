//! Requests made from what was typed, where files are concerned. What goes with which method is the catalogue's
//! to check.

use super::finish::RunOptions;
use crate::args::{FitArgs, TrialArgs, ValueArgs};
use crate::failure::Failure;
use crate::speech::CommandLine;
use dshap_catalogue::options::{
    BOTTOM, CHECKPOINT, CHECKPOINT_EVERY, CSV_SAFE, EXPLAIN, FIGURE, FORMAT, MANIFEST, POPULATION, REFERENCE,
    SORT, TARGET, TASK, TEST, TOP,
};
use dshap_catalogue::{Given, Group, OptionEntry, Task, spelled};
use dshap_io::{Destination, Format};
use dshap_models::{Method, methods};
use dshap_run::{Arrange, CheckpointFile, FitRequest, Resources, ValueRequest};
use dshap_trials::{BenchRequest, Entrant};
use dshap_words::Speech;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a checkpoint is written, in seconds.
const CHECKPOINT_SECONDS: f64 = 30.0;

/// The request behind `dshap value`.
pub(crate) fn value_request(args: &ValueArgs, run: &RunOptions) -> Result<ValueRequest, Failure> {
    let ValueArgs { points, valuer, method, output, given } = args;
    let inputs =
        [points.as_slice(), given.list(&REFERENCE), given.list(&TEST), given.list(&POPULATION)].concat();
    refuse_second_standard_input(&inputs)?;
    if valuer.is_none() && !given.has(&TARGET) {
        refuse_column_as_file(points)?;
    }
    if let (Some(_), Some(method)) = (valuer, method) {
        refuse_method_without_valuer(method)?;
    }
    let checkpoint = given.word(&CHECKPOINT).map(PathBuf::from);
    Ok(ValueRequest {
        points: points.clone(),
        valuer: valuer.clone(),
        method: *method,
        given: given.only(is_of_engine),
        digests: run.summary.is_some(),
        outputs: outputs([output.as_ref(), run.summary.as_ref(), checkpoint.as_ref()]),
        resources: resources(given, run, &inputs)?,
    })
}

/// A column that was named without `--target` looks like one more file.
fn refuse_column_as_file(points: &[String]) -> Result<(), Failure> {
    let [_, .., last] = points else { return Ok(()) };
    let is_name = !last.is_empty() && last.chars().all(|c| c.is_alphanumeric() || c == '_');
    match is_name && !Path::new(last).exists() {
        false => Ok(()),
        true => Err(Failure::Usage {
            message: format!("there is no file `{last}`"),
            hint: Some(format!("to predict the column `{last}`, write `--target {last}`")),
        }),
    }
}

/// A valuer cannot value rows by a method that has none.
fn refuse_method_without_valuer(method: &Method) -> Result<(), Failure> {
    let Err(why) = method.entry.saved else { return Ok(()) };
    let speech = CommandLine::default();
    let why = spelled(why, |name, value| match value {
        Some(value) => speech.set(name, value),
        None => speech.option(name),
    });
    Err(Failure::usage(format!("`--valuer` does not go with `--method {}`: {why}", method.name())))
}

/// The request behind `dshap fit`.
pub(crate) fn fit_request(args: &FitArgs, run: &RunOptions) -> Result<FitRequest, Failure> {
    let FitArgs { reference, method, output, given } = args;
    let inputs = [reference.as_slice(), given.list(&TEST), given.list(&POPULATION)].concat();
    refuse_second_standard_input(&inputs)?;
    let checkpoint = given.word(&CHECKPOINT).map(PathBuf::from);
    Ok(FitRequest {
        reference: reference.clone(),
        method: *method,
        given: given.only(is_of_engine),
        outputs: outputs([Some(output), run.summary.as_ref(), checkpoint.as_ref()]),
        resources: resources(given, run, &inputs)?,
    })
}

/// The request behind `dshap evaluate` and `dshap compare`.
pub(crate) fn bench_request(args: &TrialArgs, run: &RunOptions) -> Result<BenchRequest, Failure> {
    let TrialArgs { points, methods, output, given } = args;
    refuse_second_standard_input(&[points.as_slice(), given.list(&TEST)].concat())?;
    let twice = methods.iter().enumerate().find(|(place, entrant)| methods[..*place].contains(entrant));
    if let Some((_, entrant)) = twice {
        return Err(Failure::usage(format!("`--methods` names `{}` twice", entrant.name)));
    }
    let figure = given.word(&FIGURE).map(PathBuf::from);
    Ok(BenchRequest {
        points: points.clone(),
        methods: if methods.is_empty() { usual_methods(given) } else { methods.clone() },
        given: given.only(is_of_engine),
        outputs: outputs([output.as_ref(), run.summary.as_ref(), figure.as_ref()]),
        resources: Resources { memory: run.memory, checkpoint: None },
    })
}

/// The methods that are tried if none is named: the usual one, and one that assumes other things.
fn usual_methods(given: &Given) -> Vec<Entrant> {
    let task = given.word(&TASK).and_then(Task::parse);
    let other = if task == Some(Task::Density) { "monte-carlo" } else { "knn" };
    [Some(methods::default_for(task)), methods::find(other)].into_iter().flatten().map(Entrant::of).collect()
}

/// Whether an option is for the engine. The others say what becomes of its result, or how a run goes; whether a
/// fit can have a checkpoint depends on the method.
fn is_of_engine(option: &'static OptionEntry) -> bool {
    let is = |options: &[&OptionEntry]| options.iter().any(|other| other.name == option.name);
    match option.group {
        Group::Output => !is(&[&SORT, &TOP, &BOTTOM, &FORMAT, &CSV_SAFE, &FIGURE, &EXPLAIN]),
        Group::Run => is(&[&CHECKPOINT]),
        Group::Trial => false,
        _ => true,
    }
}

/// Whether an option decides what owners are worth or are paid. A receipt holds these.
pub(crate) fn is_of_owners(option: &'static OptionEntry) -> bool {
    !matches!(option.group, Group::Output | Group::Run) && option.name != MANIFEST.name
}

/// Files that will be written.
pub(crate) fn outputs<const N: usize>(paths: [Option<&PathBuf>; N]) -> Vec<PathBuf> {
    paths.into_iter().flatten().cloned().collect()
}

/// A receipt of what is gone once it was read could never be verified.
pub(crate) fn refuse_receipt_of_pipe(manifest: Option<&PathBuf>, inputs: &[String]) -> Result<(), Failure> {
    match manifest.is_some() && inputs.iter().any(|file| file == "-") {
        true => Err(Failure::Usage {
            message:
                "`--manifest` needs files that `dshap verify` can read again, and standard input is not one"
                    .into(),
            hint: Some("write the rows to a file first".into()),
        }),
        false => Ok(()),
    }
}

/// No two of these can be the same file.
pub(crate) fn refuse_same(paths: &[(&str, Option<&PathBuf>)]) -> Result<(), Failure> {
    for (i, (what, path)) in paths.iter().enumerate() {
        let twin = paths[..i].iter().find(|(_, other)| match (path, other) {
            (Some(path), Some(other)) => is_same_file(path, other),
            _ => false,
        });
        if let Some((other, _)) = twin {
            return Err(Failure::usage(format!("the {other} and the {what} cannot be the same file")));
        }
    }
    Ok(())
}

/// Whether two paths lead to one file, which need not exist yet.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| match path.canonicalize() {
        Ok(place) => Some(place),
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
            Some(folder.join(path.file_name()?))
        }
    };
    // Devices such as /dev/null may be written to twice.
    let is_device = one.exists() && !one.is_file();
    !is_device && (one == other || place(one).is_some() && place(one) == place(other))
}

pub(crate) fn refuse_second_standard_input(inputs: &[String]) -> Result<(), Failure> {
    match inputs.iter().filter(|name| *name == "-").count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::usage("standard input `-` can be read only once")),
    }
}

fn resources(given: &Given, run: &RunOptions, inputs: &[String]) -> Result<Resources, Failure> {
    let checkpoint = given.word(&CHECKPOINT).map(|path| CheckpointFile {
        path: path.into(),
        every: Duration::from_secs_f64(given.number(&CHECKPOINT_EVERY).unwrap_or(CHECKPOINT_SECONDS)),
    });
    if checkpoint.is_some() && inputs.iter().any(|name| name == "-") {
        return Err(Failure::usage("`--checkpoint` needs files that can be read again, not standard input"));
    }
    Ok(Resources { memory: run.memory, checkpoint })
}

/// Where the output goes.
#[derive(Debug, PartialEq)]
pub(crate) enum Target {
    /// A table for people.
    Terminal,
    /// Data.
    Written(Destination, Format),
}

/// Settles destination and format; the format is a word of `--format`.
pub(crate) fn target(output: Option<&Path>, format: Option<&str>) -> Result<Target, Failure> {
    let format = format.and_then(format_called);
    let terminal = std::io::stdout().is_terminal();
    match (output.filter(|path| *path != Path::new("-")), format) {
        (Some(path), Some(format)) => Ok(Target::Written(Destination::File(path.into()), format)),
        (Some(path), None) => {
            let format = format_by_name(path)?;
            Ok(Target::Written(Destination::File(path.into()), format))
        }
        (None, Some(Format::Parquet | Format::Arrow | Format::Npy)) if terminal => {
            Err(Failure::usage("a binary format is not written to a terminal; give `-o FILE`"))
        }
        (None, Some(format)) => Ok(Target::Written(Destination::Stdout, format)),
        (None, None) if terminal => Ok(Target::Terminal),
        (None, None) => Ok(Target::Written(Destination::Stdout, Format::Csv)),
    }
}

/// As [`target`], as the options say. Whoever asks for safe CSV must not get something else without a word; a
/// table on a terminal is not opened by spreadsheets.
pub(crate) fn given_target(output: Option<&Path>, given: &Given) -> Result<Target, Failure> {
    match target(output, given.word(&FORMAT))? {
        Target::Written(to, format) => Ok(Target::Written(to, safe_format(format, given)?)),
        terminal => Ok(terminal),
    }
}

/// The format with the care for spreadsheets that was asked for.
pub(crate) fn safe_format(format: Format, given: &Given) -> Result<Format, Failure> {
    match format {
        _ if !given.has(&CSV_SAFE) => Ok(format),
        Format::Csv => Ok(Format::SafeCsv),
        _ => Err(Failure::usage("`--csv-safe` goes with CSV output; leave it out, or write a .csv file")),
    }
}

/// The format of a file, by its name.
pub(crate) fn format_by_name(path: &Path) -> Result<Format, Failure> {
    Format::from_extension(path).map_err(|_| {
        Failure::usage(format!(
            "the name of `{}` does not tell its format; call it .csv, .json, .ndjson, .parquet, .arrow or .npy, or \
             give `--format`",
            path.display()
        ))
    })
}

/// The format of that name.
fn format_called(word: &str) -> Option<Format> {
    match word {
        "csv" => Some(Format::Csv),
        "json" => Some(Format::Json),
        "ndjson" => Some(Format::Ndjson),
        "parquet" => Some(Format::Parquet),
        "arrow" => Some(Format::Arrow),
        "npy" => Some(Format::Npy),
        _ => None,
    }
}

/// Settles the order of rows.
pub(crate) fn arrange(given: &Given) -> Result<Arrange, Failure> {
    let (top, bottom) = (given.size(&TOP), given.size(&BOTTOM));
    Ok(match (given.word(&SORT), top, bottom) {
        (Some("penalty"), _, Some(_)) => {
            return Err(Failure::usage(
                "`--bottom` goes by value; `--sort penalty --top N` shows the rows with the largest penalties",
            ));
        }
        (Some("penalty"), limit, None) => Arrange::Penalty(limit),
        (_, Some(n), _) => Arrange::Highest(Some(n)),
        (_, None, Some(n)) => Arrange::Lowest(n),
        (Some("value"), None, None) => Arrange::Highest(None),
        (_, None, None) => Arrange::ByRow,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_catalogue::Kind;

    #[test]
    fn every_format_that_can_be_typed_is_known() {
        let Kind::Choice { words } = FORMAT.takes else { panic!("formats are words") };
        assert!(words.iter().all(|word| format_called(word.word).is_some()));
    }
}
