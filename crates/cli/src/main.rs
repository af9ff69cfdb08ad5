//! dshap
fn main() {}
