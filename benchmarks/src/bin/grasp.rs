//! Drumwright's grasp: `cargo run --release --bin grasp` in `benchmarks/`.
//!
//! Per step and number of blocks: no-slip, Stewart–Trinkle with Lloyd's reduced method, and Stewart–Trinkle with standard Lemke (four directions, mu = 100, as the
//! paper has it), each from scratch and certified; medians of the processor time in one run.
//!
//! Reference: [Drumwright15, §VII-A].

use cpu_time::ThreadTime;

use stiction_contact::models::coulomb_polyhedral::{CoulombPolyhedral, Method};
use stiction_contact::{ContactModel, CoulombCone, NoSlip, NoSlipOptions, PolyhedralOptions, scenes};

const CALLS: usize = 31;

fn main() -> Result<(), stiction_lcp::InputError> {
    let polyhedral = |method| PolyhedralOptions { directions: 4, method, ..PolyhedralOptions::default() };
    println!("blocks contacts   no-slip µs   cone µs   reduced µs   standard µs   standard/no-slip");
    for blocks in 2..=5 {
        let problem = scenes::grasp(blocks, 100.0, 0.01)?;
        let mut models: [Box<dyn ContactModel>; 4] = [
            Box::new(NoSlip::new(NoSlipOptions::default())),
            Box::new(CoulombCone::default()),
            Box::new(CoulombPolyhedral::new(polyhedral(Method::Reduced))?),
            Box::new(CoulombPolyhedral::new(polyhedral(Method::Standard))?),
        ];
        let mut times = [0.0; 4];
        for (time, model) in times.iter_mut().zip(&mut models) {
            let mut all: Vec<f64> = Vec::new();
            for _ in 0..CALLS {
                let clock = ThreadTime::now();
                let outcome = model.solve(&problem)?;
                all.push(clock.elapsed().as_secs_f64() * 1e6);
                if outcome.solved().is_none() {
                    println!("{} did not solve {blocks} blocks: {}", model.name(), outcome.name());
                }
            }
            all.sort_by(f64::total_cmp);
            *time = all[CALLS / 2];
        }
        let [no_slip, cone, reduced, standard] = times;
        let contacts = problem.contacts().len();
        let ratio = standard / no_slip;
        println!("{blocks:6} {contacts:8} {no_slip:12.1} {cone:9.1} {reduced:12.1} {standard:13.1} {ratio:18.1}");
    }
    Ok(())
}
