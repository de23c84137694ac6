/** Screen of the conformance suite. */

import { agentById, agentsChanged, currentAgent } from "../agents.js";
import { onChange, reloadNeeded } from "../changes.js";
import { comparisonView } from "../conformance/comparison.js";
import { RunView } from "../conformance/run_view.js";
import { confirmDialog } from "../dialog.js";
import { fill, h } from "../dom.js";
import { checkBox, field, textInput } from "../form.js";
import { ago, clip } from "../format.js";
import { icon } from "../icons.js";
import { hasFeature } from "../info.js";
import { openMenu } from "../menu.js";
import { emptyState, errorBox, showError } from "../notice.js";
import { del, download, get, path, post } from "../requests.js";
import { go, href, replace } from "../router.js";
import { setBadge } from "../shell.js";

/** Creates the screen. */
export function create() {
  let runs = [];
  let shown;
  let view;
  let reading = false;
  let again = false;
  const head = h("header", { class: "screen-head" });
  const body = h("div", { class: "screen-body", data: { scroll: "conformance" } });
  const element = h("div", { class: "screen", data: { screen: "conformance" } }, head, body);

  const loadRuns = async () => {
    ({ runs = [] } = await get("runs"));
    drawHead();
  };
  const drawHead = () => {
    const run = runs.find(({ id }) => id === shown);
    const running = run?.state === "running";
    fill(
      head,
      h("h1", "Conformance"),
      runs.length > 0 &&
        h(
          "button",
          { "aria-haspopup": "menu", data: { action: "choose-run" }, onClick: chooseRun },
          run ? runName(run) : "Runs",
          icon("down"),
        ),
      h("span", { class: "grow" }),
      run &&
        !running &&
        runs.length > 1 &&
        h(
          "button",
          { class: "quiet", "aria-haspopup": "menu", data: { action: "compare" }, onClick: compareWith },
          icon("columns"),
          "Compare",
        ),
      run &&
        !running &&
        h(
          "button",
          { class: "quiet danger", data: { action: "remove-run" }, onClick: removeRun },
          icon("trash"),
          "Remove",
        ),
      run &&
        !running &&
        h(
          "button",
          { class: "quiet", "aria-haspopup": "menu", data: { action: "report" }, onClick: reports },
          icon("download"),
          "Report",
        ),
      running &&
        h(
          "button",
          { class: "danger", data: { action: "interrupt" }, onClick: () => del(path`runs/${shown}`).catch(showError) },
          icon("stop"),
          "Stop",
        ),
      h(
        "button",
        { class: "primary", data: { action: "new-run" }, onClick: () => go("conformance", ["new"]) },
        icon("play"),
        "New run",
      ),
    );
  };
  const removeRun = async () => {
    if (
      !(await confirmDialog(
        "Remove this run?",
        "Its verdicts will be gone. Download the report first if you need it.",
        "Remove",
      ))
    )
      return;
    try {
      await del(path`runs/${shown}`);
      shown = view = undefined;
      go("conformance", runs.length > 1 ? [] : ["new"]);
    } catch (error) {
      showError(error);
    }
  };
  const chooseRun = (event) =>
    openMenu(
      event.currentTarget,
      runs.toReversed().map((run) => ({
        label: runName(run),
        detail: runFacts(run),
        checked: run.id === shown,
        data: { run: run.id },
        action: () => go("conformance", [run.id]),
      })),
    );
  const compareWith = (event) =>
    openMenu(
      event.currentTarget,
      runs
        .filter(({ id }) => id !== shown)
        .toReversed()
        .map((run) => ({
          label: `From ${runName(run)}`,
          detail: runFacts(run),
          data: { run: run.id },
          action: () => go("conformance", ["compare", run.id, shown]),
        })),
    );
  const reports = (event) =>
    openMenu(
      event.currentTarget,
      FORMATS.map(([format, label, detail, extension]) => ({
        label,
        detail,
        icon: "download",
        data: { action: `report-${format}` },
        action: () =>
          download(`${path`runs/${shown}/report`}?format=${format}`, `a2a-conformance.${extension}`).catch(showError),
      })),
    );

  /** Reads the run that is shown; while it is being read, one more reading is enough. */
  const read = async () => {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    const id = shown;
    try {
      const run = await get(path`runs/${id}`);
      if (id === shown) view?.update(run);
    } catch (error) {
      if (id === shown) fill(body, h("div", { class: "column" }, errorBox(error, read)));
    } finally {
      reading = false;
      if (again) setTimeout(read, 400);
      again = false;
    }
  };
  onChange("run", (change) => {
    const known = runs.find(({ id }) => id === change.id);
    if (known) Object.assign(known, change);
    const running = runs.filter(({ state }) => state === "running").length;
    setBadge("conformance", running, "busy");
    if (!element.isConnected) return;
    if (!known || known.state !== "running") loadRuns().catch(showError);
    if (change.id !== shown || !view) return;
    if (change.last) view.addCheck({ ...change.last, protocolVersion: change.last.version });
    view.update(change);
    if (change.state !== "running") read();
  });
  reloadNeeded.subscribe(() => element.isConnected && shown && read());

  const lastRun = () => runs.findLast(({ agent }) => agent === currentAgent()?.id);
  agentsChanged.subscribe(
    () => element.isConnected && !view && body.querySelector(".new-run, .empty") && fill(body, newRun()),
  );
  const showRun = async (id, check) => {
    if (shown !== id || !view) {
      shown = id;
      view = new RunView(
        (opened) => shown && location.hash.startsWith("#/conformance/") && replace("conformance", [shown, opened]),
      );
      fill(body, view.element);
      body.scrollTop = 0;
      drawHead();
      await read();
    }
    if (check) view.show(check);
  };
  return {
    element,
    async show({ parts: [first, second, third] }) {
      if (!hasFeature("conformance")) {
        fill(
          body,
          emptyState(
            "conformance",
            "The suite is not part of this program",
            "It was built without the feature `conformance`. Build a2a-cli with its default features, or run a2a-conformance by itself.",
          ),
        );
        return;
      }
      try {
        await loadRuns();
      } catch (error) {
        showError(error);
      }
      const none = () => {
        shown = view = undefined;
      };
      if (first === "compare") {
        none();
        shown = third;
        drawHead();
        fill(body, comparisonView(second, third));
      } else if (first === "new" || (!first && !lastRun())) {
        none();
        drawHead();
        fill(body, newRun());
      } else await showRun(first ?? lastRun().id, second);
    },
    shortcuts: [
      ["n", "New run", () => go("conformance", ["new"])],
      ["/", "Filter", () => view?.focusFilter()],
    ],
  };
}

