//! `dshap explain`, and `dshap value --explain`.

use super::finish::{Recorded, RunOptions, conclude, in_pool};
use super::requests;
use crate::args::{ExplainArgs, ValueArgs};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::speech::CommandLine;
use crate::table::wrapped;
use dshap_catalogue::options::EXPLAIN;
use dshap_models::RowExplanation;
use dshap_run::{Error, Explained};

/// The longest line of a sentence.
const WIDTH: usize = 100;

pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let run = RunOptions::of(&args.value.given);
    let record = run.begin_record()?;
    let doing = doing(&args.value);
    in_pool(run.threads, || {
        let explained = explained(&args.value, &args.rows, &run)?;
        let recorded = Recorded::new(&explained.summary, &explained.summary.warnings, CommandLine::default());
        conclude(&recorded, record, &run, &doing, || {
            crate::print(&match args.json {
                true => json(&explained.rows),
                false => sentences(&explained.rows),
            })?;
            Ok(String::new())
        })
    })
}

/// The explanations that `--explain` asks for, as text.
pub(crate) fn beside_values(args: &ValueArgs, run: &RunOptions) -> Result<Option<String>, Failure> {
    let rows = rows_of(args.given.list(&EXPLAIN))?;
    if rows.is_empty() {
        return Ok(None);
    }
    let mut text = None;
    in_pool(run.threads, || {
        text = Some(sentences(&explained(args, &rows, run)?.rows));
        Ok(())
    })?;
    Ok(text)
}

/// Rows as typed.
pub(crate) fn rows_of(words: &[String]) -> Result<Vec<u64>, Failure> {
    let number = |word: &String| {
        let wrong = || Failure::usage(format!("`--explain` takes rows counted from 0, not `{word}`"));
        word.parse().map_err(|_| wrong())
    };
    words.iter().map(number).collect()
}

fn doing(args: &ValueArgs) -> String {
    format!("cannot explain rows of `{}`", args.points.join("`, `"))
}

fn explained(args: &ValueArgs, rows: &[u64], run: &RunOptions) -> Result<Explained, Failure> {
    let request = requests::value_request(args, run)?;
    let failed = |error: Error| Failure::run(doing(args), &error, CommandLine::default());
    dshap_run::explain(&request, rows, &Progress::new(run.quiet)).map_err(failed)
}

fn json(rows: &[RowExplanation]) -> String {
    let text = serde_json::to_string_pretty(rows).expect("facts have nothing JSON cannot hold");
    format!("{text}\n")
}

/// A paragraph for each thing to say, with an empty line between rows.
fn sentences(rows: &[RowExplanation]) -> String {
    let of_row = |row: &RowExplanation| -> String {
        dshap_words::explanation(row)
            .iter()
            .map(|sentence| crate::table::visible(&wrapped(sentence, 0, WIDTH)))
            .collect()
    };
    rows.iter().map(of_row).collect::<Vec<_>>().join("\n")
}
