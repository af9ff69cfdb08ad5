//! `dshap report`.

use super::finish::{Recorded, RunOptions, conclude, in_pool};
use super::requests;
use crate::args::ValueArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::speech::CommandLine;
use crate::table::size;
use dshap_catalogue::options::{BY, REFERENCE, TARGET, TASK};
use dshap_io::{AtomicFile, Source};
use dshap_owners::{SavedOwners, holds_owners};
use dshap_report::{Findings, Gathered, OwnersReport, Report, ValuesReport, holds_values};
use dshap_run::{Error, InputFile};
use dshap_words::in_shell;
use dshap_words::run_words::describe;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &ValueArgs) -> Result<(), Failure> {
    let run = RunOptions::of(&args.given);
    let path = args.output.as_ref().expect("clap requires it");
    let doing = format!("cannot report on `{}`", args.points.join("`, `"));
    let failed = |error: Error| Failure::run(doing.clone(), &error, CommandLine::default());
    match computed_before(args).map_err(failed)? {
        Some(Before::Values(source)) => return of_values(args, &run, &source, path, &failed),
        Some(Before::Owners(found, files)) => {
            let (title, command) = (title(&args.points), command());
            let report =
                OwnersReport { title: &title, files: &files, command: Some(&command), found: &found };
            return write_page(&report.page(), path, &run, &failed);
        }
        None => {}
    }
    let mut request = requests::value_request(args, &run)?;
    // The page says which files it was made from.
    request.digests = true;
    requests::refuse_same(&[
        ("output", Some(path)),
        ("summary", run.summary.as_ref()),
        ("valuer", args.valuer.as_ref()),
    ])?;
    let record = run.begin_record()?;
    // Before the work, so that a folder that cannot be written to is noticed early.
    let mut file = AtomicFile::create(path).map_err(|error| failed(error.into()))?;
    let observer = Progress::new(run.quiet);
    in_pool(run.threads, || {
        let mut rows = Gathered::new(args.given.word(&BY));
        let summary = dshap_run::value(&request, &observer, &mut rows).map_err(failed)?;
        let recorded = Recorded::new(&summary, &summary.warnings, CommandLine::default());
        let findings = Findings::of(&request, &summary, &rows, &observer).map_err(failed)?;
        let (title, described) = (title(&args.points), describe(&summary));
        let page = Report {
            title: &title,
            summary: &summary,
            described: &described,
            warnings: &recorded.warnings,
            command: &command(),
            rows: &rows,
            findings: &findings,
        }
        .page()
        .map_err(failed)?;
        conclude(&recorded, record, &run, &doing, || {
            file.write_all(page.as_bytes()).map_err(|error| cannot_write(path, &error))?;
            file.commit().map_err(|error| failed(error.into()))?;
            Ok(format!("{described}wrote `{}`, {}\n", path.display(), size(page.len() as u64)))
        })
    })
}

/// What was computed before, if nothing says how to compute it.
enum Before {
    /// An output of `value`.
    Values(Source),
    /// An output of `owners`, and its files.
    Owners(SavedOwners, Vec<InputFile>),
}

fn computed_before(args: &ValueArgs) -> Result<Option<Before>, Error> {
    let is_told = [&TARGET, &TASK, &REFERENCE].into_iter().any(|option| args.given.has(option));
    if is_told || args.valuer.is_some() || args.points.iter().any(|file| file == "-") {
        return Ok(None);
    }
    if let [file] = args.points.as_slice()
        && let Some(found) = SavedOwners::of_json(Path::new(file))
    {
        return Ok(Some(Before::Owners(found, vec![InputFile::of_valuer(Path::new(file), true)?])));
    }
    // A table that cannot be read is an error of `value`, which says more.
    let Ok(source) = dshap_run::open_given(&args.points, &args.given, &[]) else { return Ok(None) };
    if holds_owners(&source) {
        let found = SavedOwners::of_table(&source)?;
        return Ok(Some(Before::Owners(found, InputFile::of(&source, true)?)));
    }
    Ok(holds_values(&source).then_some(Before::Values(source)))
}

/// The page of values that were computed before.
fn of_values(
    args: &ValueArgs,
    run: &RunOptions,
    source: &Source,
    path: &Path,
    failed: &dyn Fn(Error) -> Failure,
) -> Result<(), Failure> {
    let files = InputFile::of(source, true).map_err(failed)?;
    let rows = Gathered::read(source, args.given.word(&BY)).map_err(failed)?;
    let (title, command) = (title(&args.points), command());
    let report = ValuesReport { title: &title, files: &files, command: Some(&command), rows: &rows };
    write_page(&report.page().map_err(failed)?, path, run, failed)
}

fn write_page(
    page: &str,
    path: &Path,
    run: &RunOptions,
    failed: &dyn Fn(Error) -> Failure,
) -> Result<(), Failure> {
    let mut file = AtomicFile::create(path).map_err(|error| failed(error.into()))?;
    file.write_all(page.as_bytes()).map_err(|error| cannot_write(path, &error))?;
    file.commit().map_err(|error| failed(error.into()))?;
    if !run.quiet {
        eprintln!("wrote `{}`, {}", path.display(), size(page.len() as u64));
    }
    Ok(())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    let causes = vec![format!("cannot write `{}`: {error}", path.display())];
    Failure::Input { doing: "cannot write the page".into(), causes, hint: None }
}

/// The names of files without their folders; many are counted.
fn title(points: &[String]) -> String {
    let name = |point: &String| {
        let path = PathBuf::from(point);
        path.file_name().map_or_else(|| point.clone(), |name| name.to_string_lossy().into_owned())
    };
    match points {
        [one] if one == "-" => "standard input".into(),
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            format!("{}, {}, {} and {} more", name(first), name(second), name(third), rest.len())
        }
        points => points.iter().map(name).collect::<Vec<_>>().join(", "),
    }
}

/// What was typed, as a shell takes it.
fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| in_shell(&word.to_string_lossy()));
    std::iter::once("dshap".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
