//! `value` by nearest neighbours: points in blocks, against rows in memory.
//!
//! For each test row the reference is sorted once for all points at hand, so
//! points wait until there are as many as the reference has rows. Test rows that
//! are not held come in blocks too. Neither changes a bit.

use crate::Error;
use crate::fitted::{FittedModel, NeighbourModel, Share, Tests};
use crate::general::{Held, slice};
use crate::memory::Budget;
use crate::neighbour_choice::NO_UNSEEN;
use crate::observer::{Observer, Quiet, Stage};
use crate::output::OutputTable;
use crate::passes::Pass;
use crate::receiver::Receiver;
use crate::reference::RowCounts;
use crate::request::{Against, Method, ValueRequest};
use crate::saved::files_in;
use crate::summary::{Facts, InputFile, Summary};
use crate::value::{Placed, Prepared, Tally, Waiting, split};
use crate::warnings;
use dshap::neighbours::{NeighbourValuer, TestMeans};
use dshap::{Rows, Sizes, Values};
use dshap_io::{ScanOptions, Source};
use dshap_table::{Design, Wanted};

/// Points that are valued at once, even if the reference is smaller.
const FEWEST_POINTS: usize = 1 << 16;

/// No block of points is smaller, however little memory there is.
const LEAST_POINTS: usize = 1 << 10;

/// What a thread holds of its test rows, at least.
const THREAD_BYTES: u64 = 16 << 20;

/// Values points, and says what ran.
pub(crate) fn value_neighbours(
    request: &ValueRequest,
    points: &Source,
    prepared: &Prepared,
    model: &NeighbourModel,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<Summary, Error> {
    let Prepared { valuer, design, method, choice, selection, learned, reference } = prepared;
    let carried = selection.carried(points.schema()).map_err(|e| Error::at(e, points, 0))?;
    let leave_one_out = request.against.is_leave_one_out();
    // A valuer at hand was fitted before, and what there is to say of that was said.
    let is_fitted = matches!(request.against, Against::Fitted { .. });
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
    let held = held + model.streamed_bytes(budget);
    let (most_points, options) = sized(budget, held, model, points, &wanted, design, leave_one_out)?;
    let run = Run {
        model,
        design: &valuer.design,
        method: *method,
        sizes: valuer.sizes(*method, *choice)?,
        std_error: request.std_error,
        budget: budget.reserving(held),
        observer,
    };
    let mut tally = Tally::new();
    let mut hand_over = |place: Placed, values: &Values| {
        let Placed { first_row, n_rows, carried, remaining } = place;
        tally.add(n_rows, values);
        receiver.rows(table.batch(first_row, n_rows, carried, values, remaining.as_deref()))
    };

    observer.begin(Stage::Value, points.n_bytes());
    let own = match leave_one_out {
        true => Some(run.own_values(points.n_bytes())?),
        false => None,
    };
    let mut tests = own.as_ref().map(|(_, counts)| *counts);
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
        match &own {
            Some((values, _)) if n_usable as usize <= values.len() => {
                let (place, encoded) = waiting.apart();
                hand_over(place, &slice(values, first_usable, encoded.y.len()))
            }
            Some((values, _)) => Err(Error::Changed { before: values.len() as u64, after: n_usable }),
            None => {
                block.push(waiting, batch.bytes_read);
                if block.n_usable < most_points {
                    return Ok(());
                }
                tests = Some(run.value_block(&mut block, &mut hand_over)?);
                Ok(())
            }
        }
    })?;
    if !block.waiting.is_empty() {
        tests = Some(run.value_block(&mut block, &mut hand_over)?);
    }
    observer.end();
    if let Some((values, _)) = &own
        && values.len() as u64 != n_usable
    {
        return Err(Error::Changed { before: values.len() as u64, after: n_usable });
    }

    let mut said = warnings::of_sources(points, reference.as_ref().filter(|_| !is_fitted));
    if let Against::Valuer { file, .. } = &request.against {
        said.extend(warnings::of_points_in_reference(points, &files_in(&valuer.history), file)?);
    } else if !is_fitted {
        said.extend(warnings::of_constant_text(design));
    }
    if !is_fitted {
        said.extend(warnings::of_shared_tests(points, reference.as_ref(), model));
        said.extend(doubts);
        said.extend(warnings::of_labels(valuer, *method, run.sizes));
    }
    let counts = tests.unwrap_or_default();
    if request.std_error && n_usable > 0 && counts.n_usable < run.fewest_for_errors() {
        said.push(format!("of {} test rows there are no standard errors", counts.n_usable));
    }
    let n_left_out = counts.n_left_out() + model.n_tests_left_out;
    said.extend(warnings::of_rows_left_out("test", n_left_out, "has no part in the utility"));
    if let Some(learned) = learned {
        let n_left_out = learned.rows.n_left_out();
        said.extend(warnings::of_rows_left_out("reference", n_left_out, "has no part in any set"));
    }
    if !leave_one_out {
        said.extend(warnings::of_rows_left_out("point", n_points - n_usable, "has no value"));
    }

    let mut facts = Facts::of(valuer, *method, *choice)?;
    if let (Some(neighbours), Some(counts)) = (&mut facts.neighbours, tests) {
        neighbours.test_rows = Some(counts.n_usable as usize);
    }
    Ok(Summary {
        version: env!("CARGO_PKG_VERSION"),
        facts,
        n_points,
        leave_one_out,
        reference_passes: learned.as_ref().map_or(0, |learned| learned.n_passes),
        extra_passes: learned.as_ref().map_or(Vec::new(), |learned| learned.extra_passes.clone()),
        rounds: None,
        n_sets: None,
        values: tally.spread,
        warnings: said,
        points: InputFile::of(points, request.digests)?,
        reference: reference.as_ref().map(|source| InputFile::of(source, request.digests)).transpose()?,
        valuer: match &request.against {
            Against::Valuer { file, .. } => Some(InputFile::of_valuer(file, request.digests)?),
            _ => None,
        },
    })
}

