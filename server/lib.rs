//! Pindrift: find every recorded expectation of a test suite, show where the code drifted from it,
//! and let a person amend it with a reason.
//!
//! The modules stand in flow order. A module may use the ones above it and never one below;
//! `tests/order.rs` checks that. The two fronts, [`wire`] and [`cli`], decide nothing.

pub mod actions;
pub mod amendment;
pub mod audit;
pub mod cli;
pub mod code;
pub mod drift;
pub mod evaluate;
pub mod findings;
pub mod git;
pub mod hover;
pub mod ledger;
pub mod observations;
pub mod oracles;
pub mod pins;
pub mod places;
pub mod rationale;
pub mod report;
pub mod roles;
pub mod settings;
pub mod shelf;
pub mod survey;
pub mod syntax;
pub mod text;
pub mod vocabulary;
pub mod wire;

#[cfg(test)]
#[path = "../tests/fixture/mod.rs"]
pub mod fixture;
