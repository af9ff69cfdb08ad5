//! A tree of boxes over tiles of rows, for sums that need not visit all of them.
//!
//! Rows are ordered so that each tile holds neighbours: ranges of tiles are halved at the
//! median of their widest coordinate. A point visits boxes nearest first and skips a box
//! once all its rows together cannot matter.

use super::kernel::Kernel;
use super::lanes::{KernelSums, Lanes};
use super::sums::{Skip, Smoother};
use super::tile_kernels::Groups;
use super::tiles::{TILE_ROWS, Tiles};

/// The relative error of a sum when boxes are left out.
///
/// With `Σ̃` the sum over the rows visited and `Σ` that over all, both for the
/// kernel and for its convolution,
///
/// ```text
/// Σ̃ ≤ Σ ≤ (1 + 1e-12)·Σ̃         (apart from rounding)
/// ```
///
/// Compact kernels have no error: boxes out of reach contribute only zeros.
pub const TREE_TOLERANCE: f64 = 1e-12;

/// Rows in tree order, and the boxes around ranges of their tiles.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    /// The node of all tiles comes first.
    nodes: Vec<Node>,
    /// Lower and upper corner of each node's box, one after the other.
    corners: Vec<f64>,
    /// The new place of each row.
    position: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
enum Node {
    Tile(usize),
    Pair(usize, usize),
}

impl Tree {
    /// Orders the rows and returns them with their tree.
    pub(crate) fn new(tiles: &Tiles) -> (Tiles, Self) {
        let mut order: Vec<usize> = (0..tiles.n_rows()).collect();
        arrange(tiles, &mut order);
        let tiles = tiles.reordered(&order);
        let mut position = vec![0; order.len()];
        for (at, &row) in order.iter().enumerate() {
            position[row] = at;
        }
        let mut tree = Self { nodes: Vec::new(), corners: Vec::new(), position };
        tree.add_node(&tiles, 0, tiles.n_tiles());
        (tiles, tree)
    }

    /// The new place of row `row` of the reference.
    pub(crate) fn position(&self, row: usize) -> usize {
        self.position[row]
    }

    /// Bytes held.
    pub(crate) fn n_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.corners.capacity() * size_of::<f64>()
            + self.position.capacity() * size_of::<usize>()
    }

    /// Adds the node of tiles `first..last` and those below it.
    fn add_node(&mut self, tiles: &Tiles, first: usize, last: usize) -> usize {
        let (dim, node) = (tiles.dim(), self.nodes.len());
        self.nodes.push(Node::Tile(first));
        self.corners.resize((node + 1) * 2 * dim, 0.0);
        if last - first == 1 {
            for j in 0..dim {
                let cells = &tiles.tile(first)[j * TILE_ROWS..j * TILE_ROWS + tiles.tile_len(first)];
                let (low, high) = range(cells.iter().copied());
                self.corners[node * 2 * dim + j] = low;
                self.corners[(node * 2 + 1) * dim + j] = high;
            }
            return node;
        }
        let middle = first + (last - first) / 2;
        let left = self.add_node(tiles, first, middle);
        let right = self.add_node(tiles, middle, last);
        self.nodes[node] = Node::Pair(left, right);
        for j in 0..dim {
            let corner = |node: usize, side: usize| self.corners[(node * 2 + side) * dim + j];
            let low = corner(left, 0).min(corner(right, 0));
            let high = corner(left, 1).max(corner(right, 1));
            self.corners[node * 2 * dim + j] = low;
            self.corners[(node * 2 + 1) * dim + j] = high;
        }
        node
    }

    /// How far a point is from a box: the squared distance for the Gaussian
    /// kernel, the largest gap of a coordinate for the others.
    fn gap(&self, node: usize, point: &[f64], kernel: Kernel) -> f64 {
        let dim = point.len();
        let corners = &self.corners[node * 2 * dim..(node + 1) * 2 * dim];
        let gaps = (0..dim).map(|j| (corners[j] - point[j]).max(point[j] - corners[dim + j]).max(0.0));
        match kernel {
            Kernel::Gaussian => gaps.map(|gap| gap * gap).sum(),
            _ => gaps.fold(0.0, f64::max),
        }
    }

    /// The sums for one point, and how many tiles it visited.
    pub(crate) fn sums(
        &self,
        smoother: &Smoother,
        tiles: &Tiles,
        point: &[f64],
        own: Option<usize>,
    ) -> (KernelSums, usize) {
        let kernel = smoother.kernel;
        let group = Groups::new(point, tiles.dim());
        let own = own.as_slice();
        let skip = if own.is_empty() { Skip::None } else { Skip::Own(own) };
        let mut lanes = [Lanes::new(kernel)];
        let mut n_visited = 0;
        let mut cut = match kernel {
            Kernel::Gaussian => f64::INFINITY,
            // The convolution reaches twice as far.
            _ => 2.0 * kernel.reach() * smoother.bandwidth,
        };
        let mut stack = vec![(self.gap(0, point, kernel), 0)];
        while let Some((gap, node)) = stack.pop() {
            if gap > cut {
                continue;
            }
            match self.nodes[node] {
                Node::Tile(tile) => {
                    smoother.add_tile(&group, tiles, tile, skip, &mut lanes);
                    n_visited += 1;
                    if kernel == Kernel::Gaussian {
                        cut = cut_of(lanes[0].total(), smoother.rate(), tiles.n_rows());
                    }
                }
                Node::Pair(left, right) => {
                    let mut near = (self.gap(left, point, kernel), left);
                    let mut far = (self.gap(right, point, kernel), right);
                    if far.0 < near.0 {
                        std::mem::swap(&mut near, &mut far);
                    }
                    stack.extend([far, near]);
                }
            }
        }
        (lanes[0].total(), n_visited)
    }
}

/// The squared distance beyond which `n` rows cannot add more than [`TREE_TOLERANCE`] of
/// the sums so far: a row there adds less than `tolerance/n` of either.
fn cut_of(sums: KernelSums, rate: f64, n: usize) -> f64 {
    if sums.plain == 0.0 {
        return f64::INFINITY;
    }
    let budget = (n as f64 / TREE_TOLERANCE).ln();
    let plain = (budget - sums.plain.ln()) / (2.0 * rate);
    let convolved = (budget - sums.convolved.ln()) / rate;
    sums.base + plain.max(convolved)
}

/// Orders rows so that tiles are boxes of neighbours. Equal rows stay in their order, so
/// that the result depends only on the rows.
fn arrange(tiles: &Tiles, order: &mut [usize]) {
    if order.len() <= TILE_ROWS {
        order.sort_unstable();
        return;
    }
    let width = |column: usize| {
        let (low, high) = range(order.iter().map(|&row| tiles.cell(row, column)));
        high - low
    };
    let widths: Vec<f64> = (0..tiles.dim()).map(width).collect();
    let widest = (1..widths.len()).fold(0, |best, j| if widths[j] > widths[best] { j } else { best });
    let middle = order.len().div_ceil(TILE_ROWS) / 2 * TILE_ROWS;
    order.select_nth_unstable_by(middle, |&a, &b| {
        tiles.cell(a, widest).total_cmp(&tiles.cell(b, widest)).then(a.cmp(&b))
    });
    let (left, right) = order.split_at_mut(middle);
    rayon::join(|| arrange(tiles, left), || arrange(tiles, right));
}

fn range(cells: impl Iterator<Item = f64>) -> (f64, f64) {
    cells.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), cell| (low.min(cell), high.max(cell)))
}
