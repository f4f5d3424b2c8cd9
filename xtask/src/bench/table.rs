//! The comparison table of both sides, and the verdict on each row.

use std::fmt;

use super::rows::{BenchRow, PerformanceTarget};
use super::{Measurement, Measurements};

/// The verdict on our value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RowVerdict {
    /// All targets are reached.
    Reached,
    /// All targets are reached, except those against the peer, which was not measured.
    ReachedWithoutPeer,
    /// A target is missed by this factor. A factor below two is not a failure.
    Missed(f64),
    /// Our side has no value.
    NotMeasured(String),
    /// Our side cannot be measured yet, for this reason.
    Blocked(&'static str),
}

impl RowVerdict {
    pub(crate) fn is_failure(&self) -> bool {
        match self {
            Self::Reached | Self::ReachedWithoutPeer | Self::Blocked(_) => false,
            Self::Missed(factor) => *factor >= 2.0,
            Self::NotMeasured(_) => true,
        }
    }
}

impl fmt::Display for RowVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reached => f.write_str("ok"),
            Self::ReachedWithoutPeer => f.write_str("ok, peer not measured"),
            Self::Missed(factor) => write!(f, "miss, {factor:.2}×"),
            Self::NotMeasured(why) => f.write_str(why),
            Self::Blocked(what) => write!(f, "waits for {what}"),
        }
    }
}

/// Returns the verdict on one row.
pub(crate) fn judge(
    row: &BenchRow,
    ours: Option<&Measurement>,
    peer: Option<&Measurement>,
) -> RowVerdict {
    let our_line = ours;
    let ours = match ours.map(|measured| &measured.value) {
        Some(Ok(value)) => *value,
        Some(Err(error)) => return RowVerdict::NotMeasured(error.clone()),
        None => {
            let missing = || RowVerdict::NotMeasured("not measured".into());
            return row.blocked_by.map_or_else(missing, RowVerdict::Blocked);
        }
    };
    let share = share_of_models(row, our_line, peer);
    let peer = peer.and_then(|measured| measured.value.as_ref().ok().copied());
    let mut worst: f64 = 0.0;
    let mut judged_all = true;
    for target in &row.targets {
        let factor = match (target, peer) {
            (PerformanceTarget::AtMost(bar), _) => ours / bar,
            (PerformanceTarget::AtLeast(bar), _) => bar / ours,
            (PerformanceTarget::TimesFaster(times), Some(peer)) => ours * times / peer,
            // Zero is at most any multiple of the peer's value, also of zero.
            (PerformanceTarget::TimesPeer(_), Some(_)) if ours == 0.0 => 0.0,
            (PerformanceTarget::TimesPeer(times), Some(peer)) => ours / (peer * times),
            (PerformanceTarget::ShareOfModels(bar), _) if share.is_some() => {
                bar / share.unwrap_or_default()
            }
            _ => {
                judged_all = false;
                continue;
            }
        };
        // A division by zero or a NaN is a miss, not a pass.
        worst = if factor.is_nan() { f64::INFINITY } else { worst.max(factor) };
    }
    if worst > 1.0 {
        RowVerdict::Missed(worst)
    } else if judged_all {
        RowVerdict::Reached
    } else {
        RowVerdict::ReachedWithoutPeer
    }
}

/// Returns the names of the models on which our value is larger than the peer's, each with both values, and the number of models.
/// `None` if the lines do not have the values of models.
pub(crate) fn worse_models(
    ours: Option<&Measurement>,
    peer: Option<&Measurement>,
) -> Option<(Vec<String>, usize)> {
    let (ours, peer) = (ours?.line["models"].as_object()?, peer?.line["models"].as_object()?);
    let pairs: Vec<(&String, f64, f64)> = ours
        .iter()
        .filter_map(|(name, value)| Some((name, value.as_f64()?, peer.get(name)?.as_f64()?)))
        .collect();
    let worse = pairs.iter().filter(|(_, a, b)| a > b);
    let names = worse.map(|(name, a, b)| format!("{name} {} > {}", number(*a), number(*b)));
    Some((names.collect(), pairs.len()))
}

// Returns the share of the models on which our value is at most the peer's.
fn share_of_models(
    row: &BenchRow,
    ours: Option<&Measurement>,
    peer: Option<&Measurement>,
) -> Option<f64> {
    let (worse, all) = worse_models(ours, peer).filter(|_| row.lists_models())?;
    Some(1.0 - worse.len() as f64 / all as f64)
}

