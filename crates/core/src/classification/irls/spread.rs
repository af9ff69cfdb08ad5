//! Passes over rows that lie in several places: planned in one, summed in many.
//!
//! [`Irls::plan`] says what the next pass sums, [`PassPlan::begin`] sums it wherever rows
//! are, and [`PassSums`] of all rows go back to [`Irls::finish_sums`]. Plans and sums are
//! plain numbers. Sums that are merged in the order of the rows, in the tree that one
//! process merges its blocks in, have the bits of one process.

use super::super::design::Design;
use super::super::separation::{BorderSums, BorderSweep, SideSweep, Sides};
use super::newton::{NewtonSums, NewtonSweep};
use super::{Irls, Pass, PassBuilder, Phase};
use crate::blocks::{BlockSums, Sweep};
use crate::packed::{pack_lower, unpack_lower};
use crate::{Error, Moments, MomentsBuilder, MomentsForm, MomentsParts};
use std::sync::Arc;

/// What a pass sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassKind {
    /// Moments and numbers of labels.
    First,
    /// Loss, gradient and weighted products at some coefficients.
    Newton,
    /// Rows that barely move along a direction.
    Border,
    /// Rows on either side of a direction.
    Sides,
}

/// What a pass sums, as plain numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct PassPlan {
    /// What is summed.
    pub kind: PassKind,
    /// Features of a row.
    pub n_features: usize,
    /// Whether the first column is all ones.
    pub intercept: bool,
    /// How the moments of a first pass are held: as rows ask for, unless it is given.
    pub form: Option<MomentsForm>,
    /// Features in the design, ascending.
    pub kept: Vec<usize>,
    /// What is subtracted from the kept features, without the offset.
    pub shift: Vec<f64>,
    /// What has to be added to that.
    pub offset: Vec<f64>,
    /// What they are multiplied by.
    pub scale: Vec<f64>,
    /// The coefficients, or the direction.
    pub beta: Vec<f64>,
    /// The step that led to the coefficients.
    pub step: Vec<f64>,
    /// What a row's own weight is multiplied by.
    pub weight_scale: f64,
}

impl PassPlan {
    fn first(n_features: usize) -> Self {
        Self {
            kind: PassKind::First,
            n_features,
            intercept: true,
            form: None,
            kept: Vec::new(),
            shift: Vec::new(),
            offset: Vec::new(),
            scale: Vec::new(),
            beta: Vec::new(),
            step: Vec::new(),
            weight_scale: 1.0,
        }
    }

    fn of(kind: PassKind, design: &Design, beta: Vec<f64>, step: Vec<f64>, weight_scale: f64) -> Self {
        Self {
            kind,
            n_features: design.n_features,
            intercept: design.intercept,
            form: None,
            kept: design.kept.clone(),
            shift: design.centre.iter().map(|centre| centre.0).collect(),
            offset: design.centre.iter().map(|centre| centre.1).collect(),
            scale: design.scale.clone(),
            beta,
            step,
            weight_scale,
        }
    }

    /// Columns of the design, including the intercept.
    fn dim(&self) -> usize {
        self.kept.len() + usize::from(self.intercept)
    }

    /// Whether the numbers fit together.
    fn check(&self) -> Result<(), Error> {
        let p = self.kept.len();
        let lists = [self.shift.len(), self.offset.len(), self.scale.len()];
        let vectors = match self.kind {
            PassKind::First => [0, 0],
            PassKind::Newton => [self.dim(), self.dim()],
            PassKind::Border | PassKind::Sides => [self.dim(), 0],
        };
        let fits = lists == [p; 3]
            && [self.beta.len(), self.step.len()] == vectors
            && self.kept.iter().all(|&column| column < self.n_features)
            && self.kept.is_sorted();
        if fits { Ok(()) } else { Err(Error::Contradiction { what: "the plan of a pass does not add up" }) }
    }

