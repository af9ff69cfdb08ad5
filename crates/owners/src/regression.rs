//! The game of a regression: one pass over the rows for moments, then no row is needed.

use crate::copies::{Copies, part_of, parts_of};
use crate::explain::Explain;
use crate::joint::Joining;
use crate::market::Market;
use crate::near::Near;
use crate::report::Measured;
use crate::roster::{Roster, Sorted};
use crate::run::Played;
use crate::solve::{Solved, solve};
use crate::sums::{FoldMoments, FoldSums, N_FOLDS, merged};
use dshap::Moments;
use dshap::owners::{
    Contributions, Fingerprints, LinearFold, LinearGame, Parts, QuadraticForms, Repeats, choose_ridge,
    fingerprints,
};
use dshap_catalogue::options::RIDGE;
use dshap_io::Source;
use dshap_models::{Error, OwnerMoments};
use dshap_run::check_memory;
use faer::Mat;

/// The penalty where there are too few rows to choose one.
const USUAL_RIDGE: f64 = 1.0;

/// Where a penalty comes from.
const GIVEN: &str = "given";
const TOO_FEW: &str = "too-few-rows";

/// Moments of the owners' rows.
struct Owned {
    sorted: Sorted,
    /// Who holds which part.
    parts: Parts,
    moments: Vec<FoldMoments>,
    copies: Copies,
}

/// Plays the game.
pub(crate) fn play(
    market: &Market<'_>,
    near: Option<Near>,
    explain: &mut Explain<'_>,
) -> Result<Played, Error> {
    let owned = if market.counts_once() { read_once(market, near)? } else { read_each(market, near)? };
    finish(market, owned, None, explain)
}

