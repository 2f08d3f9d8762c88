//! Timing shared by the benchmarks: medians of processor time, measured side by side.

use std::time::Duration;

use cpu_time::ThreadTime;

/// Calls before anything is timed.
const WARM_UP: usize = 3;
/// Timed calls at least.
const CALLS: usize = 30;
/// Short calls are timed in batches of about this much.
const BATCH: Duration = Duration::from_micros(200);

/// Median processor time of one call, in microseconds.
pub fn median_us(mut call: impl FnMut()) -> f64 {
    for _ in 0..WARM_UP {
        call();
    }
    let once = timed(&mut call, 1).max(Duration::from_nanos(100));
    let batch = (BATCH.as_nanos() / once.as_nanos()).clamp(1, 1000) as usize;
    let mut times: Vec<Duration> = (0..CALLS).map(|_| timed(&mut call, batch)).collect();
    times.sort();
    times[CALLS / 2].as_secs_f64() * 1e6 / batch as f64
}

fn timed(call: &mut impl FnMut(), count: usize) -> Duration {
    let start = ThreadTime::now();
    for _ in 0..count {
        call();
    }
    start.elapsed()
}
