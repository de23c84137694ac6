/** JSON as a tree that folds. */

import { add, fill, h } from "./dom.js";

/**
 * Returns a value as a tree. The first levels are open, as far as they are not long; children are built when
 * they are first seen, so that large documents stay quick.
 */
export function jsonView(value, { open = 3 } = {}) {
  return h(
    "div",
    { class: "json", tabindex: "0", role: "group", "aria-label": "JSON" },
    node(undefined, value, open, true),
  );
}

/** Closes every fold, or opens all of them and those below, up to a bound. */
export function setFolds(tree, open) {
  if (!open) for (const fold of tree.querySelectorAll("details[open]")) fold.open = false;
  for (let rest = open ? MAX_UNFOLDED : 0; rest > 0; ) {
    const folds = [...tree.querySelectorAll("details:not([open])")].slice(0, rest);
    if (folds.length === 0) return;
    rest -= folds.length;
    for (const fold of folds) {
      fold.open = true;
      // Builds its children at once, so that their folds are found.
      fold.dispatchEvent(new Event("toggle"));
    }
  }
}

function node(key, value, open, last) {
  const comma = last ? "" : ",";
  if (value === null || typeof value !== "object")
    return h("div", { class: "json-line" }, label(key), scalar(value), comma);
  const entries = Array.isArray(value) ? value.map((item) => [undefined, item]) : Object.entries(value);
  const [before, after] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return h("div", { class: "json-line" }, label(key), before + after, comma);
  const body = h("div", { class: "json-body" });
  const build = () => {
    if (!body.hasChildNodes()) more(body, entries, 0, open - 1);
  };
  const short = entries.length <= (open >= 3 ? 1000 : MAX_OPEN);
  const fold = h(
    "details",
    { open: open > 0 && short },
    h(
      "summary",
      label(key),
      before,
      h("span", { class: "json-folded" }, ` ${preview(value, entries.length)} ${after}${comma}`),
    ),
    body,
    h("div", { class: "json-end" }, after, comma),
  );
  if (fold.open) build();
  fold.addEventListener("toggle", () => fold.open && build());
  return fold;
}

/** Appends children from `from` on, and a button for those above the limit. */
function more(body, entries, from, open) {
  const to = Math.min(entries.length, from + MAX_CHILDREN);
  for (let index = from; index < to; index += 1) {
    body.append(node(entries[index][0], entries[index][1], open, index === entries.length - 1));
  }
  if (to === entries.length) return;
  const button = h(
    "button",
    { type: "button", class: "link json-more" },
    `${(entries.length - to).toLocaleString("en")} more`,
  );
  button.addEventListener("click", () => {
    button.remove();
    more(body, entries, to, open);
  });
  body.append(button);
}

function label(key) {
  return key === undefined ? null : [h("span", { class: "json-key" }, JSON.stringify(key)), ": "];
}

function scalar(value) {
  if (typeof value === "string") return text(value);
  if (typeof value === "number") return h("span", { class: "json-number" }, String(value));
  return h("span", { class: "json-word" }, String(value));
}

/** Returns a text; a long one is cut, with a button that shows all of it. */
function text(value) {
  if (value.length <= MAX_TEXT) return h("span", { class: "json-text" }, JSON.stringify(value));
  const span = h("span", { class: "json-text" }, JSON.stringify(value.slice(0, MAX_TEXT)).slice(0, -1), "…");
  const button = h(
    "button",
    { type: "button", class: "link json-more" },
    `${(value.length - MAX_TEXT).toLocaleString("en")} more characters`,
  );
  button.addEventListener("click", () => fill(span, JSON.stringify(value)));
  return add(span, " ", button);
}

function preview(value, length) {
  if (Array.isArray(value)) return `${length.toLocaleString("en")} ${length === 1 ? "item" : "items"}`;
  const keys = Object.keys(value)
    .slice(0, 3)
    .map((key) => key.slice(0, 24))
    .join(", ");
  return length > 3 ? `${keys}, …` : keys;
}

const MAX_OPEN = 60;
const MAX_UNFOLDED = 5000;
const MAX_CHILDREN = 200;
const MAX_TEXT = 2000;