/// Solves the game of owners whose moments are known. `ridge` is the penalty and where it
/// comes from, if that is settled.
fn finish(
    market: &Market<'_>,
    owned: Owned,
    ridge: Option<(f64, &'static str)>,
    explain: &mut Explain<'_>,
) -> Result<Played, Error> {
    let core = |error| market.core(error);
    let own = market.tables.own.as_ref().map(|source| read_whole(market, source)).transpose()?;
    let test = market.tables.test.as_ref().map(|source| read_whole(market, source)).transpose()?;
    let folds = Folds::of(&owned, own.as_ref(), test.as_ref(), market.measured()).map_err(core)?;
    let (ridge, ridge_from) = match (ridge, market.given.number(&RIDGE)) {
        (Some(settled), _) => settled,
        (None, Some(ridge)) => (ridge, GIVEN),
        (None, None) => chosen_ridge(&owned, own.as_ref()).map_err(core)?,
    };
    let Folds { folds, numbers } = folds;
    let n_folds = folds.len();
    let parts = owned.parts.clone();
    let game = LinearGame::new(owned.parts, folds, ridge).map_err(core)?;
    let mut solved = solve(&game, owned.copies.exact.as_ref(), market).map_err(core)?;
    let of_own =
        given_own(market, &game, &mut solved, &Reading { numbers: &numbers, copies: &owned.copies })?;
    let traces = std::mem::replace(&mut solved.traces, Mat::new());
    let forms = QuadraticForms::new(&game, traces);
    explain.begin(&owned.sorted.names)?;
    let reading = Reading { numbers: &numbers, copies: &owned.copies };
    let contributions = contribute(market, &forms, &reading, &solved.shapley, explain)?;
    let moments = owned.moments.iter().map(|moments| merged(moments.iter().flatten()));
    let moments = moments.collect::<Result<_, _>>().map_err(core)?;
    Ok(Played {
        joining: Some(Joining { parts, moments }),
        sorted: owned.sorted,
        solved,
        copies: owned.copies,
        ridge: Some(ridge),
        ridge_from: Some(ridge_from),
        n_test: contributions.n_rows() as u64,
        std_errors: contributions.std_errors(),
        covariance: contributions.covariance(),
        own_errors: of_own.as_ref().and_then(Contributions::std_errors),
        own_covariance: of_own.as_ref().and_then(Contributions::covariance),
        n_folds,
        model: "ridge",
        utility: "squared-error",
    })
}

/// Plays the game of owners whose moments a valuer holds; no row of theirs is needed. The
/// penalty is that with which each owner is predicted best from the others.
pub(crate) fn play_saved(
    market: &Market<'_>,
    saved: &OwnerMoments,
    explain: &mut Explain<'_>,
) -> Result<Played, Error> {
    let n_owners = saved.owners.len();
    let each: Vec<Moments> = saved.owners.values().cloned().collect();
    // All rows of an owner are in one place: there is nothing to leave out.
    let whole = |moments: &Moments| {
        let mut folds = FoldMoments::default();
        folds[0] = Some(moments.clone());
        folds
    };
    let ridge = match (market.given.number(&RIDGE), each.len()) {
        (Some(ridge), _) => (ridge, GIVEN),
        (None, 0 | 1) => (USUAL_RIDGE, TOO_FEW),
        (None, _) => {
            choose_ridge(&each).map(|choice| (choice.ridge, "owners")).map_err(|e| market.core(e))?
        }
    };
    let owned = Owned {
        sorted: Sorted {
            names: saved.owners.keys().cloned().collect(),
            n_rows: each.iter().map(|moments| moments.n_rows() as u64).collect(),
            rank: (0..n_owners).collect(),
            n_nobody: 0,
        },
        parts: Parts::one_each(n_owners),
        moments: each.iter().map(whole).collect(),
        copies: Copies::default(),
    };
    finish(market, owned, Some(ridge), explain)
}

/// Every copy of a row counts.
fn read_each(market: &Market<'_>, near: Option<Near>) -> Result<Owned, Error> {
    let mut roster = Roster::default();
    let mut sums = FoldSums::new(market.design.n_columns());
    let mut prints = Fingerprints::default();
    let looks = market.looks_for_duplicates();
    market.table(&market.tables.rows, &[market.by]).each(|rows| {
        let each = fingerprints(rows.x.as_ref(), &rows.y);
        let owners: Vec<Option<usize>> = (0..rows.y.len()).map(|i| roster.count(rows.name(0, i))).collect();
        for (i, (print, owner)) in each.iter().zip(&owners).enumerate().filter(|_| looks) {
            owner.iter().for_each(|&owner| prints.push(*print, owner, rows.number(i)));
        }
        let places = each.iter().zip(&owners).map(|(print, owner)| Some(((*owner)?, print.fold(N_FOLDS))));
        sums.add(&rows.x, &rows.y, places).map_err(|error| market.core(error))?;
        let n_bytes = sums.n_bytes() + prints.n_rows() as u64 * Fingerprints::ROW_BYTES;
        check_memory(market.memory, n_bytes)?;
        Ok(rows.x)
    })?;
    let sorted = market.named(roster)?;
    let n_owners = sorted.names.len();
    let came = sums.finish(n_owners).map_err(|error| market.core(error))?;
    let mut moments: Vec<FoldMoments> = (0..n_owners).map(|_| FoldMoments::default()).collect();
    came.into_iter().zip(&sorted.rank).for_each(|(came, &place)| moments[place] = came);
    let repeats = looks.then(|| prints.repeats(n_owners, |owner| sorted.rank[owner]));
    let copies = Copies::of(market, repeats, near);
    Ok(Owned { parts: Parts::one_each(n_owners), sorted, moments, copies })
}

/// A row that several owners have is a part of its own, and counts once.
fn read_once(market: &Market<'_>, near: Option<Near>) -> Result<Owned, Error> {
    let (sorted, exact) = market.survey()?;
    let n_owners = sorted.names.len();
    let copies = Copies::of(market, Some(exact), near);
    let nothing = Repeats::default();
    let once = copies.once().unwrap_or(&nothing);
    let mut sums = FoldSums::new(market.design.n_columns());
    let mut roster = Roster::default();
    market.table(&market.tables.rows, &[market.by]).each(|rows| {
        let each = fingerprints(rows.x.as_ref(), &rows.y);
        let mut places = Vec::with_capacity(each.len());
        for (i, print) in each.into_iter().enumerate() {
            let owner = roster.count(rows.name(0, i)).map(|owner| sorted.rank[owner]);
            let part = owner.and_then(|owner| part_of(once, n_owners, owner, rows.number(i)));
            places.push(part.map(|part| (part, print.fold(N_FOLDS))));
        }
        sums.add(&rows.x, &rows.y, places.into_iter()).map_err(|error| market.core(error))?;
        check_memory(market.memory, sums.n_bytes() + copies.n_bytes())?;
        Ok(rows.x)
    })?;
    let parts = parts_of(once, n_owners);
    let moments = sums.finish(parts.n_parts()).map_err(|error| market.core(error))?;
    Ok(Owned { sorted, parts, moments, copies })
}

/// The moments of a table without owners.
fn read_whole(market: &Market<'_>, source: &Source) -> Result<FoldMoments, Error> {
    let mut sums = FoldSums::new(market.design.n_columns());
    market.table(source, &[]).each(|rows| {
        let each = fingerprints(rows.x.as_ref(), &rows.y);
        let places = each.iter().map(|print| Some((0, print.fold(N_FOLDS))));
        sums.add(&rows.x, &rows.y, places).map_err(|error| market.core(error))?;
        Ok(rows.x)
    })?;
    let mut moments = sums.finish(1).map_err(|error| market.core(error))?;
    Ok(moments.pop().unwrap_or_default())
}

/// Training and test rows of each fold, and which fold of a row is which of them.
struct Folds {
    folds: Vec<LinearFold>,
    numbers: [Option<usize>; N_FOLDS],
}

impl Folds {
    fn of(
        owned: &Owned,
        own: Option<&FoldMoments>,
        test: Option<&FoldMoments>,
        measured: Measured,
    ) -> Result<Self, dshap::Error> {
        let but = |moments: &FoldMoments, left_out: Option<usize>| {
            let kept = moments.iter().enumerate().filter(|(fold, _)| Some(*fold) != left_out);
            merged(kept.filter_map(|(_, moments)| moments.as_ref()))
        };
        let fold = |left_out: Option<usize>, test: Moments| {
            let parts =
                owned.moments.iter().map(|moments| but(moments, left_out)).collect::<Result<_, _>>()?;
            let own = own.map(|own| but(own, left_out)).transpose()?.flatten();
            Ok::<_, dshap::Error>(LinearFold { parts, own, test })
        };
        if let Some(test) = test {
            let test = but(test, None)?.ok_or(dshap::Error::NoTestRows)?;
            return Ok(Self { folds: vec![fold(None, test)?], numbers: [Some(0); N_FOLDS] });
        }
        let (mut folds, mut numbers) = (Vec::new(), [None; N_FOLDS]);
        for (left_out, number) in numbers.iter_mut().enumerate() {
            // Rows of a fold are left out everywhere, so that no copy of a test row is trained on.
            let test = match (measured, own) {
                (Measured::Own, Some(own)) => own[left_out].clone(),
                _ => merged(owned.moments.iter().filter_map(|moments| moments[left_out].as_ref()))?,
            };
            if let Some(test) = test {
                *number = Some(folds.len());
                folds.push(fold(Some(left_out), test)?);
            }
        }
        Ok(Self { folds, numbers })
    }
}

/// The penalty that predicts folds best, and where it comes from.
fn chosen_ridge(owned: &Owned, own: Option<&FoldMoments>) -> Result<(f64, &'static str), dshap::Error> {
    let mut folds = Vec::with_capacity(N_FOLDS);
    for fold in 0..N_FOLDS {
        let all = owned.moments.iter().chain(own).filter_map(|moments| moments[fold].as_ref());
        folds.extend(merged(all)?);
    }
    match folds.len() {
        0 | 1 => Ok((USUAL_RIDGE, TOO_FEW)),
        _ => choose_ridge(&folds).map(|choice| (choice.ridge, "five-folds")),
    }
}

/// What each owner brings to the test rows of a buyer with own rows, one more pass over them.
fn given_own(
    market: &Market<'_>,
    game: &LinearGame,
    solved: &mut Solved,
    reading: &Reading<'_>,
) -> Result<Option<Contributions>, Error> {
    if market.tables.own.is_none() {
        return Ok(None);
    }
    let forms = QuadraticForms::new(game, std::mem::replace(&mut solved.alone_traces, Mat::new()));
    contribute(market, &forms, reading, &solved.brought_alone(), &mut Explain::new(None, false)).map(Some)
}

/// How test rows are read: which fold is which game, and which rows count once.
struct Reading<'a> {
    numbers: &'a [Option<usize>; N_FOLDS],
    copies: &'a Copies,
}

