use stiction_contact::scenes::{self, Recipe};
use stiction_contact::*;
fn main() {
    let args: Vec<u64> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let recipe = Recipe { coulomb: true, gaps: true, bilaterals: true, limits: true, bounded: true, ..Recipe::PLAIN };
    let mut model = CoulombCone::default();
    let (mut ok, mut bad, mut guessed, mut near) = (0, 0, 0, 0);
    let t = std::time::Instant::now();
    for seed in args[0]..args[1] {
        let p = scenes::random(&recipe, seed).unwrap();
        match model.solve(&p).unwrap() {
            ContactOutcome::Solved(s) => {
                ok += 1;
                let again = model.solve_from(&p, Some(&s.warm_start)).unwrap();
                if let ContactOutcome::Solved(a) = again {
                    if a.stats.guessed == a.stats.islands {
                        guessed += 1
                    } else {
                        near += 1;
                        if near < 10 {
                            println!(
                                "not guessed {seed}: {} of {} pivots {} (first {})",
                                a.stats.guessed, a.stats.islands, a.stats.pivots, s.stats.pivots
                            )
                        }
                    }
                } else {
                    println!("again failed {seed}")
                }
            }
            ContactOutcome::Failed(f) => {
                bad += 1;
                if bad < 40 {
                    println!(
                        "{seed}: {} || {} | n {} pivots {}",
                        f.why,
                        f.certificate,
                        p.contacts().len(),
                        f.stats.pivots
                    )
                }
            }
            o => println!("{seed}: {}", o.name()),
        }
    }
    println!("ok {ok} bad {bad} guessed {guessed} notguessed {near} {:?}", t.elapsed());
}