/** Returns the form of a new run. */
function newRun() {
  const agent = currentAgent();
  if (!agent) {
    return emptyState(
      "conformance",
      "No agent to check",
      "Connect to an agent first. The suite then checks every requirement of its protocol versions.",
      h("a", { class: "button primary", href: href("connect") }, "Connect to an agent"),
    );
  }
  const choices = (name, values, words = (value) => value) =>
    values.map((value) =>
      h(
        "label",
        { class: "check" },
        h("input", { type: "checkbox", value, checked: true, data: { field: `${name}-${value}` } }),
        words(value),
      ),
    );
  const interfaces = agent.interfaces ?? [];
  const levels = choices("level", ["must", "should", "may"], (level) => level.toUpperCase());
  const versions = choices("version", [...new Set(interfaces.map(({ version }) => version))]);
  const bindings = choices("binding", [...new Set(interfaces.map(({ binding }) => binding))]);
  const instrumented = checkBox("instrumented", "The agent keeps the behaviour contract", {
    help: "It does what the first word of a message says, like the agent of `a2a serve reference`. Many more checks are made.",
  });
  const run = textInput({ class: "mono", placeholder: "all, or like send.*" });
  const skip = textInput({ class: "mono", placeholder: "none, or like push.*" });
  const jobs = textInput({ type: "number", min: "1", max: "32", placeholder: "8" });
  const problem = h("div");
  const start = h(
    "button",
    { class: "primary big", type: "submit", data: { action: "start-run" } },
    icon("play"),
    "Run the suite",
  );
  /** Returns what is checked, or `undefined` if that is all. */
  const chosen = (labels) => {
    const values = labels
      .map((label) => label.firstChild)
      .filter((box) => box.checked)
      .map((box) => box.value);
    return values.length < labels.length ? values : undefined;
  };
  const patterns = (input) => {
    const list = input.value.split(/[\s,]+/).filter(Boolean);
    return list.length > 0 ? list : undefined;
  };
  const submit = async (event) => {
    event.preventDefault();
    start.disabled = true;
    try {
      const { id } = await post("runs", {
        agent: agent.id,
        levels: chosen(levels),
        versions: chosen(versions),
        bindings: chosen(bindings),
        instrumented: instrumented.box.checked || undefined,
        run: patterns(run),
        skip: patterns(skip),
        jobs: jobs.value ? Number(jobs.value) : undefined,
      });
      go("conformance", [id]);
    } catch (error) {
      fill(problem, errorBox(error));
      start.disabled = false;
    }
  };
  const group = (label, boxes) =>
    h(
      "fieldset",
      { class: "field" },
      h("legend", { class: "label" }, label),
      h("div", { class: "line wrap levels" }, ...boxes),
    );
  return h(
    "div",
    { class: "column new-run" },
    h(
      "div",
      h("h2", { class: "big-title" }, "Check ", h("bdi", agent.name)),
      h(
        "p",
        { class: "soft" },
        "The suite sends real requests to the agent, in each of its protocol versions and bindings: some create tasks, some are malformed on purpose. Each verdict comes with the sentence of the specification and the exchange that shows it.",
      ),
    ),
    h(
      "form",
      { class: "panel stack", onSubmit: submit },
      h(
        "div",
        { class: "fields" },
        group("Levels", levels),
        versions.length > 1 && group("Versions", versions),
        bindings.length > 1 && group("Bindings", bindings),
      ),
      instrumented,
      h(
        "div",
        { class: "fields" },
        field("run", "Only checks", run),
        field("skip", "Without checks", skip),
        field("jobs", "At once", jobs),
      ),
      problem,
      h("div", { class: "line" }, start),
    ),
  );
}

function runName(run) {
  const name = clip(run.name ?? agentById(run.agent)?.name ?? run.url, 40);
  return `${name} · ${run.state === "running" ? "running" : run.startedAt ? ago(run.startedAt) : run.id}`;
}

function runFacts({ state, score, completed, total, failure }) {
  if (failure) return failure;
  if (score)
    return `${score.must.met} of ${score.must.scored} MUST, ${score.should.met} of ${score.should.scored} SHOULD${state === "interrupted" ? ", interrupted" : ""}`;
  return total ? `${state}, ${completed ?? 0} of ${total}` : state;
}

const FORMATS = [
  ["html", "HTML", "one file, for people", "html"],
  ["json", "JSON", "for comparisons and other tools", "json"],
  ["markdown", "Markdown", "for a pull request", "md"],
  ["junit", "JUnit", "for CI", "xml"],
];
