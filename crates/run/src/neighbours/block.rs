//! Points that wait until there are enough of them, and their values.

use crate::Error;
use crate::fitted::{NeighbourModel, Share};
use crate::general::{Held, slice};
use crate::memory::Budget;
use crate::observer::Observer;
use crate::reference::RowCounts;
use crate::request::Method;
use crate::value::{Placed, Waiting};
use dshap::neighbours::{NeighbourValuer, Search, TestMeans};
use dshap::{Rows, Sizes, Values};
use dshap_io::{ScanOptions, Source};
use dshap_table::{Design, Wanted};

/// Points that are valued at once, even if the reference is smaller.
const FEWEST_POINTS: usize = 1 << 16;

/// No block of points is smaller, however little memory there is.
const LEAST_POINTS: usize = 1 << 10;

/// What a thread holds of its test rows, at least.
const THREAD_BYTES: u64 = 16 << 20;

/// How many points are valued at once, how they are read, and how neighbours are found: an
/// index of so many bytes must leave room for as many points.
pub(super) fn sized(
    budget: Budget,
    index_bytes: u64,
    model: &NeighbourModel,
    points: &Source,
    wanted: &[Wanted],
    design: &Design,
    leave_one_out: bool,
) -> Result<(usize, ScanOptions, Search), Error> {
    let sized = |budget| sized_within(budget, model, points, wanted, design, leave_one_out);
    let (n_points, options) = sized(budget)?;
    match sized(budget.reserving_more(index_bytes)) {
        Ok((n_indexed, options)) if n_indexed == n_points => Ok((n_points, options, Search::Auto)),
        _ => Ok((n_points, options, Search::Blocks)),
    }
}

fn sized_within(
    budget: Budget,
    model: &NeighbourModel,
    points: &Source,
    wanted: &[Wanted],
    design: &Design,
    leave_one_out: bool,
) -> Result<(usize, ScanOptions), Error> {
    let n = model.reference.n_rows();
    let threads = rayon::current_num_threads() as u64;
    let needed = |n_points: usize| {
        // Distances and values of four test rows at least, a sorted list, sorted points
        // where there are any but the rows of the list, and means.
        let sorted = if leave_one_out { 0 } else { 16 * n_points as u64 };
        let (wide, n_points) = (n.max(n_points) as u64, n_points as u64);
        threads * (THREAD_BYTES.max(64 * wide) + 72 * n as u64 + sorted) + 40 * n_points
    };
    if leave_one_out {
        return Ok((n, budget.reserving_more(needed(n)).scan_options(points, wanted, design.n_encoded())?));
    }
    let mut n_points = n.max(FEWEST_POINTS);
    loop {
        // Points are there twice while they are joined.
        let cells = 16 * n_points as u64 * (design.n_columns() as u64 + 1);
        let cells = cells.min(64 * points.n_bytes());
        let budget = budget.reserving_more(cells + needed(n_points));
        match budget.scan_options(points, wanted, design.n_encoded()) {
            Ok(options) => return Ok((n_points, options)),
            Err(_) if n_points > LEAST_POINTS => n_points /= 2,
            Err(error) => return Err(error),
        }
    }
}

/// Points that wait to be valued.
#[derive(Default)]
pub(super) struct Block {
    waiting: Vec<Waiting>,
    n_usable: usize,
    /// Bytes of the table before the block and up to its end.
    bytes: (u64, u64),
    /// Rows of the table before it.
    first_row: u64,
}

impl Block {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Points that have a value to come.
    pub(super) fn n_usable(&self) -> usize {
        self.n_usable
    }

    pub(super) fn push(&mut self, waiting: Waiting, bytes_read: u64) {
        if self.waiting.is_empty() {
            self.first_row = waiting.first_row;
        }
        self.n_usable += waiting.encoded.y.len();
        self.bytes.1 = bytes_read;
        self.waiting.push(waiting);
    }
}

/// How rows are valued.
pub(super) struct Run<'a> {
    pub(super) model: &'a NeighbourModel,
    /// How test rows become numbers.
    pub(super) design: &'a Design,
    pub(super) method: Method,
    pub(super) sizes: Sizes,
    pub(super) search: Search,
    pub(super) std_error: bool,
    pub(super) budget: Budget,
    pub(super) observer: &'a dyn Observer,
}

impl Run<'_> {
    /// Values of all reference rows, each against the others.
    pub(super) fn own_values(&self, n_bytes: u64) -> Result<(Values, RowCounts), Error> {
        let n = self.model.reference.n_rows();
        let mut means = TestMeans::new(n);
        let counts = self.each_tests((0, n_bytes), (0, n as u64), |valuer, watch| match self.method {
            Method::KnnShapley { .. } => valuer.add_finite_shapley(&mut means, watch),
            _ => valuer.add_leave_one_out(&mut means, watch),
        })?;
        Ok((self.finish(&means, n)?, counts))
    }

    /// Values of a block of points, handed over batch by batch.
    pub(super) fn value_block(
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
        let Run { model, method, sizes, search, observer, .. } = *self;
        let k = method.neighbours().unwrap_or(1);
        model.each_tests(self.design, self.budget, observer, |tests, share: Share| {
            let valuer = match method {
                Method::KnnShapley { .. } => model.dataset_valuer(tests, k)?,
                _ => model.valuer(tests, k, sizes)?.with_search(search),
            };
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
