//! What is doubtful about a result, in words.

use super::neighbour_sizes::nearest;
use super::{agreed, counted, listed, quoted};
use crate::listing::listed as listed_names;
use crate::owners_words::owners_warning;
use crate::{Speech, core_warning, io_note};
use dshap_catalogue::Task;
use dshap_models::{Lack, RareCure, RowRole, Warning};

/// What is doubtful about a result that was computed all the same.
pub(crate) fn warning(warning: &Warning, speech: &dyn Speech) -> String {
    let option = |name: &str| speech.option(name);
    let set = |name: &str, value: usize| speech.set(name, &value.to_string());
    match warning {
        Warning::Core(warning, names) => core_warning(warning, names, speech),
        Warning::Reader(note) => io_note(note, speech),
        Warning::Owners(warning) => owners_warning(warning, speech),
        Warning::OfMethod(method, inner) => format!("{method}: {}", self::warning(inner, speech)),

        Warning::PointsAreReference { file } => format!(
            "`{file}` is both points and reference, so its rows are valued with themselves in the reference; {}",
            speech.against_each_other("reference")
        ),
        Warning::PointsInValuer { file, valuer } => format!(
            "the rows of `{file}` are part of the reference of `{valuer}`, so they are valued with themselves in it; \
             {}",
            speech.against_each_other("valuer")
        ),
        Warning::PointsAreTests { file, valuer: None } => {
            format!("`{file}` is both points and test rows, so the value of a row includes its use to itself")
        }
        Warning::PointsAreTests { file, valuer: Some(valuer) } => format!(
            "the rows of `{file}` are test rows of `{valuer}`, so the value of a row includes its use to itself; fit \
             the valuer with another {} to value them",
            option("test")
        ),
        Warning::TestsAreReference { file, have_targets } => format!(
            "`{file}` is both test rows and reference, so each row is also valued for predicting itself; leave out {} \
             to value rows for others only",
            option(if *have_targets { "test" } else { "population" })
        ),
        Warning::RowsLeftOut { role, n_rows, lack } => rows_left_out(*role, *n_rows, *lack),
        Warning::ConstantText { columns } => format!(
            "{} {} dropped: only one level",
            quoted(columns),
            if columns.len() == 1 { "was" } else { "were" }
        ),

        Warning::FewNumbers { target, n_numbers } => format!(
            "target `{target}` has only {n_numbers} different values, all whole numbers, and is predicted as a quantity; \
             if they are labels, use {}, else {}",
            speech.task("classification"),
            speech.task("regression")
        ),
        Warning::WeakModel { r_squared } => format!(
            "the features tell next to nothing about the target (R² {r_squared:.3} on rows left out), so values mean \
             little"
        ),

        Warning::WeakLabels { log_loss, constant } => format!(
            "the features tell next to nothing about the label (log-loss {log_loss:.3} on rows left out; always \
             predicting the shares of the labels has {constant:.3}), so values mean little"
        ),

        Warning::SetAside { index, identifiers } => set_aside(index.as_deref(), identifiers, speech),

        Warning::AllLevelsRare { columns } => format!(
            "{} {} dropped: every category is rarer than {} allows, so only one is left",
            quoted(columns),
            if columns.len() == 1 { "was" } else { "were" },
            speech.option("rare_levels")
        ),

        Warning::RareLabel { label, n_rows } => format!(
            "only {} the label `{label}`, so values of such rows depend on few others; check its spelling",
            agreed(*n_rows as u64, "reference row", "has", "have")
        ),
        Warning::SureFit { size, amounts_to, dim, enough, most } => {
            let cure = match enough < most {
                true => format!("{} leaves such sets out", set("q", *enough)),
                // No set of this table is large enough.
                false => format!(
                    "use {}, fewer columns ({}) or more rows",
                    speech.method("knn"),
                    speech.set("pca", "16")
                ),
            };
            format!(
                "the fit is nearly certain of most rows: sets of {size} rows amount to {amounts_to:.1} rows for \
                 {dim} columns, too few for the closed form; {cure}"
            )
        }
        Warning::RareDummies { levels, n_rows, size, expected, cure } => {
            let cure = match cure {
                RareCure::LargerSets(q) => format!("{} leaves such sets out", set("q", *q)),
                RareCure::Pool(fewest) => {
                    format!("pool rare categories with {}", set("rare_levels", *fewest))
                }
                RareCure::Drawing => format!("use {}", speech.method("general")),
            };
            let have = match levels.len() {
                1 => agreed(*n_rows as u64, "row", "has", "have"),
                _ => format!("few rows ({n_rows} for the rarest) have"),
            };
            format!(
                "{have} {}: sets of {size} rows hold {expected:.1} of them on average, too few for a closed form; {cure}",
                listed_names(levels)
            )
        }
        Warning::AccuracyOfMany => format!(
            "with more than two labels, accuracy here means telling each label from all others, summed; it is not how \
             often the most probable label is right, which can rank rows differently (use {} for that)",
            speech.method("d-shapley")
        ),
        Warning::SetsWithoutFit { n_drawn, size, n_without, cure, larger_q, has_ridge } => {
            let why = match has_ridge {
                true => "a label is missing, and the intercept has no ridge",
                false => "the labels are separated, or one is missing",
            };
            let mut text = format!(
                "{n_without} of {n_drawn} sets of {} drawn from the reference have no fit ({why}), but values count \
                 them as if they had one",
                counted(*size, "row")
            );
            match cure {
                Some((q, n)) => text += &format!("; with {} it is {n} of {n_drawn}", set("q", *q)),
                None if *larger_q => text += &format!("; a larger {} leaves fewer of them", option("q")),
                None => {}
            }
            if !has_ridge {
                text += &format!("; with a {}, sets that have all labels have a fit", option("ridge"));
            }
            text
        }
        Warning::WholeValues => format!(
            "one model tells all labels apart, so a value is not a sum over labels: {} adds probabilities only",
            option("per_class")
        ),
        Warning::PerClassOfTwo => {
            format!("one fit tells two labels apart, so {} adds nothing", option("per_class"))
        }
        Warning::LargeSets { m, n_rows, most } => format!(
            "sets of up to m = {m} rows are too large to value {n_rows} rows against each other by accuracy: values \
             then depend on the few rows nearest the boundary; set {} to at most {most}, or {}",
            option("m"),
            speech.separate_reference()
        ),
        Warning::RoughErrors { share } => format!(
            "one label has {:.2} % of the rows, so standard errors are rough; some are off by a factor of two or more",
            100.0 * share
        ),

        Warning::AssumedNoise => {
            "this valuer does not store how residuals vary, so standard errors assume Gaussian \
             noise of constant variance; fit the reference again for standard errors without that assumption"
                .into()
        }
        Warning::RepeatedFile { file } => {
            format!("`{file}` is in the reference more than once, so its rows count again")
        }
        Warning::ForgottenAgain { file } => {
            format!("the rows of `{file}` were forgotten before, so other rows were taken away now")
        }
        Warning::FilledCells { n_cells } => format!(
            "{} filled with the means of a part of the reference; a fit of the whole would use its own means",
            agreed(*n_cells, "missing cell", "was", "were")
        ),
        Warning::PoolIsKept { columns } => format!(
            "which categories of {} are rare was decided when the valuer was fitted, and stays so; a fit of all \
             rows would count them again",
            quoted(columns)
        ),
        Warning::LostDigits => {
            "columns are nearly linear functions of others, so changing the reference lost digits; \
                                fitting all rows again keeps more"
                .into()
        }

        Warning::SwallowedDigits => {
            "values differ only in their last digits, because they share a large constant; \
                                     `relative` is the value without it and ranks rows with equal values"
                .into()
        }
        Warning::ReferenceSample { n_reference, n_used, seed } => format!(
            "the reference has {n_reference} rows, and values are against {n_used} of them, drawn at random (seed \
             {seed}); {} sets their number, and time grows with it",
            option("samples")
        ),
        Warning::LogUnit { power } => format!(
            "with this number of columns and this bandwidth, densities are beyond the range of doubles: values and their \
             parts are in units of e^{power}; `log_density` is not"
        ),
        Warning::UnequalShares { n_kept, n_held } => format!(
            "the parts are samples of different shares of their references: {n_kept} of the {n_held} rows they hold \
             were kept, so that all have the same share"
        ),
        Warning::RowsInNoSet { n_rows, column } => {
            format!("{} in no set: `{column}` is empty there", agreed(*n_rows, "row", "is", "are"))
        }

        Warning::TestSample { n_reference, n_tests, seed } => format!(
            "the reference has {n_reference} rows, and utility is measured on {n_tests} of them, drawn at random (seed \
             {seed}); {} sets their number, {} uses other rows, and time grows with their number",
            option("samples"),
            speech.test_rows()
        ),
        Warning::SmallQ { q, least, k } => format!(
            "q = {q} counts as {least}: a smaller set does not have {} and a row that joins them",
            nearest(*k)
        ),
        Warning::NoTestErrors { n_tests } => format!(
            "{} too few for standard errors, which are left empty",
            agreed(*n_tests as u64, "test row", "is", "are")
        ),

        Warning::MostlyZero { n_zero, n_valued, tolerance } => format!(
            "{n_zero} of {n_valued} values are 0, because with {} few rows are near enough to a test row to count; a \
             smaller tolerance counts more",
            speech.set("tolerance", &tolerance.to_string())
        ),

        Warning::RoughDraws { n_rounds, tolerance } => format!(
            "after {} the errors of the draws are still above {} % of the spread of values; {} allows more rounds, {} \
             larger errors",
            counted(*n_rounds, "round"),
            100.0 * tolerance,
            option("samples"),
            option("stop")
        ),
        Warning::SingularSets { share, ridge_helps } => format!(
            "{:.0} % of the sets drawn did not determine the coefficients and were drawn again, so values are means \
             over the others; a larger {}{} avoids that",
            100.0 * share,
            option("q"),
            if *ridge_helps { format!(" or a {}", option("ridge")) } else { String::new() }
        ),

        Warning::RowsMeasure { n_rows } => format!(
            "{}; {} gives other rows for that",
            match n_rows {
                1 => "1 of the rows measures what sets of the others are worth and has no value".into(),
                n => format!("{n} of the rows measure what sets of the others are worth and have no value"),
            },
            speech.test_rows()
        ),
        Warning::FewSetSizes { n_sizes, larger_m, smaller_q } => {
            let helps = match (larger_m, smaller_q) {
                (true, true) => format!("more rows, a larger {} or a smaller {}", option("m"), option("q")),
                (true, false) => format!("more rows or a larger {}", option("m")),
                (false, true) => format!("more rows or a smaller {}", option("q")),
                (false, false) => "more rows".into(),
            };
            format!("values average over only {}; give {helps}", counted(*n_sizes, "set size"))
        }
        Warning::OnlyWholeSet { n_rows, method } => format!(
            "only all {} together have a model, so `{method}` gives every row the same value; give more rows, or a \
             smaller {}",
            counted(*n_rows, "row"),
            option("q")
        ),
        Warning::FewIterations { n_iterations, needed } => format!(
            "{} too few to judge convergence, which takes {needed}; {} shows how far off the means may be",
            agreed(*n_iterations as u64, "iteration", "is", "are"),
            speech.standard_errors()
        ),
        Warning::StillMoving { n_iterations, tolerance } => format!(
            "after {} the means still moved by more than {} % in a hundred; {} allows more, {} shows how far off they \
             may be",
            counted(*n_iterations, "iteration"),
            100.0 * tolerance,
            option("samples"),
            speech.standard_errors()
        ),
        Warning::NoModelToLose => format!(
            "all rows together do not determine the coefficients, or lack a label, so there is no model to lose and \
             every value is 0; a {} helps",
            option("ridge")
        ),
        Warning::SetsWithoutModel { share, task: Task::Classification } => format!(
            "{:.0} % of the sets lacked a label and were worth nothing; a larger {} helps",
            100.0 * share,
            option("q")
        ),
        Warning::SetsWithoutModel { share, .. } => format!(
            "{:.0} % of the sets did not determine the coefficients and were worth nothing; a larger {} or a {} helps",
            100.0 * share,
            option("q"),
            option("ridge")
        ),

        Warning::NoBrier { methods, curves } => {
            let mut who: Vec<String> = methods.iter().map(|method| format!("`{method}`")).collect();
            who.extend(curves.then(|| "the curves".to_string()));
            let (have, use_it) = if who.len() == 1 && !curves { ("has", "uses") } else { ("have", "use") };
            format!("{} {have} no Brier score and {use_it} accuracy instead", listed(&who, "and"))
        }
        Warning::EqualTargets => {
            "all targets are the same, so none can be made wrong and there is nothing to detect".into()
        }
        Warning::WorthlessWhole => {
            "all rows together are worth no more than no model, so shares of their utility mean nothing"
                .into()
        }
        // What was added since has no better words.
        other => format!("{other:?}"),
    }
}

