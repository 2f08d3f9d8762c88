//! Few colours for many: the widest group of colours is cut in the middle, again and again.

use crate::looks::Rgba;

/// Colours as numbers that can be sorted, with how often each comes.
type Counted = (Rgba, usize);

/// Brings colours down to at most `most`, at least one: each becomes the mean of the group it falls
/// into. Colours stay as they are if there are no more than that. What has none keeps none.
pub(super) fn reduce(colors: &mut [Option<Rgba>], most: usize) {
    let mut sorted: Vec<Rgba> = colors.iter().flatten().copied().collect();
    sorted.sort_by(compare);
    let mut distinct: Vec<Counted> = Vec::new();
    for rgba in sorted {
        match distinct.last_mut() {
            Some((last, count)) if compare(last, &rgba).is_eq() => *count += 1,
            _ => distinct.push((rgba, 1)),
        }
    }
    if distinct.len() <= most {
        return;
    }
    let mut groups = vec![distinct];
    while groups.len() < most
        && let Some(widest) = widest(&groups)
    {
        let (left, right) = halves(groups.swap_remove(widest));
        groups.extend([left, right]);
    }
    let mut table: Vec<(Rgba, Rgba)> = Vec::new();
    for group in groups {
        let mean = mean(&group);
        table.extend(group.iter().map(|(rgba, _)| (*rgba, mean)));
    }
    table.sort_by(|a, b| compare(&a.0, &b.0));
    for rgba in colors.iter_mut().flatten() {
        if let Ok(at) = table.binary_search_by(|(from, _)| compare(from, rgba)) {
            *rgba = table[at].1;
        }
    }
}

fn compare(a: &Rgba, b: &Rgba) -> std::cmp::Ordering {
    a.iter().zip(b).map(|(x, y)| x.total_cmp(y)).find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
}

/// The channel with the largest range, and that range.
fn spread(group: &[Counted]) -> (usize, f64) {
    let mut out = (0, 0.0);
    for channel in 0..4 {
        let values = group.iter().map(|(rgba, _)| rgba[channel]);
        let range = values.clone().fold(0.0, f64::max) - values.fold(1.0, f64::min);
        if range > out.1 {
            out = (channel, range);
        }
    }
    out
}

/// The group whose halves gain most: the widest, counted by what it holds; none if no group can be
/// split.
fn widest(groups: &[Vec<Counted>]) -> Option<usize> {
    let gain = |group: &[Counted]| {
        let count: usize = group.iter().map(|(_, n)| n).sum();
        spread(group).1 * (count as f64).sqrt()
    };
    let splittable = groups.iter().enumerate().filter(|(_, group)| group.len() > 1);
    splittable.map(|(i, group)| (i, gain(group))).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|(i, _)| i)
}

/// A group of at least two, cut in the middle of its widest channel: so a colour that stands apart
/// is not lost among many alike.
fn halves(group: Vec<Counted>) -> (Vec<Counted>, Vec<Counted>) {
    let channel = spread(&group).0;
    let values = group.iter().map(|(rgba, _)| rgba[channel]);
    let middle = 0.5 * (values.clone().fold(0.0, f64::max) + values.fold(1.0, f64::min));
    group.into_iter().partition(|(rgba, _)| rgba[channel] <= middle)
}

fn mean(group: &[Counted]) -> Rgba {
    let count: usize = group.iter().map(|(_, n)| n).sum();
    let of = |channel: usize| group.iter().map(|(rgba, n)| rgba[channel] * *n as f64).sum::<f64>() / count as f64;
    [0, 1, 2, 3].map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_stay_and_many_become_near_ones() {
        let grey = |i: usize| Some([i as f64 / 999.0; 4]);
        let mut few = vec![grey(0), None, grey(999), grey(0)];
        reduce(&mut few, 2);
        assert_eq!(few, [grey(0), None, grey(999), grey(0)]);
        let mut many: Vec<_> = (0..1000).map(grey).collect();
        reduce(&mut many, 10);
        let mut seen: Vec<u64> = many.iter().flatten().map(|c| c[0].to_bits()).collect();
        seen.dedup();
        assert_eq!(seen.len(), 10);
        assert!(many.iter().flatten().enumerate().all(|(i, c)| (c[0] - i as f64 / 999.0).abs() < 0.11));
    }

    #[test]
    fn a_colour_that_stands_apart_is_kept_beside_many_alike() {
        let mut colors: Vec<_> = (0..500).map(|i| Some([0.5 + f64::from(i) / 5000.0, 0.5, 0.5, 1.0])).collect();
        colors.push(Some([0.0, 0.0, 1.0, 1.0]));
        reduce(&mut colors, 8);
        assert_eq!(colors[500], Some([0.0, 0.0, 1.0, 1.0]));
    }
}
