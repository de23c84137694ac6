//! The figures as people read them.

use crate::measurement::{Bound, Measurement};

/// Prints one kind of load: a row for each server, and the targets.
pub(crate) fn print(measured: &Measurement) {
    println!("{}", measured.load);
    let headings = measured
        .columns
        .iter()
        .map(|column| format!("{:>12}       ", column.name));
    println!("  {:<38}{}", "", headings.collect::<String>());
    for server in &measured.servers {
        let figures = measured.columns.iter().map(|column| {
            let median = measured.median(&server.server, column.name);
            let spread = spread(measured.spread(&server.server, column.name));
            format!("{:>12} {spread:<6}", number(median.unwrap_or(f64::NAN)))
        });
        println!("  {:<38}{}", server.server, figures.collect::<String>());
    }
    if let Some((first, others)) = measured.servers.split_first() {
        for other in others {
            let ratios = measured.columns.iter().map(|column| {
                let ratio = measured.ratio(&other.server, &first.server, column.name);
                format!("{:>12.3}       ", ratio.unwrap_or(f64::NAN))
            });
            let name = format!("{} ÷ {}", other.server, first.server);
            println!("  {name:<38}{}", ratios.collect::<String>());
        }
    }
    for claim in &measured.claims {
        let verdict = if claim.met { "met" } else { "NOT MET" };
        let (what, is, bound) = (&claim.what, number(claim.measured), target(claim.bound));
        println!("  {what:<38}{is:>12}   {bound:<16} {verdict}");
    }
    println!();
}

/// Formats the target of a figure.
pub(crate) fn target(bound: Bound) -> String {
    match bound {
        Bound::AtLeast(least) => format!("≥ {}", number(least)),
        Bound::AtMost(most) => format!("≤ {}", number(most)),
        Bound::Within(least, most) => format!("{} to {}", number(least), number(most)),
    }
}

/// Formats the part by which rounds differ.
pub(crate) fn spread(part: Option<f64>) -> String {
    part.map_or_else(String::new, |part| format!("± {:.0} %", part * 100.0))
}

/// Small figures with decimals, large ones with their digits grouped.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        small if small < 10.0 => format!("{value:.2}"),
        middle if middle < 1000.0 => format!("{value:.1}"),
        large if large.is_finite() => grouped(&format!("{value:.0}")),
        _ => "unknown".to_owned(),
    }
}

fn grouped(digits: &str) -> String {
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, expected) in [
            (0.3156, "0.32"),
            (34.06, "34.1"),
            (999.94, "999.9"),
            (104_311.2, "104,311"),
            (f64::NAN, "unknown"),
        ] {
            assert_eq!(number(value), expected);
        }
        assert_eq!(target(Bound::AtLeast(0.52)), "≥ 0.52");
    }
}
