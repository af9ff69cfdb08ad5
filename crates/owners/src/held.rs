//! Games of models without sufficient statistics: rows are held in memory.

use crate::copies::{Copies, part_of, parts_of};
use crate::explain::Explain;
use crate::market::Market;
use crate::near::Near;
use crate::report::Measured;
use crate::roster::{Roster, Sorted};
use crate::run::Played;
use crate::solve::{Solved, solve};
use crate::sums::N_FOLDS;
use dshap::Rows;
use dshap::density::{Bandwidth, DensityOptions, Kernel, Scaling};
use dshap::neighbours::{DEFAULT_K, Metric, Scale};
use dshap::owners::{
    Contributions, DensityGame, Fingerprint, Fingerprints, HeldMarket, Judged, LogisticGame, NeighbourGame,
    NeighbourGameOptions, NeighbourTarget, Parts, Repeats, fingerprints,
};
use dshap_catalogue::Task;
use dshap_catalogue::options::{BANDWIDTH, K, KERNEL, METRIC, RIDGE, SCALE, UTILITY};
use dshap_io::Source;
use dshap_models::Error;
use dshap_run::check_memory;
use faer::Mat;

/// Rows in memory.
pub(crate) struct Held {
    /// Row by row.
    cells: Vec<f64>,
    x: Mat<f64>,
    y: Vec<f64>,
    prints: Vec<Fingerprint>,
    /// Owners in the order of their names.
    pub(crate) owner: Vec<usize>,
    /// Numbers in their table, and segments.
    pub(crate) number: Vec<u64>,
    segment: Vec<String>,
}

impl Held {
    fn new() -> Self {
        Self {
            cells: Vec::new(),
            x: Mat::new(),
            y: Vec::new(),
            prints: Vec::new(),
            owner: Vec::new(),
            number: Vec::new(),
            segment: Vec::new(),
        }
    }

    fn fold(&self) -> Vec<usize> {
        self.prints.iter().map(|print| print.fold(N_FOLDS)).collect()
    }

    pub(crate) fn rows(&self) -> Result<Rows<'_>, dshap::Error> {
        Rows::new(self.x.as_ref(), &self.y)
    }
}

/// Reads a table into memory; rows of nobody are left out where owners matter.
pub(crate) fn hold(
    market: &Market<'_>,
    source: &Source,
    by: bool,
    segment: bool,
) -> Result<(Held, Roster), Error> {
    let p = market.design.n_columns();
    let (mut held, mut roster) = (Held::new(), Roster::default());
    let mut columns: Vec<&str> = Vec::new();
    columns.extend(by.then_some(market.by));
    columns.extend(market.segment().filter(|_| segment));
    market.table(source, &columns).each(|rows| {
        let prints = fingerprints(rows.x.as_ref(), &rows.y);
        for (i, print) in prints.into_iter().enumerate() {
            if by {
                let Some(owner) = roster.count(rows.name(0, i)) else { continue };
                held.owner.push(owner);
            }
            held.cells.extend((0..p).map(|j| rows.x[(i, j)]));
            held.y.push(rows.y[i]);
            held.prints.push(print);
            held.number.push(rows.number(i));
            if segment && market.segment().is_some() {
                held.segment.push(rows.name(columns.len() - 1, i).unwrap_or_default().into());
            }
        }
        // They are there twice when they are arranged by column.
        check_memory(market.memory, 16 * held.cells.len() as u64)?;
        Ok(rows.x)
    })?;
    held.x = Mat::from_fn(held.y.len(), p, |i, j| held.cells[i * p + j]);
    held.cells = Vec::new();
    Ok((held, roster))
}

/// Plays the game.
pub(crate) fn play(
    market: &Market<'_>,
    near: Option<Near>,
    explain: &mut Explain<'_>,
) -> Result<Played, Error> {
    let measured = market.measured();
    let of_rows = measured == Measured::Rows;
    let (mut rows, roster) = hold(market, &market.tables.rows, true, of_rows)?;
    let sorted = market.named(roster)?;
    rows.owner.iter_mut().for_each(|owner| *owner = sorted.rank[*owner]);
    let exact = market.looks_for_duplicates().then(|| repeats_of(&rows, &sorted));
    let copies = Copies::of(market, exact, near);
    let (parts, part) = divide(&mut rows, &sorted, copies.once());
    let of_own = measured == Measured::Own;
    let own = market.tables.own.as_ref().map(|source| hold(market, source, false, of_own)).transpose()?;
    let own = own.map(|(own, _)| own);
    let test = market.tables.test.as_ref().map(|source| hold(market, source, false, true)).transpose()?;
    let test = test.map(|(test, _)| test);
    let tests = test.as_ref().or(own.as_ref().filter(|_| of_own)).unwrap_or(&rows);
    let (fold, own_fold, test_fold) = (rows.fold(), own.as_ref().map(Held::fold), tests.fold());
    let core = |error| market.core(error);
    let own_rows = own.as_ref().map(Held::rows).transpose().map_err(core)?;
    let held = HeldMarket {
        rows: rows.rows().map_err(core)?,
        part: &part,
        fold: &fold,
        parts,
        own: own_rows.zip(own_fold.as_deref()),
        test: tests.rows().map_err(core)?,
        test_fold: (measured != Measured::Test).then_some(test_fold.as_slice()),
    };
    let Family { solved, ridge, model, utility } =
        family(market, &held, copies.exact.as_ref()).map_err(core)?;
    explain.begin(&sorted.names)?;
    // The traces of these games are utilities of single test rows.
    let mut contributions = Contributions::new(&solved.shapley);
    contributions.add(&solved.traces);
    let of_own = own.is_some().then(|| {
        let mut contributions = Contributions::new(&solved.brought_alone());
        contributions.add(&solved.alone_traces);
        contributions
    });
    let segments: Vec<&str> = tests.segment.iter().map(String::as_str).collect();
    let segments = market.segment().map(|_| segments.as_slice());
    explain.hand_over(&tests.number, segments, &solved.traces)?;
    let mut folds = test_fold.clone();
    folds.sort_unstable();
    folds.dedup();
    Ok(Played {
        sorted,
        copies,
        joining: None,
        ridge: ridge.map(|(ridge, _)| ridge),
        ridge_from: ridge.map(|(_, chosen)| if chosen { "five-folds" } else { "given" }),
        n_test: contributions.n_rows() as u64,
        std_errors: contributions.std_errors(),
        covariance: contributions.covariance(),
        own_errors: of_own.as_ref().and_then(Contributions::std_errors),
        own_covariance: of_own.as_ref().and_then(Contributions::covariance),
        n_folds: if measured == Measured::Test { 1 } else { folds.len() },
        model,
        utility,
        solved,
    })
}

