//! Tables II and III: a quadruped walks over uneven ground, without slip and with viscous friction.
pub mod controller;
pub mod leg;
pub mod robot;
pub mod spline;
pub mod terrain;