/// What neighbours have no answer to.
fn refuse(request: &ValueRequest, method: Method, leave_one_out: bool) -> Result<(), Error> {
    let misplaced = |what: &str| Err(Error::Misplaced { what: what.into() });
    let is_shapley = matches!(method, Method::KnnShapley { .. });
    match &request.against {
        Against::Valuer { .. } if is_shapley => misplaced(
            "the valuer is one of `knn-shapley`, which values its own reference rows only; `--method knn` values \
             other rows by it",
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

/// How many points are valued at once, and how they are read.
fn sized(
    budget: Budget,
    held: u64,
    model: &NeighbourModel,
    points: &Source,
    wanted: &[Wanted],
    design: &Design,
    leave_one_out: bool,
) -> Result<(usize, ScanOptions), Error> {
    let n = model.reference.n_rows();
    let threads = rayon::current_num_threads() as u64;
    let needed = |n_points: usize| {
        // Distances and values of four test rows at least, a sorted list, and means.
        let (wide, n_points) = (n.max(n_points) as u64, n_points as u64);
        threads * (THREAD_BYTES.max(64 * wide) + 64 * n as u64) + 40 * n_points
    };
    if leave_one_out {
        return Ok((n, budget.reserving(held + needed(n)).scan_options(points, wanted, design.n_encoded())?));
    }
    let mut n_points = n.max(FEWEST_POINTS);
    loop {
        // Points are there twice while they are joined.
        let cells = 16 * n_points as u64 * (design.n_columns() as u64 + 1);
        let cells = cells.min(64 * points.n_bytes());
        let budget = budget.reserving(held + cells + needed(n_points));
        match budget.scan_options(points, wanted, design.n_encoded()) {
            Ok(options) => return Ok((n_points, options)),
            Err(_) if n_points > LEAST_POINTS => n_points /= 2,
            Err(error) => return Err(error),
        }
    }
}

/// Points that wait to be valued.
#[derive(Default)]
struct Block {
    waiting: Vec<Waiting>,
    n_usable: usize,
    /// Bytes of the table before the block and up to its end.
    bytes: (u64, u64),
    /// Rows of the table before it.
    first_row: u64,
}

impl Block {
    fn push(&mut self, waiting: Waiting, bytes_read: u64) {
        if self.waiting.is_empty() {
            self.first_row = waiting.first_row;
        }
        self.n_usable += waiting.encoded.y.len();
        self.bytes.1 = bytes_read;
        self.waiting.push(waiting);
    }
}

/// How rows are valued.
struct Run<'a> {
    model: &'a NeighbourModel,
    /// How test rows become numbers.
    design: &'a Design,
    method: Method,
    sizes: Sizes,
    std_error: bool,
    budget: Budget,
    observer: &'a dyn Observer,
}

impl Run<'_> {
    /// Test rows from which on there are standard errors.
    fn fewest_for_errors(&self) -> u64 {
        2 + u64::from(matches!(self.model.tests, Tests::Reference(_)))
    }

    /// Values of all reference rows, each against the others.
    fn own_values(&self, n_bytes: u64) -> Result<(Values, RowCounts), Error> {
        let n = self.model.reference.n_rows();
        let mut means = TestMeans::new(n);
        let counts = self.each_tests((0, n_bytes), (0, n as u64), |valuer, watch| match self.method {
            Method::KnnShapley { .. } => valuer.add_finite_shapley(&mut means, watch),
            _ => valuer.add_leave_one_out(&mut means, watch),
        })?;
        Ok((self.finish(&means, n)?, counts))
    }

    /// Values of a block of points, handed over batch by batch.
    fn value_block(
        &self,
        block: &mut Block,
        hand_over: &mut dyn FnMut(Placed, &Values) -> Result<(), Error>,
    ) -> Result<RowCounts, Error> {
        let Block { waiting, n_usable, bytes, first_row } = std::mem::take(block);
        let mut places = Vec::with_capacity(waiting.len());
        let mut batches = Vec::with_capacity(waiting.len());
        for (place, encoded) in waiting.into_iter().map(Waiting::apart) {
            places.push((place, encoded.y.len()));
            batches.push(encoded);
        }
        let points = Held::new(batches, self.design.n_columns(), self.design)?;
        let rows: Rows<'_> = points.rows().map_err(|e| Error::core(e, self.design))?;
        let mut means = TestMeans::new(n_usable);
        let counts = self.each_tests(bytes, (first_row, n_usable as u64), |valuer, watch| {
            valuer.add_values(rows, &mut means, watch)
        })?;
        let values = self.finish(&means, n_usable)?;
        let mut start = 0;
        for (place, len) in places {
            hand_over(place, &slice(&values, start, len))?;
            start += len;
        }
        block.bytes = (bytes.1, bytes.1);
        Ok(counts)
    }

    /// Lets all test rows say something; `bytes` and `rows` are what progress is
    /// told in.
    fn each_tests(
        &self,
        (from, to): (u64, u64),
        (first_row, n_rows): (u64, u64),
        mut add: impl FnMut(
            &NeighbourValuer<'_>,
            &(dyn Fn(usize, usize) -> bool + Sync),
        ) -> Result<(), dshap::Error>
        + Send,
    ) -> Result<RowCounts, Error> {
        let Run { model, method, sizes, observer, .. } = *self;
        let k = method.neighbours().unwrap_or(1);
        let sizes = match method {
            Method::KnnShapley { .. } => NeighbourValuer::default_sizes(k, model.reference.n_rows()),
            _ => sizes,
        };
        model.each_tests(self.design, self.budget, observer, |tests, share: Share| {
            let valuer = model.valuer(tests, k, sizes)?;
            let watch = |done: usize, total: usize| {
                let done = share.from + (share.to - share.from) * done as f64 / total.max(1) as f64;
                let bytes = (to.saturating_sub(from) as f64 * done) as u64;
                observer.advance(from + bytes, first_row + (n_rows as f64 * done) as u64);
                !observer.is_interrupted()
            };
            add(&valuer, &watch)
        })
    }

    /// Values of rows, with room for errors that there are none of.
    fn finish(&self, means: &TestMeans, n_rows: usize) -> Result<Values, Error> {
        let mut values = means.values(self.std_error).map_err(|e| Error::core(e, self.design))?;
        if self.std_error && values.std_error.is_none() {
            values.std_error = Some(vec![f64::NAN; n_rows]);
        }
        Ok(values)
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