fn repeats_of(rows: &Held, sorted: &Sorted) -> Repeats {
    let mut prints = Fingerprints::default();
    let each = rows.prints.iter().zip(&rows.owner).zip(&rows.number);
    each.for_each(|((print, &owner), &number)| prints.push(*print, owner, number));
    prints.repeats(sorted.names.len(), |owner| owner)
}

/// The part of each row. Where copies count once, later ones are removed.
fn divide(rows: &mut Held, sorted: &Sorted, once: Option<&Repeats>) -> (Parts, Vec<usize>) {
    let n_owners = sorted.names.len();
    let Some(once) = once else { return (Parts::one_each(n_owners), rows.owner.clone()) };
    let (mut kept, mut part) = (Vec::new(), Vec::new());
    for (row, &number) in rows.number.iter().enumerate() {
        if let Some(of_row) = part_of(once, n_owners, rows.owner[row], number) {
            part.push(of_row);
            kept.push(row);
        }
    }
    rows.x = Mat::from_fn(kept.len(), rows.x.ncols(), |i, j| rows.x[(kept[i], j)]);
    rows.y = kept.iter().map(|&row| rows.y[row]).collect();
    rows.prints = kept.iter().map(|&row| rows.prints[row]).collect();
    rows.number = kept.iter().map(|&row| rows.number[row]).collect();
    if !rows.segment.is_empty() {
        rows.segment = kept.iter().map(|&row| rows.segment[row].clone()).collect();
    }
    (parts_of(once, n_owners), part)
}

/// A game that was played.
struct Family {
    solved: Solved,
    /// The penalty, and whether it was chosen.
    ridge: Option<(f64, bool)>,
    model: &'static str,
    utility: &'static str,
}

fn family(
    market: &Market<'_>,
    held: &HeldMarket<'_>,
    repeats: Option<&Repeats>,
) -> Result<Family, dshap::Error> {
    let Market { given, task, design, .. } = market;
    if market.method.is_of_neighbours() {
        let target = match task {
            Task::Classification => NeighbourTarget::Labels,
            _ => NeighbourTarget::Numbers,
        };
        let options = NeighbourGameOptions {
            k: given.size(&K).unwrap_or(DEFAULT_K),
            metric: match given.word(&METRIC) {
                Some("manhattan") => Metric::Manhattan,
                Some("cosine") => Metric::Cosine,
                _ => Metric::Euclidean,
            },
            scale: if given.is(&SCALE, "none") { Scale::AsGiven } else { Scale::Standard },
            target,
        };
        let solved = solve(&NeighbourGame::new(held, options)?, repeats, market)?;
        let utility = match target {
            NeighbourTarget::Numbers => "squared-error",
            NeighbourTarget::Labels => "right-neighbours",
        };
        return Ok(Family { solved, ridge: None, model: "knn", utility });
    }
    match task {
        Task::Density => {
            let options = DensityOptions {
                kernel: match given.word(&KERNEL) {
                    Some(name) => {
                        Kernel::ALL.into_iter().find(|kernel| kernel.name() == name).unwrap_or_default()
                    }
                    None => Kernel::default(),
                },
                bandwidth: match (given.number(&BANDWIDTH), given.word(&BANDWIDTH)) {
                    (Some(width), _) => Bandwidth::Given(width),
                    (None, Some("scott")) => Bandwidth::Scott,
                    (None, Some("silverman")) => Bandwidth::Silverman,
                    (None, _) => Bandwidth::default(),
                },
                scaling: if given.is(&SCALE, "none") { Scaling::None } else { Scaling::Standard },
                ..DensityOptions::default()
            };
            let solved = solve(&DensityGame::new(held, options)?, repeats, market)?;
            Ok(Family { solved, ridge: None, model: "kde", utility: "integrated-squared-error" })
        }
        Task::Regression | Task::Classification => {
            let n_classes = design.labels().map_or(2, dshap_table::Labels::n_classes);
            let (judged, utility) = match given.word(&UTILITY) {
                Some("accuracy") => (Judged::Accuracy, "accuracy"),
                Some("brier") => (Judged::Brier, "brier-score"),
                _ => (Judged::LogLoss, "log-loss"),
            };
            let ridge = given.number(&RIDGE);
            let game = LogisticGame::new(held, n_classes, judged, ridge)?;
            let chosen = Some((game.ridge(), ridge.is_none()));
            let solved = solve(&game, repeats, market)?;
            Ok(Family { solved, ridge: chosen, model: "logistic", utility })
        }
    }
}
