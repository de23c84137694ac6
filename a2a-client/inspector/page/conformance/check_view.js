/** A check with its rules, its mismatches and its exchanges. */

import { h } from "../dom.js";
import { duration, prettyJson } from "../format.js";
import { linkView } from "../markdown_view.js";
import { copyButton } from "../notice.js";
import { columnOf, curlOf, verdictOf } from "./run_model.js";

/** Returns the inside of a check's row; `requirements` are the requirements of the run, by id. */
export function checkView(row, requirements) {
  const rules = [...new Set(row.cells.flatMap((cell) => cell.requirements ?? []))].map(
    (id) => requirements.get(id) ?? { id, says: "" },
  );
  const explanation = row.cells.find((cell) => cell.explanation)?.explanation;
  const detailed = row.cells.filter(
    (cell) => cell.mismatches?.length || cell.evidence?.length || (cell.reason && verdictOf(cell.verdict).severity > 0),
  );
  const rest = row.cells.filter((cell) => !detailed.includes(cell));
  return h(
    "div",
    { class: "check-inside" },
    rules.slice(0, MAX_RULES).map(rule),
    rules.length > MAX_RULES &&
      h(
        "details",
        { class: "fold" },
        h("summary", `${rules.length - MAX_RULES} more rules`),
        rules.slice(MAX_RULES).map(rule),
      ),
    explanation && h("p", { class: "explanation peer" }, explanation),
    detailed.map(cellView),
    rest.length > 0 &&
      h(
        "ul",
        { class: "check-rest" },
        ...rest.map((cell) => {
          const { sign, words, tone } = verdictOf(cell.verdict);
          return h(
            "li",
            { data: { verdict: cell.verdict } },
            h("span", { class: `sign ${tone}`, "aria-hidden": "true" }, sign),
            ` ${columnOf(cell)} `,
            h("small", words, cell.reason && `: ${cell.reason}`),
          );
        }),
      ),
  );
}

function rule({ id, says, section, source }) {
  return h(
    "p",
    { class: "rule", data: { requirement: id } },
    says && h("span", { class: "peer" }, says),
    h(
      "small",
      [id, section && `§${section}`].filter(Boolean).join(" · "),
      source && [" · ", linkView(source, "the sentence")],
    ),
  );
}

function cellView(cell) {
  const { sign, words, tone } = verdictOf(cell.verdict);
  const times = cell.unmet ? `: ${cell.unmet[0]} of ${cell.unmet[1]} times not met` : "";
  return h(
    "article",
    { class: "check-cell", data: { verdict: cell.verdict } },
    h(
      "h3",
      h("span", { class: `sign ${tone}`, "aria-hidden": "true" }, sign),
      ` ${columnOf(cell)} `,
      h("small", `${words}${times} · ${duration(cell.seconds * 1000)}`),
    ),
    cell.reason && h("p", { class: "explanation peer" }, cell.reason),
    cell.sameCauseAs && h("p", { class: "help" }, `For the same cause as ${cell.sameCauseAs}, where it is counted.`),
    (cell.mismatches ?? []).map(({ place, expected, found }) =>
      h(
        "dl",
        { class: "mismatch", data: { row: "mismatch" } },
        h("div", h("dt", "Where"), h("dd", { class: "peer" }, place)),
        h("div", { class: "expected" }, h("dt", "Expected"), h("dd", { class: "peer" }, expected)),
        h("div", { class: "found" }, h("dt", "Found"), h("dd", { class: "peer" }, found)),
      ),
    ),
    (cell.evidence ?? []).map((evidence, index) =>
      evidenceView(
        evidence,
        (cell.mismatches ?? []).some((mismatch) => mismatch.evidence === index),
      ),
    ),
  );
}

function evidenceView({ step, request, response, failure }, open) {
  const body = h("div", { class: "evidence-body" });
  const fold = h(
    "details",
    { class: "fold evidence", open, data: { row: "evidence" } },
    h(
      "summary",
      `Step ${step}`,
      h("code", { class: "clip" }, request.start),
      response && h("code", { class: "nowrap" }, `→ ${response.start}`),
    ),
    body,
  );
  const build = () => {
    if (body.hasChildNodes()) return;
    body.append(
      h("div", { class: "evidence-sides" }, side("Request", request), response && side("Response", response)),
    );
    if (failure) body.append(h("p", { class: "wrong peer" }, failure));
    body.append(
      h(
        "div",
        { class: "line end" },
        copyButton(() => curlOf(request), "Copy as curl"),
      ),
    );
  };
  if (open) build();
  fold.addEventListener("toggle", () => fold.open && build());
  return fold;
}

function side(title, { start, headers = [], body = "", events = [], leftOut }) {
  const lines = [
    h("b", start),
    "\n",
    ...headers.flatMap(([name, value]) => [h("span", { class: "soft" }, `${name}: `), `${value}\n`]),
  ];
  if (body) lines.push("\n", prettyJson(body) ?? body);
  for (const [ms, data] of events)
    lines.push("\n", h("span", { class: "soft" }, `after ${ms} ms\n`), `${prettyJson(data) ?? data}\n`);
  return h(
    "div",
    { class: "evidence-side" },
    h("h4", title),
    h("pre", { class: "peer", tabindex: "0", "aria-label": title }, ...lines),
    leftOut > 0 && h("p", { class: "help" }, `${leftOut} bytes are left out.`),
  );
}

const MAX_RULES = 3;
