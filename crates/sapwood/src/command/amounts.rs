//! Numbers of operations and bytes as text and JSON.

use sapwood_ptir::cost::Amount;
use serde_json::{Value, json};

/// Returns an amount as text: a number below a million in full, a larger one with four digits and a suffix, an expression as it is.
pub(crate) fn amount_text(amount: Amount) -> String {
    let Some(number) = amount.known().filter(|&number| number >= 1_000_000) else {
        return amount.to_string();
    };
    let suffixes = ["M", "G", "T", "P", "E"];
    let (mut scaled, mut suffix) = (number as f64 / 1e6, 0);
    // 999.95 would be printed with one digit too many.
    while scaled >= 999.95 && suffix + 1 < suffixes.len() {
        scaled /= 1e3;
        suffix += 1;
    }
    let digits = if scaled < 9.9995 {
        3
    } else if scaled < 99.995 {
        2
    } else {
        1
    };
    format!("{scaled:.digits$} {}", suffixes[suffix])
}

/// Returns an amount as JSON: a number, an expression as a string, or null if it is not known.
pub(crate) fn amount_json(amount: Amount) -> Value {
    match amount {
        Amount::Known(number) => match u64::try_from(number) {
            Ok(number) => json!(number),
            Err(_) => json!(number.to_string()),
        },
        Amount::Expr(expr) => json!(expr.to_string()),
        Amount::Unknown => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_have_four_digits() {
        for (number, text) in [
            (0, "0"),
            (999_999, "999999"),
            (1_000_000, "1.000 M"),
            (12_345_678, "12.35 M"),
            (999_949_999, "999.9 M"),
            (999_999_999, "1.000 G"),
            (5_000_000_000_000_000_000_000, "5000.0 E"),
        ] {
            assert_eq!(amount_text(Amount::Known(number)), text);
        }
    }
}
