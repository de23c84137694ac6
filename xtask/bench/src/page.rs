//! The figures as a page: a table for each load, and a bar for each figure.

use std::fmt::Write;

use crate::measurement::{Bound, Measurement};
use crate::table::{number, spread, target};

/// Returns the page; `about` says what was measured, where.
pub(crate) fn page(about: &str, all: &[Measurement]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>A2A server benchmark</title>\n\
         <style>{STYLE}</style>\n<h1>A2A server benchmark</h1>\n<p>{}</p>\n<p>{METHOD}</p>\n",
        escaped(about)
    );
    for measured in all {
        load(&mut page, measured);
    }
    page
}

fn load(page: &mut String, measured: &Measurement) {
    let headings = measured.columns.iter().map(|column| {
        let (name, unit) = (escaped(column.name), escaped(column.unit));
        format!("<th>{name}<br><small>{unit}</small></th>")
    });
    let headings: String = headings.collect();
    let load = escaped(&measured.load);
    _ = writeln!(
        page,
        "<h2>{load}</h2>\n<table>\n<tr><th></th>{headings}</tr>"
    );
    for server in &measured.servers {
        let cells = measured.columns.iter().map(|column| {
            let median = measured.median(&server.server, column.name);
            let spread = measured.spread(&server.server, column.name);
            let largest = measured
                .servers
                .iter()
                .filter_map(|other| measured.median(&other.server, column.name));
            let largest = largest.fold(0.0, f64::max);
            let width = median.map_or(0.0, |median| median / largest * 100.0);
            let text = number(median.unwrap_or(f64::NAN));
            format!(
                "<td>{text} <small>{}</small><i style=\"width:{width:.0}%\"></i></td>",
                self::spread(spread)
            )
        });
        let cells: String = cells.collect();
        let name = escaped(&server.server);
        _ = writeln!(page, "<tr><th>{name}</th>{cells}</tr>");
    }
    page.push_str("</table>\n");
    for claim in &measured.claims {
        let verdict = if claim.met { "met" } else { "not met" };
        let (what, is, bound): (_, _, Bound) =
            (escaped(&claim.what), number(claim.measured), claim.bound);
        let bound = escaped(&target(bound));
        _ = writeln!(page, "<p>{what}: {is} (target {bound}: {verdict})</p>");
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;")
}

const METHOD: &str = "The server has one processor, its callers have another. Each caller sends its next request when the \
    last was answered. A figure is the median over the rounds; servers take turns within a round. After ± is half of the \
    distance between the smallest and the largest round.";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;\
    color:#222;background:#fff}table{border-collapse:collapse;width:100%}th{text-align:left;font-weight:600}\
    td,th{padding:.3em .6em;vertical-align:top;border-top:1px solid #8884}small{opacity:.7;font-weight:400}\
    i{display:block;height:.4em;background:#3b7dd8;border-radius:2px}\
    @media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}}";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::{Column, Figures};

    #[test]
    fn page_has_a_bar_for_each_figure() {
        let figures = |server: &str, rate: f64| Figures {
            server: server.to_owned(),
            rounds: vec![vec![rate], vec![rate * 1.1]],
        };
        let measured = Measurement {
            load: "send, <1> connection".to_owned(),
            columns: vec![Column {
                name: "rate",
                unit: "requests/s",
            }],
            servers: vec![figures("hyper alone", 200.0), figures("ours", 100.0)],
            claims: Vec::new(),
        };
        let page = page("commit 01234567", &[measured]);
        for expected in [
            "commit 01234567",
            "send, &lt;1&gt; connection",
            "<th>ours</th><td>105.0 <small>± 5 %</small><i style=\"width:50%\">",
        ] {
            assert!(page.contains(expected), "{expected} is not in {page}");
        }
    }
}
