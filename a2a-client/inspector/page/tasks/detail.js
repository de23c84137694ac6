/** One task: events, content, JSON and webhooks. */

import { joinedParts } from "../chat/conversation.js";
import { fill, h } from "../dom.js";
import { closeButton, tabs } from "../form.js";
import { ago, isTerminal, moment, taskState } from "../format.js";
import { icon } from "../icons.js";
import { jsonView } from "../json_view.js";
import { copyButton, errorBox, showError } from "../notice.js";
import { metadataFold, partView, stepOf, stepView } from "../part_view.js";
import { get, path, post, query } from "../requests.js";
import { href } from "../router.js";
import { Timeline } from "./timeline.js";
import { webhookList } from "./webhook_list.js";

/** Pane of the chosen task; `actions` are `{close, openTab, changed}`. */
export class TaskPane {
  #agent;
  #id;
  #task;
  #tab = "timeline";
  #timeline;
  #actions;
  #head = h("header", { class: "detail-head" });
  #body = h("div", { class: "detail-body", data: { scroll: "task" }, tabindex: "-1" });
  #tabs;

  constructor(actions) {
    this.#actions = actions;
    this.#tabs = tabs("Task", TABS, this.#tab, (tab) => actions.openTab(this.#id, tab));
    this.element = h(
      "section",
      { class: "detail", "aria-label": "Chosen task", data: { view: "task" } },
      this.#head,
      this.#tabs,
      this.#body,
    );
  }

  get id() {
    return this.#id;
  }

  /** Shows a task. */
  async show(agent, id, tab = "timeline") {
    const same = this.#agent === agent && this.#id === id;
    if (same && this.#tab === tab && this.#task) return;
    this.#tab = tab;
    this.#tabs.setValue(tab);
    if (!same) {
      this.#timeline?.close();
      this.#timeline = undefined;
      [this.#agent, this.#id, this.#task] = [agent, id, undefined];
      this.element.dataset.task = id;
    }
    this.#draw();
    if (!same || !this.#task) await this.load();
  }

  /** Reads the task again. */
  async load() {
    const id = this.#id;
    try {
      const task = await get(path`agents/${this.#agent}/tasks/${id}` + query({ historyLength: 100 }));
      if (id !== this.#id) return;
      this.#task = task;
      this.#draw();
    } catch (error) {
      if (id !== this.#id) return;
      this.#drawHead();
      fill(
        this.#body,
        errorBox(error, () => this.load()),
      );
    }
  }

  async #cancel() {
    try {
      const task = await post(path`agents/${this.#agent}/tasks/${this.#id}/cancel`);
      this.#task = { ...this.#task, ...task };
      this.#draw();
      this.#actions.changed();
    } catch (error) {
      showError(error);
    }
  }

  #onEvent(event) {
    const status = event.statusUpdate?.status ?? event.task?.status;
    if (!status || !this.#task) return;
    this.#task = { ...this.#task, status };
    this.#drawHead();
    this.#actions.changed();
  }

  #drawHead() {
    const { status, contextId } = this.#task ?? {};
    const { words, tone } = taskState(status?.state);
    fill(
      this.#head,
      h("h2", { class: "clip mono", title: this.#id }, this.#id),
      status && h("span", { class: `pill ${tone}`, data: { state: words.replace(" ", "-") } }, words),
      h("span", { class: "grow" }),
      copyButton(() => this.#id, "Id"),
      h(
        "button",
        { class: "quiet", data: { action: "refresh-task" }, title: "Read again (r)", onClick: () => this.load() },
        icon("refresh"),
        "Refresh",
      ),
      status &&
        !isTerminal(status.state) &&
        h(
          "button",
          { class: "quiet danger", data: { action: "cancel" }, onClick: () => this.#cancel() },
          "Cancel task",
        ),
      closeButton(this.#actions.close),
      h(
        "p",
        { class: "detail-url soft" },
        status?.timestamp && h("span", { title: moment(status.timestamp) }, `updated ${ago(status.timestamp)}`),
        contextId && [
          " · context ",
          h(
            "a",
            { class: "mono", href: href("chat", [this.#agent, contextId]), title: "Open the conversation" },
            contextId,
          ),
        ],
      ),
    );
  }

  #draw() {
    this.#drawHead();
    if (this.#tab === "timeline") {
      this.#timeline ??= new Timeline(this.#agent, this.#id, (event) => this.#onEvent(event));
      fill(this.#body, this.#timeline.element);
    } else if (this.#tab === "webhooks") fill(this.#body, webhookList(this.#agent, this.#id));
    else if (!this.#task) fill(this.#body, h("span", { class: "spinner" }));
    else if (this.#tab === "json")
      fill(
        this.#body,
        h(
          "div",
          { class: "body" },
          h(
            "div",
            { class: "line end body-bar" },
            copyButton(() => JSON.stringify(this.#task, null, 2)),
          ),
          h("div", { class: "body-place" }, jsonView(this.#task, { open: 5 })),
        ),
      );
    else fill(this.#body, contentView(this.#task));
  }
}

/** Returns the messages and artifacts of a task. */
function contentView({ status, history = [], artifacts = [], metadata }) {
  const message = (one, title) =>
    h(
      "section",
      { class: "artifact", data: { row: "message" } },
      h(
        "header",
        { class: "line" },
        icon("chat"),
        h("h3", title),
        h("span", { class: "small soft mono clip" }, one.messageId),
      ),
      h("div", { class: "artifact-body" }, ...(one.parts ?? []).map(part), metadataFold(one)),
    );
  const part = (one) => {
    const step = stepOf(one);
    return step
      ? h("details", { class: "fold" }, h("summary", icon("tool"), step.title), stepView(step))
      : partView(one);
  };
  return h(
    "div",
    { class: "stack", data: { view: "content" } },
    ...history.map((one) => message(one, one.role === "ROLE_USER" ? "You" : "Agent")),
    ...artifacts.map((one) =>
      h(
        "section",
        { class: "artifact", data: { row: "artifact", artifact: one.artifactId } },
        h(
          "header",
          { class: "line" },
          icon("file"),
          h("h3", { class: "peer" }, one.name || "Artifact"),
          h("span", { class: "small soft peer clip" }, one.description ?? one.artifactId),
        ),
        h("div", { class: "artifact-body" }, ...joinedParts(one.parts).map(part), metadataFold(one)),
      ),
    ),
    status?.message && message(status.message, `Status: ${taskState(status.state).words}`),
    metadata &&
      Object.keys(metadata).length > 0 &&
      h(
        "section",
        { class: "artifact" },
        h("header", { class: "line" }, icon("braces"), h("h3", "Metadata")),
        h("div", { class: "artifact-body" }, jsonView(metadata)),
      ),
    history.length + artifacts.length === 0 &&
      !status?.message &&
      h("p", { class: "help" }, "The task has no messages and no artifacts yet."),
  );
}

const TABS = [
  ["timeline", "Timeline"],
  ["content", "Content"],
  ["json", "JSON"],
  ["webhooks", "Webhooks"],
];
