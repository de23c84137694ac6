/** Comparison of two runs. */

import { fill, h } from "../dom.js";
import { count, moment } from "../format.js";
import { errorBox } from "../notice.js";
import { get, query } from "../requests.js";
import { href } from "../router.js";
import { columnOf, verdictOf } from "./run_model.js";

/** Returns the differences of two runs. */
export function comparisonView(before, after) {
  const element = h("div", { class: "column", data: { view: "comparison" } }, h("span", { class: "spinner" }));
  const load = async () => {
    try {
      fill(element, draw(await get(`runs/compare${query({ before, after })}`), after));
    } catch (error) {
      fill(element, errorBox(error, load));
    }
  };
  load();
  return element;
}

function draw({ old, new: newer, changes, unchanged }, after) {
  const kinds = Map.groupBy(changes, ({ kind }) => kind);
  const worse = kinds.get("worse")?.length ?? 0;
  const origin = (title, one) =>
    h(
      "div",
      h("dt", title),
      h("dd", { class: "peer" }, one.target, h("small", ` ${moment(one.began)}, suite ${one.suite}`)),
    );
  return [
    h("dl", { class: "facts" }, origin("From", old), origin("To", newer)),
    h(
      "div",
      { class: `note-box ${worse > 0 ? "bad" : changes.length > 0 ? "good" : ""}`, role: "status" },
      changes.length === 0
        ? "Every check has the same verdict in both runs."
        : [
            worse > 0 ? `${count(worse, "check")} got worse. ` : "No check got worse. ",
            `${count(changes.length, "verdict")} changed, ${count(unchanged, "check")} did not.`,
          ],
    ),
    ...KINDS.filter(([kind]) => kinds.has(kind)).map(([kind, title]) =>
      h(
        "section",
        { class: "check-area", data: { kind } },
        h("h2", title, " ", h("small", kinds.get(kind).length)),
        h("div", { class: "check-rows" }, ...kinds.get(kind).map((change) => row(change, after))),
      ),
    ),
  ];
}

function row(change, after) {
  const verdict = (name) => {
    if (!name) return h("span", { class: "pill" }, "not part of it");
    const { words, tone } = verdictOf(name);
    return h("span", { class: `pill ${tone}` }, words);
  };
  return h(
    "a",
    { class: "change-row", href: href("conformance", [after, change.id]), data: { row: "change", check: change.id } },
    h(
      "span",
      { class: "check-what" },
      h("span", { class: "peer" }, change.title),
      " ",
      h("code", { class: "soft" }, `${change.id} · ${columnOf(change)}`),
    ),
    h("span", { class: "line nowrap" }, verdict(change.old), "→", verdict(change.new)),
  );
}

const KINDS = [
  ["worse", "Worse"],
  ["better", "Better"],
  ["other", "Otherwise changed"],
  ["new", "New"],
  ["gone", "Gone"],
];
