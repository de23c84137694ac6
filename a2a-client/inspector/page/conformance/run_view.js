/** A run: progress, scores, and its checks as a list that can be filtered. */

import { fill, h, perFrame } from "../dom.js";
import { select, textInput } from "../form.js";
import { count, duration, moment } from "../format.js";
import { icon } from "../icons.js";
import { errorBox } from "../notice.js";
import { checkView } from "./check_view.js";
import { VERDICTS, columnOf, conclusion, groupChecks, scores, verdictOf } from "./run_model.js";

/** View of one run; `open(checkId)` is called when a check is opened. */
export class RunView {
  #checks = [];
  #state = "running";
  #requirements = new Map();
  #rows = new Map();
  #open;
  #progress = h("div", { class: "run-progress" });
  #verdict = h("div", { class: "run-verdict", role: "status" });
  #problem = h("div");
  #facts = h("dl", { class: "facts" });
  #scores = h("div", { class: "score-cards" });
  #text = textInput({
    type: "search",
    placeholder: "id, title or rule",
    "aria-label": "Filter",
    data: { field: "filter" },
  });
  #verdictChoice = select(
    [["", "Any verdict"], ["unmet", "Not met"], ...[...VERDICTS].map(([name, { words }]) => [name, words])],
    { "aria-label": "Verdict", data: { field: "verdict" } },
  );
  #level = select(
    [
      ["", "Any level"],
      ["must", "MUST"],
      ["should", "SHOULD"],
      ["may", "MAY"],
    ],
    { "aria-label": "Level", data: { field: "level" } },
  );
  #column = select([["", "Any version and binding"]], {
    "aria-label": "Version and binding",
    data: { field: "column" },
  });
  #count = h("span", { class: "small soft nowrap", role: "status" });
  #areas = h("div", { class: "check-areas" });

  constructor(open) {
    this.#open = open;
    for (const control of [this.#text, this.#verdictChoice, this.#level, this.#column])
      control.addEventListener("input", () => this.#filter());
    this.element = h(
      "div",
      { class: "column run", data: { view: "run" } },
      this.#progress,
      this.#verdict,
      this.#problem,
      this.#facts,
      this.#scores,
      h(
        "div",
        { class: "run-filter line wrap" },
        h("div", { class: "search" }, icon("search"), this.#text),
        this.#verdictChoice,
        this.#level,
        this.#column,
        this.#count,
      ),
      this.#areas,
    );
    this.draw = perFrame(() => this.#draw());
  }

  /** Puts the cursor into the filter. */
  focusFilter() {
    this.#text.focus();
  }

  /** Shows a run, and again whenever it has grown. */
  update({ id, state, completed = 0, total = 0, run, failure }) {
    this.element.dataset.run = id;
    this.element.dataset.state = state;
    this.#state = state;
    if (failure) fill(this.#problem, errorBox(new Error(failure)));
    fill(
      this.#progress,
      state === "running" && [
        h(
          "div",
          { class: "line between small" },
          h("span", { class: "line" }, h("span", { class: "spinner" }), "Running"),
          h(
            "span",
            { class: "soft", data: { field: "progress" } },
            total > 0 ? `${completed} of ${count(total, "check")}` : "starting",
          ),
        ),
        h(
          "div",
          {
            class: "bar",
            role: "progressbar",
            "aria-label": "Progress",
            "aria-valuemin": "0",
            "aria-valuemax": String(total),
            "aria-valuenow": String(completed),
          },
          h("i", { style: { width: `${total > 0 ? (completed / total) * 100 : 0}%` } }),
        ),
      ],
    );
    if (run) {
      this.#checks = run.checks ?? [];
      for (const view of this.#rows.values()) view.row = undefined;
      for (const requirement of run.requirements ?? []) this.#requirements.set(requirement.id, requirement);
      const { target = {}, began, seconds, suite, settings = {} } = run;
      fill(
        this.#facts,
        [
          ["Target", [target.name, target.version].filter(Boolean).join(" ") || target.place],
          ["Address", target.place],
          ["Server", target.server],
          ["Began", began && moment(began)],
          ["Took", state === "running" ? "" : duration((seconds ?? 0) * 1000)],
          ["Suite", suite],
          ["Profile", settings.profile],
        ]
          .filter(([, value]) => value)
          .map(([name, value]) => h("div", h("dt", name), h("dd", { class: "peer" }, value))),
      );
    }
    this.draw();
  }

  /** Adds the result of one check. */
  addCheck(check) {
    this.#checks.push(check);
    this.draw();
  }

  /** Opens the row of a check and scrolls to it. */
  show(id) {
    this.#draw();
    const row = this.#rows.get(id)?.element;
    if (!row) return;
    row.open = true;
    row.scrollIntoView({ block: "start" });
  }

  #draw() {
    const { tone, text } = conclusion(this.#checks, this.#state);
    this.#verdict.className = `run-verdict note-box ${tone}`;
    fill(this.#verdict, h("p", text), this.#unmetLinks());
    this.#verdict.hidden = this.#checks.length === 0 && this.#state !== "done";
    fill(this.#scores, scores(this.#checks).map(scoreCard));
    const columns = [...new Set(this.#checks.map(columnOf))];
    if (this.#column.options.length !== columns.length + 1) {
      const { value } = this.#column;
      fill(
        this.#column,
        h("option", { value: "" }, "Any version and binding"),
        columns.map((column) => h("option", { value: column, selected: column === value }, column)),
      );
    }
    const areas = new Map();
    for (const row of groupChecks(this.#checks)) {
      let view = this.#rows.get(row.id);
      if (!view) {
        view = this.#rowView(row.id);
        this.#rows.set(row.id, view);
      }
      if (view.row?.cells.length !== row.cells.length || view.row.verdict !== row.verdict) this.#drawRow(view, row);
      if (!areas.has(row.area)) areas.set(row.area, []);
      areas.get(row.area).push(view);
    }
    const sections = [...areas].map(([area, views]) => {
      let section = this.#areas.querySelector(`[data-area="${CSS.escape(area)}"]`);
      if (!section)
        section = h("section", { class: "check-area", data: { area } }, h("h2"), h("div", { class: "check-rows" }));
      const [title, list] = section.children;
      const scored = views.filter(({ row }) => row.verdict !== "not-applicable");
      fill(
        title,
        area,
        " ",
        h(
          "small",
          `${scored.filter(({ row }) => verdictOf(row.verdict).severity === 0).length} of ${scored.length} met`,
        ),
      );
      views.forEach((view, index) => {
        if (list.children[index] !== view.element) list.insertBefore(view.element, list.children[index] ?? null);
      });
      return section;
    });
    sections.forEach((section, index) => {
      if (this.#areas.children[index] !== section)
        this.#areas.insertBefore(section, this.#areas.children[index] ?? null);
    });
    this.#filter();
  }

  /** Returns links to the checks that are not met. */
  #unmetLinks() {
    const unmet = groupChecks(this.#checks).filter(
      ({ verdict, cells }) => verdictOf(verdict).tone === "bad" && cells.some(({ sameCauseAs }) => !sameCauseAs),
    );
    if (unmet.length === 0) return null;
    const link = ({ id, title }) =>
      h(
        "li",
        h(
          "button",
          { type: "button", class: "link", data: { action: "show-check", check: id }, onClick: () => this.show(id) },
          title,
        ),
      );
    return h(
      "ul",
      { class: "unmet-links" },
      ...unmet.slice(0, MAX_LINKS).map(link),
      unmet.length > MAX_LINKS && h("li", `and ${unmet.length - MAX_LINKS} more`),
    );
  }

  #rowView(id) {
    const view = { summary: h("summary"), inside: h("div") };
    view.element = h(
      "details",
      { class: "check-row", id: `check-${id}`, data: { row: "check", check: id } },
      view.summary,
      view.inside,
    );
    view.element.addEventListener("toggle", () => {
      if (!view.element.open) return;
      if (!view.inside.hasChildNodes()) fill(view.inside, checkView(view.row, this.#requirements));
      this.#open(id);
    });
    return view;
  }

  #drawRow(view, row) {
    view.row = row;
    const { sign, tone } = verdictOf(row.verdict);
    view.element.dataset.verdict = row.verdict;
    const rules = row.cells
      .flatMap((cell) => cell.requirements ?? [])
      .map((id) => `${id} ${this.#requirements.get(id)?.says ?? ""}`);
    view.text = `${row.id} ${row.title} ${rules.join(" ")}`.toLowerCase();
    fill(
      view.summary,
      h("span", { class: `sign ${tone}`, "aria-hidden": "true" }, sign),
      h(
        "span",
        { class: "check-what" },
        h("span", { class: "peer" }, row.title),
        " ",
        h("code", { class: "soft" }, row.id),
      ),
      h("span", { class: "check-pills" }, h("span", { class: "check-level" }, row.level.toUpperCase()), ...pills(row)),
    );
    if (view.element.open) fill(view.inside, checkView(row, this.#requirements));
    else view.inside.replaceChildren();
  }

  #filter() {
    const words = this.#text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [verdict, level, column] = [this.#verdictChoice.value, this.#level.value, this.#column.value];
    const matches = (cell) =>
      (!verdict || (verdict === "unmet" ? verdictOf(cell.verdict).severity > 0 : cell.verdict === verdict)) &&
      (!level || cell.level === level) &&
      (!column || columnOf(cell) === column);
    let shown = 0;
    for (const { element, row, text } of this.#rows.values()) {
      element.hidden = !(words.every((word) => text.includes(word)) && row.cells.some(matches));
      shown += element.hidden ? 0 : 1;
    }
    for (const section of this.#areas.children) section.hidden = !section.querySelector(".check-row:not([hidden])");
    this.#count.textContent = shown === this.#rows.size ? count(shown, "check") : `${shown} of ${this.#rows.size}`;
  }
}

/** Returns a pill for each verdict of a row, with the columns that have it; one that says it all is left out. */
function pills({ cells }) {
  const byVerdict = Map.groupBy(cells, ({ verdict }) => verdict);
  return [...byVerdict]
    .filter(([name]) => byVerdict.size > 1 || name !== "pass")
    .map(([name, of]) => {
      const { words, tone } = verdictOf(name);
      return h(
        "span",
        { class: `pill ${tone}` },
        of.length <= 2 && byVerdict.size > 1 ? `${of.map(columnOf).join(", ")}: ${words}` : words,
      );
    });
}

function scoreCard({ column, must, should, notApplicable }) {
  const share = must.scored > 0 ? must.met / must.scored : 1;
  const tone = share === 1 ? "good" : share > 0.8 ? "fair" : "bad";
  return h(
    "article",
    { class: "score-card", data: { column } },
    h("h2", column),
    must.scored > 0 && [
      h("p", { class: "score" }, h("b", must.met), `/${must.scored} `, h("small", "MUST")),
      h("div", { class: `bar ${tone}`, "aria-hidden": "true" }, h("i", { style: { width: `${share * 100}%` } })),
    ],
    should.scored > 0 && h("p", { class: "small" }, `${should.met}/${should.scored} `, h("small", "SHOULD")),
    notApplicable > 0 && h("p", { class: "help" }, `${notApplicable} not tested`),
  );
}

const MAX_LINKS = 10;