    /// A pass over some rows.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] when the numbers are not those of a plan.
    pub fn begin(&self) -> Result<PassBuilder, Error> {
        self.check()?;
        let n = self.n_features;
        let design = || {
            Arc::new(Design {
                n_features: n,
                intercept: self.intercept,
                kept: self.kept.clone(),
                centre: self.shift.iter().copied().zip(self.offset.iter().copied()).collect(),
                scale: self.scale.clone(),
                // The ridge does not matter to a pass.
                variance: None,
            })
        };
        let direction = self.beta.clone();
        Ok(PassBuilder(match self.kind {
            PassKind::First => {
                let moments = MomentsBuilder::new(n);
                let moments = match self.form {
                    Some(form) => moments.with_form(form),
                    None => moments,
                };
                Pass::First { moments: Box::new(moments), n_labels: [0; 2] }
            }
            PassKind::Newton => Pass::Newton(BlockSums::new(
                n,
                NewtonSweep {
                    design: design(),
                    beta: direction,
                    step: self.step.clone(),
                    weight_scale: self.weight_scale,
                },
            )),
            PassKind::Border => Pass::Border(BlockSums::new(n, BorderSweep { design: design(), direction })),
            PassKind::Sides => Pass::Sides(BlockSums::new(n, SideSweep { design: design(), direction })),
        }))
    }
}

impl Irls {
    /// What the next pass sums.
    pub fn plan(&self) -> PassPlan {
        match &self.phase {
            Phase::First | Phase::Over => PassPlan::first(self.n_features),
            Phase::Newton(newton) => {
                let NewtonSweep { design, beta, step, weight_scale } = newton.sweep();
                PassPlan::of(PassKind::Newton, &design, beta, step, weight_scale)
            }
            Phase::Border(newton) => {
                let direction = newton.step.clone();
                PassPlan::of(PassKind::Border, &newton.setup.design, direction, Vec::new(), 1.0)
            }
            Phase::Sides(newton, direction) => {
                PassPlan::of(PassKind::Sides, &newton.setup.design, direction.clone(), Vec::new(), 1.0)
            }
        }
    }
}

/// The sums of a pass over some rows.
#[derive(Debug)]
pub struct PassSums {
    /// Rows, including those of weight 0.
    pub(super) n_pushed: usize,
    pub(super) sums: Sums,
}

#[derive(Debug)]
pub(super) enum Sums {
    First { moments: Box<Moments>, n_labels: [usize; 2] },
    Newton(NewtonSums),
    Border(BorderSums),
    Sides(Sides),
}

/// All numbers of [`PassSums`].
#[derive(Debug, Clone, PartialEq)]
pub struct PassSumsParts {
    /// Rows, including those of weight 0.
    pub n_pushed: usize,
    /// Rows of either label, and moments: what a first pass sums.
    pub first: Option<([usize; 2], MomentsParts)>,
    /// What other passes sum.
    pub numbers: Vec<f64>,
}

impl PassBuilder {
    /// The sums over the rows of this pass.
    ///
    /// # Errors
    ///
    /// [`Error::NoRows`], [`Error::TooLarge`].
    pub fn finish(self) -> Result<PassSums, Error> {
        let n_pushed = self.n_rows();
        let sums = match self.0 {
            Pass::First { moments, n_labels } => {
                Sums::First { moments: Box::new(moments.finish()?), n_labels }
            }
            Pass::Newton(sums) => Sums::Newton(sums.finish()?),
            Pass::Border(sums) => Sums::Border(sums.finish()?),
            Pass::Sides(sums) => Sums::Sides(sums.finish()?),
        };
        Ok(PassSums { n_pushed, sums })
    }
}

