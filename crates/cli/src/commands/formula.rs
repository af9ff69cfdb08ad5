//! `dshap formula`.

use super::requests::{self, Target};
use crate::args::{
    BoundFormulaArgs, ClassificationFormulaArgs, DensityFormulaArgs, DestinationArgs, PairFormulaArgs,
    RegressionFormulaArgs, SynergyFormulaArgs, UniformArgs, WeightsFormulaArgs,
};
use crate::failure::Failure;
use crate::speech::CommandLine;
use crate::table::render;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use dshap::density::Kernel;
use dshap_run::{
    Arrange, BoundCase, ClassificationCase, Collected, DensityCase, PairForms, Receiver, RegressionCase,
    SizeForms, SynergyForms, Written, bound_cases, classification_cases, density_cases, density_constant,
    regression_cases,
};
use std::sync::Arc;

pub(crate) fn regression(args: &RegressionFormulaArgs) -> Result<(), Failure> {
    evaluate(args.cases.as_deref(), &args.to, regression_cases, || regression_case(args))
}

pub(crate) fn classification(args: &ClassificationFormulaArgs) -> Result<(), Failure> {
    evaluate(args.cases.as_deref(), &args.to, classification_cases, || classification_case(args))
}

pub(crate) fn bounds(args: &BoundFormulaArgs) -> Result<(), Failure> {
    evaluate(args.cases.as_deref(), &args.to, bound_cases, || bound_case(args))
}

pub(crate) fn density(args: &DensityFormulaArgs) -> Result<(), Failure> {
    let DensityFormulaArgs { reference, points, bandwidth, m, kernel, as_set, to } = args;
    let case = DensityCase::new(kernel_of(kernel), *bandwidth, *m).map_err(Failure::usage)?;
    let table = |points: &[String], receiver: &mut dyn Receiver| {
        density_cases(std::slice::from_ref(reference), points, case, *as_set, receiver)
    };
    let none = || Err(Failure::usage("there are no points"));
    evaluate(Some(points), to, table, none)
}

fn kernel_of(name: &str) -> Kernel {
    Kernel::ALL.into_iter().find(|have| have.name() == name).unwrap_or_default()
}

pub(crate) fn weights(args: &WeightsFormulaArgs) -> Result<(), Failure> {
    let WeightsFormulaArgs { n, m, reference, bandwidth, kernel, to } = args;
    let single = || {
        let forms = SizeForms::new(*n, *m).map_err(Failure::usage)?;
        let mut columns = vec![
            ("n", count(*n)),
            ("m", count(*m)),
            ("A", number(Some(forms.a))),
            ("B", number(Some(forms.b))),
        ];
        if let Some((reference, bandwidth)) = reference.as_ref().zip(*bandwidth) {
            let case = DensityCase::new(kernel_of(kernel), bandwidth, *m).map_err(Failure::usage)?;
            let failed = |error: dshap_run::Error| {
                let doing = format!("cannot use the reference `{reference}`");
                Failure::run(doing, &error, CommandLine::default())
            };
            let constant = density_constant(std::slice::from_ref(reference), case, *n).map_err(failed)?;
            columns.push(("c_den_less_p2", number(Some(constant))));
        }
        Ok(one_row(columns))
    };
    evaluate(None, to, |_, _| Ok(()), single)
}

pub(crate) fn pair(args: &PairFormulaArgs) -> Result<(), Failure> {
    let PairFormulaArgs { z1, z2, example: UniformArgs { h, m, c_den }, border, .. } = *args;
    let single = || {
        let forms = PairForms::new([z1, z2], h, m, c_den, border).map_err(Failure::usage)?;
        let mut columns = vec![("z1", number(Some(z1))), ("z2", number(Some(z2)))];
        columns.extend([("h", number(Some(h))), ("m", count(m)), ("c_den", number(Some(c_den)))]);
        let values = [
            ("value", forms.value),
            ("value_z1", forms.first),
            ("value_z2", forms.second),
            ("synergy", forms.synergy),
        ];
        columns.extend(values.map(|(name, value)| (name, number(Some(value)))));
        Ok(one_row(columns))
    };
    evaluate(None, &args.to, |_, _| Ok(()), single)
}

pub(crate) fn synergy(args: &SynergyFormulaArgs) -> Result<(), Failure> {
    let SynergyFormulaArgs { example: UniformArgs { h, m, c_den }, border, to } = args;
    let single = || {
        let forms = SynergyForms::new(*h, *m, *c_den, *border).map_err(Failure::usage)?;
        let columns = vec![
            ("h", number(Some(*h))),
            ("m", count(*m)),
            ("c_den", number(Some(*c_den))),
            ("threshold", number(forms.threshold)),
            ("probability", number(Some(forms.probability))),
            ("printed", number(Some(forms.printed))),
        ];
        Ok(one_row(columns))
    };
    evaluate(None, to, |_, _| Ok(()), single)
}

