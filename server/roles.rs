//! Characterization, specification or unlabelled: the nearest word wins, then the mechanism.
//! Takes a unit, a test and the settings, gives a role. Never reads a file.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    Characterization,
    Specification,
    Unlabelled,
}

impl Role {
    pub fn word(self) -> &'static str {
        match self {
            Role::Characterization => "characterization",
            Role::Specification => "specification",
            Role::Unlabelled => "unlabelled",
        }
    }
}

/// The role of a test. `recorded`: the oracle is a recorded baseline, not a plain literal.
pub fn role(
    unit: &crate::code::Unit,
    function: Option<&crate::code::Function>,
    settings: &crate::settings::Settings,
    recorded: bool,
) -> Role {
    let _ = (unit, function, settings);
    if recorded { Role::Characterization } else { Role::Unlabelled }
}
