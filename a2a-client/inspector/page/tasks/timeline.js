/** Timeline of a task's events, with their sequence numbers. */

import { fill, h, perFrame } from "../dom.js";
import { textInput } from "../form.js";
import { clock, count, duration } from "../format.js";
import { icon } from "../icons.js";
import { jsonView } from "../json_view.js";
import { errorBox } from "../notice.js";
import { path, query, stream } from "../requests.js";
import { addTaskEvent, eventsOf, taskEventAdded } from "../task_events.js";
import { eventSummary } from "./event_summary.js";

/** Timeline of one task; `changed(event)` is called with every event that comes. */
export class Timeline {
  #agent;
  #task;
  #changed;
  #abort;
  #rows = new Map();
  #bar = h("div", { class: "line wrap timeline-bar" });
  #list = h("ol", { class: "timeline" });
  #problem = h("div");
  #after = textInput({
    type: "number",
    min: "0",
    placeholder: "number",
    class: "after-field",
    "aria-label": "Sequence number to resume after",
    data: { field: "after" },
  });
  #unsubscribe;

  constructor(agent, task, changed) {
    this.#agent = agent;
    this.#task = task;
    this.#changed = changed;
    this.element = h("div", { class: "stack", data: { view: "timeline", task } }, this.#bar, this.#problem, this.#list);
    const draw = perFrame(() => this.#draw());
    this.#unsubscribe = taskEventAdded.subscribe((ofAgent, ofTask) => ofAgent === agent && ofTask === task && draw());
    this.#drawBar();
    this.#draw();
  }

  /** Stops following, and listening. */
  close() {
    this.#abort?.abort();
    this.#unsubscribe();
  }

  /** Follows the task after an event; without a number from its present state. */
  async follow(after) {
    this.#abort?.abort();
    const abort = new AbortController();
    this.#abort = abort;
    this.#problem.replaceChildren();
    this.#drawBar();
    try {
      const place = path`agents/${this.#agent}/tasks/${this.#task}/events` + query({ after });
      for await (const { event, data } of stream(place, { signal: abort.signal })) {
        if (event === "failed") throw Object.assign(new Error(data.message), { hint: data.hint });
        if (event !== "update") continue;
        addTaskEvent(this.#agent, this.#task, data);
        this.#changed(data.event);
      }
    } catch (error) {
      if (error.name !== "AbortError") fill(this.#problem, errorBox(error));
    } finally {
      if (this.#abort === abort) this.#abort = undefined;
      this.#drawBar();
    }
  }

  #drawBar() {
    const button = (name, label, action, symbol) =>
      h("button", { type: "button", data: { action: name }, onClick: action }, symbol && icon(symbol), label);
    const resume = (event) => {
      event.preventDefault();
      this.follow(this.#after.value === "" ? undefined : this.#after.value);
    };
    fill(
      this.#bar,
      this.#abort
        ? [
            h("span", { class: "pill busy" }, h("span", { class: "dot busy" }), "following"),
            button("stop", "Stop", () => this.#abort.abort(), "stop"),
          ]
        : [
            button("subscribe", "Subscribe", () => this.follow(), "play"),
            // The first event is the task as it began; agents number from 1.
            button("replay", "All events", () => this.follow(1)),
            h(
              "form",
              { class: "line", onSubmit: resume },
              h("span", { class: "small soft nowrap" }, "or after"),
              this.#after,
              h("button", { type: "submit", data: { action: "resume-after" } }, "Resume"),
            ),
          ],
    );
  }

  #draw() {
    const events = eventsOf(this.#agent, this.#task);
    if (events.length === 0) {
      fill(
        this.#list,
        h(
          "li",
          { class: "help timeline-none" },
          "No events yet. Subscribe to see those to come, or read all of them if the agent numbers its events.",
        ),
      );
      return;
    }
    const rows = events.map((entry) => {
      if (!this.#rows.has(entry)) this.#rows.set(entry, this.#row(entry));
      return this.#rows.get(entry);
    });
    const shown = rows.slice(-MAX_ROWS);
    if (this.#list.children.length > shown.length || this.#list.firstElementChild !== shown[0])
      this.#list.replaceChildren();
    shown.forEach((row, index) => {
      if (this.#list.children[index] !== row) this.#list.insertBefore(row, this.#list.children[index] ?? null);
    });
    if (rows.length > MAX_ROWS)
      this.#list.prepend(
        h("li", { class: "help timeline-none" }, `${count(rows.length - MAX_ROWS, "earlier event")} not shown.`),
      );
  }

  #row({ at, ms, sequence, event }) {
    const { kind, tone, title, text } = eventSummary(event);
    const body = h("div", { class: "frame-body" });
    const numbered = sequence !== undefined && sequence !== null;
    const fold = h(
      "details",
      h(
        "summary",
        h(
          "span",
          {
            class: "timeline-number",
            title: numbered ? `Sequence number ${sequence}` : "The agent does not number its events",
          },
          numbered ? sequence : "–",
        ),
        h("i", { class: `dot ${tone}` }),
        h("span", { class: "timeline-title peer" }, title),
        h("span", { class: "soft clip small peer grow" }, text),
        h("time", { class: "small soft nowrap", title: clock(at) }, ms === undefined ? clock(at) : `+${duration(ms)}`),
      ),
      body,
    );
    fold.addEventListener("toggle", () => {
      if (!fold.open || body.hasChildNodes()) return;
      fill(
        body,
        numbered &&
          h(
            "div",
            { class: "line end" },
            h(
              "button",
              { class: "quiet", data: { action: "resume-from", sequence }, onClick: () => this.follow(sequence) },
              icon("play"),
              "Resume after this event",
            ),
          ),
        jsonView(event, { open: 6 }),
      );
    });
    return h("li", { data: { row: "event", kind, sequence: numbered ? sequence : undefined } }, fold);
  }
}

const MAX_ROWS = 1000;
