//! The closed forms for arrays of numbers, the order of values and the spelling
//! of categories.

use crate::error::input_error;
use crate::params::alternatives;
use crate::words::Spelling;
use crate::work;
use dshap::density::Kernel;
use dshap::{Part, Values};
use dshap_run::{BoundCase, ClassificationCase, DensityCase, RegressionCase, SynergyForms};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Cases evaluated between two looks at signals.
const SLICE: usize = 1024;

type Column<'py> = Bound<'py, PyArray1<f64>>;

/// Theorem 2 for arrays of equal length: `p, q, m, d2, e2, sigma2`, then `C_lin`, `b`, `tau`
/// and `c` with NaN where they are not given. NaN where a form does not exist.
#[pyfunction]
#[pyo3(signature = (columns, semivalue="shapley", intercept="known", n_jobs=None))]
pub(crate) fn regression<'py>(
    py: Python<'py>,
    columns: Vec<PyReadonlyArray1<'py, f64>>,
    semivalue: &str,
    intercept: &str,
    n_jobs: Option<isize>,
) -> PyResult<Vec<Column<'py>>> {
    let columns = columns.iter().map(|column| column.as_slice()).collect::<Result<Vec<_>, _>>()?;
    let [p, q, m, d2, e2, sigma2, c_lin, b, tau, c]: [&[f64]; 10] =
        columns.try_into().map_err(|_| input_error("expected ten columns"))?;
    let case = |i: usize| {
        let given = |column: &[f64]| Some(column[i]).filter(|cell| !cell.is_nan());
        RegressionCase::new(p[i], q[i], m[i], d2[i], e2[i], sigma2[i], given(c_lin))?
            .with_semivalue(semivalue)?
            .with_tests(given(b), given(tau), given(c))?
            .with_intercept(intercept)
    };
    evaluate(py, n_jobs, p.len(), case, |case| {
        let forms = case.evaluate();
        [forms.gain, forms.simple, forms.full, forms.printed].map(|form| form.unwrap_or(f64::NAN))
    })
}

/// Corollary 4 for arrays of equal length: `p, q, m, d2, prob, y`. NaN where a
/// form does not exist.
#[pyfunction]
#[pyo3(signature = (columns, n_jobs=None))]
pub(crate) fn classification<'py>(
    py: Python<'py>,
    columns: Vec<PyReadonlyArray1<'py, f64>>,
    n_jobs: Option<isize>,
) -> PyResult<Vec<Column<'py>>> {
    let columns = columns.iter().map(|column| column.as_slice()).collect::<Result<Vec<_>, _>>()?;
    let [p, q, m, d2, prob, y]: [&[f64]; 6] =
        columns.try_into().map_err(|_| input_error("expected six columns"))?;
    let case = |i: usize| ClassificationCase::new(p[i], q[i], m[i], d2[i], prob[i], y[i]);
    evaluate(py, n_jobs, p.len(), case, |case| {
        let forms = case.evaluate();
        [forms.gain, forms.potential, forms.penalty, forms.simple].map(|form| form.unwrap_or(f64::NAN))
    })
}

/// Theorem 3 for arrays of equal length: `p, q, m, gamma, lambda_min,
/// lambda_max, c, C, d2, e2, sigma2`.
#[pyfunction]
#[pyo3(signature = (columns, n_jobs=None))]
pub(crate) fn bounds<'py>(
    py: Python<'py>,
    columns: Vec<PyReadonlyArray1<'py, f64>>,
    n_jobs: Option<isize>,
) -> PyResult<Vec<Column<'py>>> {
    let columns = columns.iter().map(|column| column.as_slice()).collect::<Result<Vec<_>, _>>()?;
    let columns: [&[f64]; 11] = columns.try_into().map_err(|_| input_error("expected eleven columns"))?;
    let case = |i: usize| BoundCase::new(columns.map(|column| column[i]));
    evaluate(py, n_jobs, columns[0].len(), case, |case| {
        let forms = case.evaluate();
        [
            forms.lower,
            forms.upper,
            forms.printed_lower,
            forms.printed_upper,
            forms.authors_lower,
            forms.authors_upper,
        ]
    })
}