/// One pass over the test rows, for standard errors and explanations.
fn contribute(
    market: &Market<'_>,
    forms: &QuadraticForms,
    Reading { numbers, copies }: &Reading<'_>,
    values: &[f64],
    explain: &mut Explain<'_>,
) -> Result<Contributions, Error> {
    let mut sums = Contributions::new(values);
    let is_by_owner = market.measured() == Measured::Rows;
    let mut columns: Vec<&str> = Vec::new();
    columns.extend(is_by_owner.then_some(market.by));
    columns.extend(market.segment());
    let once = copies.once().filter(|_| is_by_owner);
    market.table(market.measuring(), &columns).each(|rows| {
        let prints = fingerprints(rows.x.as_ref(), &rows.y);
        let is_test = |i: &usize| !is_by_owner || rows.name(0, *i).is_some();
        let mut members: Vec<usize> = (0..rows.y.len()).filter(is_test).collect();
        if let Some(once) = once {
            members.retain(|&i| !once.is_later(rows.number(i)));
        }
        let mut found = Mat::<f64>::zeros(members.len(), values.len());
        for number in 0..forms.n_folds() {
            let is_here = |&place: &usize| numbers[prints[members[place]].fold(N_FOLDS)] == Some(number);
            let places: Vec<usize> = (0..members.len()).filter(is_here).collect();
            let x = Mat::from_fn(places.len(), rows.x.ncols(), |i, j| rows.x[(members[places[i]], j)]);
            let y: Vec<f64> = places.iter().map(|&place| rows.y[members[place]]).collect();
            let view = dshap::Rows::new(x.as_ref(), &y).map_err(|error| market.core(error))?;
            let of_fold = forms.contributions(view, number).map_err(|error| market.core(error))?;
            for owner in 0..values.len() {
                let cells = of_fold.col_as_slice(owner);
                places.iter().zip(cells).for_each(|(&place, &cell)| found[(place, owner)] = cell);
            }
        }
        sums.add(&found);
        let segment = market.segment().map(|_| columns.len() - 1);
        explain.rows(&rows, &members, segment, &found)?;
        Ok(rows.x)
    })?;
    Ok(sums)
}
