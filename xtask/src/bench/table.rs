//! Both sides beside each other, and whether the bars are reached.

use std::fmt;

use super::rows::{Reach, Row};
use super::{Measured, Side};

/// How our value stands to the row's bars.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// All bars are reached.
    Reached,
    /// All bars are reached, but the one against the peer could not be judged.
    ReachedWithoutPeer,
    /// Missed by this factor; below two it is for a note to explain.
    Missed(f64),
    /// Our side has no value.
    NotMeasured(String),
    /// Our side cannot have a value yet.
    Waits(&'static str),
}

impl Verdict {
    pub(crate) fn is_failure(&self) -> bool {
        match self {
            Self::Reached | Self::ReachedWithoutPeer | Self::Waits(_) => false,
            Self::Missed(factor) => *factor >= 2.0,
            Self::NotMeasured(_) => true,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reached => f.write_str("ok"),
            Self::ReachedWithoutPeer => f.write_str("ok, peer not measured"),
            Self::Missed(factor) => write!(f, "miss, {factor:.2}×"),
            Self::NotMeasured(why) => f.write_str(why),
            Self::Waits(what) => write!(f, "waits for {what}"),
        }
    }
}

/// Judges one row.
pub(crate) fn judge(row: &Row, ours: Option<&Measured>, peer: Option<&Measured>) -> Verdict {
    let ours = match ours.map(|measured| &measured.value) {
        Some(Ok(value)) => *value,
        Some(Err(error)) => return Verdict::NotMeasured(error.clone()),
        None => {
            let missing = || Verdict::NotMeasured("not measured".into());
            return row.waits_for.map_or_else(missing, Verdict::Waits);
        }
    };
    let peer = peer.and_then(|measured| measured.value.as_ref().ok().copied());
    let mut worst: f64 = 0.0;
    let mut judged_all = true;
    for reach in &row.reach {
        let factor = match (reach, peer) {
            (Reach::AtMost(bar), _) => ours / bar,
            (Reach::AtLeast(bar), _) => bar / ours,
            (Reach::TimesFaster(times), Some(peer)) => ours * times / peer,
            // Nothing is no more than nothing.
            (Reach::TimesPeer(_), Some(_)) if ours == 0.0 => 0.0,
            (Reach::TimesPeer(times), Some(peer)) => ours / (peer * times),
            (Reach::TimesFaster(_) | Reach::TimesPeer(_), None) => {
                judged_all = false;
                continue;
            }
        };
        // A division by zero or a NaN is a miss, not a pass.
        worst = if factor.is_nan() { f64::INFINITY } else { worst.max(factor) };
    }
    if worst > 1.0 {
        Verdict::Missed(worst)
    } else if judged_all {
        Verdict::Reached
    } else {
        Verdict::ReachedWithoutPeer
    }
}

