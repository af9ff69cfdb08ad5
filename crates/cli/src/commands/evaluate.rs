//! `dshap evaluate`.

use super::deliver::Ran;
use super::finish::{Saying, begin_summary, conclude, in_pool};
use super::plan::{self, Target};
use crate::args::EvaluateArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::table::{counted, grouped, significant};
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
    let failed = |error: dshap_run::Error| Failure::run(doing.clone(), &error);
    let written = [
        ("output", bench.destination.output.as_ref()),
        ("summary", bench.run.summary.as_ref()),
        ("figure", figure.as_ref()),
    ];
    plan::refuse_same(&written)?;
    let record = bench.run.summary.as_ref().map(|path| begin_summary(path)).transpose()?;
    let drawing = figure
        .as_ref()
        .map(|path| AtomicFile::create(path).map_err(|error| failed(error.into())))
        .transpose()?;
    let observer = Progress::new(bench.run.quiet);
    in_pool(bench.run.threads, || {
        let mut curves = Collected::new(Arrange::ByRow, None);
        let found = dshap_run::evaluate(&request, trial, &observer, &mut curves).map_err(failed)?;
        let rows = curves.arranged(Arrange::ByRow).map_err(failed)?;
        conclude(Saying::of(&found), record, &bench.run, &doing, || {
            if let (Some(mut file), Some(path)) = (drawing, figure) {
                file.write_all(&drawn(&found, path)?).map_err(Failure::output)?;
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
    let share = |share: f64| if share.is_finite() { format!("{:.3}", share) } else { String::new() };
    let optional = |number: Option<f64>| number.map(share).unwrap_or_default();
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
            share(method.addition_high),
            share(method.addition_low),
            share(method.removal_high),
            share(method.removal_low),
            optional(method.auc),
            optional(method.f1),
            optional(method.penalty_auc),
            significant(method.seconds),
        ]
    });
    let rows: Vec<[String; 9]> = std::iter::once(header.map(String::from)).chain(lines).collect();
    super::compare::aligned(&rows)
}

/// What ran, in a few lines.
fn describe(found: &Evaluation) -> String {
    let guessed = if found.task_guessed { " (guessed)" } else { "" };
    let n_test = found.n_test as u64;
    let tests = match found.test_from {
        "test" => counted(n_test, "test row"),
        _ => format!("{} of the rows", grouped(n_test)),
    };
    let mut text = format!(
        "{}{guessed}: {} valued, utility {} on {tests}; all rows are worth {}\n",
        found.task,
        counted(found.n_rows as u64, "row"),
        found.utility,
        significant(found.utility_of_all)
    );
    if let Some(noise) = found.noise {
        text += &format!("{:.0} % of the targets were made wrong, to be detected", 100.0 * noise);
        text += &match found.repeats {
            1 => "; once, which leaves much to chance (`--repeats 20`)\n".to_string(),
            n => format!("; {n} times\n"),
        };
    }
    text + "addition and removal: mean utility along the curve, as a share of that of all rows; a good method is \
            high for `add high` and `remove low`, low for the other two\n"
}

/// The curves, a panel for each experiment: PNG if the file is called so, else SVG.
fn drawn(found: &Evaluation, path: &Path) -> Result<Vec<u8>, Failure> {
    let title = format!(
        "{}: {}, {} on {}",
        found.task,
        counted(found.n_rows as u64, "row"),
        found.utility,
        counted(found.n_test as u64, "test row")
    );
    let figure = figure(&title, &found.curves, found.utility_of_all);
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
        return figure.to_png(PIXELS).map_err(|error| Failure::Input {
            doing: format!("cannot draw `{}`", path.display()),
            causes: vec![error.to_string()],
            hint: None,
        });
    }
    Ok(figure.to_svg().into_bytes())
}

/// Pixels to a unit of the figure, so that text is sharp on today's screens.
const PIXELS: f32 = 2.0;
