//! The paper's claims on the mechanisms, and what became of them.

use super::{BLOCK, FRAME_RATES, Mechanism, Motion, Way};
use crate::Claim;
use crate::compose::{Rule, claim};

/// That it runs, how fast it does, and that it works.
pub(super) fn claims(mechanism: &Mechanism, way: &Way, motion: &Motion) -> Vec<Claim> {
    let title = mechanism.title;
    let robust = claim(
        format!("{title}, {}: simulated robustly, every step certified", way.name),
        "robustly",
        format!(
            "{} steps, {:.1} s, worst certificate {:.0e}{}",
            motion.steps,
            motion.time,
            motion.worst,
            by_other_means(motion)
        ),
        Rule::when(motion.failed.is_none(), "no step fails"),
        motion.failed.clone().unwrap_or_default(),
    );
    let (factor, slowest) = (motion.factor(), 1.0 / motion.slowest());
    let fast = claim(
        format!("{title}, {}: faster than real time, on average", way.name),
        "interactive",
        format!("{factor:.1} times real time"),
        Rule::at_least(factor, 1.0).ours(),
        format!("{factor:.2} times real time"),
    );
    let [least, best] = FRAME_RATES;
    let late = motion.frames.iter().filter(|frame| frame.1 > 1.0 / least).count();
    let consistent = claim(
        format!("{title}, {}: at a consistent frame rate, that of the slowest frame of 1/30 s (Hz)", way.name),
        "20 to 30",
        format!("{slowest:.0} ({:.1} ms)", 1e3 * motion.slowest()),
        Rule::at_least(slowest, least).better_at_least(slowest, best),
        format!("{late} of {} frames take longer than 1/20 s", motion.frames.len()),
    );
    let works = (!way.smooth).then(|| (mechanism.works)(motion));
    [robust, fast, consistent].into_iter().chain(works).collect()
}

/// What of the run was not by the way it is named after; empty if all was.
fn by_other_means(motion: &Motion) -> String {
    let mut text = String::new();
    if motion.stepped > 0.0 {
        text +=
            &format!("; {:.2} s of it by time stepping, where accelerations had no certified answer", motion.stepped);
    }
    if motion.fallbacks > 0 {
        text += &format!("; {} impacts by the polyhedral cone", motion.fallbacks);
    }
    text
}

/// One block per turn leaves the magazine, in order, and none goes back.
pub(super) fn feeds(motion: &Motion) -> Claim {
    /// Where the magazine ends, and the period of the crank in the scene.
    const OUTSIDE: f64 = 0.1;
    const PERIOD: f64 = 1.5;
    let blocks = motion.path.first().map_or(0, |(_, all)| all.keys().filter(|name| name.starts_with(BLOCK)).count());
    // When a block leaves; none if it does not, or comes back.
    let left = |k: usize| {
        let name = format!("{BLOCK}{k}");
        let (t, _) = motion.coordinate(&name, 0).find(|(_, x)| *x > OUTSIDE)?;
        motion.coordinate(&name, 0).skip_while(|(at, _)| *at < t).all(|(_, x)| x > OUTSIDE).then_some(t)
    };
    let times: Vec<f64> = (1..=blocks).filter_map(left).collect();
    let every_turn = times.windows(2).all(|w| ((w[1] - w[0]) / PERIOD - 1.0).abs() < 0.05);
    claim(
        "Block feeder: every turn of the crank feeds one block",
        "shown in Fig. 1",
        format!("{} of {blocks} blocks, one per turn of {PERIOD} s", times.len()),
        Rule::when(
            times.len() == blocks && blocks > 0 && every_turn,
            "all leave for good, in order, each a turn after the last, within 5 % of it",
        ),
        format!("out of the magazine at {times:.2?} s"),
    )
}

/// The load rises in every half period of the lever.
pub(super) fn lifts(motion: &Motion) -> Claim {
    /// Half the period of the lever in the scene (s): from one end of its swing to the other.
    const STROKE: f64 = 1.0;
    let height: Vec<(f64, f64)> = motion.coordinate("load", 2).collect();
    let at =
        |t: f64| height.iter().min_by(|a, b| (a.0 - t).abs().total_cmp(&(b.0 - t).abs())).map_or(f64::NAN, |p| p.1);
    let strokes = ((motion.time - 0.5) / STROKE).floor().max(0.0) as usize;
    let rise = |k: usize| at(0.5 + STROKE * (k + 1) as f64) - at(0.5 + STROKE * k as f64);
    let lifted = (0..strokes).filter(|&k| rise(k) > 0.0).count();
    let all = at(motion.time) - at(0.0);
    claim(
        "Double-action jack: the load rises on both strokes of the lever",
        "shown in Fig. 2",
        format!("{lifted} of {strokes} strokes lift; {:.0} mm in {:.0} s", 1e3 * all, motion.time),
        Rule::all(lifted, strokes),
        "a stroke does not lift",
    )
}
