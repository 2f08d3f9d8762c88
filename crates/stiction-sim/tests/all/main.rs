//! Loaders, scenes, simulators and recordings. One program for all: every program is linked with the whole engine.

mod bad_scenes;
mod changes;
mod closed_loops;
mod contact_rates;
mod ellipsoid;
mod energy;
mod event_driven;
mod exactness;
mod fast_motion;
mod friction_ellipse;
mod looks;
mod mjcf;
mod mjcf_garbled;
mod mjcf_write;
mod motor_limits;
mod on_failure;
mod overlap;
mod projection;
mod recordings;
mod restitution;
mod rolling_friction;
mod scenes;
mod sleeping;
mod threads;
mod urdf;
