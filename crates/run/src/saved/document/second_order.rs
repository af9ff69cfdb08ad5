//! What the valuer file of second-order values holds.

use super::logistic::{LogisticFitDocument, parse_fit, write_fit};
use super::{Arrays, Taking, named};
use crate::fitted::{SecondOrderEngine, SecondOrderModel};
use crate::second_order_choice::{SPREADS, SecondOrder, Shift, UTILITIES, word};
use dshap::Sizes;
use dshap::classification::{LogisticFit, LogisticOptions};
use dshap::second_order::{
    NodeParts, SecondOrderOneVsRest, SecondOrderParts, SecondOrderValuer, SoftmaxOptions, SoftmaxParts,
    SoftmaxValuer,
};
use serde::{Deserialize, Serialize};

/// The method, as it was asked for.
#[derive(Serialize, Deserialize)]
pub(super) struct SecondOrderMethod {
    utility: String,
    spread: String,
    small_ridge: f64,
    /// Absent: `p + 1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shift: Option<ShiftDocument>,
    seed: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ShiftDocument {
    Given(f64),
    Measured,
}

/// What the arrays are of.
#[derive(Serialize, Deserialize)]
pub(super) struct SecondOrderDocument {
    /// The set sizes that expansions were made for.
    q: usize,
    m: usize,
    /// `κ`, if it is not `p + 1`.
    shift: Option<f64>,
    /// For each logistic fit, one for each expansion: the fit that it is about, if
    /// it has its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    classes: Vec<Vec<Option<LogisticFitDocument>>>,
    /// One model of more than two labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    softmax: Option<SoftmaxDocument>,
}

#[derive(Serialize, Deserialize)]
struct SoftmaxDocument {
    kept: Vec<usize>,
    dropped: Vec<usize>,
    label_rows: Vec<usize>,
    loss: f64,
    n_passes: usize,
    weight_scale: f64,
    effective_rows: f64,
}

pub(super) fn write(model: &SecondOrderModel) -> (SecondOrderDocument, Arrays) {
    let valuers = match &model.engine {
        SecondOrderEngine::Binary(valuer) => std::slice::from_ref(valuer),
        SecondOrderEngine::OneVsRest(all) => all.classes(),
        SecondOrderEngine::Softmax(valuer) => return write_softmax(valuer.to_parts()),
    };
    let mut arrays = Arrays::new();
    let mut classes = Vec::with_capacity(valuers.len());
    let all: Vec<SecondOrderParts> = valuers.iter().map(SecondOrderValuer::to_parts).collect();
    let (sizes, shift) =
        all.first().map_or((Sizes::new(1, 1), None), |first| (first.sizes, first.options.shift));
    for (class, parts) in all.into_iter().enumerate() {
        let mut nodes = Vec::with_capacity(parts.nodes.len());
        for (number, node) in parts.nodes.into_iter().enumerate() {
            let prefix = prefix(class, number);
            nodes.push(node.fit.map(|fit| {
                let (document, own) = write_fit(&prefix, fit);
                arrays.extend(own);
                document
            }));
            arrays.push((format!("{prefix}.moments"), node.moments));
        }
        classes.push(nodes);
    }
    (SecondOrderDocument { q: sizes.min(), m: sizes.max(), shift, classes, softmax: None }, arrays)
}

fn write_softmax(parts: SoftmaxParts) -> (SecondOrderDocument, Arrays) {
    let softmax = SoftmaxDocument {
        kept: parts.kept,
        dropped: parts.dropped,
        label_rows: parts.n_labels,
        loss: parts.loss,
        n_passes: parts.n_passes,
        weight_scale: parts.weight_scale,
        effective_rows: parts.effective_rows,
    };
    let arrays = vec![
        named("softmax.bias", parts.bias),
        named("softmax.factor", parts.lower),
        named("softmax.inverse", parts.inverse),
        named("softmax.offset", parts.offset),
        named("softmax.scale", parts.scale),
        named("softmax.shift", parts.shift),
        named("softmax.spread", parts.spread),
        named("softmax.theta", parts.theta),
        named("softmax.whitening", parts.whitening),
    ];
    let (q, m) = (parts.sizes.min(), parts.sizes.max());
    let shift = parts.options.shift;
    (SecondOrderDocument { q, m, shift, classes: Vec::new(), softmax: Some(softmax) }, arrays)
}

pub(super) fn parse(
    fits: &[LogisticFit],
    choice: SecondOrder,
    stored: SecondOrderDocument,
    options: LogisticOptions,
    arrays: &mut Taking<'_>,
) -> Result<SecondOrderModel, String> {
    let sizes = Sizes::new(stored.q, stored.m);
    if choice.shift == Shift::Measured && stored.shift.is_none() {
        return Err("its measured shift is missing".into());
    }
    let first = fits.first().ok_or("it has no fit")?;
    if let Some(softmax) = stored.softmax {
        let valuer = parse_softmax(first, choice.softmax_options(options), sizes, softmax, arrays)?;
        if valuer.fit().n_classes() != fits.len() || valuer.fit().n_rows() != first.n_rows() {
            return Err("its labels are not those of its fit".into());
        }
        return Ok(SecondOrderModel { engine: SecondOrderEngine::Softmax(valuer), n_passes: 0 });
    }
    if stored.classes.len() != fits.len() {
        return Err("its labels are not those of its fit".into());
    }
    let mut valuers = Vec::with_capacity(fits.len());
    for (class, (fit, stored_nodes)) in fits.iter().zip(stored.classes).enumerate() {
        let mut nodes = Vec::with_capacity(stored_nodes.len());
        for (number, own) in stored_nodes.into_iter().enumerate() {
            let prefix = prefix(class, number);
            let own = own.map(|own| {
                // Only the expansion knows the ridge that sets of its size have.
                let ridge = own.ridge.unwrap_or(options.ridge);
                parse_fit(&prefix, own, fit.n_features(), LogisticOptions { ridge, ..options }, arrays)
            });
            let moments = arrays.take(&format!("{prefix}.moments"))?;
            nodes.push(NodeParts { fit: own.transpose()?.map(|fit| fit.to_parts()), moments });
        }
        let options = choice.options(stored.shift);
        let parts = SecondOrderParts { fit: fit.to_parts(), sizes, options, nodes };
        valuers.push(SecondOrderValuer::from_parts(parts).map_err(|error| error.to_string())?);
    }
    let engine = match fits.len() {
        1 => SecondOrderEngine::Binary(valuers.swap_remove(0)),
        _ => {
            let all = SecondOrderOneVsRest::of(valuers).map_err(|error| error.to_string())?;
            SecondOrderEngine::OneVsRest(all)
        }
    };
    Ok(SecondOrderModel { engine, n_passes: 0 })
}

fn parse_softmax(
    fit: &LogisticFit,
    options: SoftmaxOptions,
    sizes: Sizes,
    stored: SoftmaxDocument,
    arrays: &mut Taking<'_>,
) -> Result<SoftmaxValuer, String> {
    let mut take = |array: &str| arrays.take(&format!("softmax.{array}"));
    SoftmaxValuer::from_parts(SoftmaxParts {
        n_features: fit.n_features(),
        kept: stored.kept,
        dropped: stored.dropped,
        n_labels: stored.label_rows,
        shift: take("shift")?,
        offset: take("offset")?,
        scale: take("scale")?,
        whitening: take("whitening")?,
        theta: take("theta")?,
        lower: take("factor")?,
        inverse: take("inverse")?,
        spread: take("spread")?,
        bias: take("bias")?,
        loss: stored.loss,
        n_passes: stored.n_passes,
        weight_scale: stored.weight_scale,
        effective_rows: stored.effective_rows,
        sizes,
        options,
    })
    .map_err(|error| error.to_string())
}

/// What the arrays of an expansion of a class are called.
fn prefix(class: usize, number: usize) -> String {
    format!("second_order.{class}.{number}")
}

impl From<SecondOrder> for SecondOrderMethod {
    fn from(choice: SecondOrder) -> Self {
        Self {
            utility: word(&UTILITIES, &choice.utility).into(),
            spread: word(&SPREADS, &choice.spread).into(),
            small_ridge: choice.small_ridge,
            shift: match choice.shift {
                Shift::Default => None,
                Shift::Given(shift) => Some(ShiftDocument::Given(shift)),
                Shift::Measured => Some(ShiftDocument::Measured),
            },
            seed: choice.seed,
        }
    }
}

impl SecondOrderMethod {
    /// The choice, unless a word is unknown.
    pub(super) fn choice(&self) -> Result<SecondOrder, String> {
        let utility = UTILITIES.iter().find(|(word, _)| *word == self.utility);
        let spread = SPREADS.iter().find(|(word, _)| *word == self.spread);
        let (utility, spread) = match (utility, spread) {
            (Some((_, utility)), Some((_, spread))) => (*utility, *spread),
            (None, _) => return Err(format!("its utility `{}` is unknown", self.utility)),
            (_, None) => return Err(format!("its spread `{}` is unknown", self.spread)),
        };
        let shift = match self.shift {
            None => Shift::Default,
            Some(ShiftDocument::Given(shift)) => Shift::Given(shift),
            Some(ShiftDocument::Measured) => Shift::Measured,
        };
        Ok(SecondOrder { utility, spread, small_ridge: self.small_ridge, shift, seed: self.seed })
    }
}
