use std::time::Instant;
use stiction_contact::io::{self, AnyProblem, ReadOptions};
use stiction_contact::{ContactModel, ContactOutcome};
use stiction_contact::models::coulomb_cone::CoulombCone;
fn main() {
    let (mut solved, mut all, mut total) = (0, 0, 0);
    let brief = std::env::var("BRIEF").is_ok();
    for path in std::env::args().skip(1) {
        let problem = match io::read(std::path::Path::new(&path), &ReadOptions::default()) { Ok(AnyProblem::Contact(p)) => p, Ok(_) => { println!("{path}: other"); continue }, Err(e) => { println!("{path}: {e}"); continue } };
        let mut model = CoulombCone::default();
        let t = Instant::now();
        let outcome = model.solve(&problem).unwrap();
        let t = t.elapsed().as_secs_f64() * 1e3;
        all += 1;
        let name = path.rsplit('/').next().unwrap();
        let what = match &outcome {
            ContactOutcome::Solved(s) => { solved += 1; total += s.stats.pivots; format!("solved {:?} islands {} guessed {} factors {} fallbacks {}", s.certificate.worst, s.stats.islands, s.stats.guessed, s.stats.pivots, s.stats.fallbacks) }
            ContactOutcome::Failed(f) => format!("FAILED {:?}", f.why),
            _ => "proof".to_string(),
        };
        if !brief || !matches!(outcome, ContactOutcome::Solved(_)) { println!("{name}: contacts {} {t:.1} ms {what}", problem.contacts().len()); }
    }
    println!("{solved} of {all}, {total} factors");
}
