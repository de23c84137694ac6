//! Report of an experiment: measured figures and their targets.

use serde_json::{Map, Value, json};

/// The figures of an experiment.
pub(crate) struct Report {
    experiment: &'static str,
    figures: Vec<Figure>,
    /// The first failures, as text.
    remarks: Vec<String>,
}

struct Figure {
    name: String,
    target: Target,
    measured: f64,
}

#[derive(Clone, Copy)]
enum Target {
    None,
    Exactly(f64),
    AtLeast(f64),
    AtMost(f64),
}

impl Report {
    pub(crate) fn new(experiment: &'static str) -> Self {
        Self {
            experiment,
            figures: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// A figure that is good to know.
    pub(crate) fn note(&mut self, name: impl Into<String>, measured: f64) {
        self.add(name.into(), Target::None, measured);
    }

    /// A figure that must be this.
    pub(crate) fn exactly(&mut self, name: impl Into<String>, target: usize, measured: usize) {
        self.add(name.into(), Target::Exactly(target as f64), measured as f64);
    }

    /// A figure that must be this at least.
    pub(crate) fn at_least(&mut self, name: impl Into<String>, target: f64, measured: f64) {
        self.add(name.into(), Target::AtLeast(target), measured);
    }

    /// A figure that must be this at most.
    pub(crate) fn at_most(&mut self, name: impl Into<String>, target: f64, measured: f64) {
        self.add(name.into(), Target::AtMost(target), measured);
    }

    fn add(&mut self, name: String, target: Target, measured: f64) {
        self.figures.push(Figure {
            name,
            target,
            measured,
        });
    }

    /// Adds remarks on failures, up to `MAX_REMARKS` in all.
    pub(crate) fn remark(&mut self, remarks: impl IntoIterator<Item = String>) {
        let room = MAX_REMARKS.saturating_sub(self.remarks.len());
        self.remarks.extend(remarks.into_iter().take(room));
    }

    /// Returns whether every figure meets its target.
    pub(crate) fn is_met(&self) -> bool {
        self.figures.iter().all(Figure::is_met)
    }

    /// Writes the report for people, or for programs.
    pub(crate) fn print(&self, seed: u64, as_json: bool) {
        for remark in &self.remarks {
            eprintln!("{}: {remark}", self.experiment);
        }
        match as_json {
            true => println!("{}", self.json(seed)),
            false => self.table(seed),
        }
    }

    fn json(&self, seed: u64) -> Value {
        let figures = self.figures.iter().map(|figure| {
            let target = match figure.target {
                Target::None => Value::Null,
                Target::Exactly(target) | Target::AtLeast(target) | Target::AtMost(target) => {
                    json!(target)
                }
            };
            let measured =
                json!({"target": target, "measured": figure.measured, "met": figure.is_met()});
            (figure.name.clone(), measured)
        });
        json!({
            "experiment": self.experiment,
            "seed": seed,
            "met": self.is_met(),
            "figures": figures.collect::<Map<_, _>>(),
            "remarks": self.remarks,
        })
    }

    fn table(&self, seed: u64) {
        println!("{} --seed {seed}", self.experiment);
        println!("{:<34} {:>12} {:>12}", "figure", "target", "measured");
        for figure in &self.figures {
            let target = match figure.target {
                Target::None => String::new(),
                Target::Exactly(target) => number(target),
                Target::AtLeast(target) => format!("≥ {}", number(target)),
                Target::AtMost(target) => format!("≤ {}", number(target)),
            };
            let missed = if figure.is_met() { "" } else { "   missed" };
            let (name, measured) = (&figure.name, number(figure.measured));
            println!("{name:<34} {target:>12} {measured:>12}{missed}");
        }
    }
}

impl Figure {
    fn is_met(&self) -> bool {
        match self.target {
            Target::None => true,
            Target::Exactly(target) => self.measured == target,
            Target::AtLeast(target) => self.measured >= target,
            Target::AtMost(target) => self.measured <= target,
        }
    }
}

/// Number of remarks kept: the first are enough.
const MAX_REMARKS: usize = 20;

/// Whole numbers with their digits grouped, others with two decimals.
fn number(value: f64) -> String {
    if value.fract() != 0.0 && value < 1000.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
