//! `dshap evaluate`.

use super::deliver::Ran;
use super::finish::{Saying, begin_summary, conclude, in_pool};
use super::plan::{self, Target};
use crate::args::EvaluateArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::table::{counted, grouped, in_seconds, significant};
use dshap_evaluate::figure;
use dshap_io::AtomicFile;
use dshap_run::{Arrange, Collected, Evaluation, Receiver, Trial, Written};
use std::io::Write as _;
use std::path::Path;

pub(crate) fn run(args: &EvaluateArgs) -> Result<(), Failure> {
    let EvaluateArgs { bench, noise, repeats, figure, .. } = args;
    let request = plan::bench_request(bench, &[], figure.as_ref())?;
    let trial = Trial { noise: *noise, repeats: *repeats };
    let target = plan::target(&bench.destination)?;
    let doing = format!("cannot evaluate methods on `{}`", bench.points.join("`, `"));
    let failed = |error: dshap_run::Error| Failure::run(doing.clone(), &error).of_several_methods();
    let written = [
        ("output", bench.destination.output.as_ref()),
        ("summary", bench.run.summary.as_ref()),
        ("figure", figure.as_ref()),
    ];
    plan::refuse_same(&written)?;
    let drawing = figure.as_ref().map(|path| Drawing::of(path)).transpose()?;
    let record = bench.run.summary.as_ref().map(|path| begin_summary(path)).transpose()?;
    let picture = figure
        .as_ref()
        .map(|path| AtomicFile::create(path).map_err(|error| failed(error.into())))
        .transpose()?;
    let observer = Progress::new(bench.run.quiet);
    in_pool(bench.run.threads, || {
        let mut curves = Collected::new(Arrange::ByRow, None);
        let found = dshap_run::evaluate(&request, trial, &observer, &mut curves).map_err(failed)?;
        let rows = curves.arranged(Arrange::ByRow).map_err(failed)?;
        let mut saying = Saying::of(&found);
        if target != Target::Terminal {
            // Standard output has the curves, and eyes want what they come to.
            saying.text = table(&found) + &saying.text;
        }
        conclude(saying, record, &bench.run, &doing, || {
            if let (Some(mut file), Some(drawing), Some(path)) = (picture, drawing, figure) {
                file.write_all(&drawn(&found, drawing, path)?).map_err(Failure::output)?;
                file.commit().map_err(|error| failed(error.into()))?;
            }
            match target {
                Target::Terminal => crate::print(&table(&found)),
                Target::Written(destination, format) => {
                    let mut written = Written::new(destination, format, Arrange::ByRow);
                    written.begin(&rows.schema()).map_err(failed)?;
                    written.rows(rows).map_err(failed)?;
                    written.finish().map_err(failed)
                }
            }
        })
    })
}

impl Ran for Evaluation {
    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn describe(&self) -> String {
        describe(self)
    }
}

/// One line for each method.
fn table(found: &Evaluation) -> String {
    let share = |share: f64, spread: Option<f64>| match (share.is_finite(), spread) {
        (false, _) => String::new(),
        (true, None) => format!("{share:.3}"),
        (true, Some(spread)) => format!("{share:.3} ± {spread:.3}"),
    };
    let optional =
        |number: Option<f64>, spread| number.map(|number| share(number, spread)).unwrap_or_default();
    let header = [
        "method",
        "add high",
        "add low",
        "remove high",
        "remove low",
        "AUC",
        "F1",
        "AUC by penalty",
        "seconds",
    ];
    let lines = found.methods.iter().map(|method| {
        [
            method.method.to_string(),
            share(method.addition_high, method.addition_high_std_dev),
            share(method.addition_low, method.addition_low_std_dev),
            share(method.removal_high, method.removal_high_std_dev),
            share(method.removal_low, method.removal_low_std_dev),
            optional(method.auc, method.auc_std_dev),
            optional(method.f1, method.f1_std_dev),
            optional(method.penalty_auc, method.penalty_auc_std_dev),
            in_seconds(method.seconds),
        ]
    });
    let rows: Vec<[String; 9]> = std::iter::once(header.map(String::from)).chain(lines).collect();
    super::compare::aligned(&rows)
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
        "{}{guessed}: {} valued, utility {} on {tests}; all rows are worth {}\n",
        found.task,
        counted(found.n_rows as u64, "row"),
        found.utility,
        significant(found.utility_of_all)
    );
    if found.n_valuing > 0 {
        let names: Vec<String> = found.valuing.iter().map(|name| format!("`{name}`")).collect();
        let value = if names.len() == 1 { "values" } else { "value" };
        text += &format!(
            "{} {value} rows by {} others, so that no method is judged on rows it has looked at\n",
            names.join(", "),
            grouped(found.n_valuing as u64)
        );
    }
    if let Some(n_wrong) = found.n_wrong {
        let were = if n_wrong == 1 { "was" } else { "were" };
        text += &format!(
            "{} of {} {were} made wrong, to be detected",
            grouped(n_wrong as u64),
            counted(found.n_rows as u64, "target")
        );
        text += &match found.repeats {
            1 => "; once, which leaves much to chance (`--repeats 20`)\n".to_string(),
            n => format!("; {n} times\n"),
        };
    }
    if found.task == "density" {
        text += "a density has no targets, so that none is made wrong and none is looked for\n";
    }
    if found.least_rows > 1 {
        text += &format!("curves are of sets of {} and more\n", counted(found.least_rows as u64, "row"));
    }
    text + "addition and removal: mean utility along the curve, as a share of that of all rows; a good method is \
            high for `add high` and `remove low`, low for the other two\n\
            standard deviations are between single runs (repeats, random orders, orders of rows of one value)\n"
}

/// What a figure is written as.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Drawing {
    Svg,
    Png,
}

impl Drawing {
    /// By the name of the file.
    fn of(path: &Path) -> Result<Self, Failure> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match extension.as_str() {
            "svg" => Ok(Drawing::Svg),
            "png" => Ok(Drawing::Png),
            _ => Err(Failure::usage(format!(
                "`--figure {}` is neither SVG nor PNG by its name: call it `.svg` or `.png`",
                path.display()
            ))),
        }
    }
}

/// The curves, a panel for each experiment.
fn drawn(found: &Evaluation, drawing: Drawing, path: &Path) -> Result<Vec<u8>, Failure> {
    let title = format!(
        "{}: {}, {} on {}",
        found.task,
        counted(found.n_rows as u64, "row"),
        found.utility,
        counted(found.n_test as u64, "test row")
    );
    let figure = figure(&title, &found.curves, found.utility_of_all);
    match drawing {
        Drawing::Svg => Ok(figure.to_svg().into_bytes()),
        Drawing::Png => figure.to_png(PIXELS).map_err(|error| Failure::Input {
            doing: format!("cannot draw `{}`", path.display()),
            causes: vec![error.to_string()],
            hint: None,
        }),
    }
}

/// Pixels to a unit of the figure, so that text is sharp on today's screens.
const PIXELS: f32 = 2.0;
