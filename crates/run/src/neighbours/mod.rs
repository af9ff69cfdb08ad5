//! `value` by nearest neighbours: points in blocks, against rows in memory.
//!
//! For each test row the reference is sorted once for all points at hand, so
//! points wait until there are as many as the reference has rows. Test rows that
//! are not held come in blocks too. Neither changes a bit.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the pass over the points, and what there is to say about it |
//! | `block.rs` | points that wait, and their values |

mod block;

use crate::Error;
use crate::fitted::{FittedModel, NeighbourModel, Tests, counted};
use crate::general::{Held, slice};
use crate::memory::Budget;
use crate::neighbour_choice::NO_UNSEEN;
use crate::observer::{Observer, Quiet, Stage};
use crate::output::OutputTable;
use crate::passes::Pass;
use crate::receiver::Receiver;
use crate::reference::RowCounts;
use crate::request::{Against, Method, Model, ValueRequest};
use crate::saved::files_in;
use crate::summary::{Facts, InputFile, Summary};
use crate::value::{Placed, Prepared, Tally, Waiting, split};
use crate::warnings;
use block::{Block, Run, sized};
use dshap::Values;
use dshap::neighbours::{Search, sample_rows};
use dshap_io::Source;
use dshap_table::Design;
use std::sync::Arc;

/// What came of the points.
struct Valued {
    n_points: u64,
    n_usable: u64,
    tests: RowCounts,
    tally: Tally,
    doubts: Vec<String>,
}

