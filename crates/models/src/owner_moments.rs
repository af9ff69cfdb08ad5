//! The moments of each owner's rows, which a valuer may keep.

use crate::file::{Arrays, Reading};
use crate::linear::{MomentsDocument, read_moments, write_moments};
use dshap::Moments;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Moments by owner.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnerMoments {
    /// The column that names the owners.
    pub by: String,
    /// The owners, each with the moments of its rows.
    pub owners: BTreeMap<String, Moments>,
}

/// What stands in the file beside arrays.
#[derive(Serialize, Deserialize)]
pub(crate) struct OwnersDocument {
    by: String,
    names: Vec<String>,
    moments: Vec<MomentsDocument>,
}

fn prefix(owner: usize) -> String {
    format!("owner_{owner}")
}

impl OwnerMoments {
    pub(crate) fn write(&self, arrays: &mut Arrays) -> OwnersDocument {
        let mut moments = Vec::with_capacity(self.owners.len());
        for (owner, each) in self.owners.values().enumerate() {
            let (document, more) = write_moments(&prefix(owner), each);
            moments.push(document);
            arrays.extend(more);
        }
        OwnersDocument { by: self.by.clone(), names: self.owners.keys().cloned().collect(), moments }
    }

    pub(crate) fn read(
        document: OwnersDocument,
        n_columns: usize,
        arrays: &mut Reading<'_>,
    ) -> Result<Self, String> {
        let OwnersDocument { by, names, moments } = document;
        if names.len() != moments.len() {
            return Err("its owners are not those of its moments".into());
        }
        let mut owners = BTreeMap::new();
        for (owner, (name, stored)) in names.into_iter().zip(moments).enumerate() {
            let read = read_moments(&prefix(owner), stored, arrays)?;
            if read.n_features() != n_columns {
                return Err("its owners have other columns than its design".into());
            }
            owners.insert(name, read);
        }
        Ok(Self { by, owners })
    }
}
