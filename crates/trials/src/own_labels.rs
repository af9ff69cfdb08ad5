//! Rows that lack some labels of their table.

use dshap_models::HeldRows;
use dshap_table::{Design, Labels};

/// Rows with a design that has only the labels they have, and classes numbered
/// anew. Nothing if the rows have all labels, or fewer than two.
///
/// A logistic fit needs rows of every label. A rare label may have lost all of its
/// rows, to test rows or to targets made wrong.
pub(crate) fn with_own_labels(rows: &HeldRows, design: &Design) -> Option<(HeldRows, Design)> {
    let labels = design.labels()?;
    let mut is_there = vec![false; labels.n_classes()];
    rows.y().iter().for_each(|&class| is_there[class as usize] = true);
    let kept: Vec<usize> = (0..labels.n_classes()).filter(|&class| is_there[class]).collect();
    if kept.len() == labels.n_classes() || kept.len() < 2 {
        return None;
    }
    let mut parts = design.parts().clone();
    parts.labels = Some(match labels {
        Labels::Text(labels) => Labels::Text(kept.iter().map(|&class| labels[class].clone()).collect()),
        Labels::Numbers(labels) => Labels::Numbers(kept.iter().map(|&class| labels[class]).collect()),
        Labels::Booleans(labels) => Labels::Booleans(kept.iter().map(|&class| labels[class]).collect()),
    });
    let narrowed = Design::from_parts(parts).ok()?;
    let mut rows = rows.clone();
    for class in rows.y_mut() {
        *class = kept.partition_point(|&other| other < *class as usize) as f64;
    }
    Some((rows, narrowed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_table::{DesignParts, Encoding, Missing, ReadAs, Unseen, Wanted};

    #[test]
    fn classes_are_numbered_anew() {
        let wanted = |name: &str, read_as| Wanted { name: name.into(), read_as };
        let labels = ["a", "b", "c", "d"].map(String::from).to_vec();
        let design = Design::from_parts(DesignParts {
            features: vec![wanted("x", ReadAs::Number)],
            encodings: vec![Encoding::Number { fill: None }],
            target: Some(wanted("y", ReadAs::Text)),
            labels: Some(Labels::Text(labels)),
            projection: None,
            weight: None,
            all_levels: false,
            missing: Missing::Error,
            unseen: Unseen::Error,
            pooled: Default::default(),
            rare_levels: None,
        })
        .expect("a design");
        let of = |y: [f64; 4]| {
            let rows = HeldRows::from_parts(&[0.0; 4], y.to_vec(), 1).expect("rows");
            with_own_labels(&rows, &design)
        };
        assert!(of([0.0, 1.0, 2.0, 3.0]).is_none() && of([2.0; 4]).is_none());
        let (rows, narrowed) = of([3.0, 1.0, 1.0, 3.0]).expect("two labels are missing");
        assert_eq!(rows.y(), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(narrowed.labels().map(Labels::words), Some(vec!["b".into(), "d".into()]));
    }
}