/// Values points, and says what ran.
pub(crate) fn value_neighbours(
    request: &ValueRequest,
    points: &Source,
    prepared: &Prepared,
    model: &NeighbourModel,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<Summary, Error> {
    let valued = value_points(request, points, prepared, model, observer, receiver)?;
    let Prepared { valuer, method, choice, learned, reference, .. } = prepared;
    let warnings = doubts_of(request, points, prepared, model, &valued)?;
    let mut facts = Facts::of(valuer, *method, *choice)?;
    if let Some(neighbours) = &mut facts.neighbours {
        neighbours.test_rows = Some(valued.tests.n_usable as usize);
    }
    Ok(Summary {
        version: env!("CARGO_PKG_VERSION"),
        facts,
        n_points: valued.n_points,
        leave_one_out: request.against.is_leave_one_out(),
        reference_passes: learned.as_ref().map_or(0, |learned| learned.n_passes),
        extra_passes: learned.as_ref().map_or(Vec::new(), |learned| learned.extra_passes.clone()),
        rounds: None,
        n_sets: None,
        values: valued.tally.spread,
        warnings,
        points: InputFile::of(points, request.digests)?,
        reference: reference.as_ref().map(|source| InputFile::of(source, request.digests)).transpose()?,
        valuer: match &request.against {
            Against::Valuer { file, .. } => Some(InputFile::of_valuer(file, request.digests)?),
            _ => None,
        },
    })
}

/// Values rows in memory, each against the others, and says what is doubtful about
/// that. They are what `model` says; test rows are given or some of the rows.
pub(crate) fn value_held(
    rows: Held,
    n_classes: Option<usize>,
    tests: Option<Held>,
    model: &Model,
    design: &Design,
    observer: &dyn Observer,
) -> Result<(Values, Vec<String>), Error> {
    let choice = &model.neighbours;
    let tests = match tests {
        Some(tests) => Tests::Given(Arc::new(tests)),
        None => {
            let numbers = sample_rows(rows.n_rows(), choice.most_tests(), choice.seed.unwrap_or(0));
            Tests::Reference(numbers.into())
        }
    };
    let n_bytes = rows.n_bytes();
    let fitted = NeighbourModel::of(rows, n_classes, tests, choice.clone());
    let fitted = fitted.map_err(|error| Error::core(error, design))?;
    let doubts = fitted.doubts(design, model.method, model.sizes, true)?;
    let sizes = fitted.sizes(model.method, model.sizes)?;
    let (budget, std_error) = (Budget::new(None), false);
    let (method, search) = (model.method, Search::Auto);
    let run = Run { model: &fitted, design, method, sizes, search, std_error, budget, observer };
    observer.begin(Stage::Value, n_bytes);
    let (values, _) = run.own_values(n_bytes)?;
    observer.end();
    Ok((values, doubts))
}

/// One pass over the points; of rows against each other all values are known
/// before it.
fn value_points(
    request: &ValueRequest,
    points: &Source,
    prepared: &Prepared,
    model: &NeighbourModel,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<Valued, Error> {
    let Prepared { valuer, design, method, choice, selection, .. } = prepared;
    let carried = selection.carried(points.schema()).map_err(|e| Error::at(e, points, 0))?;
    let leave_one_out = request.against.is_leave_one_out();
    refuse(request, *method, leave_one_out)?;
    let doubts = model.doubts(design, *method, *choice, leave_one_out)?;

    let mut wanted = if leave_one_out { design.wanted_of_reference() } else { design.wanted() };
    let n_design = wanted.len();
    wanted.extend(carried);
    let carried_fields: Vec<_> = points.arrow_schema(&wanted)?.fields()[n_design..]
        .iter()
        .map(|field| field.as_ref().clone())
        .collect();
    let table = OutputTable::new(&carried_fields, &[], design, request.std_error);
    receiver.begin(table.schema())?;

    let budget = Budget::new(request.resources.memory);
    let held = receiver.held_bytes(table.schema().fields().len()) + model.held_bytes();
    let budget = budget.reserving(held + model.streamed_bytes(budget));
    let sizes = valuer.sizes(*method, *choice)?;
    let (most_points, options, search) =
        sized(budget, model.index_bytes(*method, sizes), model, points, &wanted, design, leave_one_out)?;
    let (design_of_tests, std_error) = (&valuer.design, request.std_error);
    let run =
        Run { model, design: design_of_tests, method: *method, sizes, search, std_error, budget, observer };
    let mut tally = Tally::new();
    let mut hand_over = |place: Placed, values: &Values| {
        let Placed { first_row, n_rows, carried, remaining } = place;
        tally.add(n_rows, values);
        receiver.rows(table.batch(first_row, n_rows, carried, values, remaining.as_deref()))
    };

    observer.begin(Stage::Value, points.n_bytes());
    let (own, mut tests) = if leave_one_out {
        let (values, counts) = run.own_values(points.n_bytes())?;
        (Some(values), counts)
    } else {
        (None, RowCounts::default())
    };
    let (mut block, mut n_usable) = (Block::default(), 0_u64);
    let quiet = Quiet(observer);
    let pass = Pass { source: points, wanted: &wanted, options, stage: Stage::Value, observer: &quiet };
    let n_points = pass.run(|batch| {
        let (design_part, carried) = split(&batch.rows, n_design);
        let encoded = design.encode(&design_part).map_err(|e| Error::at(e, points, batch.first_row))?;
        let first_usable = n_usable as usize;
        n_usable += encoded.y.len() as u64;
        let (first_row, n_rows) = (batch.first_row, batch.rows.num_rows());
        let waiting = Waiting { first_row, n_rows, carried, encoded };
        let Some(values) = &own else {
            block.push(waiting, batch.bytes_read);
            if block.n_usable() >= most_points {
                tests = run.value_block(&mut block, &mut hand_over)?;
            }
            return Ok(());
        };
        if n_usable > values.len() as u64 {
            return Err(Error::Changed { before: values.len() as u64, after: n_usable });
        }
        let (place, encoded) = waiting.apart();
        hand_over(place, &slice(values, first_usable, encoded.y.len()))
    })?;
    if !block.is_empty() {
        tests = run.value_block(&mut block, &mut hand_over)?;
    }
    observer.end();
    match own {
        Some(values) if values.len() as u64 != n_usable => {
            Err(Error::Changed { before: values.len() as u64, after: n_usable })
        }
        _ => Ok(Valued { n_points, n_usable, tests, tally, doubts }),
    }
}

/// Everything doubtful, in words.
fn doubts_of(
    request: &ValueRequest,
    points: &Source,
    prepared: &Prepared,
    model: &NeighbourModel,
    valued: &Valued,
) -> Result<Vec<String>, Error> {
    let Prepared { valuer, design, method, choice, learned, reference, .. } = prepared;
    let Valued { n_points, n_usable, tests, doubts, .. } = valued;
    // A valuer at hand was fitted before, and what there is to say of that was said.
    let is_fitted = matches!(request.against, Against::Fitted { .. });
    let mut said = warnings::of_sources(points, reference.as_ref().filter(|_| !is_fitted));
    if let Against::Valuer { file, .. } = &request.against {
        said.extend(warnings::of_points_in_reference(points, &files_in(&valuer.history), file)?);
        said.extend(warnings::of_points_in_tests(points, model, file)?);
    } else if !is_fitted {
        said.extend(warnings::of_constant_text(design));
    }
    if !is_fitted {
        said.extend(warnings::of_shared_tests(points, reference.as_ref(), model));
        said.extend(doubts.iter().cloned());
        said.extend(warnings::of_labels(valuer, *method, valuer.sizes(*method, *choice)?));
    }
    if request.std_error && *n_usable > 0 && tests.n_usable < model.fewest_for_errors() {
        let tests = counted(tests.n_usable as usize, "test row");
        said.push(format!("of {tests} there are no standard errors"));
    }
    let n_left_out = tests.n_left_out() + model.n_tests_left_out;
    said.extend(warnings::of_rows_left_out("test", n_left_out, "has no part in the utility"));
    if let Some(learned) = learned {
        let n_left_out = learned.rows.n_left_out();
        said.extend(warnings::of_rows_left_out("reference", n_left_out, "has no part in any set"));
    }
    if !request.against.is_leave_one_out() {
        said.extend(warnings::of_rows_left_out("point", n_points - n_usable, "has no value"));
    }
    Ok(said)
}

/// What neighbours have no answer to.
fn refuse(request: &ValueRequest, method: Method, leave_one_out: bool) -> Result<(), Error> {
    let misplaced = |what: &str| Err(Error::Misplaced { what: what.into() });
    let is_shapley = matches!(method, Method::KnnShapley { .. });
    match &request.against {
        Against::Valuer { .. } if is_shapley => misplaced(
            "`--method knn-shapley` values the rows of one finite dataset only, not rows by a valuer: leave \
             `--valuer` out to value rows against each other, or `--method`, since the valuer is one of `knn`, which \
             values any row",
        ),
        _ if is_shapley && !leave_one_out => misplaced(NO_UNSEEN),
        // Python asks for all parts that there are.
        Against::Fitted { .. } => Ok(()),
        _ if request.per_class => misplaced(
            "`--per-class` is for methods that tell each label from all others; neighbours compare labels as they are",
        ),
        _ => Ok(()),
    }
}

impl FittedModel {
    /// The rows that neighbours are found among, if they are what it has.
    pub(crate) fn neighbours(&self) -> Option<&NeighbourModel> {
        match self {
            FittedModel::Neighbours(model) => Some(model),
            _ => None,
        }
    }
}
