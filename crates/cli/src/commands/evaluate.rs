//! `dshap evaluate`.

use super::finish::{Recorded, RunOptions, conclude, in_pool};
use super::requests::{self, Target};
use crate::args::TrialArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::speech::CommandLine;
use crate::table::{aligned, counted, grouped, in_seconds, significant, wrapped};
use dshap_catalogue::options::{FIGURE, NOISE, REPEATS};
use dshap_io::AtomicFile;
use dshap_run::{Arrange, Collected, Receiver, Written};
use dshap_trials::{Evaluation, Trial, figure};
use dshap_words::run_words::measure;
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &TrialArgs) -> Result<(), Failure> {
    let run = RunOptions::of(&args.given);
    let request = requests::bench_request(args, &run)?;
    let trial = Trial { noise: args.given.number(&NOISE), repeats: args.given.size(&REPEATS).unwrap_or(1) };
    let target = requests::given_target(args.output.as_deref(), &args.given)?;
    let doing = format!("cannot evaluate methods on `{}`", args.points.join("`, `"));
    let speech = CommandLine { several: true };
    let failed = |error: dshap_run::Error| Failure::run(doing.clone(), &error, speech);
    let figure = args.given.word(&FIGURE).map(PathBuf::from);
    let written =
        [("output", args.output.as_ref()), ("summary", run.summary.as_ref()), ("figure", figure.as_ref())];
    requests::refuse_same(&written)?;
    let drawing = figure.as_deref().map(Drawing::of).transpose()?;
    let record = run.begin_record()?;
    let picture =
        figure.as_deref().map(AtomicFile::create).transpose().map_err(|error| failed(error.into()))?;
    let observer = Progress::new(run.quiet);
    in_pool(run.threads, || {
        let mut curves = Collected::new(Arrange::ByRow, None);
        let found = dshap_trials::evaluate(&request, trial, &observer, &mut curves).map_err(failed)?;
        let rows = curves.arranged(Arrange::ByRow).map_err(failed)?;
        let recorded = Recorded::new(&found, &found.warnings, speech);
        conclude(&recorded, record, &run, &doing, || {
            if let (Some(mut file), Some(drawing), Some(path)) = (picture, drawing, &figure) {
                file.write_all(&drawn(&found, drawing, path)?).map_err(Failure::output)?;
                file.commit().map_err(|error| failed(error.into()))?;
            }
            match target {
                Target::Terminal => {
                    crate::print(&table(&found))?;
                    Ok(describe(&found))
                }
                Target::Written(destination, format) => {
                    let mut written = Written::new(destination, format, Arrange::ByRow);
                    written.begin(&rows.schema()).map_err(failed)?;
                    written.rows(rows).map_err(failed)?;
                    written.finish().map_err(failed)?;
                    // The curves are elsewhere, and people want to see what they amount to.
                    Ok(table(&found) + &describe(&found))
                }
            }
        })
    })
}

/// Two tables with one line for each method: curves, and wrong targets found. Each fits 80 columns.
fn table(found: &Evaluation) -> String {
    let share = |share: f64, spread: Option<f64>| match (share.is_finite(), spread) {
        (false, _) => String::new(),
        (true, None) => format!("{share:.3}"),
        (true, Some(spread)) => format!("{share:.3} ± {spread:.3}"),
    };
    let header = ["method", "add high", "add low", "remove high", "remove low"].map(String::from);
    let lines = found.methods.iter().map(|method| {
        [
            method.method.clone(),
            share(method.addition_high, method.addition_high_std_dev),
            share(method.addition_low, method.addition_low_std_dev),
            share(method.removal_high, method.removal_high_std_dev),
            share(method.removal_low, method.removal_low_std_dev),
        ]
    });
    let curves = aligned(&std::iter::once(header).chain(lines).collect::<Vec<_>>());
    let optional =
        |number: Option<f64>, spread| number.map(|number| share(number, spread)).unwrap_or_default();
    let header = ["method", "AUC", "F1", "AUC by penalty", "seconds"].map(String::from);
    let lines = found.methods.iter().map(|method| {
        [
            method.method.clone(),
            optional(method.auc, method.auc_std_dev),
            optional(method.f1, method.f1_std_dev),
            optional(method.penalty_auc, method.penalty_auc_std_dev),
            in_seconds(method.seconds),
        ]
    });
    format!("{curves}\n{}", aligned(&std::iter::once(header).chain(lines).collect::<Vec<_>>()))
}

