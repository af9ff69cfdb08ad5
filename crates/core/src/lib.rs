//! dshap