/// Evaluates a table of cases, or the one case given by flags.
fn evaluate(
    cases: Option<&str>,
    to: &DestinationArgs,
    table: impl Fn(&[String], &mut dyn Receiver) -> Result<(), dshap_run::Error>,
    single: impl Fn() -> Result<RecordBatch, Failure>,
) -> Result<(), Failure> {
    let doing = match cases {
        Some(file) => format!("cannot evaluate the cases of `{file}`"),
        None => "cannot evaluate the formula".into(),
    };
    let failed = |error: dshap_run::Error| Failure::run(doing.clone(), &error, CommandLine::default());
    let fill = |receiver: &mut dyn Receiver| match cases {
        Some(file) => table(&[file.to_string()], receiver).map_err(failed),
        None => {
            let rows = single()?;
            receiver.begin(&rows.schema()).and_then(|()| receiver.rows(rows)).map_err(failed)
        }
    };
    match requests::target(to.output.as_deref(), to.format.as_deref())? {
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

fn count(count: usize) -> ArrayRef {
    Arc::new(UInt64Array::from(vec![count as u64]))
}

fn number(number: Option<f64>) -> ArrayRef {
    Arc::new(Float64Array::from(vec![number]))
}

fn given(flag: Option<f64>) -> f64 {
    flag.expect("clap requires the flag unless --cases is given")
}

/// A table of one row.
fn one_row(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns of length one")
}

fn bound_case(args: &BoundFormulaArgs) -> Result<RecordBatch, Failure> {
    let BoundFormulaArgs { gamma, lambda_min, lambda_max, c, edge, .. } = *args;
    let (p, q, m) = (given(args.sizes.p), given(args.sizes.q), given(args.sizes.m));
    let (d2, e2, sigma2) = (given(args.d2), given(args.e2), given(args.sigma2));
    let case = BoundCase::new([p, q, m, gamma, lambda_min, lambda_max, c, edge, d2, e2, sigma2])
        .and_then(|case| case.with_stop(args.stop))
        .map_err(Failure::usage)?;
    let forms = case.evaluate();
    let mut columns =
        vec![("p", count(case.dim)), ("q", count(case.sizes.min())), ("m", count(case.sizes.max()))];
    let numbers = [
        ("gamma", gamma),
        ("lambda_min", lambda_min),
        ("lambda_max", lambda_max),
        ("c", c),
        ("C", edge),
        ("d2", d2),
        ("e2", e2),
        ("sigma2", sigma2),
    ];
    columns.extend(numbers.map(|(name, value)| (name, number(Some(value)))));
    columns.extend(args.stop.map(|stop| ("stop", number(Some(stop)))));
    let bounds = [
        ("lower", forms.lower),
        ("upper", forms.upper),
        ("printed_lower", forms.printed_lower),
        ("printed_upper", forms.printed_upper),
        ("authors_lower", forms.authors_lower),
        ("authors_upper", forms.authors_upper),
    ];
    columns.extend(bounds.map(|(name, value)| (name, number(Some(value)))));
    Ok(one_row(columns))
}

fn classification_case(args: &ClassificationFormulaArgs) -> Result<RecordBatch, Failure> {
    let (d2, prob, y) = (given(args.d2), given(args.prob), given(args.y));
    let case =
        ClassificationCase::new(given(args.sizes.p), given(args.sizes.q), given(args.sizes.m), d2, prob, y)
            .map_err(Failure::usage)?;
    let forms = case.evaluate();
    let sizes = case.working.sizes;
    let mut columns =
        vec![("p", count(case.working.dim)), ("q", count(sizes.min())), ("m", count(sizes.max()))];
    let numbers = [
        ("d2", Some(d2)),
        ("prob", Some(prob)),
        ("y", Some(y)),
        ("gain", forms.gain),
        ("potential", forms.potential),
        ("penalty", forms.penalty),
        ("simple", forms.simple),
    ];
    columns.extend(numbers.map(|(name, value)| (name, number(value))));
    Ok(one_row(columns))
}

fn regression_case(args: &RegressionFormulaArgs) -> Result<RecordBatch, Failure> {
    let (d2, e2, sigma2) = (given(args.d2), given(args.e2), given(args.sigma2));
    let case = RegressionCase::new(
        given(args.sizes.p),
        given(args.sizes.q),
        given(args.sizes.m),
        d2,
        e2,
        sigma2,
        args.c_lin,
    )
    .and_then(|case| case.with_semivalue(args.semivalue.as_deref().unwrap_or("shapley")))
    .and_then(|case| case.with_tests(args.b, args.tau, args.c))
    .and_then(|case| case.with_intercept(args.intercept.as_deref().unwrap_or("known")))
    .map_err(Failure::usage)?;
    let forms = case.evaluate();
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
    for (name, value) in [("b", args.b), ("tau", args.tau), ("c", args.c)] {
        columns.extend(value.map(|value| (name, number(Some(value)))));
    }
    for (name, word) in [("semivalue", &args.semivalue), ("intercept", &args.intercept)] {
        let word = word.as_ref().map(|word| Arc::new(StringArray::from(vec![word.as_str()])) as ArrayRef);
        columns.extend(word.map(|word| (name, word)));
    }
    columns.extend([
        ("gain", number(forms.gain)),
        ("simple", number(forms.simple)),
        ("full", number(forms.full)),
        ("printed", number(forms.printed)),
    ]);
    Ok(one_row(columns))
}
