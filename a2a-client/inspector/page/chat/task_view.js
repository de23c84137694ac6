/** A task in the transcript: state, steps, artifacts as they grow, and what the agent waits for. */

import { fill, h, perFrame, throttle, visible } from "../dom.js";
import { count, duration, isTerminal, shortId, taskState } from "../format.js";
import { icon } from "../icons.js";
import { copyButton } from "../notice.js";
import { metadataFold, partView, stepOf, stepView } from "../part_view.js";
import { href } from "../router.js";
import { textOf } from "./conversation.js";
import { requestForm, schemaOf } from "./request_form.js";

/**
 * View of one turn of a [`TaskModel`]: `since` gives the numbers of messages and of messages with steps that earlier turns
 * have shown. `actions` are `{agent, cancel, stop, resume, answer}`, `plain()` tells how text is shown.
 */
export class TaskView {
  #model;
  #actions;
  #began = performance.now();
  #ended;
  #state = h("span", { class: "pill" });
  #time = h("span", { class: "small soft" });
  #links = h("span", { class: "line" });
  #buttons = h("span", { class: "line tight" });
  #progress = h("div", { class: "progress-lines" });
  #steps = h(
    "details",
    { class: "fold steps", hidden: true, data: { fold: "steps" } },
    h("summary"),
    h("div", { class: "step-list" }),
  );
  #artifacts = h("div", { class: "artifacts" });
  #answer = h("div", { class: "answer" });
  #problem = h("div");
  #form = h("div");
  #formFor;
  #views = new Map();
  #exchanges = [];
  #since;
  #shown = new Set();
  #stepsDrawn = "";
  #messagesChanged = true;
  #frozen = false;
  #drawSlowly;
  live = false;
  /** Number of times the stream was lost and followed again. */
  reconnections = 0;

  constructor(model, actions, since = { messages: 0, steps: 0 }) {
    this.#model = model;
    this.#actions = actions;
    this.#since = since;
    this.element = h(
      "article",
      { class: "turn agent-turn", "aria-label": `Task ${shortId(model.id)}`, data: { row: "task", task: model.id } },
      h(
        "header",
        { class: "turn-head" },
        this.#state,
        h(
          "a",
          { class: "mono small soft", href: href("tasks", [actions.agent, model.id]), title: `Task ${model.id}` },
          shortId(model.id),
        ),
        this.#time,
        this.#links,
        h("span", { class: "grow" }),
        this.#buttons,
      ),
      this.#progress,
      this.#steps,
      this.#artifacts,
      this.#answer,
      this.#problem,
      this.#form,
    );
    this.draw = perFrame(() => this.#draw());
    this.#drawSlowly = throttle(SLOW_DRAW_MS, this.draw);
    this.#draw();
  }

  /** Redraws after an event; `changed` is the result of [`TaskModel.apply`]. */
  update(changed) {
    this.#messagesChanged ||= changed.messages ?? false;
    for (const id of changed.artifacts) {
      this.#shown.add(id);
      this.#views.get(id)?.stale();
    }
    for (const [id, view] of this.#views) {
      if (!this.#model.artifacts.has(id)) {
        view.element.remove();
        this.#views.delete(id);
      }
    }
    const isLong = changed.artifacts.some((id) => textOf(this.#model.artifacts.get(id)?.parts).length > LONG_TEXT);
    if (isLong) this.#drawSlowly();
    else this.draw();
  }

  /** Notes whether its events are being followed. */
  setLive(live) {
    this.live = live;
    // Readers of the screen hear the answer once it is whole.
    this.element.setAttribute("aria-busy", String(live));
    if (live) this.#problem.replaceChildren();
    this.#ended = live ? undefined : performance.now();
    this.draw();
  }

  /** Shows an error below the task. */
  showProblem(element) {
    fill(this.#problem, element);
  }

  /** Adds a link to an exchange on the wire. */
  addExchange(number) {
    if (this.#exchanges.includes(number)) return;
    this.#exchanges.push(number);
    fill(
      this.#links,
      ...this.#exchanges
        .slice(-3)
        .map((one) =>
          h(
            "a",
            { class: "small", href: href("wire", [String(one)]), data: { exchange: one }, title: "On the wire" },
            `#${one}`,
          ),
        ),
    );
  }

  /** Ends the turn: the user has answered, and what follows is shown below the answer. */
  freeze() {
    this.#draw();
    this.#frozen = true;
    this.#state.className = "pill";
    this.#buttons.replaceChildren();
    this.#form.replaceChildren();
  }

  /** Draws everything again, with Markdown or without. */
  redraw() {
    this.#messagesChanged = true;
    for (const view of this.#views.values()) view.stale();
    this.draw();
  }

  #draw() {
    if (this.#frozen) return;
    const { status, artifacts } = this.#model;
    const { words, tone } = taskState(status.state);
    const busy = tone === "busy" || status.state === "TASK_STATE_SUBMITTED";
    this.element.dataset.state = words.replace(" ", "-");
    this.element.dataset.live = String(this.live);
    this.#state.className = `pill ${tone}`;
    fill(this.#state, busy && this.live && h("span", { class: "dot busy" }), words);
    const took = this.#model.events > 0 && this.#ended ? duration(this.#ended - this.#began) : "";
    const reconnected = this.reconnections > 0 ? count(this.reconnections, "reconnection") : "";
    this.#time.textContent = [took, reconnected].filter(Boolean).join(" · ");
    this.#drawButtons(status.state);
    if (this.#messagesChanged) this.#drawMessages(status);
    this.#messagesChanged = false;
    const steps = [...this.#stepsOfMessages()];
    for (const [id, artifact] of artifacts) {
      if (!this.#shown.has(id)) continue;
      let view = this.#views.get(id);
      if (!view) {
        view = new ArtifactView(id);
        this.#views.set(id, view);
        this.#artifacts.append(view.element);
      }
      view.draw(artifact, this.#actions.plain());
      steps.push(...artifact.parts.map(stepOf).filter(Boolean));
    }
    this.#drawSteps(steps);
    this.#drawForm(status);
  }

  #drawButtons(state) {
    const ended = isTerminal(state);
    const button = (name, label, symbol, action, tone = "") =>
      h("button", { class: `quiet ${tone}`, data: { action: name }, onClick: action }, icon(symbol), label);
    fill(
      this.#buttons,
      this.live && button("stop", "Stop following", "stop", this.#actions.stop),
      !this.live && !ended && button("resume", "Resume", "play", () => this.#actions.resume(this.#model)),
      !ended && button("cancel", "Cancel task", "close", () => this.#actions.cancel(this.#model), "danger"),
    );
  }

  #drawMessages(status) {
    const plain = { plain: this.#actions.plain() };
    const messages = this.#model.messages
      .slice(this.#since.messages)
      .filter((message) => !message.parts?.every((part) => stepOf(part)));
    const last = messages.at(-1);
    const answered =
      last &&
      last.messageId === status.message?.messageId &&
      taskState(status.state).tone !== "busy" &&
      status.state !== "TASK_STATE_SUBMITTED";
    const progress = answered ? messages.slice(0, -1) : messages;
    fill(
      this.#progress,
      ...progress.slice(-MAX_PROGRESS).map((message) => {
        const text = textOf(message.parts);
        return text && text.length < 200 && message.parts.length === 1
          ? h("p", { class: "progress-line peer" }, text)
          : h("div", { class: "progress-part" }, ...(message.parts ?? []).map((part) => partView(part, plain)));
      }),
    );
    if (progress.length > MAX_PROGRESS)
      this.#progress.prepend(
        h("p", { class: "progress-line" }, `${count(progress.length - MAX_PROGRESS, "earlier message")}: see the task`),
      );
    fill(
      this.#answer,
      answered &&
        (last.parts ?? [])
          .filter((part) => !stepOf(part))
          .map((part) =>
            this.#model.waitsForUser() && schemaOf([part])
              ? h(
                  "details",
                  { class: "fold", data: { fold: "schema" } },
                  h("summary", "The form as the agent sent it"),
                  partView(part, plain),
                )
              : partView(part, plain),
          ),
    );
  }

  *#stepsOfMessages() {
    for (const message of this.#model.messages.slice(this.#since.steps)) {
      for (const part of message.parts ?? []) {
        const step = stepOf(part);
        if (step) yield step;
      }
    }
  }

  #drawSteps(steps) {
    const [summary, list] = this.#steps.children;
    this.#steps.hidden = steps.length === 0;
    const drawn = `${this.live} ${steps.length} ${steps.at(-1)?.text?.length}`;
    if (steps.length === 0 || drawn === this.#stepsDrawn) return;
    this.#stepsDrawn = drawn;
    const calls = steps.filter(({ kind }) => kind === "function_call").length;
    const words = [
      steps.some(({ kind }) => kind === "reasoning") && "reasoning",
      calls > 0 && count(calls, "tool call"),
    ].filter(Boolean);
    fill(
      summary,
      icon("tool"),
      h("span", `Steps: ${words.join(", ") || count(steps.length, "step")}`),
      this.live && h("span", { class: "soft clip" }, steps.at(-1).title),
    );
    const open = new Set([...list.children].flatMap((fold, index) => (fold.open ? [index] : [])));
    fill(
      list,
      ...steps.map((step, index) =>
        h(
          "details",
          { class: "fold step", open: open.has(index), data: { step: step.kind } },
          h("summary", h("span", { class: "peer" }, step.title), step.id && h("code", { class: "soft" }, step.id)),
          h("div", { class: "step-body" }, stepView(step)),
        ),
      ),
    );
  }

  #drawForm(status) {
    if (!this.#model.waitsForUser()) {
      this.#form.replaceChildren();
      this.#formFor = undefined;
      return;
    }
    const key = `${status.state} ${status.message?.messageId ?? ""}`;
    if (this.#formFor === key) return;
    this.#formFor = key;
    fill(this.#form, requestForm(this.#model, this.#actions));
    // Whoever waits with an empty message answers here.
    const { activeElement } = document;
    if (activeElement?.dataset.field === "message" && activeElement.value === "")
      this.#form.querySelector("textarea, input, select")?.focus();
  }
}

/** One artifact: only the artifact that an event is about is drawn again. */
class ArtifactView {
  #title = h("h2", { class: "peer artifact-title" });
  #note = h("span", { class: "small soft" });
  #body = h("div", { class: "artifact-body" });
  #artifact = { parts: [] };
  #drawn = false;

  constructor(id) {
    this.element = h(
      "section",
      { class: "artifact", data: { row: "artifact", artifact: id } },
      h(
        "header",
        { class: "line" },
        icon("file"),
        this.#title,
        this.#note,
        h("span", { class: "grow" }),
        copyButton(() => textOf(this.#artifact.parts) || JSON.stringify(this.#artifact, null, 2)),
      ),
      this.#body,
    );
  }

  stale() {
    this.#drawn = false;
  }

  draw(artifact, plain) {
    if (this.#drawn) return;
    this.#drawn = true;
    this.#artifact = artifact;
    const parts = artifact.parts.filter((part) => !stepOf(part));
    this.element.hidden = parts.length === 0 && artifact.parts.length > 0;
    this.#title.textContent = visible(artifact.name || "Artifact");
    this.#title.title = artifact.artifactId;
    this.#note.textContent = [
      artifact.description && visible(artifact.description),
      artifact.cutBefore && "began before this stream",
      artifact.isCut && "too large: the rest is only on the wire",
    ]
      .filter(Boolean)
      .join(" · ");
    fill(this.#body, ...parts.map((part) => partView(part, { plain })), metadataFold(artifact));
  }
}

const MAX_PROGRESS = 8;
/** A text of more characters is drawn less often while it grows. */
const LONG_TEXT = 20_000;
const SLOW_DRAW_MS = 250;