/// Returns the targets of a row as text.
pub(crate) fn targets_text(row: &BenchRow) -> String {
    let word = |target: &PerformanceTarget| match target {
        PerformanceTarget::AtMost(bar) => format!("≤ {}", number(*bar)),
        PerformanceTarget::AtLeast(bar) => format!("≥ {}", number(*bar)),
        PerformanceTarget::TimesFaster(times) => format!("≥ {}× faster", number(*times)),
        PerformanceTarget::TimesPeer(times) => format!("≤ {}× the peer", number(*times)),
        PerformanceTarget::ShareOfModels(share) => {
            format!("≤ the peer on {} % of the models", number(share * 100.0))
        }
    };
    row.targets.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// Returns the table as Markdown, for `docs/benchmarks.md`.
pub(crate) fn render_table(
    rows: &[BenchRow],
    ours: &Measurements,
    peer: Option<&Measurements>,
) -> String {
    let header = ["row", "work", "unit", "ours", "peer", "peer/ours", "to reach", "result"];
    let mut lines = vec![header.map(str::to_owned)];
    for row in rows {
        let (our, their) = (ours.get(&row.name), peer.and_then(|p| p.get(&row.name)));
        // The sizes differ if the peer cannot handle ours. Then a ratio would be meaningless.
        let same_size = |a: &Measurement, b: &Measurement| a.line["n"] == b.line["n"];
        let ratio = match (our, their) {
            (Some(a), Some(b)) if same_size(a, b) => match (&a.value, &b.value) {
                (Ok(a), Ok(b)) => format!("{:.1}", b / a),
                _ => "—".into(),
            },
            _ => "—".into(),
        };
        lines.push([
            format!("`{}`", row.name),
            row.work.clone(),
            row.unit.to_owned(),
            cell(our),
            cell(their),
            ratio,
            targets_text(row),
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

fn cell(measured: Option<&Measurement>) -> String {
    match measured.map(|m| &m.value) {
        Some(Ok(value)) => number(*value),
        Some(Err(error)) => error.clone(),
        None => "—".into(),
    }
}

/// Returns a number with about three significant digits.
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

    fn row(target: &[PerformanceTarget], blocked_by: Option<&'static str>) -> BenchRow {
        let targets = target.to_vec();
        BenchRow {
            area: "a",
            name: "r".into(),
            work: "work".into(),
            unit: "ns",
            targets,
            blocked_by,
        }
    }

    fn measured(value: f64) -> Measurement {
        Measurement { value: Ok(value), line: json!({ "n": 10 }) }
    }

    #[test]
    fn verdicts() {
        let both =
            row(&[PerformanceTarget::AtMost(25.0), PerformanceTarget::TimesFaster(10.0)], None);
        assert_eq!(
            judge(&both, Some(&measured(20.0)), Some(&measured(400.0))),
            RowVerdict::Reached
        );
        assert_eq!(judge(&both, Some(&measured(20.0)), None), RowVerdict::ReachedWithoutPeer);
        assert_eq!(judge(&both, Some(&measured(50.0)), None), RowVerdict::Missed(2.0));
        let slow = judge(&both, Some(&measured(20.0)), Some(&measured(100.0)));
        assert_eq!(slow, RowVerdict::Missed(2.0));
        assert!(slow.is_failure() && !RowVerdict::Missed(1.9).is_failure());
        let relative = row(&[PerformanceTarget::TimesPeer(0.5)], None);
        assert_eq!(
            judge(&relative, Some(&measured(50.0)), Some(&measured(100.0))),
            RowVerdict::Reached
        );
        assert_eq!(
            judge(&relative, Some(&measured(0.0)), Some(&measured(0.0))),
            RowVerdict::Reached
        );
        let large = judge(&relative, Some(&measured(75.0)), Some(&measured(100.0)));
        assert_eq!(large, RowVerdict::Missed(1.5));
        let depth = row(&[PerformanceTarget::AtLeast(100.0)], None);
        assert_eq!(judge(&depth, Some(&measured(100.0)), None), RowVerdict::Reached);
        assert!(judge(&depth, Some(&measured(0.0)), None).is_failure());
        assert!(judge(&depth, None, None).is_failure());
        let later = row(&[PerformanceTarget::AtMost(1.0)], Some("Python"));
        assert_eq!(judge(&later, None, None).to_string(), "waits for Python");
    }

    #[test]
    fn models_are_compared_one_by_one() {
        let of = |a: f64, b: f64| Measurement {
            value: Ok(a + b),
            line: json!({ "n": 2, "models": { "a": a, "b": b } }),
        };
        let all = row(&[PerformanceTarget::ShareOfModels(1.0)], None);
        let half = row(&[PerformanceTarget::ShareOfModels(0.5)], None);
        let (ours, peer) = (of(1.0, 5.0), of(3.0, 4.0));
        assert_eq!(judge(&half, Some(&ours), Some(&peer)), RowVerdict::Reached);
        assert_eq!(judge(&all, Some(&ours), Some(&peer)), RowVerdict::Missed(2.0));
        assert_eq!(judge(&all, Some(&ours), None), RowVerdict::ReachedWithoutPeer);
        assert_eq!(worse_models(Some(&ours), Some(&peer)), Some((vec!["b 5 > 4".into()], 2)));
        assert_eq!(worse_models(Some(&measured(1.0)), Some(&peer)), None);
    }

    #[test]
    fn the_table_has_one_line_per_row_and_no_ratio_of_unlike_sizes() {
        let rows = [row(&[PerformanceTarget::AtMost(25.0)], None)];
        let ours = Measurements::from([("r".to_owned(), measured(10.0))]);
        let mut other = measured(40.0);
        let like = render_table(
            &rows,
            &ours,
            Some(&Measurements::from([("r".to_owned(), other.clone())])),
        );
        assert!(like.contains("| 4.0 "), "{like}");
        assert_eq!(like.lines().count(), 3);
        other.line = json!({ "n": 11 });
        let unlike =
            render_table(&rows, &ours, Some(&Measurements::from([("r".to_owned(), other)])));
        assert!(!unlike.contains("| 4.0 "), "{unlike}");
    }
}
