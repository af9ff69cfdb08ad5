//! `dshap clean`.

use super::finish::{Recorded, RunOptions, conclude, in_pool};
use super::requests::{self, Target};
use crate::args::CleanArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::speech::CommandLine;
use crate::table::{aligned, counted, grouped, significant, wrapped};
use dshap_catalogue::options::MARK;
use dshap_cleaning::{CleanRequest, Cleaned, CleanedAs};
use dshap_run::{Arrange, Collected, Error, Resources, Written};
use dshap_words::run_words::measure;
use dshap_words::{clean_action, clean_flagged, clean_reason, clean_verdict};

/// Columns of a terminal.
const WIDTH: usize = 80;

pub(crate) fn run(args: &CleanArgs) -> Result<(), Failure> {
    let CleanArgs { rows, output, given } = args;
    let run = RunOptions::of(given);
    requests::refuse_second_standard_input(rows)?;
    requests::refuse_same(&[("output", output.as_ref()), ("summary", run.summary.as_ref())])?;
    let target = requests::given_target(output.as_deref(), given)?;
    let doing = format!("cannot clean `{}`", rows.join("`, `"));
    let speech = CommandLine::default();
    let failed = |error: Error| Failure::run(doing.clone(), &error, speech);
    let request = CleanRequest {
        rows: rows.clone(),
        given: given.clone(),
        cleaned_as: if given.has(&MARK) { CleanedAs::Marked } else { CleanedAs::Cleaned },
        outputs: requests::outputs([output.as_ref(), run.summary.as_ref()]),
        resources: Resources { memory: run.memory, checkpoint: None },
    };
    let record = run.begin_record()?;
    let observer = Progress::new(run.quiet);
    in_pool(run.threads, || match target {
        Target::Written(destination, format) => {
            let mut written = Written::new(destination, format, Arrange::ByRow);
            let found =
                dshap_cleaning::clean(&request, &observer, &mut written, &clean_reason).map_err(failed)?;
            conclude(&Recorded::new(&found, &found.warnings, speech), record, &run, &doing, || {
                written.finish().map_err(failed)?;
                Ok(tests(&found) + &describe(&found, true))
            })
        }
        Target::Terminal => {
            let mut unwanted = Collected::new(Arrange::ByRow, None);
            let found =
                dshap_cleaning::clean(&request, &observer, &mut unwanted, &clean_reason).map_err(failed)?;
            conclude(&Recorded::new(&found, &found.warnings, speech), record, &run, &doing, || {
                crate::print(&format!("{}\n{}", suspicious(&found), tests(&found)))?;
                Ok(describe(&found, false))
            })
        }
    })
}

/// The most suspicious rows.
fn suspicious(found: &Cleaned) -> String {
    let header = ["row", "score", "target", "expected"].map(String::from);
    let lines = found.most_suspicious.iter().map(|listed| {
        let short = |word: &str| word.chars().take(24).collect::<String>();
        let score = significant(listed.score);
        [listed.row.to_string(), score, short(&listed.given), short(&listed.expected)]
    });
    aligned(&std::iter::once(header).chain(lines).collect::<Vec<_>>())
}

/// What each action did to held-out rows.
fn tests(found: &Cleaned) -> String {
    let header = ["tried", "rows", measure(found.loss_name), "robust loss", "evidence", ""].map(String::from);
    let change = |change: f64, error: f64| {
        let digits = |number: f64| format!("{number:+.5}");
        format!("{} ± {}", digits(change), digits(error).trim_start_matches('+'))
    };
    let unit = found.verdict.loss.abs().max(f64::MIN_POSITIVE);
    let recommended = found.verdict.recommended.map(|chosen| chosen.place);
    let lines = found.verdict.tested.iter().enumerate().map(|(place, tested)| {
        [
            clean_action(tested),
            found.n_acted(tested.action).to_string(),
            change(tested.loss_change / unit, tested.loss_change_se / unit),
            change(tested.robust_change, tested.robust_change_se),
            format!("{:.1}", tested.evidence),
            if recommended == Some(place) { "best".into() } else { String::new() },
        ]
    });
    aligned(&std::iter::once(header).chain(lines).collect::<Vec<_>>())
}

/// What ran, and what to do.
fn describe(found: &Cleaned, is_written: bool) -> String {
    let guessed = if found.task_guessed { " (guessed)" } else { "" };
    let sampled = match found.n_tested == found.n_rows {
        true => String::new(),
        false => format!(", on {} rows drawn at random", grouped(found.n_tested as u64)),
    };
    let mut sentences = vec![
        format!(
            "{}{guessed}: {}; actions were tested by {} of five folds{sampled}",
            found.task,
            counted(found.n_rows as u64, "row"),
            counted(found.repeats as u64, "repeat")
        ),
        format!(
            "changes of losses on held-out rows, below 0 is better: {} as a share of {}, robust loss in units of \
             log-likelihood; evidence must reach {:.1}",
            measure(found.loss_name),
            significant(found.verdict.loss),
            found.verdict.evidence_needed
        ),
    ];
    sentences.extend(clean_flagged(found.n_flagged, found.precision, &found.verdict));
    sentences.push(clean_verdict(&found.verdict, found.n_acted_on, found.n_rows));
    if !is_written {
        sentences.push(
            "nothing was written; `-o FILE` writes the cleaned table, with `--mark` a marked one".into(),
        );
    }
    sentences.iter().map(|sentence| wrapped(sentence, 0, WIDTH)).collect()
}
