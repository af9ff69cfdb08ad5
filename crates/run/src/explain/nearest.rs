//! The rows most like a row.

use super::{Encoded, Pool, ruler};
use crate::points::Points;
use crate::value::Job;
use dshap_models::{Error, Model, NearRow, NearestAmong, NearestRows, Observer, TargetFacts};
use dshap_table::Design;
use faer::{Mat, MatRef};

/// Rows that are shown.
const SHOWN: usize = 5;

/// How rows are compared.
pub(super) struct Ruler {
    /// What is subtracted from each column, and what the rest is divided by; columns that do not
    /// vary count for nothing.
    columns: Vec<(f64, f64)>,
    metric: &'static str,
    /// Neighbours that predict, for nearest neighbours.
    k: Option<usize>,
}

impl Ruler {
    pub(super) fn new(
        model: &dyn Model,
        n_columns: usize,
        metric: &'static str,
        scale: &'static str,
        k: Option<usize>,
    ) -> Self {
        let column = |column: usize| match (scale, model.std_dev(column)) {
            ("none", _) => (0.0, 1.0),
            (_, spread) if spread > 0.0 => (model.mean(column), spread),
            _ => (0.0, f64::INFINITY),
        };
        Self { columns: (0..n_columns).map(column).collect(), metric, k }
    }

    fn coordinates(&self, cells: impl Iterator<Item = f64>) -> Vec<f64> {
        cells.zip(&self.columns).map(|(cell, (centre, scale))| (cell - centre) / scale).collect()
    }

    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let pairs = || a.iter().zip(b);
        match self.metric {
            "manhattan" => pairs().map(|(a, b)| (a - b).abs()).sum(),
            "cosine" => {
                let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
                let lengths = (product(a, a) * product(b, b)).sqrt();
                if lengths > 0.0 { 1.0 - product(a, b) / lengths } else { 1.0 }
            }
            _ => pairs().map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt(),
        }
    }

    /// How many rows are kept.
    fn n_kept(&self) -> usize {
        self.k.unwrap_or(0).max(SHOWN)
    }
}

/// The rows most like one row.
pub(super) struct Nearest {
    among: NearestAmong,
    k: Option<usize>,
    /// Distance, number and target, nearest first.
    found: Vec<(f64, u64, f64)>,
}

impl Nearest {
    /// Those of each row to be explained, among rows that are `ordinary`. For nearest
    /// neighbours all rows are.
    pub(super) fn of(
        job: &Job<'_>,
        rows: &[Encoded],
        ordinary: &[bool],
        observer: &dyn Observer,
    ) -> Result<Vec<Self>, Error> {
        let ruler = ruler(job);
        let is_own_table = job.prepared.against.reference().is_none();
        let among = match Pool::of(job) {
            Pool::Table(_) if is_own_table => NearestAmong::Table,
            _ => NearestAmong::Reference,
        };
        let places: Vec<Vec<f64>> = rows.iter().map(|row| ruler.coordinates(row.x.iter().copied())).collect();
        let mut all: Vec<Self> = rows.iter().map(|_| Self { among, k: ruler.k, found: Vec::new() }).collect();
        let mut look_at = |number: u64, place: &[f64], target: f64| {
            for ((nearest, row), own) in all.iter_mut().zip(rows).zip(&places) {
                if among == NearestAmong::Reference || number != row.row {
                    nearest.add(ruler.distance(own, place), number, target, ruler.n_kept());
                }
            }
        };
        match Pool::of(job) {
            Pool::Held(model) => {
                let (x, y) = (model.reference.x().as_ref(), model.reference.y());
                each_row(x, |i, cells| look_at(i as u64, &ruler.coordinates(cells), y[i]));
            }
            Pool::Table(source) => {
                let points = Points::carrying(source, &job.prepared.design, Vec::new(), job.in_reference);
                let options = points.scan_options(job.budget())?;
                points.each(options, observer, |waiting| {
                    let (place, encoded) = (&waiting.place, &waiting.encoded);
                    each_row(encoded.x.as_ref(), |i, cells| {
                        let offset = place.remaining.as_ref().map_or(i, |remaining| remaining[i]);
                        let number = place.first_row + offset as u64;
                        if ordinary.get(number as usize).copied().unwrap_or(true) {
                            let target = encoded.y.get(i).copied().unwrap_or(f64::NAN);
                            look_at(number, &ruler.coordinates(cells), target);
                        }
                    });
                    Ok(Mat::new())
                })?;
            }
        }
        Ok(all)
    }

    fn add(&mut self, distance: f64, number: u64, target: f64, most: usize) {
        let at = self.found.partition_point(|(other, ..)| *other <= distance);
        if at < most {
            self.found.insert(at, (distance, number, target));
            self.found.truncate(most);
        }
    }

    /// As facts, the nearest few.
    pub(super) fn rows(&self, job: &Job<'_>) -> NearestRows {
        let design = &job.prepared.design;
        let row = |&(distance, row, target): &(f64, u64, f64)| NearRow {
            row,
            distance,
            target: word(design, target),
        };
        NearestRows { among: self.among, k: self.k, rows: self.found.iter().take(SHOWN).map(row).collect() }
    }

    /// What the nearest rows predict, for nearest neighbours.
    pub(super) fn target(&self, job: &Job<'_>, row: &Encoded) -> Option<TargetFacts> {
        let design = &job.prepared.design;
        let name = design.target()?.to_owned();
        let neighbours = self.found.get(..self.k?.min(self.found.len())).filter(|found| !found.is_empty())?;
        let n = neighbours.len() as f64;
        let Some(labels) = design.labels() else {
            let predicted = neighbours.iter().map(|(.., target)| target).sum::<f64>() / n;
            let residual = row.y - predicted;
            let residual_in_deviations = None;
            return Some(TargetFacts::Number {
                name,
                actual: row.y,
                predicted,
                residual,
                residual_in_deviations,
            });
        };
        let share = |class: usize| {
            neighbours.iter().filter(|(.., target)| *target == class as f64).count() as f64 / n
        };
        let given = row.y as usize;
        let likelier = |best: usize, class: usize| if share(class) > share(best) { class } else { best };
        Some(TargetFacts::Label {
            name,
            given: labels.word(given),
            given_probability: Some(share(given)),
            suggested: Some(labels.word((0..labels.n_classes()).fold(given, likelier))),
        })
    }
}

fn each_row<'a>(x: MatRef<'a, f64>, mut then: impl FnMut(usize, &mut dyn Iterator<Item = f64>)) {
    (0..x.nrows()).for_each(|i| then(i, &mut x.row(i).iter().copied()));
}

/// A target as text.
fn word(design: &Design, target: f64) -> Option<String> {
    match design.labels() {
        Some(labels) => Some(labels.word(target as usize)),
        None => design.target().map(|_| target.to_string()),
    }
}
