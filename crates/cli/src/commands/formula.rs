//! `dshap formula`.

use super::plan::{self, Target};
use crate::args::RegressionFormulaArgs;
use crate::failure::Failure;
use crate::table::render;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
use dshap_run::{Arrange, Collected, Receiver, RegressionCase, Written, regression_cases};
use std::sync::Arc;

pub(crate) fn regression(args: &RegressionFormulaArgs) -> Result<(), Failure> {
    let doing = match &args.cases {
        Some(file) => format!("cannot evaluate the cases of `{file}`"),
        None => "cannot evaluate the formula".into(),
    };
    let failed = |error: dshap_run::Error| Failure::run(doing.clone(), &error);
    let fill = |receiver: &mut dyn Receiver| match &args.cases {
        Some(file) => regression_cases(std::slice::from_ref(file), receiver).map_err(failed),
        None => {
            let rows = single(args)?;
            receiver.begin(&rows.schema()).and_then(|()| receiver.rows(rows)).map_err(failed)
        }
    };
    match plan::target(args.output.as_deref(), args.format)? {
        Target::Written(destination, format) => {
            let mut written = Written::new(destination, format, Arrange::ByRow);
            fill(&mut written)?;
            written.finish().map_err(failed)
        }
        Target::Terminal => {
            let mut collected = Collected::default();
            fill(&mut collected)?;
            let rows = collected.arranged(Arrange::ByRow).map_err(failed)?;
            let between = |hidden| format!("  … {hidden} rows between; `-o FILE` or a pipe gives all …");
            crate::print(&render(&rows, between))
        }
    }
}

/// The one case given by flags, as a table of one row.
fn single(args: &RegressionFormulaArgs) -> Result<RecordBatch, Failure> {
    let given = |flag: Option<f64>| flag.expect("clap requires the flag unless --cases is given");
    let (d2, e2, sigma2) = (given(args.d2), given(args.e2), given(args.sigma2));
    let case = RegressionCase::new(given(args.p), given(args.q), given(args.m), d2, e2, sigma2, args.c_lin)
        .map_err(Failure::usage)?;
    let forms = case.evaluate();
    let count = |count: usize| -> ArrayRef { Arc::new(UInt64Array::from(vec![count as u64])) };
    let number = |number: Option<f64>| -> ArrayRef { Arc::new(Float64Array::from(vec![number])) };
    let mut columns = vec![
        ("p", count(case.dim)),
        ("q", count(case.sizes.min())),
        ("m", count(case.sizes.max())),
        ("d2", number(Some(d2))),
        ("e2", number(Some(e2))),
        ("sigma2", number(Some(sigma2))),
    ];
    if args.c_lin.is_some() {
        columns.push(("C_lin", number(args.c_lin)));
    }
    columns.extend([
        ("gain", number(forms.gain)),
        ("simple", number(forms.simple)),
        ("full", number(forms.full)),
        ("printed", number(forms.printed)),
    ]);
    Ok(RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )
    .expect("columns of length one"))
}