/// What ran, in a few lines.
fn describe(found: &Evaluation) -> String {
    let guessed = if found.task_guessed { " (guessed)" } else { "" };
    let n_test = found.n_test as u64;
    let tests = match (found.test_from, found.n_valuing) {
        ("test", 0) => counted(n_test, "test row"),
        ("test", n) => format!("{} of {}", grouped(n_test), counted(n_test + n as u64, "test row")),
        _ => format!("{} of the rows", grouped(n_test)),
    };
    let mut text = format!(
        "{}{guessed}: {} valued, utility {} on {tests}; all rows together are worth {}\n",
        found.task,
        counted(found.n_rows as u64, "row"),
        measure(found.utility),
        significant(found.utility_of_all)
    );
    if found.n_valuing > 0 {
        let names: Vec<String> = found.valuing.iter().map(|name| format!("`{name}`")).collect();
        let value = if names.len() == 1 { "values" } else { "value" };
        text += &format!(
            "{} {value} rows by {} others, so no method is judged on rows it has used\n",
            names.join(", "),
            grouped(found.n_valuing as u64)
        );
    }
    let n_used = found.n_rows + if found.test_from == "points" { found.n_test + found.n_valuing } else { 0 };
    if n_used < found.n_table_rows {
        text += &format!(
            "the trial is on {} of {}, drawn at random\n",
            grouped(n_used as u64),
            counted(found.n_table_rows as u64, "row")
        );
    }
    if let Some(n_wrong) = found.n_wrong {
        let were = if n_wrong == 1 { "was" } else { "were" };
        text += &format!(
            "{} of {} {were} made wrong on purpose",
            grouped(n_wrong as u64),
            counted(found.n_rows as u64, "target")
        );
        text += &match found.repeats {
            1 => "; one trial depends much on chance: try `--repeats 20`\n".to_string(),
            n => format!("; {n} trials\n"),
        };
    }
    if found.task == "density" {
        text += "a density has no targets, so none is made wrong or searched for\n";
    }
    if found.least_rows > 1 {
        text += &format!("curves begin with sets of {}\n", counted(found.least_rows as u64, "row"));
    }
    text += "addition and removal: mean utility along the curve, as a share of that of all rows; a good method is \
            high for `add high` and `remove low`, low for the other two\n\
            standard deviations are between single runs: repeats, random orders, orders of rows with equal values\n";
    let verdict = dshap_words::evaluation_verdict(found);
    verdict.iter().fold(text, |text, sentence| text + &wrapped(&format!("verdict: {sentence}"), 0, 80))
}

/// What a figure is written as.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Drawing {
    Svg,
    #[cfg(feature = "experiments")]
    Png,
}

impl Drawing {
    /// By the name of the file.
    fn of(path: &Path) -> Result<Self, Failure> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match extension.as_str() {
            "svg" => Ok(Drawing::Svg),
            #[cfg(feature = "experiments")]
            "png" => Ok(Drawing::Png),
            #[cfg(not(feature = "experiments"))]
            "png" => Err(Failure::usage("this build of dshap draws no PNG; call the figure .svg")),
            _ => Err(Failure::usage(format!(
                "`--figure {}` is neither SVG nor PNG by its name; call it .svg or .png",
                path.display()
            ))),
        }
    }
}

/// The curves, a panel for each experiment.
#[cfg_attr(not(feature = "experiments"), allow(unused_variables, reason = "only PNG can fail"))]
fn drawn(found: &Evaluation, drawing: Drawing, path: &Path) -> Result<Vec<u8>, Failure> {
    let title = format!(
        "{}: {}, {} on {}",
        found.task,
        counted(found.n_rows as u64, "row"),
        measure(found.utility),
        counted(found.n_test as u64, "test row")
    );
    let figure = figure(&title, &found.curves, found.utility_of_all);
    match drawing {
        Drawing::Svg => Ok(figure.to_svg().into_bytes()),
        #[cfg(feature = "experiments")]
        Drawing::Png => figure.to_png(PIXELS).map_err(|error| Failure::Input {
            doing: format!("cannot draw `{}`", path.display()),
            causes: vec![error.to_string()],
            hint: None,
        }),
    }
}

/// Pixels per unit of the figure, so that text is sharp on today's screens.
#[cfg(feature = "experiments")]
const PIXELS: f32 = 2.0;
