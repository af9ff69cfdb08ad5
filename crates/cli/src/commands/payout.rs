//! `dshap payout` and `dshap verify`.

use super::finish::{Recorded, RunOptions, conclude, in_pool};
use super::requests::{self, Target};
use crate::args::{PayoutArgs, VerifyArgs};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::speech::CommandLine;
use crate::table::{aligned, counted, grouped, significant, visible};
use dshap_catalogue::options::MANIFEST;
use dshap_io::AtomicFile;
use dshap_models::Difference;
use dshap_owners::{MOST_DIFFERENCES, Manifest, Payout, PayoutRequest};
use dshap_run::{Arrange, Error, Receiver, Written};
use std::io::Write as _;
use std::path::PathBuf;

pub(crate) fn payout(args: &PayoutArgs) -> Result<(), Failure> {
    let PayoutArgs { table, output, given } = args;
    let run = RunOptions::of(given);
    let manifest = given.word(&MANIFEST).map(PathBuf::from);
    requests::refuse_same(&[("output", output.as_ref()), ("manifest", manifest.as_ref())])?;
    requests::refuse_receipt_of_pipe(manifest.as_ref(), table)?;
    let target = requests::given_target(output.as_deref(), given)?;
    let doing = format!("cannot divide the budget by `{}`", table.join("`, `"));
    let failed = |error: Error| Failure::run(doing.clone(), &error, CommandLine::default());
    let receipt =
        manifest.as_deref().map(AtomicFile::create).transpose().map_err(|error| failed(error.into()))?;
    let request = PayoutRequest {
        table: table.clone(),
        given: given.only(requests::is_of_owners),
        outputs: requests::outputs([output.as_ref(), manifest.as_ref()]),
    };
    in_pool(run.threads, || {
        let found = dshap_owners::payout(&request).map_err(failed)?;
        let recorded = Recorded::new(&found, &found.warnings, CommandLine::default());
        conclude(&recorded, None, &run, &doing, || {
            let rows = found.table();
            match target {
                Target::Terminal => crate::print(&shown(&found))?,
                Target::Written(destination, format) => {
                    let mut written = Written::new(destination, format, Arrange::ByRow);
                    written.begin(&rows.schema()).map_err(failed)?;
                    written.rows(rows).map_err(failed)?;
                    written.finish().map_err(failed)?;
                }
            }
            if let Some(mut receipt) = receipt {
                let text = Manifest::of_payout(&request, &found).to_json();
                receipt.write_all(text.as_bytes()).map_err(Failure::output)?;
                receipt.commit().map_err(|error| failed(error.into()))?;
            }
            Ok(describe(&found))
        })
    })
}

/// One line per owner, with payouts to the last unit.
fn shown(found: &Payout) -> String {
    let number = |number: Option<f64>| number.map(significant).unwrap_or_default();
    let header = ["owner", "rows", "value", "stderr", "payout", "payout_stderr", "rank_survives"];
    let lines = found.owners.iter().map(|line| {
        [
            visible(&line.owner),
            line.rows.map(|rows| rows.to_string()).unwrap_or_default(),
            significant(line.value),
            number(line.stderr),
            line.amount.clone(),
            number(line.payout_stderr),
            number(line.rank_survives),
        ]
    });
    aligned(&std::iter::once(header.map(String::from)).chain(lines).collect::<Vec<_>>())
}

fn describe(found: &Payout) -> String {
    let count = |is_counted: fn(i64) -> bool| {
        found.owners.iter().filter(|line| is_counted(line.units)).count() as u64
    };
    let (n_paid, n_paying) = (count(|units| units > 0), count(|units| units < 0));
    let paying = match n_paying {
        0 => String::new(),
        1 => ", 1 pays".into(),
        n => format!(", {} pay", grouped(n)),
    };
    let mut text = format!(
        "{} divided by `{}`, in units of {}: {} of {} receive a payout{paying}, and the payouts add up to {}; seed {}\n",
        found.budget,
        found.basis,
        found.unit,
        grouped(n_paid),
        counted(found.owners.len() as u64, "owner"),
        found.total,
        found.seed
    );
    if let (Some(share), Some(errors)) = (found.ranking_survives, found.errors) {
        text += &format!(
            "the ranking of the owners survives resampling {} ({errors} errors)\n",
            dshap_words::share_of_draws(share, found.n_draws)
        );
        if errors == "independent" {
            text += "errors are drawn independently, since the table does not say how those of two owners go together; \
                     `dshap owners -o FILE.json` does, for up to 64 owners\n";
        }
    }
    text
}

pub(crate) fn verify(args: &VerifyArgs) -> Result<(), Failure> {
    let file = &args.manifest;
    let doing = format!("cannot verify `{}`", file.display());
    let failed = |error: Error| Failure::run(doing.clone(), &error, CommandLine::default());
    let manifest = Manifest::read(file).map_err(failed)?;
    let observer = Progress::new(false);
    in_pool(None, || {
        let found = manifest.verify(file, &observer).map_err(failed)?;
        let (faults, notes): (Vec<_>, Vec<_>) = found.iter().partition(|difference| difference.is_fault());
        let mut text = String::new();
        for note in notes {
            text += &format!("note: {}\n", dshap_words::difference(note));
        }
        if faults.is_empty() {
            text +=
                &format!("`{}` is right: the same {} come out again\n", file.display(), of(manifest.kind()));
            return crate::print(&text);
        }
        crate::print(&text)?;
        Err(Failure::Input {
            doing: format!("`{}` is not right: {} found", file.display(), grouped_differences(faults.len())),
            hint: faults
                .iter()
                .any(|fault| matches!(fault, Difference::MissingFile { .. }))
                .then(|| "verify it in the folder in which it was written".into()),
            causes: faults.into_iter().map(dshap_words::difference).collect(),
        })
    })
}

fn grouped_differences(n: usize) -> String {
    match n {
        1 => "1 difference".into(),
        // The list ends there.
        n if n >= MOST_DIFFERENCES => format!("{} differences or more", grouped(n as u64)),
        n => format!("{} differences", grouped(n as u64)),
    }
}

fn of(kind: &str) -> &'static str {
    if kind == "payout" { "payouts" } else { "values" }
}
