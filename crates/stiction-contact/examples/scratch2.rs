use stiction_contact::scenes::{self, Recipe};
use stiction_contact::*;
fn main() {
    let args: Vec<u64> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let recipe = Recipe { coulomb: true, gaps: true, bilaterals: true, limits: true, bounded: true, ..Recipe::PLAIN };
    let mut model = CoulombCone::default();
    let p = scenes::random(&recipe, args[0]).unwrap();
    let s = model.solve(&p).unwrap();
    let s = s.solved().unwrap().clone();
    for i in 0..p.contacts().len() {
        println!(
            "{i} mu {} gap {} p {:?} {:?} {:?} mode {}",
            p.contacts().mu[i],
            p.contacts().gap[i],
            s.forces.normal[i],
            s.forces.tangent_s[i],
            s.forces.tangent_t[i],
            s.modes[i]
        );
    }
    println!(
        "limit {:?} bounded {:?} lo {:?} hi {:?} {}",
        s.forces.limit,
        s.forces.bounded,
        p.bounded().lo,
        p.bounded().hi,
        s.certificate
    );
    let a = model.solve_from(&p, Some(&s.warm_start)).unwrap();
    let a = a.solved().unwrap();
    for i in 0..p.contacts().len() {
        println!(
            "{i} p {:?} {:?} {:?} mode {}",
            a.forces.normal[i], a.forces.tangent_s[i], a.forces.tangent_t[i], a.modes[i]
        );
    }
    println!("{:?}", a.stats);
}
