//! The machine an experiment ran on, and when.

use std::fs::read_to_string;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// The machine an experiment ran on, and when.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// Name of the processor.
    pub cpu: String,
    /// Threads that can run at once.
    pub cores: usize,
    /// Operating system and processor family.
    pub os: String,
    /// The compiler that built the engine.
    pub rustc: String,
    /// Version of the engine.
    pub engine: String,
    /// Built with optimisation: timings of a debug build say nothing.
    pub optimised: bool,
    /// Date and time, UTC: `2026-01-31 12:00`.
    pub date: String,
}

impl Machine {
    /// This machine, now.
    pub fn here() -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        Self {
            cpu: cpu(),
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            os: format!("{}, {}", os(), std::env::consts::ARCH),
            rustc: env!("STICTION_RUSTC").into(),
            engine: format!("stiction {}", env!("CARGO_PKG_VERSION")),
            optimised: !cfg!(debug_assertions),
            date: date(seconds),
        }
    }

    /// Names and values, for tables.
    pub fn lines(&self) -> [(&'static str, String); 6] {
        let build = if self.optimised { "" } else { ", debug build: the timings say nothing" };
        [
            ("date", format!("{} UTC", self.date)),
            ("processor", self.cpu.clone()),
            ("cores", self.cores.to_string()),
            ("system", self.os.clone()),
            ("compiler", self.rustc.clone()),
            ("engine", format!("{}{build}", self.engine)),
        ]
    }
}

/// The value of the first line `name: value` or `name=value`.
fn value(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    let (_, value) = line.split_once([':', '='])?;
    Some(value.trim().trim_matches('"').to_string()).filter(|v| !v.is_empty())
}

fn cpu() -> String {
    let linux = || value(&read_to_string("/proc/cpuinfo").ok()?, "model name");
    let mac = || {
        let answer = Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output().ok()?;
        String::from_utf8(answer.stdout).ok().map(|s| s.trim().to_string()).filter(|s| !s.is_empty())
    };
    let windows = || std::env::var("PROCESSOR_IDENTIFIER").ok();
    linux().or_else(mac).or_else(windows).unwrap_or_else(|| "unknown".into())
}

fn os() -> String {
    let name = read_to_string("/etc/os-release").ok().and_then(|text| value(&text, "PRETTY_NAME"));
    let kernel = read_to_string("/proc/sys/kernel/osrelease").ok().map(|k| k.trim().to_string());
    match (name, kernel) {
        (Some(name), Some(kernel)) => format!("{name}, kernel {kernel}"),
        (Some(name), None) => name,
        _ => std::env::consts::OS.into(),
    }
}

/// Seconds since 1970 as date and time, UTC.
fn date(seconds: u64) -> String {
    let (mut day, minute) = (seconds / 86_400, seconds % 86_400 / 60);
    let leap = |y: u64| y.is_multiple_of(4) && !y.is_multiple_of(100) || y.is_multiple_of(400);
    // 400 years have a whole number of days.
    let mut year = 1970 + 400 * (day / 146_097);
    day %= 146_097;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for days in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    format!("{year}-{month:02}-{:02} {:02}:{:02}", day + 1, minute / 60, minute % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00");
        assert_eq!(date(951_782_399), "2000-02-28 23:59");
        assert_eq!(date(951_782_400), "2000-02-29 00:00");
        assert_eq!(date(1_709_251_200), "2024-03-01 00:00");
        assert_eq!(date(1_767_225_599), "2025-12-31 23:59");
        assert_eq!(date(4_107_542_400), "2100-03-01 00:00");
    }

    #[test]
    fn lines_of_either_form_are_found() {
        assert_eq!(value("a\t: 1\nmodel name\t: X 5\n", "model name").as_deref(), Some("X 5"));
        assert_eq!(value("PRETTY_NAME=\"Some OS\"", "PRETTY_NAME").as_deref(), Some("Some OS"));
        assert_eq!(value("model name :", "model name"), None);
    }
}
