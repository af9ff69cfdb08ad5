//! How well low values point at rows that are wrong.

/// How well low values point at rows that are wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// The probability that a wrong row has a lower value than a right one, ties
    /// counting half: the area under the ROC curve.
    pub auc: f64,
    /// F1 of flagging as many of the lowest rows as there are wrong ones. Precision
    /// and recall are the same then.
    pub f1: f64,
    /// The share of all wrong rows that is among the lowest 0, 1, 2, … rows. Rows with
    /// the same value count in proportion, as if they came in random order.
    pub found: Vec<f64>,
}

impl Detection {
    /// Looks at rows with a value (not NaN) from the lowest up. None unless both wrong
    /// and right rows are among them.
    pub fn of(values: &[f64], is_wrong: &[bool]) -> Option<Self> {
        let mut rows: Vec<(f64, bool)> = values
            .iter()
            .copied()
            .zip(is_wrong.iter().copied())
            .filter(|(value, _)| !value.is_nan())
            .collect();
        let n = rows.len();
        let n_wrong = rows.iter().filter(|(_, wrong)| *wrong).count();
        if n_wrong == 0 || n_wrong == n {
            return None;
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut found = Vec::with_capacity(n + 1);
        found.push(0.0);
        let (mut below, mut area) = (0.0, 0.0);
        for tied in rows.chunk_by(|a, b| a.0 == b.0) {
            let wrong = tied.iter().filter(|(_, wrong)| *wrong).count() as f64;
            let right = tied.len() as f64 - wrong;
            // A right row is above all wrong rows so far, and level with those of its value.
            area += right * (below + 0.5 * wrong);
            for taken in 1..=tied.len() {
                found.push((below + wrong * taken as f64 / tied.len() as f64) / n_wrong as f64);
            }
            below += wrong;
        }
        let auc = area / (n_wrong as f64 * (n - n_wrong) as f64);
        Some(Self { auc, f1: found[n_wrong], found })
    }
}
