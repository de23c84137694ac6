//! The figures as one page of HTML that needs nothing else: a bar for each server.

use std::fmt::Write;

use crate::measurement::{Measurement, TargetResult};
use crate::table::{number, target};

/// The whole page.
pub(crate) fn page(all: &[Measurement]) -> String {
    let mut page = HEAD.to_owned();
    let claims = || all.iter().flat_map(|measured| &measured.claims);
    let met = claims().filter(|claim| claim.met).count();
    let _ = write!(
        page,
        "<p>{met} of {} targets are met.</p>",
        claims().count()
    );
    for measured in all {
        section(&mut page, measured);
    }
    page.push_str("</html>\n");
    page
}

fn section(page: &mut String, measured: &Measurement) {
    let _ = write!(page, "<section><h2>{}</h2><div>", escaped(&measured.load));
    for column in &measured.columns {
        let medians: Vec<_> = measured
            .servers
            .iter()
            .map(|server| {
                let median = measured.median(&server.server, column.name);
                (server.server.as_str(), median.unwrap_or(0.0))
            })
            .collect();
        let _ = write!(
            page,
            "<figure><figcaption>{}, {}</figcaption>",
            column.name, column.unit
        );
        bars(page, &medians);
        page.push_str("</figure>");
    }
    page.push_str("</div>");
    if !measured.claims.is_empty() {
        page.push_str("<table><tr><th>what<th>measured<th>target<th>");
        for claim in &measured.claims {
            row(page, claim);
        }
        page.push_str("</table>");
    }
    page.push_str("</section>\n");
}

/// A bar for each server, as long as its part of the longest.
fn bars(page: &mut String, medians: &[(&str, f64)]) {
    let longest = medians
        .iter()
        .map(|(_, median)| *median)
        .fold(f64::MIN_POSITIVE, f64::max);
    let height = medians.len() * LINE;
    let _ = write!(page, r#"<svg viewBox="0 0 {WIDTH} {height}" role="img">"#);
    for (index, (server, median)) in medians.iter().enumerate() {
        let (top, length) = (index * LINE, median / longest * MAX_BAR);
        let (base, server) = (top + LINE / 2 + 5, escaped(server));
        let class = match server.as_str() {
            ceiling if ceiling.starts_with("hyper") => "ceiling",
            // Those of others are packages.
            other if other.starts_with("made by") || other.starts_with("a2a-") => "peer",
            _ => "ours",
        };
        let _ = write!(
            page,
            r#"<text x="{}" y="{base}" text-anchor="end">{server}</text><rect class="{class}" x="{NAMES}" y="{}" width="{length:.1}" height="{}" rx="2"/><text x="{:.1}" y="{base}">{}</text>"#,
            NAMES - 8,
            top + 4,
            LINE - 8,
            NAMES as f64 + length + 8.0,
            number(*median),
        );
    }
    page.push_str("</svg>");
}

fn row(page: &mut String, claim: &TargetResult) {
    let (class, verdict) = match claim.met {
        true => ("met", "met"),
        false => ("missed", "not met"),
    };
    let (what, measured) = (escaped(&claim.what), number(claim.measured));
    let bound = target(claim.bound);
    let _ = write!(
        page,
        r#"<tr class="{class}"><td>{what}<td>{measured}<td>{bound}<td>{verdict}"#
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Of a drawing, how wide all of it is, its names, and its longest bar; and how high a line is.
const WIDTH: usize = 560;
const NAMES: usize = 170;
const MAX_BAR: f64 = 300.0;
const LINE: usize = 26;

const HEAD: &str = r#"<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>How fast the server is</title>
<style>
:root { color-scheme: light dark; --ours: #2563c9; --ceiling: #9aa3b2; --peer: #c77d2b; --good: #1a7f37; --bad: #c62828; --edge: #ccd1da }
@media (prefers-color-scheme: dark) { :root { --ours: #6ea8fe; --ceiling: #6b7484; --peer: #d99a55; --good: #57c174; --bad: #ff7b72; --edge: #3a404c } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem }
section > div { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1rem 2rem }
figure { margin: 0 } figcaption { font-weight: 600 }
svg { width: 100% } text { font-size: 13px; fill: currentColor } .ours { fill: var(--ours) } .ceiling { fill: var(--ceiling) } .peer { fill: var(--peer) }
table { border-collapse: collapse; margin: 1rem 0 } th, td { text-align: left; padding: .2rem 1rem .2rem 0; border-bottom: 1px solid var(--edge) }
.met td:last-child { color: var(--good) } .missed td:last-child { color: var(--bad); font-weight: 600 }
</style>
<h1>How fast the server is</h1>
<p>Medians over alternating rounds; the server has one processor to itself, and its callers another. Hyper alone reads each request and
answers as many bytes as ours does, always the same: nothing that is built on hyper is faster. Of long streams the ceiling is hyper that
writes event by event, as they come to be.</p>
"#;

#[cfg(test)]
mod tests {
    use crate::measurement::{Bound, Column, Figures};

    use super::*;

    #[test]
    fn a_page_has_every_server_and_every_target() {
        let figures = |server: &str, rate: f64| Figures {
            server: server.to_owned(),
            rounds: vec![vec![rate]],
        };
        let mut measured = Measurement {
            load: "send <all>".to_owned(),
            columns: vec![Column {
                name: "rate",
                unit: "requests/s",
            }],
            servers: vec![
                figures("hyper alone", 100_000.0),
                figures("a2a-other 1.0.0", 25_000.0),
                figures("ours", 50_000.0),
            ],
            claims: Vec::new(),
        };
        let rate = measured.ratio("ours", "hyper alone", "rate");
        measured.claim("rate", rate, Bound::AtLeast(0.52));
        let page = page(&[measured]);
        for expected in [
            "send &lt;all>",
            r#"width="300.0""#,
            r#"width="150.0""#,
            r#"class="peer""#,
            "<td>0.50<td>≥ 0.52<td>not met",
            "0 of 1 targets",
        ] {
            assert!(page.contains(expected), "{expected} is not in {page}");
        }
    }
}
