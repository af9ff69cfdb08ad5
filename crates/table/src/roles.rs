//! Which column has which role.

use crate::{DatesAs, Error, Kind, RawColumn, RawSchema, ReadAs, Role, Wanted};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// What the user chose about columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// The column to predict.
    pub target: Option<String>,
    /// The features; all other columns if absent.
    pub features: Option<Vec<String>>,
    /// Columns that are not features.
    pub exclude: Vec<String>,
    /// A column that names the rows.
    pub id: Option<String>,
    /// A column that names the owner or group of a row.
    pub by: Option<String>,
    /// Whether `by` is carried through as a name, in the one spelling that every file has,
    /// instead of as it is written.
    pub by_is_name: bool,
    /// Columns to carry through to the output.
    pub keep: Vec<String>,
    /// Columns to read as text, whatever they hold.
    pub categorical: Vec<String>,
    /// The column with the weights of reference rows.
    pub weight: Option<String>,
    /// How dates become numbers; they are refused if absent.
    pub dates: Option<DatesAs>,
}

/// What the cells of the target are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum TargetAs {
    /// Numbers to be predicted.
    #[default]
    Numbers,
    /// Labels of classes: words, numbers, or true and false.
    Labels,
    /// There is no target, only features.
    Nothing,
}

/// The roles of the columns of one table, settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roles {
    /// Features, in the order of the table (or as the user named them).
    pub features: Vec<Wanted>,
    /// The target, if there is one.
    pub target: Option<Wanted>,
    /// What its cells are.
    pub target_as: TargetAs,
    /// The weights.
    pub weight: Option<Wanted>,
    /// Columns to carry through: id, group, then the kept ones.
    pub carried: Vec<Wanted>,
    /// Features that are dates, read as text, and how they become numbers.
    pub dates: Option<(DatesAs, Vec<String>)>,
}

impl Roles {
    /// Settles the roles of the reference's columns.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchColumn`], [`Error::NoTarget`], [`Error::NoFeatures`],
    /// [`Error::TwoRoles`], [`Error::UnusableKind`], [`Error::TargetKind`],
    /// [`Error::LabelKind`], [`Error::WeightKind`].
    pub fn settle(schema: &RawSchema, selection: &Selection, target_as: TargetAs) -> Result<Self, Error> {
        let available = || schema.names().map(String::from).collect::<Vec<_>>();
        let columns: HashMap<&str, &RawColumn> =
            schema.columns.iter().map(|column| (column.name.as_str(), column)).collect();
        let find = |name: &str| {
            columns
                .get(name)
                .copied()
                .ok_or_else(|| Error::NoSuchColumn { name: name.into(), available: available() })
        };
        let target_name = match target_as {
            TargetAs::Nothing => None,
            TargetAs::Numbers | TargetAs::Labels => {
                let name = selection.target.as_deref();
                Some(name.ok_or_else(|| Error::NoTarget { available: available() })?)
            }
        };
        let target = target_name.map(|name| read_target(find(name)?, selection, target_as)).transpose()?;
        let is_target = |name: &str| target_name == Some(name);

        let named = [(Role::Id, &selection.id), (Role::By, &selection.by), (Role::Weight, &selection.weight)];
        for (role, name) in named {
            if let Some(name) = name {
                find(name)?;
                if is_target(name) {
                    return Err(two_roles(name, Role::Target, role));
                }
            }
        }
        for name in selection.exclude.iter().chain(&selection.keep).chain(&selection.categorical) {
            find(name)?;
        }
        if let Some(name) = selection.exclude.iter().find(|name| is_target(name)) {
            return Err(two_roles(name, Role::Target, Role::Exclude));
        }

        let set_aside: HashSet<&String> = selection
            .exclude
            .iter()
            .chain(&selection.id)
            .chain(&selection.by)
            .chain(&selection.weight)
            .collect();
        let names: Vec<&str> = match &selection.features {
            Some(named) => {
                for name in named {
                    find(name)?;
                    if is_target(name) {
                        return Err(two_roles(name, Role::Target, Role::Features));
                    }
                    if selection.exclude.contains(name) {
                        return Err(two_roles(name, Role::Features, Role::Exclude));
                    }
                    if selection.weight.as_ref() == Some(name) {
                        return Err(two_roles(name, Role::Features, Role::Weight));
                    }
                }
                named.iter().map(String::as_str).collect()
            }
            None => schema
                .columns
                .iter()
                .map(|column| &column.name)
                .filter(|name| !is_target(name) && !set_aside.contains(name))
                .map(String::as_str)
                .collect(),
        };
        let categorical: HashSet<&String> = selection.categorical.iter().collect();
        let mut features: Vec<Wanted> = Vec::new();
        let (mut seen, mut dates) = (HashSet::new(), Vec::new());
        for name in names {
            if !seen.insert(name) {
                continue;
            }
            let column = find(name)?;
            let read_as = match column.kind {
                _ if categorical.contains(&column.name) => ReadAs::Text,
                Kind::Number => ReadAs::Number,
                Kind::Boolean => ReadAs::Boolean,
                Kind::Text => ReadAs::Text,
                Kind::Date if selection.dates.is_some() => {
                    dates.push(name.to_owned());
                    ReadAs::Text
                }
                Kind::Date | Kind::Duration | Kind::Other(_) => {
                    return Err(Error::UnusableKind { name: name.into(), kind: column.kind.clone() });
                }
            };
            features.push(Wanted { name: name.into(), read_as });
        }
        if features.is_empty() {
            return Err(Error::NoFeatures { target: target_name.map(String::from) });
        }
        let weight = match &selection.weight {
            None => None,
            Some(name) => match &find(name)?.kind {
                Kind::Number => Some(Wanted { name: name.clone(), read_as: ReadAs::Number }),
                kind => return Err(Error::WeightKind { name: name.clone(), kind: kind.clone() }),
            },
        };
        let dates = selection.dates.filter(|_| !dates.is_empty()).map(|form| (form, dates));
        Ok(Self { features, target, target_as, weight, carried: selection.carried(schema)?, dates })
    }
}

