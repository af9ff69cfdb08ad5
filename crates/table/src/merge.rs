//! One design for rows that were encoded by two.

use crate::design::{Design, DesignParts, Encoding, Missing};
use crate::survey::MAX_LEVELS;
use crate::{Difference, Error, Pooled, ReadAs, Wanted, spelled};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A design column, computed from the columns of an older design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Derived {
    /// The same column.
    Column(usize),
    /// A level that the older rows do not have.
    Zero,
    /// The level that was first and had no column: one minus all the others.
    OneMinus(Vec<usize>),
}

/// A design for the rows of two designs, and how its columns follow from theirs.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedDesign {
    /// The design.
    pub design: Design,
    /// Its columns from those of the first.
    pub from_first: Vec<Derived>,
    /// Its columns from those of the second.
    pub from_second: Vec<Derived>,
}

impl Design {
    /// The design that knows the levels of both. Features are in the order of
    /// this one; means to fill in are averaged by the numbers of rows.
    ///
    /// Where one design pools rare levels, it must have every level of the other. A
    /// level that it does not have may be in its pool, where rows can no longer be
    /// told apart.
    ///
    /// # Errors
    ///
    /// [`Error::Differs`] unless both have the same target and features, read
    /// the same way, treat missing cells alike and keep the same levels where rare
    /// ones are pooled;
    /// [`Error::TooManyLevels`].
    pub fn merged(&self, n_rows: f64, other: &Design, n_other: f64) -> Result<MergedDesign, Error> {
        let (first, second) = (self.parts(), other.parts());
        refuse_differences(first, second)?;
        let first_level = first.first_level();
        let second_features: HashMap<&str, usize> =
            second.features.iter().enumerate().map(|(i, feature)| (feature.name.as_str(), i)).collect();
        let (starts_first, starts_second) = (starts(first), starts(second));
        let (mut from_first, mut from_second) = (Vec::new(), Vec::new());
        let mut encodings = Vec::with_capacity(first.features.len());
        let mut all_pooled = BTreeMap::new();
        for (index, feature) in first.features.iter().enumerate() {
            let Some(&twin) = second_features.get(feature.name.as_str()) else {
                return Err(Error::Differs(Difference::Feature { name: feature.name.clone() }));
            };
            let (one, two) = (&first.encodings[index], &second.encodings[twin]);
            let (at_one, at_two) = (starts_first[index], starts_second[twin]);
            let merged = match (one, two) {
                (Encoding::Number { fill: one }, Encoding::Number { fill: two }) => {
                    from_first.push(Derived::Column(at_one));
                    from_second.push(Derived::Column(at_two));
                    let fill = one.zip(*two).map(|(one, two)| averaged(one, n_rows, two, n_other));
                    Encoding::Number { fill }
                }
                (Encoding::OneHot { levels: one, fill: f1 }, Encoding::OneHot { levels: two, fill: f2 }) => {
                    let new = two.iter().filter(|level| position(level, one).is_none());
                    let levels: BTreeSet<&String> = one.iter().chain(new).collect();
                    let pools = [(first, one), (second, two)]
                        .map(|(parts, own)| (parts.pooled.get(&feature.name), own.len()));
                    match merged_pool(pools, levels.len()) {
                        Ok(Some(pooled)) => _ = all_pooled.insert(feature.name.clone(), pooled),
                        Ok(None) => {}
                        Err(()) => {
                            return Err(Error::Differs(Difference::Pooled { name: feature.name.clone() }));
                        }
                    }
                    if levels.len() > MAX_LEVELS {
                        let name = feature.name.clone();
                        return Err(Error::TooManyLevels { name, n_levels: MAX_LEVELS, more: true });
                    }
                    let added: Vec<&String> = levels.iter().skip(first_level).copied().collect();
                    let derive = |own: &[String], at: usize| -> Vec<Derived> {
                        added.iter().map(|level| derived(level, own, at, first_level)).collect()
                    };
                    let (d1, d2) = (derive(one, at_one), derive(two, at_two));
                    let fill = f1.as_ref().zip(f2.as_ref()).map(|(f1, f2)| {
                        let shares =
                            d1.iter().zip(&d2).map(|(d1, d2)| (share(d1, f1, at_one), share(d2, f2, at_two)));
                        shares.map(|(one, two)| averaged(one, n_rows, two, n_other)).collect()
                    });
                    from_first.extend(d1);
                    from_second.extend(d2);
                    Encoding::OneHot { levels: levels.into_iter().cloned().collect(), fill }
                }
                (
                    Encoding::Date { form, has_hour, fill: f1 },
                    Encoding::Date { form: other_form, has_hour: other_hour, fill: f2 },
                ) if (form, has_hour) == (other_form, other_hour) => {
                    let width = first.width(one);
                    from_first.extend((at_one..at_one + width).map(Derived::Column));
                    from_second.extend((at_two..at_two + width).map(Derived::Column));
                    let fill = f1.as_ref().zip(f2.as_ref()).map(|(f1, f2)| {
                        let pairs = f1.iter().zip(f2);
                        pairs.map(|(one, two)| averaged(*one, n_rows, *two, n_other)).collect()
                    });
                    Encoding::Date { form: *form, has_hour: *has_hour, fill }
                }
                _ => return Err(Error::Differs(Difference::TextFeature { name: feature.name.clone() })),
            };
            encodings.push(merged);
        }
        let design = Design::from_parts(DesignParts { encodings, pooled: all_pooled, ..first.clone() })?;
        Ok(MergedDesign { design, from_first, from_second })
    }

