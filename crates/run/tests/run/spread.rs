//! Rows in several places give the valuer of one machine: the same bits where they are
//! numbered, nearly the same where they are not.

use crate::common::Asked;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use dshap_catalogue::options::{
    BANDWIDTH, FEATURES as FEATURES_OPTION, MISSING, PCA, Q, SAMPLES, TASK, WEIGHT,
};
use dshap_catalogue::{Given, Value};
use dshap_io::Source;
use dshap_models::methods;
use dshap_run::{
    Error, FittedValuer, GroupPlace, ReadyValuer, SpreadFit, Tables, Unwatched, Wanted, Work, fit_tables,
    merge_parts,
};
use dshap_testkit::Sample;
use std::sync::Arc;

const N: usize = 5 * 4096 + 321;

/// Numbers, a text column, weights, a target and labels, with some cells missing.
fn table(gaps: bool) -> RecordBatch {
    let sample = Sample::gaussian(5, N, 3, 1.0);
    let number = |cells: &[f64], missing: bool| -> ArrayRef {
        let cell = |i: usize| (!(missing && i % 701 == 3)).then_some(cells[i]);
        Arc::new((0..N).map(cell).collect::<Float64Array>())
    };
    let words = ["north", "south", "east"];
    let city: StringArray = (0..N).map(|i| Some(words[(i * i + i / 7) % 3])).collect();
    let weights: Vec<f64> = (0..N).map(|i| 0.5 + (i % 5) as f64).collect();
    let label = |i: usize| {
        if sample.y[i] > 0.4 {
            "yes"
        } else if sample.y[i] > -0.5 {
            "maybe"
        } else {
            "no"
        }
    };
    let three: StringArray = (0..N).map(|i| Some(label(i))).collect();
    let two: StringArray =
        (0..N).map(|i| Some(if sample.y[i] + sample.columns[1][i] > 0.0 { "a" } else { "b" })).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("u", number(&sample.columns[0], gaps)),
        ("v", number(&sample.columns[1], false)),
        ("w", number(&sample.columns[2], false)),
        ("city", Arc::new(city)),
        ("weight", Arc::new(Float64Array::from(weights))),
        ("y", number(&sample.y, false)),
        ("two", Arc::new(two)),
        ("three", Arc::new(three)),
    ];
    let field = |(name, cells): &(&str, ArrayRef)| Field::new(*name, cells.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    RecordBatch::try_new(schema, columns.into_iter().map(|column| column.1).collect()).unwrap()
}

fn source(rows: &RecordBatch) -> Source {
    Source::of_batches("rows", rows.schema(), vec![rows.clone()]).unwrap()
}

fn one_machine(rows: &RecordBatch, asked: &Asked) -> FittedValuer {
    let tables = Tables { points: source(rows), reference: None, test: None };
    let method = asked.method.unwrap();
    fit_tables(&tables, method, &asked.given, &Unwatched).unwrap().valuer
}

/// Fits rows that are cut at these places; `level` if they are numbered.
fn spread(
    rows: &RecordBatch,
    asked: &Asked,
    cuts: &[usize],
    level: Option<u32>,
) -> Result<FittedValuer, Error> {
    let mut fit = SpreadFit::new(source(rows), asked.method.unwrap(), &asked.given, false)?;
    while let Some(next) = fit.next_pass()? {
        let mut parts = Vec::new();
        for (place, range) in cuts.windows(2).enumerate() {
            let place = GroupPlace { place: place as u64, level, first_row: range[0] as u64 };
            let mut work = Work::new(&next.plan, next.valuer.as_deref(), place)?;
            // Batches within a part do not matter.
            for start in (range[0]..range[1]).step_by(3000) {
                work.push(&source(&rows.slice(start, 3000.min(range[1] - start))))?;
            }
            parts.push(work.finish()?);
        }
        // Some are merged elsewhere, in another order.
        let mut late: Vec<&[u8]> = parts.iter().skip(1).step_by(2).map(Vec::as_slice).collect();
        late.reverse();
        let late = merge_parts(&next.plan, &late)?;
        let mut all: Vec<&[u8]> = parts.iter().step_by(2).map(Vec::as_slice).collect();
        all.push(&late);
        fit.take(&merge_parts(&next.plan, &all)?)?;
    }
    Ok(fit.finish()?.valuer)
}

fn values(valuer: FittedValuer, rows: &RecordBatch) -> Vec<f64> {
    let ready = ReadyValuer::new(valuer, None, &Given::new()).unwrap();
    let wanted = Wanted { leave_one_out: false, ..Wanted::default() };
    ready.value(&source(&rows.slice(0, 500)), wanted, &Unwatched).unwrap().value
}

fn asked(target: &str, method: &str, features: &[&str]) -> Asked {
    let asked = Asked::new(target).by(method);
    let is_number = target == "y";
    let asked = asked.set(&TASK, if is_number { "regression" } else { "classification" });
    // By default the labels of a sample decide on q where a fit is nearly certain of them.
    let asked = if is_number { asked } else { asked.set(&Q, 60) };
    with_features(asked, features)
}

