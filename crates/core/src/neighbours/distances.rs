//! Distances between a few test rows and many others, block by block.

use super::options::Metric;
use super::space::{Placed, RIGHT_ANGLE, Space, TestRow};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Rows that direct distances are computed for at once: four vectors of four.
pub(super) const LANES: usize = 16;

/// Cells of a block of rows, at most; they stay in a level-2 cache while all test
/// rows are compared with them.
const BLOCK_CELLS: usize = 131_072;

/// Rows of a block, at most.
const BLOCK_ROWS: usize = 512;

/// From this many columns on, products are faster than differences: by a tenth of all the
/// work at 8 columns, a third at 32, a half at 512 (20 000 rows). Below that they gain
/// nothing, and data of few columns have more ties, which need differences anyway.
const PRODUCT_COLUMNS: usize = 8;

/// How distances are computed at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// As sums of squared (or absolute) differences: these are the distances
    /// that count.
    Direct,
    /// As `|t|² + |x|² − 2tᵀx`, by matrix products of centred coordinates.
    Products,
}

/// How far a distance may be from the direct one: by `absolute + relative·d`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Precision {
    pub(super) relative: f64,
    pub(super) absolute: f64,
}

impl Precision {
    /// That of direct distances.
    pub(super) const EXACT: Self = Self { relative: 0.0, absolute: 0.0 };
}

impl Way {
    /// The faster one.
    pub(super) fn of(space: &Space) -> Self {
        match space.metric {
            Metric::Manhattan => Way::Direct,
            Metric::Euclidean | Metric::Cosine if space.columns.len() < PRODUCT_COLUMNS => Way::Direct,
            Metric::Euclidean | Metric::Cosine => Way::Products,
        }
    }

    /// How precise distances to `test` are.
    ///
    /// With `u = ε/2` and coordinates that carry three roundings, the products
    /// are off by at most `(p + 5)u·(|t| + |x|)²`, the coordinates by
    /// `6u·(|t| + |x|)²` and the direct distance by `(p + 4)u·d²`; since
    /// `|x| ≤ |t| + d`, twice the sum of them is at most
    /// `2(p + 8)ε·(2|t| + d)² ≤ 2(p + 8)ε·(8|t|² + 2d²)`.
    pub(super) fn precision(self, space: &Space, test: &TestRow) -> Precision {
        match self {
            Way::Direct => Precision::EXACT,
            Way::Products => {
                let p = space.columns.len() as f64;
                let gamma = 2.0 * (p + 8.0) * f64::EPSILON;
                // Squares below the smallest double are lost on both sides.
                let lost = p * f64::MIN_POSITIVE;
                Precision { relative: 2.0 * gamma, absolute: 8.0 * gamma * test.norm_sq + lost }
            }
        }
    }
}

/// Test rows, and `len` rows from `start` on that they are compared with.
#[derive(Clone, Copy)]
struct Block<'a> {
    space: &'a Space,
    tests: &'a [&'a TestRow],
    rows: &'a Placed<'a>,
    start: usize,
    len: usize,
}

/// Memory for blocks.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// Cells of a block for direct distances.
    cells: Vec<[f64; LANES]>,
    column: Vec<f64>,
    /// Cells of a block for products.
    factors: Vec<f64>,
    tests: Vec<f64>,
    products: Vec<f64>,
}

impl Work {
    /// Squared distances (Manhattan: distances) of every test row to every row, one row
    /// of `out` for each test row. They are direct distances, or close to them.
    pub(super) fn fill(
        &mut self,
        way: Way,
        space: &Space,
        tests: &[&TestRow],
        rows: &Placed<'_>,
        out: &mut [f64],
    ) {
        let n = rows.len();
        if n == 0 || tests.is_empty() {
            return;
        }
        let block_rows = (BLOCK_CELLS / space.columns.len() / LANES * LANES).clamp(LANES, BLOCK_ROWS);
        for start in (0..n).step_by(block_rows) {
            let block = Block { space, tests, rows, start, len: block_rows.min(n - start) };
            match way {
                Way::Direct => self.direct_block(block, out),
                Way::Products => self.product_block(block, out),
            }
        }
        if rows.has_null() || tests.iter().any(|test| test.is_null) {
            for (test, out) in tests.iter().zip(out.chunks_exact_mut(n)) {
                for (row, out) in out.iter_mut().enumerate() {
                    if test.is_null || rows.is_null(row) {
                        *out = RIGHT_ANGLE;
                    }
                }
            }
        }
    }

