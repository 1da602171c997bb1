//! Pindrift: find every recorded expectation of a test suite, show where the code drifted from it,
//! and let a person amend it with a reason.
//!
//! The modules stand in flow order. A module may use the ones above it and never one below;
//! `tests/order.rs` checks that. The two fronts, [`wire`] and [`cli`], decide nothing.

pub mod text;

pub mod places;

pub mod settings;

pub mod syntax;

pub mod shelf;

pub mod vocabulary;

pub mod code;

pub mod pins;

pub mod evaluate;

pub mod roles;

pub mod oracles;

pub mod git;

pub mod switches;

pub mod observations;

pub mod drift;

pub mod rationale;

pub mod ledger;

pub mod proposals;

pub mod survey;

pub mod changes;

pub mod past;

pub mod observe;

pub mod proof;

pub mod reviewer;

pub mod amendment;

pub mod audit;

pub mod findings;

pub mod hover;

pub mod actions;

pub mod report;

pub mod wire;

pub mod cli;

#[cfg(test)]
#[path = "../tests/fixture/mod.rs"]
pub mod fixture;