fn with_features(asked: Asked, features: &[&str]) -> Asked {
    let features = Value::List(features.iter().map(|name| name.to_string()).collect());
    Asked { given: asked.given.with(&FEATURES_OPTION, features), ..asked }
}

const FEATURES: [&str; 4] = ["u", "v", "w", "city"];

fn cases() -> Vec<(&'static str, Asked)> {
    vec![
        ("moments", asked("y", "gaussian", &FEATURES)),
        ("weights", asked("y", "gaussian", &FEATURES).set(&WEIGHT, "weight")),
        ("means", asked("y", "gaussian", &FEATURES).set(&MISSING, "mean")),
        ("calibrated", asked("y", "calibrated", &["u", "v"])),
        ("components", asked("y", "gaussian", &FEATURES).set(&PCA, "2")),
        ("two labels", asked("two", "gaussian", &FEATURES)),
        ("three labels", asked("three", "gaussian", &["u", "v", "city"])),
        ("labels, calibrated", asked("two", "calibrated", &["u", "v"])),
    ]
}

#[test]
fn numbered_rows_give_the_bits_of_one_machine() {
    for (name, asked) in cases() {
        let rows = table(name == "means");
        let expected = values(one_machine(&rows, &asked), &rows);
        for level in [0, 1] {
            let size = 4096 << level;
            let cuts: Vec<usize> = (0..N).step_by(size).chain([N]).collect();
            let found = values(spread(&rows, &asked, &cuts, Some(level)).unwrap(), &rows);
            if name.contains("calibrated") {
                // Distances are added up bin by bin, in the order they come.
                close(&found, &expected, name);
            } else {
                assert!(found == expected, "{name}, level {level}");
            }
        }
    }
}

#[test]
fn other_rows_give_the_same_up_to_rounding() {
    for (name, asked) in cases() {
        let rows = table(name == "means");
        let expected = values(one_machine(&rows, &asked), &rows);
        let found = spread(&rows, &asked, &[0, 17, 9000, 9000, 12_345, N], None).unwrap();
        close(&values(found, &rows), &expected, name);
    }
}

fn close(found: &[f64], expected: &[f64], name: &str) {
    let (low, high) = expected.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
    let furthest = found.iter().zip(expected).map(|(f, e)| (f - e).abs()).fold(0.0, f64::max);
    assert!(furthest <= 1e-12 * (high - low), "{name}: {furthest:e} of {:e}", high - low);
}

#[test]
fn densities_draw_the_same_sample() {
    let rows = table(false);
    let asked = Asked { method: methods::find("closed"), given: Given::new() };
    let asked = with_features(asked, &["u", "v"]).set(&TASK, "density");
    let asked = asked.set(&SAMPLES, "300").set(&BANDWIDTH, "scott");
    let expected = values(one_machine(&rows, &asked), &rows);
    let cuts: Vec<usize> = (0..N).step_by(4096).chain([N]).collect();
    assert_eq!(values(spread(&rows, &asked, &cuts, Some(0)).unwrap(), &rows), expected);
    let found = spread(&rows, &asked, &[0, 5000, 5001, N], None).unwrap();
    close(&values(found, &rows), &expected, "density");
}

#[test]
fn what_cannot_be_spread_is_refused() {
    let rows = table(false);
    let general = asked("y", "general", &["u"]);
    assert!(matches!(spread(&rows, &general, &[0, N], None), Err(Error::NotSpread { method: "general" })));
    let gaussian = asked("y", "gaussian", &["u"]);
    // A row that is there twice, and one that is missing.
    let twice = spread(&rows, &gaussian, &[0, 4096, 8192], Some(0));
    assert!(twice.is_ok(), "the first rows of a table are a table");
    let mut fit =
        SpreadFit::new(source(&rows), methods::find("gaussian").unwrap(), &gaussian.given, false).unwrap();
    let next = fit.next_pass().unwrap().unwrap();
    let part = |place: u64, start: usize, len: usize| {
        let mut work =
            Work::new(&next.plan, None, GroupPlace { place, level: Some(0), first_row: 0 }).unwrap();
        work.push(&source(&rows.slice(start, len))).unwrap();
        work.finish().unwrap()
    };
    let (first, again, gap) = (part(0, 0, 4096), part(0, 0, 4096), part(2, 8192, 4096));
    assert!(matches!(merge_parts(&next.plan, &[&first, &again]), Err(Error::BadPart { .. })));
    let whole = merge_parts(&next.plan, &[&first, &gap]).unwrap();
    assert!(matches!(fit.take(&whole), Err(Error::BadPart { .. })));
    assert!(matches!(merge_parts(&next.plan, &[b"nonsense"]), Err(Error::Container(_))));
}