    /// The design that knows these levels of each feature too, and how its
    /// columns follow from those of this one; nothing if it knows them already. A
    /// feature with pooled levels gets no new ones: they belong to the pooled level.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyLevels`].
    pub fn with_levels(&self, levels: &[Vec<String>]) -> Result<Option<(Design, Vec<Derived>)>, Error> {
        let mut parts = self.parts().clone();
        let first = parts.first_level();
        let mut is_new = false;
        for ((encoding, feature), more) in parts.encodings.iter_mut().zip(&parts.features).zip(levels) {
            let has_pool = parts.pooled.contains_key(&feature.name);
            if let (Encoding::OneHot { levels, fill }, false) = (encoding, has_pool) {
                let new = more.iter().filter(|level| position(level, levels).is_none());
                let union: BTreeSet<String> = levels.iter().chain(new).cloned().collect();
                is_new |= union.len() > levels.len();
                *levels = union.into_iter().collect();
                // Replaced below by what was learned; only the length matters.
                *fill = fill.take().map(|_| vec![0.0; levels.len().saturating_sub(first)]);
            }
        }
        if !is_new {
            return Ok(None);
        }
        let known = Design::from_parts(parts)?;
        let merged = self.merged(1.0, &known, 0.0)?;
        Ok(Some((merged.design, merged.from_first)))
    }
}

impl Design {
    /// The design without the levels that no row has any more, and how its columns
    /// follow from those of this one; nothing if all are there. `share` is the mean
    /// of a design column, `least` the smallest share that is more than rounding. A
    /// feature whose pooled level is lost no longer pools.
    pub fn without_lost_levels(
        &self,
        share: impl Fn(usize) -> f64,
        least: f64,
    ) -> Option<(Design, Vec<Derived>)> {
        let mut parts = self.parts().clone();
        let first_level = parts.first_level();
        let mut columns = Vec::new();
        let mut is_less = false;
        let features = parts.features.iter().map(|feature| &feature.name);
        for ((encoding, name), start) in parts.encodings.iter_mut().zip(features).zip(starts(self.parts())) {
            let Encoding::OneHot { levels, fill } = encoding else {
                columns.push(Derived::Column(start));
                continue;
            };
            let column = |level: usize| start + level - first_level;
            let others: Vec<f64> = (first_level..levels.len()).map(|level| share(column(level))).collect();
            // A level without a column has what the others leave.
            let rest = (first_level == 1).then(|| 1.0 - others.iter().sum::<f64>());
            let shares: Vec<f64> = rest.into_iter().chain(others).take(levels.len()).collect();
            let stay: Vec<usize> = (0..levels.len()).filter(|&level| shares[level] > least).collect();
            is_less |= stay.len() < levels.len();
            let old_fill = fill.take();
            let with_column = || stay.iter().skip(first_level);
            *fill = old_fill.map(|fill| with_column().map(|&level| fill[level - first_level]).collect());
            *levels = stay.iter().map(|&level| levels[level].clone()).collect();
            if parts.pooled.get(name).is_some_and(|pooled| !levels.contains(&pooled.level)) {
                parts.pooled.remove(name);
            }
            columns.extend(with_column().map(|&level| Derived::Column(column(level))));
        }
        is_less.then(|| (Design::new(parts), columns))
    }
}

