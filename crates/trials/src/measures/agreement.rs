//! How much two rankings of the same rows agree.
//!
//! Rows that lack a value in either (NaN) are left out of both.

/// Row numbers from the highest value to the lowest; equal values in row order,
/// rows without a value left out.
pub fn ranking(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).filter(|&row| !values[row].is_nan()).collect();
    order.sort_by(|&i, &j| values[j].total_cmp(&values[i]).then(i.cmp(&j)));
    order
}

/// Spearman's correlation: that of ranks, where tied rows have their mean rank. None
/// for fewer than two rows, or if one side is all the same.
pub fn spearman(one: &[f64], other: &[f64]) -> Option<f64> {
    let (one, other) = both(one, other);
    correlation(&ranks(&one), &ranks(&other))
}

/// Kendall's correlation `τ_b`, which counts pairs of rows in the same order less
/// those in opposite order, corrected for ties. None as for [`spearman`].
/// `O(n log n)` by merge sort (Knight 1966).
pub fn kendall(one: &[f64], other: &[f64]) -> Option<f64> {
    let (one, other) = both(one, other);
    let n = one.len();
    if n < 2 {
        return None;
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| one[i].total_cmp(&one[j]).then(other[i].total_cmp(&other[j])));
    let tied_in_one = tied_pairs(order.iter().map(|&i| one[i]));
    let tied_in_both = tied_pairs(order.iter().map(|&i| (one[i], other[i])));
    let mut second: Vec<f64> = order.iter().map(|&i| other[i]).collect();
    let n_swaps = count_swaps(&mut second);
    // Now it is sorted.
    let tied_in_other = tied_pairs(second.iter().copied());
    let pairs = pairs(n as u64);
    let (free_one, free_other) = ((pairs - tied_in_one) as f64, (pairs - tied_in_other) as f64);
    if free_one == 0.0 || free_other == 0.0 {
        return None;
    }
    let concordant_less_discordant =
        pairs as f64 - tied_in_one as f64 - tied_in_other as f64 + tied_in_both as f64 - 2.0 * n_swaps as f64;
    Some(concordant_less_discordant / (free_one * free_other).sqrt())
}

/// The share of the `k` highest rows of one that are among the `k` highest of the
/// other. None for `k = 0`, or fewer than `k` rows.
///
/// Rows that are tied for the last places share them equally, on each side by
/// itself: the result is the expected share if ties are broken at random. Values that
/// are all the same have no more in common with others than chance has.
pub fn overlap(one: &[f64], other: &[f64], k: usize) -> Option<f64> {
    let (one, other) = both(one, other);
    if k == 0 || one.len() < k {
        return None;
    }
    let common: f64 = places(&one, k).iter().zip(places(&other, k)).map(|(one, other)| one * other).sum();
    Some(common / k as f64)
}

/// How likely each row is to be among the `k` highest if ties are broken at random.
fn places(values: &[f64], k: usize) -> Vec<f64> {
    let last = values[ranking(values)[k - 1]];
    let n_above = values.iter().filter(|value| **value > last).count();
    let n_tied = values.iter().filter(|value| **value == last).count();
    let of_tied = (k - n_above) as f64 / n_tied as f64;
    let place = |value: &f64| match value.partial_cmp(&last) {
        Some(std::cmp::Ordering::Greater) => 1.0,
        Some(std::cmp::Ordering::Equal) => of_tied,
        _ => 0.0,
    };
    values.iter().map(place).collect()
}

fn both(one: &[f64], other: &[f64]) -> (Vec<f64>, Vec<f64>) {
    one.iter().zip(other).filter(|(a, b)| !a.is_nan() && !b.is_nan()).map(|(a, b)| (*a, *b)).unzip()
}

/// Ranks from 1 up, where tied numbers have their mean rank.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&i, &j| numbers[i].total_cmp(&numbers[j]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut start = 0;
    for tied in order.chunk_by(|&i, &j| numbers[i] == numbers[j]) {
        let mean = start as f64 + (tied.len() as f64 + 1.0) / 2.0;
        tied.iter().for_each(|&i| ranks[i] = mean);
        start += tied.len();
    }
    ranks
}

fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let n = a.len() as f64;
    let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / n;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a - mean_a, b - mean_b);
        aa += a * a;
        bb += b * b;
        ab += a * b;
    }
    (aa > 0.0 && bb > 0.0).then(|| (ab / (aa * bb).sqrt()).clamp(-1.0, 1.0))
}

fn pairs(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// Pairs of equal neighbours in a sorted list.
fn tied_pairs<T: PartialEq>(sorted: impl Iterator<Item = T>) -> u64 {
    let (mut total, mut length, mut before) = (0, 0, None);
    for item in sorted {
        if before.as_ref() == Some(&item) {
            length += 1;
        } else {
            total += pairs(length);
            length = 1;
        }
        before = Some(item);
    }
    total + pairs(length)
}

/// Sorts by merging; returns how many pairs were in the wrong order.
fn count_swaps(numbers: &mut [f64]) -> u64 {
    let n = numbers.len();
    if n < 2 {
        return 0;
    }
    let (left, right) = numbers.split_at_mut(n / 2);
    let mut swaps = count_swaps(left) + count_swaps(right);
    let mut merged = Vec::with_capacity(n);
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        if right[j].total_cmp(&left[i]).is_lt() {
            swaps += (left.len() - i) as u64;
            merged.push(right[j]);
            j += 1;
        } else {
            merged.push(left[i]);
            i += 1;
        }
    }
    merged.extend_from_slice(&left[i..]);
    merged.extend_from_slice(&right[j..]);
    numbers.copy_from_slice(&merged);
    swaps
}
