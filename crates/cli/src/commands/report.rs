//! `dshap report`.

use super::finish::{Recorded, RunOptions, conclude, in_pool};
use super::plan;
use super::value::describe;
use crate::args::ValueArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::speech::CommandLine;
use crate::table::size;
use dshap_catalogue::options::BY;
use dshap_io::AtomicFile;
use dshap_report::{Gathered, Report};
use dshap_run::Error;
use std::io::Write;
use std::path::PathBuf;

pub(crate) fn run(args: &ValueArgs) -> Result<(), Failure> {
    let run = RunOptions::of(&args.given);
    let path = args.output.as_ref().expect("clap requires it");
    let doing = format!("cannot report on `{}`", args.points.join("`, `"));
    let failed = |error: Error| Failure::run(doing.clone(), &error, CommandLine::default());
    let mut request = plan::value_request(args, &run)?;
    // The page says which files it was made from.
    request.digests = true;
    plan::refuse_same(&[
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
        let (title, described) = (title(&args.points), describe(&summary));
        let page = Report {
            title: &title,
            summary: &summary,
            described: &described,
            warnings: &recorded.warnings,
            command: &command(),
            rows: &rows,
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

fn cannot_write(path: &std::path::Path, error: &std::io::Error) -> Failure {
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
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=@%+".contains(c);
    let quoted = |word: String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words = std::env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    std::iter::once("dshap".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
