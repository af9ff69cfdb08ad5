//! What every fitted method can do.

use crate::linear::SumErrors;
use crate::{Error, Part, Rows, Sizes, Values, Warning};
use std::fmt::Debug;

/// Told how much of the work is done, of how much; returns whether to go on.
///
/// It is called before the work begins and between pieces of it, perhaps from several
/// threads. Methods that draw sets count rounds, nearest neighbours count test rows,
/// all others count the rows that are valued.
pub type Watch<'a> = &'a (dyn Fn(usize, usize) -> bool + Sync);

/// Where rows come from: the number of the first one in its table, and whether the rows
/// belong to the reference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// The number of the first row. It selects the random streams of the paper's
    /// algorithms, and the rows of the reference that a density leaves out.
    pub first_row: u64,
    /// Whether the rows belong to the reference, so that each is valued against the
    /// others.
    pub in_reference: bool,
}

impl Place {
    /// Rows of the reference from row `first_row` on.
    pub fn of_reference(first_row: u64) -> Self {
        Self { first_row, in_reference: true }
    }
}

/// How rows should come to a valuer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// Any number at a time; each row is quick.
    Batches,
    /// Any number at a time, but rows take long: slices of at least this many rows keep
    /// every thread of the current pool busy and progress visible.
    Slices(usize),
    /// All rows at once: sets are drawn, or neighbours found, for all of them together.
    All,
}

/// A way of assigning values to rows.
///
/// ```
/// use dshap::linear::{FitOptions, LinearFit, LinearMethod, LinearValuer};
/// use dshap::{Place, Rows, Sizes, Valuer};
/// use faer::mat;
///
/// let x = mat![[-2.0], [-1.0], [0.0], [1.0], [2.0], [3.0_f64]];
/// let reference = Rows::new(x.as_ref(), &[-4.1, -1.9, 0.2, 1.9, 4.1, 5.8])?;
/// let fit = LinearFit::of(reference, FitOptions::default())?;
/// let valuer: Box<dyn Valuer> =
///     Box::new(LinearValuer::new(fit, Sizes::new(4, 6), LinearMethod::default())?);
///
/// // The last three rows, each against the other five.
/// let values = valuer.values_at(reference.slice(3, 3), Place::of_reference(3), &|_, _| true)?;
/// let parts: Vec<_> = values.parts.iter().map(|(part, _)| *part).collect();
/// assert_eq!((values.len(), parts), (3, valuer.parts()));
/// # Ok::<(), dshap::Error>(())
/// ```
pub trait Valuer: Debug + Send + Sync {
    /// Values rows, in row order. Rows of the reference are valued against the others.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`] for rows of another width, [`Error::NotFinite`] and
    /// [`Error::TooLarge`] for cells that cannot be computed with, [`Error::NotBinary`]
    /// and [`Error::NotAClass`] for invalid labels; [`Error::PartOfReference`] if a
    /// method that [wants](Self::wants) all rows of the reference at once gets others;
    /// [`Error::Interrupted`] if `watch` says so.
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error>;

    /// Values points that are not part of the reference.
    ///
    /// # Errors
    ///
    /// As for [`values_at`](Self::values_at).
    fn values(&self, points: Rows<'_>) -> Result<Values, Error> {
        self.values_at(points, Place::default(), &|_, _| true)
    }

    /// The parts that its values come with, in output order.
    fn parts(&self) -> Vec<Part>;

    /// The set sizes averaged over.
    fn sizes(&self) -> Sizes;

    /// What is doubtful before any row is valued.
    fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    /// Compares with calibrated values on a sample of the reference, if the method
    /// assumes Gaussian inputs. Warns if they differ by more than their standard errors,
    /// and by more than a little.
    ///
    /// # Errors
    ///
    /// As for [`values_at`](Self::values_at).
    fn check_inputs(&self, _sample: Rows<'_>) -> Result<Option<Warning>, Error> {
        Ok(None)
    }

    /// From now on values rows whose targets are not known, by what is expected of them: a
    /// squared residual like the noise of the reference. Targets of rows are then not looked
    /// at. Returns whether the method can do that.
    fn expect_targets(&mut self) -> bool {
        false
    }

    /// The standard error of the sum of the values of each group of rows, which share one
    /// fit. None for methods that do not know it.
    ///
    /// # Errors
    ///
    /// As for [`values_at`](Self::values_at).
    fn sum_errors(
        &self,
        _rows: Rows<'_>,
        _groups: &[Vec<usize>],
        _in_reference: bool,
    ) -> Result<Option<Vec<f64>>, Error> {
        Ok(None)
    }

    /// Collects standard errors of sums over groups of rows that come batch by batch, and
    /// their covariances. None for methods that do not know them.
    fn sums(&self, _n_groups: usize, _in_reference: bool) -> Option<SumErrors<'_>> {
        None
    }

    /// How rows should come.
    fn wants(&self) -> Wants {
        Wants::Batches
    }
}

/// Slices in which every thread of the current pool has `n_rows` rows.
pub(crate) fn slices_of(n_rows: usize) -> Wants {
    Wants::Slices(n_rows * rayon::current_num_threads())
}

/// Reports progress, and fails if the caller wants to stop.
pub(crate) fn go_on(watch: Watch<'_>, done: usize, total: usize) -> Result<(), Error> {
    if watch(done, total) { Ok(()) } else { Err(Error::Interrupted) }
}

/// Refuses rows that are not all `n_rows` of the reference.
pub(crate) fn check_whole(rows: Rows<'_>, n_rows: usize) -> Result<(), Error> {
    if rows.len() == n_rows { Ok(()) } else { Err(Error::PartOfReference { found: rows.len(), n_rows }) }
}
