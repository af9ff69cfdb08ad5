//! What values the points of a run, whatever was fitted.

use crate::Error;
use crate::neighbours::Blocks;
use crate::observer::Stage;
use crate::warning::Warning;
use dshap::{Draws, Part, Place, Rows, Sizes, Valuer, Values, Wants, Watch};
use dshap_table::Design;

/// Values the points of one run. Rows come per batch, per block or all at once,
/// as it wants them.
pub trait RowValuer: Send {
    /// The parts that values come with, in order.
    fn parts(&self) -> Vec<Part>;

    /// The set sizes averaged over.
    fn sizes(&self) -> Sizes;

    /// What is doubtful before any row is valued.
    fn warnings(&self) -> Vec<Warning>;

    /// How rows should come.
    fn wants(&self) -> WantsRows;

    /// Says whether there is memory for an index of the rows it holds. It may make one,
    /// unless it is told that there is no room; values do not depend on it.
    fn choose(&mut self, _with_index: bool) {}

    /// From now on values rows whose targets are not known, by what is expected of them.
    /// Returns whether the method can do that.
    fn expect_targets(&mut self) -> bool {
        false
    }

    /// Values rows that come as it wants them.
    ///
    /// # Errors
    ///
    /// [`Error`].
    fn values(&mut self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error>;

    /// What valuing took, once all rows are valued.
    fn outcome(&self) -> Outcome {
        Outcome::default()
    }
}

/// How rows should come.
#[derive(Debug, Clone)]
pub enum WantsRows {
    /// Batch by batch; each row is quick.
    Batches,
    /// Batch by batch, valued in slices of at least this many rows, since rows take
    /// long.
    Slices(usize),
    /// In blocks as large as memory allows.
    Blocks(Blocks),
    /// All at once; the stage and the steps of what takes long.
    All {
        /// The stage.
        stage: Stage,
        /// The steps at most.
        n_steps: u64,
    },
}

/// What valuing took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Rounds of sets drawn, for methods that draw them.
    pub draws: Option<Draws>,
    /// Test rows read, used and left out, for nearest neighbours.
    pub tests: Option<crate::RowCounts>,
    /// What a baseline took.
    pub iterations: Option<Iterations>,
    /// What is doubtful once rows are valued.
    pub warnings: Vec<Warning>,
}

/// What a baseline that draws took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iterations {
    /// Iterations.
    pub n_iterations: usize,
    /// Whether the means converged.
    pub converged: bool,
    /// Share of the gains of chains that were computed before truncation.
    pub evaluated_share: Option<f64>,
}

/// A valuer of core, which values row by row or all rows at once.
#[derive(Debug)]
pub struct CoreRows<'a> {
    valuer: Box<dyn Valuer + 'a>,
    design: &'a Design,
    /// Rounds of draws at most, for each fit.
    most_rounds: u64,
    draws: Option<Draws>,
}

impl<'a> CoreRows<'a> {
    /// Values rows by `valuer`.
    pub fn new(valuer: Box<dyn Valuer + 'a>, design: &'a Design) -> Self {
        Self { valuer, design, most_rounds: 0, draws: None }
    }

    /// The same for a valuer that draws at most this many rounds.
    pub fn drawing(self, most_rounds: u64) -> Self {
        Self { most_rounds, ..self }
    }
}

impl RowValuer for CoreRows<'_> {
    fn parts(&self) -> Vec<Part> {
        self.valuer.parts()
    }

    fn sizes(&self) -> Sizes {
        self.valuer.sizes()
    }

    fn warnings(&self) -> Vec<Warning> {
        Warning::of_core(self.valuer.warnings(), self.design)
    }

    fn wants(&self) -> WantsRows {
        match self.valuer.wants() {
            Wants::Batches => WantsRows::Batches,
            Wants::Slices(n) => WantsRows::Slices(n),
            Wants::All => WantsRows::All { stage: Stage::Draw, n_steps: self.most_rounds },
        }
    }

    fn expect_targets(&mut self) -> bool {
        self.valuer.expect_targets()
    }

    fn values(&mut self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        let values = self.valuer.values_at(rows, place, watch).map_err(|e| Error::core(e, self.design))?;
        self.draws = values.draws.or(self.draws);
        Ok(values)
    }

    fn outcome(&self) -> Outcome {
        Outcome { draws: self.draws, ..Outcome::default() }
    }
}