/// Rows with a missing cell, where such rows are left out.
fn rows_left_out(role: RowRole, n_rows: u64, lack: Lack) -> String {
    let (rows, consequence) = match role {
        RowRole::Reference => ("reference", "is left out of the fit"),
        RowRole::Neighbour => ("reference", "is left out of every set"),
        RowRole::Point => ("point", "has no value"),
        RowRole::SetMember => ("point", "is in no set"),
        RowRole::Test => ("test", "is left out of the utility"),
        RowRole::Added => ("added", "is left out of the fit"),
        RowRole::Trial => ("point", "is left out of the trial"),
    };
    let lack = match lack {
        Lack::Cell => "a missing cell",
        Lack::Target => "no target",
        Lack::CellOrTarget => "a missing cell or no target",
    };
    match n_rows {
        1 => format!("1 {rows} row has {lack} and {consequence}"),
        n => format!("{n} {rows} rows have {lack}; each {consequence}"),
    }
}

/// Columns that only name rows.
fn set_aside(index: Option<&str>, identifiers: &[String], speech: &dyn Speech) -> String {
    let index = index.map(|name| format!("`{name}` (it counts the rows)"));
    let padded = identifiers.iter().map(|name| format!("`{name}` (numbers padded with zeros)"));
    let columns: Vec<String> = index.into_iter().chain(padded).collect();
    let are = match columns.len() {
        1 => "is not a feature, since it names",
        _ => "are not features, since they name",
    };
    format!("{} {are} rows; {} decides otherwise", columns.join(", "), speech.option("features"))
}