impl PassSums {
    /// Adds the sums over later rows.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] for sums of another pass, [`Error::TooLarge`].
    pub fn absorb(&mut self, later: PassSums) -> Result<(), Error> {
        match (&mut self.sums, later.sums) {
            (Sums::First { moments, n_labels }, Sums::First { moments: more, n_labels: [no, yes] }) => {
                moments.merge(&more)?;
                n_labels[0] += no;
                n_labels[1] += yes;
            }
            (Sums::Newton(sums), Sums::Newton(later)) if same_size(&sums.gradient, &later.gradient) => {
                NewtonSweep::absorb(sums, later);
            }
            (Sums::Border(sums), Sums::Border(later)) if sums.gram.ncols() == later.gram.ncols() => {
                BorderSweep::absorb(sums, later);
            }
            (Sums::Sides(sums), Sums::Sides(later)) => SideSweep::absorb(sums, later),
            _ => return Err(Error::Contradiction { what: "sums of different passes cannot be merged" }),
        }
        self.n_pushed += later.n_pushed;
        Ok(())
    }

    /// How the moments of a first pass are held.
    pub fn form(&self) -> Option<MomentsForm> {
        match &self.sums {
            Sums::First { moments, .. } => Some(moments.form()),
            _ => None,
        }
    }

    /// All numbers.
    pub fn to_parts(&self) -> PassSumsParts {
        let word = |truth: bool| f64::from(u8::from(truth));
        let (first, numbers) = match &self.sums {
            Sums::First { moments, n_labels } => (Some((*n_labels, moments.to_parts())), Vec::new()),
            Sums::Newton(sums) => {
                let [weight, squares] = sums.weights;
                let mut numbers = vec![sums.loss, sums.largest_move, word(sums.all_apart), weight, squares];
                numbers.extend(&sums.gradient);
                numbers.extend(pack_lower(&sums.hessian));
                (None, numbers)
            }
            Sums::Border(sums) => {
                let mut numbers = vec![word(sums.any_against)];
                numbers.extend(pack_lower(&sums.gram));
                (None, numbers)
            }
            Sums::Sides(sums) => {
                let counts = [sums.n_apart, sums.n_between, sums.n_against].map(|n| n as f64);
                (None, counts.into_iter().chain([word(sums.is_finite)]).collect())
            }
        };
        PassSumsParts { n_pushed: self.n_pushed, first, numbers }
    }

    /// Sums from their numbers, for a pass of this plan.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] when they are not the numbers of such sums.
    pub fn from_parts(plan: &PassPlan, parts: PassSumsParts) -> Result<Self, Error> {
        let PassSumsParts { n_pushed, first, numbers } = parts;
        let wrong = || Error::Contradiction { what: "the sums of a pass do not match its plan" };
        let dim = plan.dim();
        let sums = match (plan.kind, first, numbers.as_slice()) {
            (PassKind::First, Some((n_labels, moments)), []) => {
                let moments = Moments::from_parts(moments)?;
                if moments.n_features() != plan.n_features {
                    return Err(wrong());
                }
                Sums::First { moments: Box::new(moments), n_labels }
            }
            (PassKind::Newton, None, [loss, largest_move, apart, weight, squares, rest @ ..])
                if rest.len() >= dim =>
            {
                let (gradient, hessian) = rest.split_at(dim);
                Sums::Newton(NewtonSums {
                    loss: *loss,
                    gradient: gradient.to_vec(),
                    hessian: unpack_lower(hessian, dim).ok_or_else(wrong)?,
                    weights: [*weight, *squares],
                    all_apart: *apart == 1.0,
                    largest_move: *largest_move,
                })
            }
            (PassKind::Border, None, [against, gram @ ..]) => Sums::Border(BorderSums {
                gram: unpack_lower(gram, dim).ok_or_else(wrong)?,
                any_against: *against == 1.0,
            }),
            (PassKind::Sides, None, &[apart, between, against, finite]) => Sums::Sides(Sides {
                n_apart: apart as usize,
                n_between: between as usize,
                n_against: against as usize,
                is_finite: finite == 1.0,
            }),
            _ => return Err(wrong()),
        };
        Ok(Self { n_pushed, sums })
    }
}

fn same_size(one: &[f64], two: &[f64]) -> bool {
    one.len() == two.len()
}
