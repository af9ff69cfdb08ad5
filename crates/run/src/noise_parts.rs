//! How residuals vary when the reference changes: parts that were fitted apart, as the fit of the
//! whole sees them.

use dshap::linear::{FitOptions, LinearFit, NoiseShape};
use dshap::{Combination, Moments};
use dshap_models::RowSample;
use dshap_models::linear::{KnownNoise, LinearModel};

/// A part of a reference.
#[derive(Debug, Clone)]
pub(crate) struct NoisePart {
    moments: Moments,
    fit: LinearFit,
    shape: NoiseShape,
}

impl NoisePart {
    /// What a model knows, if it does.
    pub(crate) fn of(model: &LinearModel) -> Option<Self> {
        let shape = model.noise.shape(&model.fit)?.clone();
        Some(Self { moments: model.moments.clone(), fit: model.fit.clone(), shape })
    }

    /// The same in other columns, where those of the fit are still there and in the same order:
    /// otherwise whitened rows would be turned.
    pub(crate) fn recombined(self, columns: &[Combination], options: FitOptions) -> Option<Self> {
        let place = |&old: &usize| columns.iter().position(|column| *column == Combination::column(old));
        let kept: Vec<usize> = self.fit.kept().iter().map(place).collect::<Option<_>>()?;
        let moments = self.moments.recombined(columns);
        // Whether columns may depend on each other is a question for the whole.
        let fit = LinearFit::new(&moments, FitOptions { allow_dependent: true, ..options }).ok()?;
        (fit.kept() == kept).then_some(Self { moments, fit, shape: self.shape })
    }

    fn seen_by(&self, whole: &LinearFit) -> NoiseShape {
        self.shape.seen_by((&self.moments, &self.fit), whole)
    }
}

/// What is known of the noise of several parts; nothing unless all know theirs.
pub(crate) fn of_parts(parts: &[Option<NoisePart>], whole: &LinearFit) -> KnownNoise {
    let mut shapes = parts.iter().map(|part| Some(part.as_ref()?.seen_by(whole)));
    let first = shapes.next().flatten();
    KnownNoise::of_shape(shapes.fold(first, |sum, shape| {
        let mut sum = sum?;
        sum.merge(&shape?);
        Some(sum)
    }))
}

/// What is known after rows were added and taken away, of which there are samples. A sample of
/// the rows before cannot tell which of its rows went, so it stays.
pub(crate) fn of_change(
    before: Option<&NoisePart>,
    added: Option<&RowSample>,
    gone: Option<&RowSample>,
    whole: &LinearFit,
) -> KnownNoise {
    // Rows that all have weight 0 say nothing.
    let of = |sample: &RowSample| {
        sample.with_rows(|rows| NoiseShape::of(whole, rows, sample.n_seen()).ok()).flatten()
    };
    let mut shape = before.map(|before| before.seen_by(whole));
    if let (Some(shape), Some(added)) = (&mut shape, added.and_then(of)) {
        shape.merge(&added);
    }
    let gone = gone.and_then(of);
    KnownNoise::of_shape(match (shape, gone) {
        (Some(shape), Some(gone)) if shape.is_all() => shape.without(&gone),
        (shape, _) => shape,
    })
}
