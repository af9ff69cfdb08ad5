//! A second-order valuer as plain numbers.

use super::expansion::Expansion;
use super::options::SecondOrderOptions;
use super::terms::RowForm;
use super::valuer::SecondOrderValuer;
use crate::classification::{LogisticFit, LogisticParts};
use crate::packed::{pack_lower, unpack_lower};
use crate::{Error, Sizes};
use faer::{Col, Mat};
use std::sync::Arc;

/// Numbers of an expansion that are neither vectors nor matrices.
const N_SCALARS: usize = 3;
const N_VECTORS: usize = 12;
const N_MATRICES: usize = 8;

/// All numbers of a second-order valuer, without its standard errors.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondOrderParts {
    /// The fit of the reference.
    pub fit: LogisticParts,
    /// The set sizes that the expansions were made for.
    pub sizes: Sizes,
    /// How values are computed.
    pub options: SecondOrderOptions,
    /// The expansions, by size.
    pub nodes: Vec<NodeParts>,
}

/// The numbers of one expansion.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeParts {
    /// The fit it expands about, with the ridge for sets of its size; `None` for the fit
    /// of the reference.
    pub fit: Option<LogisticParts>,
    /// Its size and constants, then vectors, then lower triangles of matrices,
    /// column by column, in the order of the fields of [`Expansion`].
    pub moments: Vec<f64>,
}

impl SecondOrderValuer {
    /// All numbers of the valuer, from which [`from_parts`](Self::from_parts)
    /// makes the same valuer again.
    pub fn to_parts(&self) -> SecondOrderParts {
        let has_own_fit = self.fit.ridge() > 0.0;
        let node = |row: &RowForm| NodeParts {
            fit: has_own_fit.then(|| row.fit.to_parts()),
            moments: row.expansion.to_numbers(),
        };
        SecondOrderParts {
            fit: self.fit.to_parts(),
            sizes: self.made_for,
            options: self.options,
            nodes: self.rows.iter().map(node).collect(),
        }
    }

    /// A valuer from its numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] when they cannot be the numbers of a valuer; as
    /// for [`SecondOrderPasses`](super::SecondOrderPasses) for sizes and options.
    pub fn from_parts(parts: SecondOrderParts) -> Result<Self, Error> {
        let SecondOrderParts { fit, sizes, options, nodes } = parts;
        let fit = Arc::new(LogisticFit::from_parts(fit)?);
        options.check(fit.ridge())?;
        options.check_sizes(&fit, sizes)?;
        let expected = options.node_sizes(fit.ridge(), sizes);
        if nodes.len() != expected.len() {
            return Err(Error::Contradiction {
                what: "the number of expansions differs from the number of sizes",
            });
        }
        let row_form = |(node, size): (NodeParts, f64)| {
            let own = match node.fit {
                Some(own) => Arc::new(LogisticFit::from_parts(own)?),
                None if fit.ridge() > 0.0 => {
                    return Err(Error::Contradiction { what: "an expansion with a ridge needs its own fit" });
                }
                None => Arc::clone(&fit),
            };
            let is_same = own.n_rows() == fit.n_rows() && own.n_features() == fit.n_features();
            let expansion = Expansion::from_numbers(own.dim(), &node.moments)
                .filter(|expansion| is_same && expansion.size == size)
                .ok_or(Error::Contradiction { what: "an expansion does not belong to its fit and size" })?;
            Ok(RowForm::new(own, expansion, options))
        };
        let rows = nodes.into_iter().zip(expected).map(row_form).collect::<Result<Vec<_>, Error>>()?;
        Ok(Self::new(fit, sizes, options, rows))
    }
}

impl Expansion {
    fn to_numbers(&self) -> Vec<f64> {
        let mut numbers = vec![self.size, self.constant, self.mean_second];
        for vector in self.vectors() {
            numbers.extend(vector.iter());
        }
        for matrix in self.matrices() {
            numbers.extend(pack_lower(matrix));
        }
        numbers
    }

    /// `None` if there are too few or too many, or some are not finite.
    fn from_numbers(dim: usize, numbers: &[f64]) -> Option<Self> {
        let triangle = dim.checked_mul(dim + 1)? / 2;
        let expected = N_SCALARS + N_VECTORS * dim + N_MATRICES.checked_mul(triangle)?;
        if numbers.len() != expected || !numbers.iter().all(|number| number.is_finite()) {
            return None;
        }
        let (scalars, rest) = numbers.split_at(N_SCALARS);
        let (vectors, matrices) = rest.split_at(N_VECTORS * dim);
        let mut vectors = vectors.chunks_exact(dim).map(|cells| Col::from_fn(dim, |k| cells[k]));
        let mut vector = || vectors.next();
        let mut matrices = matrices.chunks_exact(triangle);
        let mut matrix = || {
            let lower = unpack_lower(matrices.next()?, dim)?;
            Some(Mat::from_fn(dim, dim, |i, j| lower[(i.max(j), i.min(j))]))
        };
        Some(Self {
            size: scalars[0],
            constant: scalars[1],
            mean_second: scalars[2],
            penalty_slope: vector()?,
            pull: vector()?,
            skew: vector()?,
            feedback: vector()?,
            bias: vector()?,
            slope: vector()?,
            turn: vector()?,
            third: vector()?,
            fourth: vector()?,
            turned_feedback: vector()?,
            turned_weight: vector()?,
            along_influence: vector()?,
            inverse: matrix()?,
            noise: matrix()?,
            spread: matrix()?,
            curvature: matrix()?,
            turned_skew: matrix()?,
            net_curvature: matrix()?,
            position: matrix()?,
            turned_position: matrix()?,
        })
    }

    fn vectors(&self) -> [&Col<f64>; N_VECTORS] {
        [
            &self.penalty_slope,
            &self.pull,
            &self.skew,
            &self.feedback,
            &self.bias,
            &self.slope,
            &self.turn,
            &self.third,
            &self.fourth,
            &self.turned_feedback,
            &self.turned_weight,
            &self.along_influence,
        ]
    }

    /// All of them symmetric.
    fn matrices(&self) -> [&Mat<f64>; N_MATRICES] {
        [
            &self.inverse,
            &self.noise,
            &self.spread,
            &self.curvature,
            &self.turned_skew,
            &self.net_curvature,
            &self.position,
            &self.turned_position,
        ]
    }
}
