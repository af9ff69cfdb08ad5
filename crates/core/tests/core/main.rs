//! The arithmetic: reference tables, identities, properties, simulations of the definition.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod bounds;
mod calibrated;
mod classification_classes;
mod classification_data;
mod classification_definition;
mod classification_fit;
mod classification_identities;
mod classification_reference;
mod common;
mod density_definition;
mod density_identities;
mod density_limits;
mod density_reference;
mod general;
mod general_definition;
mod general_draws;
mod hard_designs;
mod linear_definition;
mod linear_fit;
mod linear_identities;
mod linear_reference;
mod moments;
mod moments_change;
mod neighbours_definition;
mod neighbours_enumeration;
mod neighbours_identities;
mod neighbours_index;
mod neighbours_inputs;
mod neighbours_weights;
mod nist;
mod principal;
mod refit_intercept;
mod second_order_definition;
mod second_order_errors;
mod second_order_identities;
mod second_order_inputs;
mod second_order_parts;
mod second_order_reference;
mod short_panels;
mod softmax_definition;
mod softmax_identities;
mod valuer_contract;
mod weights;
