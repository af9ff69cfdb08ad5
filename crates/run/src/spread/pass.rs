//! What a pass sums, as bytes that travel to wherever rows are.

use super::bad;
use dshap::MomentsForm;
use dshap::classification::{PassKind, PassPlan};
use dshap_models::Error;
use dshap_models::linear::FormWord;
use dshap_table::{DesignParts, Survey};
use serde::{Deserialize, Serialize};

/// A pass over all rows.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Plan {
    /// The dshap that planned it.
    pub(super) dshap: String,
    /// How columns become numbers; not known yet in a survey.
    pub(super) design: Option<DesignParts>,
    /// What is summed.
    pub(super) what: What,
}

/// What is summed.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum What {
    /// Levels, labels and means.
    Survey { survey: Box<Survey>, categorical: Vec<String> },
    /// Moments, those of owners too if a column names them. The first rows settle their
    /// form, unless it is given.
    Moments { intercept: bool, form: Option<FormWord>, by: Option<String> },
    /// A step of a logistic fit; the first one also looks at columns and labels.
    Logistic { first: bool, form: Option<FormWord>, plans: Vec<Option<StepDocument>> },
    /// Distances under a fit that comes beside the plan.
    Distances,
    /// Means and spreads of columns, and a sample of rows.
    Sample { most: usize, seed: u64 },
    /// The rows themselves.
    Rows { is_reference: bool },
}

impl Plan {
    pub(super) fn new(design: Option<DesignParts>, what: What) -> Self {
        Self { dshap: env!("CARGO_PKG_VERSION").into(), design, what }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a plan has nothing JSON cannot hold")
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let plan: Self = serde_json::from_slice(bytes).map_err(|error| bad(error.to_string()))?;
        let here = env!("CARGO_PKG_VERSION");
        if plan.dshap == here {
            return Ok(plan);
        }
        Err(bad(format!("it was planned by dshap {}, and this is dshap {here}", plan.dshap)))
    }
}

/// A step of one logistic fit.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StepDocument {
    kind: StepWord,
    n_features: usize,
    intercept: bool,
    kept: Vec<usize>,
    shift: Vec<f64>,
    offset: Vec<f64>,
    scale: Vec<f64>,
    beta: Vec<f64>,
    step: Vec<f64>,
    weight_scale: f64,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StepWord {
    First,
    Newton,
    Border,
    Sides,
}

impl StepDocument {
    pub(super) fn of(plan: PassPlan) -> Self {
        let kind = match plan.kind {
            PassKind::First => StepWord::First,
            PassKind::Newton => StepWord::Newton,
            PassKind::Border => StepWord::Border,
            PassKind::Sides => StepWord::Sides,
        };
        let PassPlan { n_features, intercept, kept, shift, offset, scale, beta, step, weight_scale, .. } =
            plan;
        Self { kind, n_features, intercept, kept, shift, offset, scale, beta, step, weight_scale }
    }

    /// The plan, with moments in this form.
    pub(super) fn plan(&self, form: Option<MomentsForm>) -> PassPlan {
        let kind = match self.kind {
            StepWord::First => PassKind::First,
            StepWord::Newton => PassKind::Newton,
            StepWord::Border => PassKind::Border,
            StepWord::Sides => PassKind::Sides,
        };
        let Self { n_features, intercept, kept, shift, offset, scale, beta, step, weight_scale, .. } =
            self.clone();
        PassPlan { kind, n_features, intercept, form, kept, shift, offset, scale, beta, step, weight_scale }
    }
}