    fn direct_block(&mut self, block: Block<'_>, out: &mut [f64]) {
        let Block { space, tests, rows, start, len } = block;
        let p = space.columns.len();
        // Sixteen rows at a time are stored side by side, column after column.
        let n_panels = len.div_ceil(LANES);
        self.cells.clear();
        self.cells.resize(n_panels * p, [0.0; LANES]);
        self.column.resize(n_panels * LANES, 0.0);
        for (j, column) in space.columns.iter().enumerate() {
            space.direct_coordinates(rows, start, column, &mut self.column[..len]);
            let (lanes, _) = self.column.as_chunks::<LANES>();
            for (panel, lanes) in lanes.iter().enumerate() {
                self.cells[panel * p + j] = *lanes;
            }
        }
        let scales = &mut self.tests;
        scales.clear();
        scales.extend(space.columns.iter().map(|column| space.direct_scale(column)));
        let n = rows.len();
        for (test, out) in tests.iter().zip(out.chunks_exact_mut(n)) {
            let out = &mut out[start..start + len];
            direct_distances(space.metric, &self.cells, &test.direct, scales, out);
        }
    }

    fn product_block(&mut self, block: Block<'_>, out: &mut [f64]) {
        let Block { space, tests, rows, start, len } = block;
        let (p, n_tests) = (space.columns.len(), tests.len());
        self.factors.resize(len * p, 0.0);
        for (column, cells) in space.columns.iter().zip(self.factors.chunks_exact_mut(len)) {
            space.product_coordinates(rows, start, column, cells);
        }
        self.tests.clear();
        tests.iter().for_each(|test| self.tests.extend_from_slice(&test.product));
        self.products.clear();
        self.products.resize(len * (n_tests + 1), 0.0);
        let (products, norms) = self.products.split_at_mut(len * n_tests);
        matmul(
            MatMut::from_column_major_slice_mut(products, len, n_tests),
            Accum::Replace,
            MatRef::from_column_major_slice(&self.factors[..len * p], len, p),
            MatRef::from_column_major_slice(&self.tests, p, n_tests),
            -2.0,
            Par::Seq,
        );
        for cells in self.factors[..len * p].chunks_exact(len) {
            norms.iter_mut().zip(cells).for_each(|(norm, cell)| *norm += cell * cell);
        }
        let n = rows.len();
        for ((test, out), products) in
            tests.iter().zip(out.chunks_exact_mut(n)).zip(products.chunks_exact(len))
        {
            for ((out, product), norm) in out[start..start + len].iter_mut().zip(products).zip(&*norms) {
                *out = (product + (test.norm_sq + norm)).max(0.0);
            }
        }
    }
}

/// Direct distances from a test row to rows that are stored side by side, column after
/// column.
pub(super) fn direct_distances(
    metric: Metric,
    cells: &[[f64; LANES]],
    test: &[f64],
    scales: &[f64],
    out: &mut [f64],
) {
    match metric {
        Metric::Manhattan => add_up(cells, test, scales, out, f64::abs),
        Metric::Euclidean | Metric::Cosine => add_up(cells, test, scales, out, |d| d * d),
    }
}

/// Sums of `of(difference)` over columns, for rows side by side.
fn add_up(
    cells: &[[f64; LANES]],
    test: &[f64],
    scales: &[f64],
    out: &mut [f64],
    of: impl Fn(f64) -> f64 + Copy,
) {
    let p = test.len();
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (panel, out) in cells.chunks_exact(p).zip(out.chunks_mut(LANES)) {
                let mut sums = [0.0; LANES];
                for j in 0..p {
                    let (cells, a, scale) = (&panel[j], test[j], scales[j]);
                    for lane in 0..LANES {
                        sums[lane] += of((a - cells[lane]) * scale);
                    }
                }
                out.copy_from_slice(&sums[..out.len()]);
            }
        },
    );
}
