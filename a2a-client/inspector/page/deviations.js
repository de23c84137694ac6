/** Deviations from the specification, despite which a card or an answer is read. */

import { h } from "./dom.js";
import { count } from "./format.js";
import { icon } from "./icons.js";

/** Returns the deviations as a list: the place, what was found, what was read instead, and the rule. */
export function deviationList(deviations, what) {
  if (deviations.length === 0) return null;
  return h(
    "section",
    { class: "stack tight", data: { view: "deviations" } },
    h(
      "p",
      { class: "note-box fair" },
      icon("warning"),
      ` ${what} is read despite ${count(deviations.length, "deviation")} from the specification.`,
    ),
    h(
      "ul",
      { class: "problem-list" },
      ...deviations.map(({ code, path, found, readAs, about }) =>
        h(
          "li",
          { data: { row: "deviation", code } },
          h(
            "div",
            { class: "grow" },
            h("p", { class: "problem-text peer" }, about),
            h("code", { class: "soft peer" }, path),
            found && h("p", { class: "small peer" }, `Found ${found}, read as ${readAs}.`),
          ),
        ),
      ),
    ),
  );
}
