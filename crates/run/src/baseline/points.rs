//! Rows to be valued, with what is carried through beside them.

use crate::Error;
use crate::general::{Held, slice};
use crate::memory::Budget;
use crate::observer::{Observer, Stage};
use crate::passes::Pass;
use crate::value::split;
use arrow_array::ArrayRef;
use arrow_schema::Field;
use dshap::Values;
use dshap_io::Source;
use dshap_table::{Design, Selection};

/// All rows of a table.
pub(crate) struct Points {
    /// Those without a missing cell, as numbers.
    pub(crate) rows: Held,
    /// Rows read.
    pub(crate) n_rows: u64,
    /// Columns carried through.
    pub(crate) carried: Vec<Field>,
    places: Vec<Place>,
}

/// A batch without its numbers.
pub(crate) struct Place {
    pub(crate) first_row: u64,
    pub(crate) n_rows: usize,
    pub(crate) carried: Vec<ArrayRef>,
    /// Rows that have numbers, where some do not.
    pub(crate) remaining: Option<Vec<usize>>,
    pub(crate) n_usable: usize,
}

impl Points {
    pub(crate) fn read(
        source: &Source,
        design: &Design,
        selection: &Selection,
        budget: Budget,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let mut wanted = design.wanted();
        let n_design = wanted.len();
        wanted.extend(selection.carried(source.schema()).map_err(|e| Error::at(e, source, 0))?);
        let schema = source.arrow_schema(&wanted)?;
        let carried = schema.fields()[n_design..].iter().map(|field| field.as_ref().clone()).collect();
        let options = budget.scan_options(source, &wanted, design.n_encoded())?;
        let (mut places, mut batches) = (Vec::new(), Vec::new());
        let pass = Pass { source, wanted: &wanted, options, stage: Stage::Value, observer };
        let n_rows = pass.run(|batch| {
            let (design_part, carried) = split(&batch.rows, n_design);
            let encoded = design.encode(&design_part).map_err(|e| Error::at(e, source, batch.first_row))?;
            places.push(Place {
                first_row: batch.first_row,
                n_rows: batch.rows.num_rows(),
                carried,
                remaining: encoded.remaining.clone(),
                n_usable: encoded.y.len(),
            });
            batches.push(encoded);
            Ok(())
        })?;
        let rows = Held::new(batches, design.n_columns(), design)?;
        if rows.n_rows() == 0 {
            return Err(Error::NothingLeft);
        }
        Ok(Self { rows, n_rows, carried, places })
    }

    /// The numbers of those rows of the table that have a place among `rows`.
    pub(crate) fn usable_rows(&self) -> Vec<usize> {
        let of_place = |place: &Place| {
            let first = place.first_row as usize;
            let rows = place.remaining.clone().unwrap_or_else(|| (0..place.n_rows).collect());
            rows.into_iter().map(move |row| first + row)
        };
        self.places.iter().flat_map(of_place).collect()
    }

    /// The batches.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Hands values over, batch by batch.
    pub(crate) fn hand_over(
        &self,
        values: &Values,
        mut each: impl FnMut(&Place, &Values) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut start = 0;
        for place in &self.places {
            each(place, &slice(values, start, place.n_usable))?;
            start += place.n_usable;
        }
        Ok(())
    }
}