fn refuse_differences(first: &DesignParts, second: &DesignParts) -> Result<(), Error> {
    match difference(first, second) {
        Some(difference) => Err(Error::Differs(difference)),
        None => Ok(()),
    }
}

fn difference(first: &DesignParts, second: &DesignParts) -> Option<Difference> {
    match (&first.target, &second.target) {
        (Some(one), Some(two)) if one.name != two.name => {
            return Some(Difference::Targets { first: one.name.clone(), second: two.name.clone() });
        }
        (Some(_), None) | (None, Some(_)) => return Some(Difference::OneTarget),
        _ => {}
    }
    if first.all_levels != second.all_levels {
        return Some(Difference::AllLevels);
    }
    let names = |parts: &DesignParts| -> BTreeSet<String> {
        parts.features.iter().map(|feature| feature.name.clone()).collect()
    };
    if let Some(name) = names(first).symmetric_difference(&names(second)).next() {
        return Some(Difference::Feature { name: name.clone() });
    }
    if first.weight.is_some() != second.weight.is_some() {
        return Some(Difference::Weights);
    }
    if (first.missing == Missing::Mean) != (second.missing == Missing::Mean) {
        return Some(Difference::Means);
    }
    let is_text = |wanted: &Wanted| wanted.read_as == ReadAs::Text;
    if first.target.as_ref().is_some_and(is_text) != second.target.as_ref().is_some_and(is_text) {
        return Some(Difference::TextTarget);
    }
    None
}

/// The first design column of each feature.
fn starts(parts: &DesignParts) -> Vec<usize> {
    let mut next = 0;
    parts
        .encodings
        .iter()
        .map(|encoding| {
            let start = next;
            next += parts.width(encoding);
            start
        })
        .collect()
}

/// What two designs pool together in a text feature of `n_levels` levels, given what
/// each pools and how many levels it has.
fn merged_pool(pools: [(Option<&Pooled>, usize); 2], n_levels: usize) -> Result<Option<Pooled>, ()> {
    if pools.iter().any(|(pooled, n_own)| pooled.is_some() && *n_own < n_levels) {
        return Err(());
    }
    match pools.map(|(pooled, _)| pooled) {
        [Some(one), Some(two)] if one.level != two.level => Err(()),
        // A level may be in both pools, so this is the least it can be.
        [Some(one), Some(two)] => {
            Ok(Some(Pooled { n_levels: one.n_levels.max(two.n_levels), ..one.clone() }))
        }
        [one, two] => Ok(one.or(two).cloned()),
    }
}

fn derived(level: &String, own: &[String], at: usize, first: usize) -> Derived {
    match position(level, own) {
        None => Derived::Zero,
        Some(position) if position < first => Derived::OneMinus((at..at + own.len() - first).collect()),
        Some(position) => Derived::Column(at + position - first),
    }
}

/// The position of a level among others; older ones may be spelled differently.
fn position(level: &String, own: &[String]) -> Option<usize> {
    let spelling = spelled(level);
    own.binary_search(level).ok().or_else(|| own.iter().position(|twin| spelled(twin) == spelling))
}

/// What stands for a missing cell in the column of a level, as a share of all rows.
fn share(derived: &Derived, fill: &[f64], at: usize) -> f64 {
    match derived {
        Derived::Column(column) => fill[column - at],
        Derived::Zero => 0.0,
        Derived::OneMinus(_) => 1.0 - fill.iter().sum::<f64>(),
    }
}

