//! Articulated bodies and collision. One program for all: every program is linked with the whole engine.

#[path = "../collision_support/mod.rs"]
mod collision_support;

mod collision;
mod collision_advance;
mod collision_cylinders;
mod collision_ellipsoid;
mod collision_hulls;
mod collision_many;
mod collision_prediction;
mod collision_properties;
mod collision_rules;
mod collision_surfaces;
mod dynamics;
mod hull_pairs;
mod velocity_products;
