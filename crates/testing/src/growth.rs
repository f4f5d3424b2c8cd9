//! The growth of cost with size.

/// Returns the exponent `e` that fits `cost ≈ c · sizeᵉ` best: 1 is linear, 2 quadratic.
///
/// Least squares over the logarithms, so that small sizes count as much as large ones. Points
/// that are not positive are left out; fewer than two different sizes give NaN, which no bound accepts.
///
/// ```
/// let times = [(1e3, 2.1), (1e4, 20.0), (1e5, 210.0), (1e6, 2_050.0)];
/// assert!(sapwood_testing::exponent(&times) <= 1.1);
/// ```
#[must_use]
pub fn exponent(size_and_cost: &[(f64, f64)]) -> f64 {
    let points: Vec<(f64, f64)> = size_and_cost
        .iter()
        .filter(|(size, cost)| *size > 0.0 && *cost > 0.0)
        .map(|(size, cost)| (size.ln(), cost.ln()))
        .collect();
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let covariance: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    if variance > 0.0 { covariance / variance } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_found() {
        for power in [0.5, 1.0, 1.5, 2.0] {
            let points = [1e3, 1e4, 1e5].map(|n: f64| (n, 7.0 * n.powf(power)));
            assert!((exponent(&points) - power).abs() < 1e-9);
        }
    }

    #[test]
    fn nothing_fits_nothing() {
        assert!(exponent(&[]).is_nan());
        assert!(exponent(&[(10.0, 1.0)]).is_nan());
        assert!(exponent(&[(10.0, 1.0), (10.0, 2.0)]).is_nan());
        assert!(exponent(&[(0.0, 1.0), (10.0, 2.0)]).is_nan());
    }
}
