//! What can be done with suspicious rows.

use crate::examined::Kind;
use crate::suspects::Suspects;
use serde::Serialize;

/// Shares of the rows that are acted on.
pub const SHARES: [f64; 5] = [0.005, 0.01, 0.02, 0.05, 0.1];

/// What happens to a suspicious row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// It is left out.
    Drop,
    /// It gets the likeliest label.
    Relabel,
}

/// What happens to how many rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Action {
    /// What happens.
    pub act: Act,
    /// To which share of the rows at most, the most suspicious first. Rows that are not
    /// flagged are left alone.
    pub share: f64,
}

impl Action {
    /// All that are tried.
    pub fn all(kind: Kind) -> Vec<Self> {
        let acts: &[Act] = match kind {
            Kind::Numbers => &[Act::Drop],
            Kind::Labels(_) => &[Act::Drop, Act::Relabel],
        };
        acts.iter().flat_map(|&act| SHARES.map(|share| Self { act, share })).collect()
    }

    /// How many of `n` rows that is, of which `n_flagged` are flagged.
    pub fn n_rows(&self, n: usize, n_flagged: usize) -> usize {
        ((self.share * n as f64).ceil() as usize).min(n_flagged)
    }

    /// The rows it is taken on, as places among `suspects`, most suspicious first.
    pub(crate) fn rows_of(&self, suspects: &Suspects, ranking: &[usize]) -> Vec<usize> {
        let n_acted = self.n_rows(ranking.len(), ranking.len());
        ranking.iter().copied().filter(|&place| suspects.is_flagged[place]).take(n_acted).collect()
    }

    /// The rows `train` and all targets after the action. `suspects` are about the rows
    /// `train`, and `ranking` is theirs.
    pub(crate) fn taken(
        &self,
        train: &[usize],
        y: &[f64],
        suspects: &Suspects,
        ranking: &[usize],
    ) -> (Vec<usize>, Vec<f64>) {
        let chosen = self.rows_of(suspects, ranking);
        match self.act {
            Act::Drop => {
                let mut is_dropped = vec![false; train.len()];
                chosen.iter().for_each(|&place| is_dropped[place] = true);
                let left = train.iter().zip(&is_dropped).filter(|(_, dropped)| !**dropped);
                (left.map(|(row, _)| *row).collect(), y.to_vec())
            }
            Act::Relabel => {
                let mut relabelled = y.to_vec();
                chosen.iter().for_each(|&place| relabelled[train[place]] = suspects.expected[place]);
                (train.to_vec(), relabelled)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_flagged_rows_are_acted_on() {
        let suspects = Suspects {
            score: vec![0.1, 9.0, 0.3, 8.0, 7.0, 0.2],
            expected: vec![1.0; 6],
            expected_prob: vec![1.0; 6],
            is_flagged: vec![false, true, false, false, true, false],
            precision: None,
            n_wrong: 2.0,
            weights: Vec::new(),
        };
        let ranking = suspects.ranking();
        let half = Action { act: Act::Drop, share: 0.5 };
        assert_eq!(half.rows_of(&suspects, &ranking), [1, 4]);
        assert_eq!((half.n_rows(6, 2), half.n_rows(6, 6)), (2, 3));
        let train: Vec<usize> = (10..16).collect();
        let (left, _) = half.taken(&train, &[0.0; 16], &suspects, &ranking);
        assert_eq!(left, [10, 12, 13, 15]);
        let (_, targets) =
            Action { act: Act::Relabel, ..half }.taken(&train, &[0.0; 16], &suspects, &ranking);
        assert_eq!(targets.iter().sum::<f64>(), 2.0);
        assert_eq!((targets[11], targets[14]), (1.0, 1.0));
    }
}
