//! `dshap owners`.

use super::finish::{Recorded, RunOptions, conclude, in_pool};
use super::requests::{self, Target};
use crate::args::OwnersArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::speech::CommandLine;
use crate::table::{aligned, counted, grouped, render, significant, visible};
use dshap_catalogue::options::{EXPLAIN_TEST, MANIFEST, OWN, TEST};
use dshap_io::{AtomicFile, Destination, Format};
use dshap_owners::{Measured, OwnersRequest, Report, Solving};
use dshap_run::{Arrange, Error, Receiver, Resources, Written};
use std::collections::HashSet;
use std::io::Write as _;
use std::path::PathBuf;

/// Pairs of owners that are listed.
const SHOWN_PAIRS: usize = 5;

/// The longest name in a list of pairs.
const LONGEST_NAME: usize = 30;

pub(crate) fn run(args: &OwnersArgs) -> Result<(), Failure> {
    let OwnersArgs { rows, method, output, given } = args;
    let run = RunOptions::of(given);
    let [explain, manifest] = [&EXPLAIN_TEST, &MANIFEST].map(|option| given.word(option).map(PathBuf::from));
    let inputs = [rows.as_slice(), given.list(&TEST), given.list(&OWN)].concat();
    requests::refuse_second_standard_input(&inputs)?;
    requests::refuse_receipt_of_pipe(manifest.as_ref(), &inputs)?;
    let named = [
        ("output", output.as_ref()),
        ("table of test rows", explain.as_ref()),
        ("manifest", manifest.as_ref()),
    ];
    requests::refuse_same(&named)?;
    let target = requests::given_target(output.as_deref(), given)?;
    let explained = explain
        .as_ref()
        .map(|path| Ok((path, requests::safe_format(requests::format_by_name(path)?, given)?)))
        .transpose()?;
    let doing = format!("cannot value the owners of `{}`", rows.join("`, `"));
    let failed = |error: Error| Failure::run(doing.clone(), &error, CommandLine::default());
    let receipt =
        manifest.as_deref().map(AtomicFile::create).transpose().map_err(|error| failed(error.into()))?;
    let request = OwnersRequest {
        rows: rows.clone(),
        method: *method,
        given: given.only(requests::is_of_owners),
        outputs: requests::outputs([output.as_ref(), explain.as_ref(), manifest.as_ref()]),
        resources: Resources { memory: run.memory, checkpoint: None },
        digests: manifest.is_some(),
    };
    let observer = Progress::new(run.quiet);
    in_pool(run.threads, || {
        let mut table = explained
            .map(|(path, format)| Written::new(Destination::File(path.clone()), format, Arrange::ByRow));
        let receiver = table.as_mut().map(|table| table as &mut dyn Receiver);
        let report = dshap_owners::owners(&request, &observer, receiver).map_err(failed)?;
        let recorded = Recorded::new(&report, &report.warnings, CommandLine::default());
        conclude(&recorded, None, &run, &doing, || {
            if let Some(table) = table {
                table.finish().map_err(failed)?;
            }
            deliver(&report, target).map_err(|stopped| stopped.unwrap_or_else(failed))?;
            if let Some(mut receipt) = receipt {
                let text = dshap_owners::Manifest::of_owners(&request, &report).to_json();
                receipt.write_all(text.as_bytes()).map_err(Failure::output)?;
                receipt.commit().map_err(|error| failed(error.into()))?;
            }
            Ok(describe(&report))
        })
    })
}

/// Why a report could not be delivered.
enum Stopped {
    Failure(Failure),
    Error(Error),
}

impl Stopped {
    fn unwrap_or_else(self, failed: impl FnOnce(Error) -> Failure) -> Failure {
        match self {
            Stopped::Failure(failure) => failure,
            Stopped::Error(error) => failed(error),
        }
    }
}

/// The table for people, a table as data, or everything as JSON.
fn deliver(report: &Report, target: Target) -> Result<(), Stopped> {
    match target {
        Target::Terminal => crate::print(&render(&report.table(), |n| format!("  … {n} owners between …")))
            .map_err(Stopped::Failure),
        Target::Written(destination, Format::Json) => {
            let text = report.to_json();
            match destination {
                Destination::File(path) => {
                    let mut file = AtomicFile::create(&path).map_err(|error| Stopped::Error(error.into()))?;
                    file.write_all(text.as_bytes())
                        .map_err(|error| Stopped::Failure(Failure::output(error)))?;
                    file.commit().map_err(|error| Stopped::Error(error.into()))
                }
                Destination::Stdout => crate::print(&text).map_err(Stopped::Failure),
            }
        }
        Target::Written(destination, format) => {
            let (rows, mut written) = (report.table(), Written::new(destination, format, Arrange::ByRow));
            let mut write = || {
                written.begin(&rows.schema())?;
                written.rows(rows.clone())
            };
            write().map_err(Stopped::Error)?;
            written.finish().map_err(Stopped::Error)
        }
    }
}