impl Selection {
    /// The columns to carry through from a table: id, group, then kept ones,
    /// each once.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchColumn`].
    pub fn carried(&self, schema: &RawSchema) -> Result<Vec<Wanted>, Error> {
        let mut carried: Vec<Wanted> = Vec::new();
        for name in self.id.iter().chain(&self.by).chain(&self.keep) {
            if schema.column(name).is_none() {
                let available = schema.names().map(String::from).collect();
                return Err(Error::NoSuchColumn { name: name.clone(), available });
            }
            if carried.iter().all(|have| have.name != *name) {
                let is_name = self.by_is_name && self.by.as_ref() == Some(name);
                let read_as = if is_name { ReadAs::Text } else { ReadAs::AsIs };
                carried.push(Wanted { name: name.clone(), read_as });
            }
        }
        Ok(carried)
    }
}

/// How the target is read.
fn read_target(target: &RawColumn, selection: &Selection, target_as: TargetAs) -> Result<Wanted, Error> {
    let name = target.name.clone();
    let read_as = match (&target.kind, target_as) {
        (Kind::Number | Kind::Boolean | Kind::Text, TargetAs::Labels)
            if selection.categorical.contains(&name) =>
        {
            ReadAs::Text
        }
        (Kind::Number, _) => ReadAs::Number,
        (Kind::Boolean, _) => ReadAs::Boolean,
        (Kind::Text, TargetAs::Labels) => ReadAs::Text,
        (kind, TargetAs::Labels) => return Err(Error::LabelKind { name, kind: kind.clone() }),
        (kind, _) => return Err(Error::TargetKind { name, kind: kind.clone() }),
    };
    Ok(Wanted { name, read_as })
}

