//! dshap-testkit