/// Theorem 5 for rows of given cells, all of them numbers: the value of each
/// point, or one value of all of them as a set.
#[pyfunction]
#[pyo3(signature = (reference, points, kernel, bandwidth, m, as_set=false, n_jobs=None))]
pub(crate) fn density<'py>(
    py: Python<'py>,
    reference: PyReadonlyArray2<'py, f64>,
    points: PyReadonlyArray2<'py, f64>,
    kernel: &str,
    bandwidth: f64,
    m: usize,
    as_set: bool,
    n_jobs: Option<isize>,
) -> PyResult<Column<'py>> {
    let Some(kernel) = Kernel::ALL.into_iter().find(|have| have.name() == kernel) else {
        let names = alternatives(&Kernel::ALL.map(Kernel::name), None);
        return Err(input_error(&format!("`kernel` is '{kernel}'; expected {names}")));
    };
    let case = DensityCase::new(kernel, bandwidth, m).map_err(|reason| input_error(&reason))?;
    let (dim, cells, rows) = (reference.shape()[1], points.as_slice()?, reference.as_slice()?);
    if points.shape()[1] != dim || dim == 0 {
        return Err(input_error("points and reference need the same columns"));
    }
    let found = work::run(py, Spelling::default(), n_jobs, None, |observer| {
        let value = |members: &[f64]| case.value(members, rows, dim, observer);
        Ok(if as_set {
            value(cells).map(|value| vec![value])
        } else {
            cells.par_chunks_exact(dim).map(value).collect::<Result<Vec<f64>, String>>()
        })
    })?;
    found.map(|found| found.into_pyarray(py)).map_err(|reason| input_error(&reason))
}

/// Examples 1 and 2 for arrays of equal length: `h, m, c_den`. A threshold that
/// does not exist is NaN.
#[pyfunction]
#[pyo3(signature = (columns, border=false, n_jobs=None))]
pub(crate) fn synergy<'py>(
    py: Python<'py>,
    columns: Vec<PyReadonlyArray1<'py, f64>>,
    border: bool,
    n_jobs: Option<isize>,
) -> PyResult<Vec<Column<'py>>> {
    let columns = columns.iter().map(|column| column.as_slice()).collect::<Result<Vec<_>, _>>()?;
    let [h, m, c_den]: [&[f64]; 3] = columns.try_into().map_err(|_| input_error("expected three columns"))?;
    let case = |i: usize| match m[i] {
        m if m.fract() == 0.0 && (1.0..=1e15).contains(&m) => {
            SynergyForms::new(h[i], m as usize, c_den[i], border)
        }
        m => Err(format!("m is {m}; expected a whole number from 1 to 1e15")),
    };
    evaluate(py, n_jobs, h.len(), case, |forms| {
        [forms.threshold.unwrap_or(f64::NAN), forms.probability, forms.printed]
    })
}

/// Rows from the highest value to the lowest; equal values by `relative`, if there
/// is one, then in row order, rows without a value last.
#[pyfunction]
#[pyo3(signature = (value, relative=None))]
pub(crate) fn ranking<'py>(
    py: Python<'py>,
    value: PyReadonlyArray1<'py, f64>,
    relative: Option<PyReadonlyArray1<'py, f64>>,
) -> Bound<'py, PyArray1<i64>> {
    let value = value.as_array().to_vec();
    let parts = relative.map(|relative| (Part::Relative, relative.as_array().to_vec()));
    let values = Values { value, parts: Vec::from_iter(parts), ..Values::default() };
    let order = py.detach(|| values.ranking());
    order.into_iter().map(|row| row as i64).collect::<Vec<_>>().into_pyarray(py)
}

/// How categories that are text are spelled.
#[pyfunction]
pub(crate) fn spelled(words: Vec<String>) -> Vec<String> {
    words.iter().map(|word| dshap_table::spelled(word).into_owned()).collect()
}

/// Checks and evaluates `n` cases, some at a time.
fn evaluate<'py, C: Send, const N: usize>(
    py: Python<'py>,
    n_jobs: Option<isize>,
    n: usize,
    case: impl Fn(usize) -> Result<C, String> + Sync,
    forms: impl Fn(&C) -> [f64; N] + Sync,
) -> PyResult<Vec<Column<'py>>> {
    let found = work::run(py, Spelling::default(), n_jobs, None, |observer| {
        let mut found: Vec<[f64; N]> = Vec::with_capacity(n);
        for start in (0..n).step_by(SLICE) {
            if observer.is_interrupted() {
                return Err(dshap_models::Error::Interrupted);
            }
            let evaluated = (start..n.min(start + SLICE)).into_par_iter().map(|i| {
                let case = case(i).map_err(|reason| (i, reason))?;
                Ok(forms(&case))
            });
            // The first case that makes no sense is reported.
            for forms in evaluated.collect::<Vec<_>>() {
                match forms {
                    Ok(forms) => found.push(forms),
                    Err(refused) => return Ok(Err(refused)),
                }
            }
        }
        Ok(Ok(found))
    })?;
    let found = found.map_err(|(i, reason): (usize, String)| in_case(i, n, &reason))?;
    Ok((0..N).map(|form| found.iter().map(|row| row[form]).collect::<Vec<_>>().into_pyarray(py)).collect())
}

fn in_case(i: usize, n: usize, reason: &str) -> PyErr {
    input_error(&if n == 1 { reason.to_owned() } else { format!("case {i}: {reason}") })
}
