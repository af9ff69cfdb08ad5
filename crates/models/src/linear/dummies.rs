//! Columns of zeros and ones, one of which few rows have.
//!
//! A set without a level cannot tell its coefficient, and a set with few such rows tells it
//! badly. Closed forms assume Gaussian inputs, which no set is without. So the smallest sets
//! should have enough rows of each level.

use super::LinearModel;
use crate::how::How;
use crate::model::Model;
use crate::warning::{RareCure, Warning};
use dshap::Sizes;
use dshap_catalogue::MethodKind;
use dshap_table::{Design, Encoding};

/// A column of zeros and ones has the variance that its mean says, up to this share of it.
const ROUNDING: f64 = 1e-9;

/// Sets with fewer rows of a level than this on average get a warning: one in twenty has none.
const FEW: f64 = 3.0;

/// A level of a text column, or the rarer side of a column of zeros and ones.
struct Side {
    /// Such as `town=Rome` or `is_new=1`.
    name: String,
    /// The text column.
    feature: Option<usize>,
    /// The share of rows that have it.
    share: f64,
}

/// The default `q` where dummies need a larger one than `usual`: up to `m/2`, since a `q` near
/// `m` would leave few sizes to sum over.
pub(super) fn default_min(model: &LinearModel, design: &Design, usual: usize, max: usize) -> usize {
    let rarest = sides(model, design).into_iter().map(|side| side.share).min_by(f64::total_cmp);
    rarest.map_or(usual, |share| Sizes::enough_of(share).min(max / 2).max(usual))
}

/// Levels that the smallest sets of a closed form have too few rows of, and what helps.
pub(super) fn rare(model: &LinearModel, how: &How, sizes: Sizes, design: &Design) -> Option<Warning> {
    if !matches!(how.method.entry.kind, MethodKind::ClosedForm | MethodKind::Bound) {
        return None;
    }
    let all = sides(model, design);
    let is_rare = |side: &&Side| side.share * (sizes.min() as f64) < FEW;
    let mut rare: Vec<&Side> = all.iter().filter(is_rare).collect();
    rare.sort_by(|one, other| one.share.total_cmp(&other.share));
    let rarest = rare.first()?.share;
    Some(Warning::RareDummies {
        n_rows: (rarest * model.n_rows() as f64).round() as usize,
        size: sizes.min(),
        expected: rarest * sizes.min() as f64,
        cure: cure(model, how, sizes, &all, &rare),
        levels: rare.iter().map(|side| side.name.clone()).collect(),
    })
}

fn cure(model: &LinearModel, how: &How, sizes: Sizes, all: &[Side], rare: &[&Side]) -> RareCure {
    let most = sizes.max() / 2;
    let enough = rare.iter().map(|side| Sizes::enough_of(side.share)).max().unwrap_or(0);
    if enough <= most {
        return RareCure::LargerSets(enough);
    }
    // Levels of fewer rows than this are too rare for any default q.
    let n = model.n_rows() as f64;
    let fewest = (n * Sizes::share_for(most)).ceil();
    let is_pooled_enough = |feature: Option<usize>| {
        let pooled = all.iter().filter(|side| side.feature == feature && (side.share * n).round() < fewest);
        let (n_levels, share) =
            pooled.fold((0, 0.0), |(levels, share), side| (levels + 1, share + side.share));
        // One level alone would only get another name.
        feature.is_some() && n_levels > 1 && (share * n).round() >= fewest
    };
    match how.sizes().min.is_none() && rare.iter().all(|side| is_pooled_enough(side.feature)) {
        true => RareCure::Pool(fewest as usize),
        false => RareCure::Drawing,
    }
}

/// All levels, and the rarer side of each column of zeros and ones. Without an intercept, a set
/// without ones tells no coefficient, but one without zeros does.
fn sides(model: &LinearModel, design: &Design) -> Vec<Side> {
    let parts = design.parts();
    if design.projection().is_some() {
        return Vec::new();
    }
    let (mut found, mut next) = (Vec::new(), 0);
    for (place, (feature, encoding)) in parts.features.iter().zip(&parts.encodings).enumerate() {
        let columns = next..next + parts.width(encoding);
        next = columns.end;
        let Encoding::OneHot { levels, .. } = encoding else {
            found.extend(columns.filter_map(|column| side_of_numbers(model, design, column)));
            continue;
        };
        let mut shares: Vec<f64> = columns.map(|column| model.mean(column)).collect();
        if parts.first_level() == 1 {
            // Without an intercept, the column of no level stands for the first one.
            let first = if model.intercept() { 1.0 - shares.iter().sum::<f64>() } else { 1.0 };
            shares.insert(0, first);
        }
        let name = |level: &String| format!("{}={level}", feature.name);
        let side = |(level, share)| Side { name: name(level), feature: Some(place), share };
        found.extend(levels.iter().zip(shares).map(side));
    }
    // A level that was forgotten has no row.
    found.retain(|side| (side.share * model.n_rows() as f64).round() >= 1.0);
    found
}

fn side_of_numbers(model: &LinearModel, design: &Design, column: usize) -> Option<Side> {
    let (ones, deviation) = (model.mean(column), model.std_dev(column));
    let variance = ones * (1.0 - ones);
    let is_dummy = variance > 0.0 && (deviation * deviation - variance).abs() <= ROUNDING * variance;
    let (value, share) = if model.intercept() && ones > 0.5 { (0, 1.0 - ones) } else { (1, ones) };
    let name = format!("{}={value}", design.column_name(column));
    is_dummy.then_some(Side { name, feature: None, share })
}
