/** Frames of an event stream, or messages by gRPC: when each came, its id, and its data. */

import { add, fill, h } from "../dom.js";
import { clip, duration, prettyJson } from "../format.js";
import { jsonView } from "../json_view.js";
import { copyButton } from "../notice.js";

/** View of the frames of one exchange; `update` adds the frames that came since. */
export class FramesView {
  #shown = 0;
  #frames = [];
  #list = h("ol", { class: "frames" });
  #strip = h("div", { class: "frame-strip", "aria-hidden": "true" });
  #more = h("button", {
    class: "quiet",
    hidden: true,
    data: { action: "more-frames" },
    onClick: () => this.#add(PAGE),
  });

  constructor() {
    this.element = h("div", { class: "stack tight" }, this.#strip, this.#list, h("div", this.#more));
  }

  /** Shows the frames, each `{ms, id?, event?, data, problem?}`; `end` is the duration of the exchange. */
  update(frames, end) {
    this.#frames = frames;
    const last = Math.max(end ?? 0, frames.at(-1)?.ms ?? 0, 1);
    const step = Math.max(1, Math.ceil(frames.length / MAX_TICKS));
    fill(
      this.#strip,
      frames
        .filter((_, index) => index % step === 0)
        .map(({ ms }) => h("i", { style: { left: `${(ms / last) * 100}%` } })),
    );
    this.#add(Math.max(0, PAGE - this.#shown));
  }

  #add(count) {
    const to = Math.min(this.#frames.length, this.#shown + count);
    for (; this.#shown < to; this.#shown += 1)
      this.#list.append(frameRow(this.#frames[this.#shown], this.#shown, this.#frames[this.#shown - 1]));
    const rest = this.#frames.length - this.#shown;
    this.#more.hidden = rest === 0;
    this.#more.textContent = `Show ${Math.min(rest, PAGE)} of ${rest} more`;
  }
}

function frameRow({ ms, id, event, data, problem }, index, before) {
  const body = h("div", { class: "frame-body" });
  const gap = ms - (before?.ms ?? 0);
  const fold = h(
    "details",
    { data: { frame: index } },
    h(
      "summary",
      h("span", { class: "frame-number" }, index + 1),
      h(
        "span",
        {
          class: "frame-ms",
          title: `${ms.toFixed(1)} ms after the request, ${gap.toFixed(1)} ms after the event before`,
        },
        duration(ms),
      ),
      h("span", { class: "frame-gap" }, index > 0 && gap >= 1 ? `+${duration(gap)}` : ""),
      id !== undefined && id !== null && h("span", { class: "tag", title: "id" }, `id ${id}`),
      event && event !== "message" && h("span", { class: "tag", title: "event" }, event),
      problem && h("span", { class: "tag", title: "The bytes are not a message of the method" }, "not decoded"),
      h("span", { class: "frame-data clip peer" }, clip(problem ?? summaryOf(data), 300)),
    ),
    body,
  );
  fold.addEventListener("toggle", () => {
    if (!fold.open || body.hasChildNodes()) return;
    const pretty = problem ? undefined : prettyJson(data);
    add(
      body,
      problem && h("p", { class: "note-box fair" }, `${problem}. The bytes are in Base64.`),
      h(
        "div",
        { class: "line end" },
        copyButton(() => pretty ?? data),
      ),
      pretty ? jsonView(JSON.parse(data), { open: 6 }) : h("pre", { class: "peer" }, data),
    );
  });
  return h("li", fold);
}

/** Returns what a frame is about, without the envelope. */
function summaryOf(data) {
  try {
    const value = JSON.parse(data);
    const result = value?.result ?? value;
    const error = value?.error;
    if (error) return `error ${error.code}: ${error.message}`;
    const [kind, body] = Object.entries(result).find(([key]) =>
      ["task", "message", "statusUpdate", "artifactUpdate"].includes(key),
    ) ?? [result.kind, result];
    const state = body?.status?.state ?? "";
    const parts = body?.artifact?.parts ?? body?.parts ?? body?.status?.message?.parts ?? [];
    const text = parts
      .map((part) => part.text ?? part.filename ?? (part.data !== undefined ? JSON.stringify(part.data) : ""))
      .join(" ");
    return [kind, state, JSON.stringify(text) === '""' ? "" : JSON.stringify(text)].filter(Boolean).join("  ") || data;
  } catch {
    return data;
  }
}

const PAGE = 200;
const MAX_TICKS = 400;