/// The bars of a row in words.
pub(crate) fn bars(row: &Row) -> String {
    let word = |reach: &Reach| match reach {
        Reach::AtMost(bar) => format!("≤ {}", number(*bar)),
        Reach::AtLeast(bar) => format!("≥ {}", number(*bar)),
        Reach::TimesFaster(times) => format!("≥ {}× faster", number(*times)),
        Reach::TimesPeer(times) => format!("≤ {}× the peer", number(*times)),
    };
    row.reach.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// The table as Markdown, ready for `docs/benchmarks.md`.
pub(crate) fn draw(rows: &[Row], ours: &Side, peer: Option<&Side>) -> String {
    let header = ["row", "work", "unit", "ours", "peer", "peer/ours", "to reach", "result"];
    let mut lines = vec![header.map(str::to_owned)];
    for row in rows {
        let (our, their) = (ours.get(&row.name), peer.and_then(|p| p.get(&row.name)));
        // Sizes differ where the peer cannot do ours; then a ratio would say nothing.
        let same_size = |a: &Measured, b: &Measured| a.line["n"] == b.line["n"];
        let ratio = match (our, their) {
            (Some(a), Some(b)) if same_size(a, b) => match (&a.value, &b.value) {
                (Ok(a), Ok(b)) => format!("{:.1}", b / a),
                _ => "—".into(),
            },
            _ => "—".into(),
        };
        lines.push([
            format!("`{}`", row.name),
            row.what.clone(),
            row.unit.to_owned(),
            cell(our),
            cell(their),
            ratio,
            bars(row),
            judge(row, our, their).to_string(),
        ]);
    }
    let widths: Vec<usize> = (0..header.len())
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    let rule = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>();
    let mut drawn: Vec<String> = Vec::new();
    for line in &lines {
        drawn.push(join(line, &widths));
        if drawn.len() == 1 {
            drawn.push(join(&rule, &widths));
        }
    }
    drawn.join("\n")
}

fn join(cells: &[String], widths: &[usize]) -> String {
    let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
    format!("| {} |", padded.collect::<Vec<_>>().join(" | "))
}

fn cell(measured: Option<&Measured>) -> String {
    match measured.map(|m| &m.value) {
        Some(Ok(value)) => number(*value),
        Some(Err(error)) => error.clone(),
        None => "—".into(),
    }
}

/// A number with three digits that matter, and whole above a thousand.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(reach: &[Reach], waits_for: Option<&'static str>) -> Row {
        let reach = reach.to_vec();
        Row { area: "a", name: "r".into(), what: "work".into(), unit: "ns", reach, waits_for }
    }

    fn measured(value: f64) -> Measured {
        Measured { value: Ok(value), line: json!({ "n": 10 }) }
    }

    #[test]
    fn verdicts() {
        let both = row(&[Reach::AtMost(25.0), Reach::TimesFaster(10.0)], None);
        assert_eq!(judge(&both, Some(&measured(20.0)), Some(&measured(400.0))), Verdict::Reached);
        assert_eq!(judge(&both, Some(&measured(20.0)), None), Verdict::ReachedWithoutPeer);
        assert_eq!(judge(&both, Some(&measured(50.0)), None), Verdict::Missed(2.0));
        let slow = judge(&both, Some(&measured(20.0)), Some(&measured(100.0)));
        assert_eq!(slow, Verdict::Missed(2.0));
        assert!(slow.is_failure() && !Verdict::Missed(1.9).is_failure());
        let beside = row(&[Reach::TimesPeer(0.5)], None);
        assert_eq!(judge(&beside, Some(&measured(50.0)), Some(&measured(100.0))), Verdict::Reached);
        assert_eq!(judge(&beside, Some(&measured(0.0)), Some(&measured(0.0))), Verdict::Reached);
        let large = judge(&beside, Some(&measured(75.0)), Some(&measured(100.0)));
        assert_eq!(large, Verdict::Missed(1.5));
        let depth = row(&[Reach::AtLeast(100.0)], None);
        assert_eq!(judge(&depth, Some(&measured(100.0)), None), Verdict::Reached);
        assert!(judge(&depth, Some(&measured(0.0)), None).is_failure());
        assert!(judge(&depth, None, None).is_failure());
        let later = row(&[Reach::AtMost(1.0)], Some("Python"));
        assert_eq!(judge(&later, None, None).to_string(), "waits for Python");
    }

    #[test]
    fn the_table_has_one_line_per_row_and_no_ratio_of_unlike_sizes() {
        let rows = [row(&[Reach::AtMost(25.0)], None)];
        let ours = Side::from([("r".to_owned(), measured(10.0))]);
        let mut other = measured(40.0);
        let like = draw(&rows, &ours, Some(&Side::from([("r".to_owned(), other.clone())])));
        assert!(like.contains("| 4.0 "), "{like}");
        assert_eq!(like.lines().count(), 3);
        other.line = json!({ "n": 11 });
        let unlike = draw(&rows, &ours, Some(&Side::from([("r".to_owned(), other)])));
        assert!(!unlike.contains("| 4.0 "), "{unlike}");
    }
}
