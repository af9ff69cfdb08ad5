//! What the valuer file of second-order values holds.

use super::{SecondOrder, SecondOrderModel, Shift};
use crate::file::{Arrays, Reading, named};
use crate::logistic::{LogisticFitDocument, parse_fit, write_fit};
use dshap::Sizes;
use dshap::classification::{LogisticFit, LogisticOptions};
use dshap::second_order::{
    NodeParts, SecondOrderOneVsRest, SecondOrderParts, SecondOrderValuer, SoftmaxOptions, SoftmaxParts,
    SoftmaxValuer,
};
use serde::{Deserialize, Serialize};

/// What the arrays are of.
#[derive(Serialize, Deserialize)]
pub(crate) struct SecondOrderDocument {
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

impl SecondOrderModel {
    /// Its part of the document, and its arrays.
    pub(crate) fn write(&self) -> (SecondOrderDocument, Arrays) {
        let valuers = match self {
            SecondOrderModel::Binary(valuer) => std::slice::from_ref(valuer),
            SecondOrderModel::OneVsRest(all) => all.classes(),
            SecondOrderModel::Softmax(valuer) => return write_softmax(valuer.to_parts()),
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

    /// The expansion that was written, about these fits.
    pub(crate) fn parse(
        fits: &[LogisticFit],
        choice: SecondOrder,
        stored: SecondOrderDocument,
        options: LogisticOptions,
        arrays: &mut Reading<'_>,
    ) -> Result<Self, String> {
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
            return Ok(SecondOrderModel::Softmax(valuer));
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
        if fits.len() == 1 {
            return Ok(SecondOrderModel::Binary(valuers.swap_remove(0)));
        }
        let all = SecondOrderOneVsRest::of(valuers).map_err(|error| error.to_string())?;
        Ok(SecondOrderModel::OneVsRest(all))
    }
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

fn parse_softmax(
    fit: &LogisticFit,
    options: SoftmaxOptions,
    sizes: Sizes,
    stored: SoftmaxDocument,
    arrays: &mut Reading<'_>,
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
