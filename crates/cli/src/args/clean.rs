//! What can be typed after `clean`.

use super::catalogued::{files, texts};
use super::flags::given;
use super::verb::Verb;
use clap::{Arg, ArgMatches, Command};
use dshap_catalogue::Given;
use dshap_catalogue::options::REPEATS;
use std::path::PathBuf;

/// What was typed after `dshap clean`.
#[derive(Debug)]
pub(crate) struct CleanArgs {
    pub(crate) rows: Vec<String>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) given: Given,
}

impl CleanArgs {
    pub(super) fn of(matches: &ArgMatches) -> Self {
        Self {
            rows: texts(matches, "rows"),
            output: matches.get_one("output").cloned(),
            given: given(matches),
        }
    }
}

pub(super) fn clean() -> Command {
    Command::new("clean")
        .about("Find suspicious rows, and test whether dropping or relabelling them helps")
        .long_about(CLEAN)
        .allow_negative_numbers(true)
        .arg(files("rows", "TABLE", "Files with the rows; `-` is standard input").required(true))
        .args(Verb::Clean.flags())
        .mut_arg(REPEATS.name, |flag: Arg| {
            let help = "Number of repetitions of five-fold cross-fitting";
            flag.help(help).long_help(format!("{help}\n\nDefault: 2"))
        })
        .after_help(
            "\
Examples:
  dshap clean wine.csv --target quality                       look only
  dshap clean patients.csv --target diabetic -o cleaned.csv   take the recommended action
  dshap clean patients.csv --target diabetic --mark -o marked.csv",
        )
}

const CLEAN: &str = "\
Find suspicious rows, and test whether dropping or relabelling them helps

A linear or logistic model and the ten nearest neighbours predict each row from folds without it. A row is suspicious \
if its label is improbable, or its number far from the prediction.

Dropping the most suspicious 0.5, 1, 2, 5 and 10 % is tried by repeated cross-fitting, and for labels also changing \
them: scores come from the training folds, effects from the held-out fold. An action is recommended only if held-out \
targets are much likelier with it (20 times the number of actions tried), if it helps where some targets may be \
wrong, and if the plain loss does not get worse by more than its standard error. Often nothing is recommended.

With `-o`, the table is written after the recommended action, or with `--mark` all rows with marks. Large tables are \
tested on a random sample: 4 000 rows, or 2 000 with more than three labels. docs/cleaning.md has how often \
recommendations were right.";
