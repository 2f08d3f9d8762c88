//! A world of Rapier's, driven over standard input: a line for the world, one for each body, then commands.
//!
//! `world GX GY GZ FRICTION DT SETTING COUNT`, bodies as `KIND SIZE×3 MASS INERTIA×3 POSITION×3 QUATERNION×4 VELOCITY×3 SLIDES FORCE`,
//! then `step N`, which answers with the processor time spent (s), and `poses`, which answers with one line per body that moves.

use std::io::BufRead;

use cpu_time::ProcessTime;

mod single {
    use rapier3d as rapier;
    include!("world.rs");
}
mod double {
    use rapier3d_f64 as rapier;
    include!("world.rs");
}

/// What both precisions do.
trait Steps {
    fn step(&mut self);
    fn poses(&self) -> Vec<[f64; 7]>;
}

fn main() {
    let mut lines = std::io::stdin().lock().lines().map(|line| line.expect("standard input is text"));
    let head = lines.next().expect("a world");
    let words: Vec<&str> = head.split_whitespace().collect();
    let numbers: Vec<f64> = words[1..6].iter().map(|x| x.parse().expect("a number")).collect();
    let (accurate, count) = (words[6] == "accurate", words[7].parse().expect("a count"));
    let bodies: Vec<Vec<f64>> = lines
        .by_ref()
        .take(count)
        .map(|line| line.split_whitespace().map(|x| x.parse().expect("a number")).collect())
        .collect();
    let mut world: Box<dyn Steps> = match words[6] {
        "default" => Box::new(single::World::new(&numbers, &bodies, false)),
        _ => Box::new(double::World::new(&numbers, &bodies, accurate)),
    };
    for line in lines {
        match line.split_once(' ') {
            Some(("step", count)) => {
                let clock = ProcessTime::now();
                (0..count.parse::<usize>().expect("a count")).for_each(|_| world.step());
                println!("{}", clock.elapsed().as_secs_f64());
            }
            _ => world.poses().iter().for_each(|p| {
                println!("{}", p.map(|x| format!("{x:e}")).join(" "));
            }),
        }
    }
}