fn averaged(one: f64, n_one: f64, two: f64, n_two: f64) -> f64 {
    one + (two - one) * (n_two / (n_one + n_two))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unseen;

    fn wanted(name: &str, read_as: ReadAs) -> Wanted {
        Wanted { name: name.into(), read_as }
    }

    fn design(levels: &[&str], fill: Option<Vec<f64>>) -> Design {
        Design::from_parts(DesignParts {
            features: vec![wanted("age", ReadAs::Number), wanted("city", ReadAs::Text)],
            encodings: vec![
                Encoding::Number { fill: fill.as_ref().map(|_| 30.0) },
                Encoding::OneHot {
                    levels: levels.iter().map(|&level| level.into()).collect(),
                    fill: fill.clone(),
                },
            ],
            pooled: BTreeMap::new(),
            rare_levels: None,
            target: Some(wanted("price", ReadAs::Number)),
            labels: None,
            projection: None,
            weight: None,
            all_levels: false,
            missing: if fill.is_some() { Missing::Mean } else { Missing::Error },
            unseen: Unseen::Error,
        })
        .unwrap()
    }

    #[test]
    fn levels_of_both_are_known() {
        let merged = design(&["b", "d"], None).merged(10.0, &design(&["a", "b", "c"], None), 10.0).unwrap();
        let names: Vec<_> = (0..4).map(|j| merged.design.column_name(j)).collect();
        assert_eq!(names, ["age", "city=b", "city=c", "city=d"]);
        let (column, minus) = (Derived::Column, Derived::OneMinus);
        assert_eq!(merged.from_first, [column(0), minus(vec![1]), Derived::Zero, column(1)]);
        assert_eq!(merged.from_second, [column(0), column(1), column(2), Derived::Zero]);
    }

    #[test]
    fn a_single_level_becomes_a_column_of_ones() {
        let merged = design(&["b"], None).merged(1.0, &design(&["a"], None), 1.0).unwrap();
        assert_eq!(merged.from_first, [Derived::Column(0), Derived::OneMinus(vec![])]);
        assert_eq!(merged.from_second, [Derived::Column(0), Derived::Zero]);
    }

    #[test]
    fn every_level_may_have_a_column() {
        let all = |levels: &[&str]| {
            let mut parts = design(levels, None).parts().clone();
            (parts.all_levels, parts.target) = (true, None);
            Design::from_parts(parts).unwrap()
        };
        let merged = all(&["b", "d"]).merged(10.0, &all(&["a"]), 10.0).unwrap();
        let names: Vec<_> = (0..merged.design.n_columns()).map(|j| merged.design.column_name(j)).collect();
        assert_eq!(names, ["age", "city=a", "city=b", "city=d"]);
        let (column, zero) = (Derived::Column, Derived::Zero);
        assert_eq!(merged.from_first, [column(0), zero.clone(), column(1), column(2)]);
        assert_eq!(merged.from_second, [column(0), column(1), zero.clone(), zero]);
        let error = all(&["b"]).merged(1.0, &design(&["b"], None), 1.0).unwrap_err().to_string();
        assert_eq!(error, "only one of them has a target");
        let lost = all(&["a", "b"]).without_lost_levels(|column| [0.0, 0.0, 1.0][column], 1e-9);
        assert_eq!(lost.unwrap().1, [column(0), column(2)], "a is gone, and its column");
    }

    #[test]
    fn what_is_filled_in_is_averaged() {
        let one = design(&["a", "b"], Some(vec![0.25]));
        let two = design(&["b", "c"], Some(vec![0.5]));
        let merged = one.merged(100.0, &two, 300.0).unwrap();
        let Encoding::OneHot { levels, fill } = &merged.design.parts().encodings[1] else { panic!("text") };
        assert_eq!(levels, &["a", "b", "c"]);
        // b: a quarter of the first 100 and half of the other 300; c: half of those.
        assert_eq!(fill.as_deref(), Some(&[0.4375, 0.375][..]));
    }

    #[test]
    fn features_may_stand_in_another_order() {
        let one = design(&["a", "b"], None);
        let mut parts = one.parts().clone();
        parts.features.reverse();
        parts.encodings.reverse();
        let two = Design::from_parts(parts).unwrap();
        let merged = one.merged(1.0, &two, 1.0).unwrap();
        assert_eq!(merged.design, one);
        assert_eq!(merged.from_second, [Derived::Column(1), Derived::Column(0)]);
    }

    #[test]
    fn more_levels_are_learned_once() {
        let one = design(&["b", "c"], Some(vec![0.5]));
        let more = [vec![], vec!["a".to_string(), "c".into()]];
        let (known, from) = one.with_levels(&more).unwrap().unwrap();
        assert_eq!(from, [Derived::Column(0), Derived::OneMinus(vec![1]), Derived::Column(1)]);
        let Encoding::OneHot { fill, .. } = &known.parts().encodings[1] else { panic!("text") };
        assert_eq!(fill.as_deref(), Some(&[0.5, 0.5][..]), "means stay what they were");
        assert_eq!(known.with_levels(&more).unwrap(), None);
    }

    #[test]
    fn lost_levels_are_left_out() {
        let three = design(&["a", "b", "c"], Some(vec![0.5, 0.25]));
        let kept = |shares: [f64; 2]| {
            let found = three.without_lost_levels(|column| shares[column - 1], 1e-9);
            found.map(|(design, columns)| {
                let names: Vec<String> =
                    (0..design.n_columns()).map(|j| design.column_name(j).into()).collect();
                (names.join(" "), columns)
            })
        };
        let (zeroth, first, second) = (Derived::Column(0), Derived::Column(1), Derived::Column(2));
        assert_eq!(kept([0.5, 0.25]), None);
        assert_eq!(kept([1e-17, 0.25]), Some(("age city=c".into(), vec![zeroth.clone(), second.clone()])));
        assert_eq!(kept([0.4, 0.6]), Some(("age city=c".into(), vec![zeroth.clone(), second])), "a is gone");
        assert_eq!(kept([0.4, 0.0]), Some(("age city=b".into(), vec![zeroth.clone(), first])));
        assert_eq!(kept([0.0, 0.0]), Some(("age".into(), vec![zeroth])));
    }

    #[test]
    fn designs_of_other_columns_are_refused() {
        let one = design(&["a", "b"], None);
        let changed = |change: fn(&mut DesignParts)| {
            let mut parts = one.parts().clone();
            change(&mut parts);
            one.merged(1.0, &Design::from_parts(parts).unwrap(), 1.0).unwrap_err().to_string()
        };
        assert_eq!(
            changed(|p| p.target.as_mut().unwrap().name = "cost".into()),
            "their targets are `price` and `cost`"
        );
        assert_eq!(changed(|p| p.features[0].name = "size".into()), "only one of them has the feature `age`");
        assert_eq!(changed(|p| p.weight = p.target.clone()), "only one of them has weights");
        let text = changed(|p| {
            p.features[0].read_as = ReadAs::Text;
            p.encodings[0] = Encoding::OneHot { levels: vec!["1".into()], fill: None };
        });
        assert_eq!(text, "feature `age` is text in only one of them");
        let filled = design(&["a", "b"], Some(vec![0.5]));
        let error = one.merged(1.0, &filled, 1.0).unwrap_err().to_string();
        assert_eq!(error, "only one of them fills missing cells with means");
    }

    #[test]
    fn stored_designs_are_checked() {
        let damages: [fn(&mut DesignParts); 9] = [
            |p| p.target.as_mut().unwrap().read_as = ReadAs::Text,
            |p| p.weight = Some(wanted("w", ReadAs::AsIs)),
            |p| p.features[0].read_as = ReadAs::AsIs,
            |p| _ = p.encodings.pop(),
            |p| {
                p.features.clear();
                p.encodings.clear();
            },
            |p| p.encodings[0] = Encoding::Number { fill: Some(f64::NAN) },
            |p| p.encodings.swap(0, 1),
            |p| {
                p.encodings[1] = Encoding::OneHot { levels: vec!["b".into(), "a".into()], fill: None };
            },
            |p| {
                p.encodings[1] = Encoding::OneHot { levels: vec!["a".into()], fill: Some(vec![1.0]) };
            },
        ];
        for (i, damage) in damages.iter().enumerate() {
            let mut parts = design(&["a", "b"], None).parts().clone();
            damage(&mut parts);
            let found = Design::from_parts(parts);
            assert!(matches!(found, Err(Error::Contradiction { .. })), "damage {i}");
        }
    }
}
