//! What takes part in a trial: a method, possibly with a semivalue of its own.

use dshap_catalogue::Given;
use dshap_catalogue::options::SEMIVALUE;
use dshap_models::{Method, methods};

/// A method that takes part, and the options that only it has.
#[derive(Debug, Clone, PartialEq)]
pub struct Entrant {
    /// What it is called: the name of the method, with the semivalue behind a colon if it has its own.
    pub name: String,
    /// The method.
    pub method: &'static Method,
    /// Options that replace those of the whole trial.
    pub own: Given,
}

impl Entrant {
    /// A method with the options of the whole trial.
    pub fn of(method: &'static Method) -> Self {
        Self { name: method.name().into(), method, own: Given::new() }
    }

    /// A method with a semivalue of its own, so that one trial can hold several. Nothing if the
    /// word is not a semivalue; whether the method takes one is found out with its other options.
    pub fn with_semivalue(method: &'static Method, word: &str) -> Option<Self> {
        let semivalue = SEMIVALUE.takes.parse(word)?;
        let own = Given::new().with(&SEMIVALUE, semivalue);
        Some(Self { name: format!("{}:{word}", method.name()), method, own })
    }

    /// From its [name](Self::name).
    pub fn parse(name: &str) -> Option<Self> {
        match name.split_once(':') {
            None => methods::find(name).map(Self::of),
            Some((method, word)) => Self::with_semivalue(methods::find(method)?, word),
        }
    }

    /// The options of the trial that the method takes, with its own in their place.
    pub(crate) fn options(&self, given: Given) -> Given {
        self.own.or(&given)
    }
}

/// Names between commas. The comma of `beta:16,1` belongs to the name: no method begins with a digit.
pub fn split_names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for piece in text.split(',') {
        let is_number = piece.trim().parse::<f64>().is_ok();
        match names.last_mut() {
            Some(name) if is_number && name.contains(':') => *name = format!("{name},{}", piece.trim()),
            _ => names.push(piece.trim().into()),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_catalogue::Value;

    #[test]
    fn commas_of_beta_belong_to_the_name() {
        let split = |text: &str| split_names(text).join(" ");
        assert_eq!(split("gaussian,knn"), "gaussian knn");
        assert_eq!(split("gaussian:beta:16,1,knn:banzhaf, loo"), "gaussian:beta:16,1 knn:banzhaf loo");
        assert_eq!(split("gaussian,3"), "gaussian 3", "which is no name, and an error");
    }

    #[test]
    fn names_come_back() {
        for name in ["gaussian", "knn:banzhaf", "closed:beta:1,16", "gaussian:at-m"] {
            assert_eq!(Entrant::parse(name).map(|entrant| entrant.name).as_deref(), Some(name));
        }
        for wrong in ["gauss", "gaussian:", "gaussian:owen", "gaussian:beta:1", ":banzhaf"] {
            assert_eq!(Entrant::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn own_options_replace_those_of_the_trial() {
        let trial = Given::new().with(&SEMIVALUE, Value::Word("at-m".into()));
        let word = |name: &str| {
            let entrant = Entrant::parse(name).expect("a name");
            entrant.options(trial.clone()).word(&SEMIVALUE).map(str::to_string)
        };
        assert_eq!(word("gaussian").as_deref(), Some("at-m"));
        assert_eq!(word("gaussian:banzhaf").as_deref(), Some("banzhaf"));
    }
}
