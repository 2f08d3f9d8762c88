//! The scenes that come with the package.

/// Texts of scenes, by name.
macro_rules! scenes {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../scenes/", $name, ".toml")))),+]
    };
}

/// Names and texts of all scenes in `scenes/`, which name no other files.
pub(crate) const SCENES: &[(&str, &str)] = scenes![
    "balls",
    "bin-picking",
    "block-feeder",
    "block-in-corner",
    "bounce",
    "bridge",
    "capsule",
    "chain",
    "dominoes",
    "double-action-jack",
    "four-bar",
    "grasp",
    "gripper",
    "heap",
    "heaps",
    "hopper",
    "incline",
    "kapla",
    "mass-ratio",
    "peg-in-hole",
    "pyramid",
    "quad-flat",
    "quad-terrain",
    "ragdolls",
    "slide",
    "stack",
    "stacks",
    "wall",
];
