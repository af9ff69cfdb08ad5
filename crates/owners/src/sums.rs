//! Moments of parts of the rows, fold by fold.

use dshap::{Moments, MomentsBuilder, MomentsForm, Rows};
use faer::Mat;
use rayon::prelude::*;

/// Folds of cross-fitting, and of the choice of a penalty.
pub(crate) const N_FOLDS: usize = 5;

/// Moments of one part, fold by fold; nothing where there is no row.
pub(crate) type FoldMoments = [Option<Moments>; N_FOLDS];

/// Collects moments of many parts in one pass. Each part and fold gathers its own rows in
/// the order of the table, so neither batches nor threads change a bit.
pub(crate) struct FoldSums {
    n_features: usize,
    slots: Vec<Slot>,
}

struct Slot {
    builder: MomentsBuilder,
    /// Rows of the batch at hand.
    rows: Vec<usize>,
}

impl FoldSums {
    pub(crate) fn new(n_features: usize) -> Self {
        Self { n_features, slots: Vec::new() }
    }

    /// Bytes of moments and of rows that wait for their block.
    pub(crate) fn n_bytes(&self) -> u64 {
        let k = self.n_features as u64 + 1;
        let of_slot = |slot: &Slot| 8 * k * (k + (slot.builder.n_rows().min(dshap::BLOCK_ROWS)) as u64);
        self.slots.iter().map(of_slot).sum()
    }

    /// Adds the rows of a batch that have a part.
    pub(crate) fn add(
        &mut self,
        x: &Mat<f64>,
        y: &[f64],
        part_and_fold: impl Iterator<Item = Option<(usize, usize)>>,
    ) -> Result<(), dshap::Error> {
        for (row, slot) in part_and_fold.enumerate() {
            let Some((part, fold)) = slot else { continue };
            let slot = part * N_FOLDS + fold;
            while self.slots.len() <= slot {
                // Products: every model has a penalty.
                let builder = MomentsBuilder::new(self.n_features).with_form(MomentsForm::Products);
                self.slots.push(Slot { builder, rows: Vec::new() });
            }
            self.slots[slot].rows.push(row);
        }
        let n_features = self.n_features;
        let waiting = self.slots.par_iter_mut().filter(|slot| !slot.rows.is_empty());
        waiting.try_for_each(|slot| {
            let rows = std::mem::take(&mut slot.rows);
            let mut cells = Mat::<f64>::zeros(rows.len(), n_features);
            for j in 0..n_features {
                let column = x.col_as_slice(j);
                let gathered = cells.col_as_slice_mut(j).iter_mut();
                gathered.zip(&rows).for_each(|(cell, &row)| *cell = column[row]);
            }
            let targets: Vec<f64> = rows.iter().map(|&row| y[row]).collect();
            slot.builder.push(Rows::new(cells.as_ref(), &targets)?)?;
            slot.rows = rows;
            slot.rows.clear();
            Ok(())
        })
    }

    /// The moments of `n_parts` parts.
    pub(crate) fn finish(self, n_parts: usize) -> Result<Vec<FoldMoments>, dshap::Error> {
        let finished: Vec<Option<Moments>> = self
            .slots
            .into_par_iter()
            .map(|slot| match slot.builder.n_rows() {
                0 => Ok(None),
                _ => slot.builder.finish().map(Some),
            })
            .collect::<Result<_, _>>()?;
        let mut finished = finished.into_iter();
        Ok((0..n_parts).map(|_| std::array::from_fn(|_| finished.next().flatten())).collect())
    }
}

/// The moments of several sets of rows together; nothing if there is no row.
pub(crate) fn merged<'a>(parts: impl Iterator<Item = &'a Moments>) -> Result<Option<Moments>, dshap::Error> {
    let mut whole: Option<Moments> = None;
    for part in parts {
        match &mut whole {
            Some(whole) => whole.merge(part)?,
            None => whole = Some(part.clone()),
        }
    }
    Ok(whole)
}