/// What was measured how, and which owners are substitutes.
fn describe(report: &Report) -> String {
    let guessed = if report.task_guessed { " (guessed)" } else { "" };
    let tests = match report.measured_on {
        Measured::Test => counted(report.n_test, "test row"),
        Measured::Own => format!(
            "{} of the buyer, by cross-fitting in {} folds",
            counted(report.n_test, "row"),
            report.folds
        ),
        Measured::Rows => {
            format!(
                "{} of the owners, by cross-fitting in {} folds",
                counted(report.n_test, "row"),
                report.folds
            )
        }
    };
    let mut text = String::new();
    text += &substitutes(report);
    if let Some(pairs) = &report.near {
        let n_near: u64 = report.owners.iter().filter_map(|line| line.near).sum();
        text += &format!("{} near a row of another owner", agreed(n_near));
        text += &pairs.first().map_or_else(
            || "\n".into(),
            |most| {
                format!(
                    "; most of them: {} of `{}` near `{}`\n",
                    grouped(most.rows),
                    short_name(&most.a),
                    short_name(&most.b)
                )
            },
        );
        let n_within: u64 = report.owners.iter().filter_map(|line| line.near_repeated).sum();
        if n_within > 0 {
            text += &format!("{} near an earlier row of the same owner\n", agreed(n_within));
        }
    }
    let sum: f64 = report.owners.iter().map(|line| line.shapley).sum();
    text += &format!(
        "the values add up to {}: utility {} of all less {} of {}\n",
        significant(sum),
        significant(report.all),
        // Minus nothing is nothing.
        significant(report.none + 0.0),
        if report.owners.iter().any(|line| line.given_own.is_some()) { "your own rows" } else { "no rows" }
    );
    let ridge = report.ridge.map_or(String::new(), |ridge| {
        let from = match report.ridge_from {
            Some("five-folds") => " (chosen by five-fold error)",
            Some("owners") => " (chosen by predicting each owner from the others)",
            Some("too-few-rows") => " (too few rows to choose)",
            _ => "",
        };
        format!(", ridge {}{from}", significant(ridge))
    });
    text += &format!(
        "{}{guessed}: {} {} on {tests}{ridge}\n",
        report.task,
        said(report.utility),
        model(report.model)
    );
    text += &match report.solved {
        Solving::Coalitions { n } => format!("all {} of owners were tried\n", counted(n, "coalition")),
        Solving::Permutations { rounds, tolerance, reached } => format!(
            "owners joined in random orders: {} rounds, {} {} of the spread of the values; seed {}\n",
            grouped(rounds as u64),
            if reached {
                "until standard errors were below"
            } else {
                "the most allowed; not all standard errors are below"
            },
            tolerance,
            report.seed
        ),
    };
    text
}

/// The pairs that bring least together.
fn substitutes(report: &Report) -> String {
    if report.interactions.is_empty() {
        return String::new();
    }
    let n_owners = report.owners.len();
    let n_looked_at: HashSet<&str> =
        report.interactions.iter().flat_map(|pair| [pair.a.as_str(), pair.b.as_str()]).collect();
    let among = match n_looked_at.len() {
        n if n < n_owners => format!(", among {} of {}", n, counted(n_owners as u64, "owner")),
        _ => String::new(),
    };
    let error = |error: f64| format!("± {}", significant(error));
    let lines: Vec<[String; 4]> = report
        .interactions
        .iter()
        .take(SHOWN_PAIRS)
        .map(|pair| {
            let error = pair.stderr.map(error).unwrap_or_default();
            [format!("  {}", short_name(&pair.a)), short_name(&pair.b), significant(pair.value), error]
        })
        .collect();
    format!(
        "strongest substitutes{among} (interaction below 0: the two bring less together than apart)\n{}",
        aligned(&lines)
    )
}

/// The name of an owner in a line: long ones are cut, and nothing steers the terminal.
fn short_name(name: &str) -> String {
    let name = visible(name);
    match name.chars().count() > LONGEST_NAME {
        true => name.chars().take(LONGEST_NAME - 1).chain(['…']).collect(),
        false => name,
    }
}

fn agreed(n_rows: u64) -> String {
    if n_rows == 1 { "1 row is".into() } else { format!("{} rows are", grouped(n_rows)) }
}

fn said(utility: &str) -> String {
    match utility {
        "accuracy" => "utility is the share of labels predicted right, by".into(),
        "right-neighbours" => "utility is the share of neighbours with the right label, among".into(),
        loss => format!("utility is minus the mean {} of", loss.replace('-', " ")),
    }
}

fn model(name: &str) -> &'static str {
    match name {
        "logistic" => "a logistic regression",
        "knn" => "the nearest neighbours",
        "kde" => "a kernel density estimate",
        _ => "a ridge regression",
    }
}