fn two_roles(name: &str, first: Role, second: Role) -> Error {
    Error::TwoRoles { name: name.into(), first, second }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RawColumn;

    fn schema() -> RawSchema {
        let column = |name: &str, kind| RawColumn { name: name.into(), kind };
        RawSchema {
            columns: vec![
                column("id", Kind::Text),
                column("age", Kind::Number),
                column("city", Kind::Text),
                column("member", Kind::Boolean),
                column("seen", Kind::Date),
                column("price", Kind::Number),
            ],
        }
    }

    fn selection() -> Selection {
        Selection {
            target: Some("price".into()),
            exclude: vec!["seen".into()],
            id: Some("id".into()),
            ..Selection::default()
        }
    }

    fn names(wanted: &[Wanted]) -> Vec<&str> {
        wanted.iter().map(|wanted| wanted.name.as_str()).collect()
    }

    #[test]
    fn a_column_without_another_role_is_a_feature() {
        let roles = Roles::settle(&schema(), &selection(), TargetAs::Numbers).unwrap();
        assert_eq!(names(&roles.features), ["age", "city", "member"]);
        let read_as: Vec<_> = roles.features.iter().map(|feature| feature.read_as).collect();
        assert_eq!(read_as, [ReadAs::Number, ReadAs::Text, ReadAs::Boolean]);
        assert_eq!(names(&roles.carried), ["id"]);
    }

    #[test]
    fn dates_are_features_if_they_become_numbers() {
        let selection = Selection { exclude: Vec::new(), dates: Some(DatesAs::Parts), ..selection() };
        let roles = Roles::settle(&schema(), &selection, TargetAs::Numbers).unwrap();
        assert_eq!(names(&roles.features), ["age", "city", "member", "seen"]);
        assert_eq!(roles.dates, Some((DatesAs::Parts, vec!["seen".to_owned()])));
    }

    #[test]
    fn carried_columns_come_once_and_stay_features() {
        let selection =
            Selection { keep: vec!["age".into(), "id".into()], by: Some("city".into()), ..selection() };
        let roles = Roles::settle(&schema(), &selection, TargetAs::Numbers).unwrap();
        assert_eq!(names(&roles.features), ["age", "member"]);
        assert_eq!(names(&roles.carried), ["id", "city", "age"]);
    }

    #[test]
    fn labels_may_be_words_numbers_or_booleans() {
        let read_as = |target: &str| {
            let selection = Selection { target: Some(target.into()), ..selection() };
            Roles::settle(&schema(), &selection, TargetAs::Labels).map(|roles| roles.target.unwrap().read_as)
        };
        assert_eq!(read_as("city"), Ok(ReadAs::Text));
        assert_eq!(read_as("member"), Ok(ReadAs::Boolean));
        assert_eq!(read_as("age"), Ok(ReadAs::Number));
        let selection = Selection { target: Some("seen".into()), ..Selection::default() };
        let dates = Roles::settle(&schema(), &selection, TargetAs::Labels);
        assert!(matches!(dates, Err(Error::LabelKind { kind: Kind::Date, .. })));
    }

    #[test]
    fn numbers_can_be_declared_categorical() {
        let selection = Selection { categorical: vec!["age".into()], ..selection() };
        let roles = Roles::settle(&schema(), &selection, TargetAs::Numbers).unwrap();
        assert_eq!(roles.features[0], Wanted { name: "age".into(), read_as: ReadAs::Text });
    }

    #[test]
    fn every_wrong_selection_has_its_own_error() {
        let settle = |change: fn(&mut Selection)| {
            let mut selection = selection();
            change(&mut selection);
            Roles::settle(&schema(), &selection, TargetAs::Numbers).unwrap_err()
        };
        assert!(matches!(settle(|s| s.target = None), Error::NoTarget { available } if available.len() == 6));
        assert!(matches!(
            settle(|s| s.target = Some("prize".into())),
            Error::NoSuchColumn { name, .. } if name == "prize"
        ));
        assert!(matches!(
            settle(|s| s.target = Some("city".into())),
            Error::TargetKind { kind: Kind::Text, .. }
        ));
        assert!(matches!(settle(|s| s.exclude.clear()), Error::UnusableKind { kind: Kind::Date, .. }));
        assert!(matches!(settle(|s| s.features = Some(vec![])), Error::NoFeatures { .. }));
        assert!(matches!(settle(|s| s.features = Some(vec!["price".into()])), Error::TwoRoles { .. }));
        assert!(matches!(settle(|s| s.id = Some("price".into())), Error::TwoRoles { .. }));
        assert!(matches!(settle(|s| s.exclude.push("price".into())), Error::TwoRoles { .. }));
        assert!(matches!(settle(|s| s.keep.push("nothing".into())), Error::NoSuchColumn { .. }));
    }
}
