//! dshap-io
