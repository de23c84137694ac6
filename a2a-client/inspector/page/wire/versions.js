/** The same exchange in every protocol version, side by side. */

import { fill, h } from "../dom.js";
import { segments } from "../form.js";
import { prettyJson } from "../format.js";
import { copyButton, errorBox } from "../notice.js";
import { get, path } from "../requests.js";
import { commonLines } from "./diff.js";

/** Returns the view of an exchange's versions. */
export function versionsView({ number, binding, version }) {
  const place = h("div", { class: "versions-place" });
  const element = h("div", { class: "stack", data: { view: "versions" } }, place);
  const load = async () => {
    fill(place, h("span", { class: "spinner" }));
    try {
      fill(element, draw(await get(path`exchanges/${number}/versions`), binding, version));
    } catch (error) {
      fill(place, errorBox(error, error.status === 409 || error.status === 404 ? undefined : load));
    }
  };
  load();
  return element;
}

function draw(versions, ownBinding, ownVersion) {
  const bindings = [...new Set(versions.request.map(({ binding }) => binding))];
  let side = "request";
  let binding = bindings.includes(ownBinding) ? ownBinding : bindings[0];
  let marked = true;
  const place = h("div", { class: "versions", tabindex: "0", role: "group", "aria-label": "Protocol versions" });
  const show = () => {
    const found = (versions[side] ?? []).filter((one) => one.binding === binding || one.binding === undefined);
    const texts = found.map((one) => (one.error ? undefined : textOf(one)));
    const base = texts.at(-1);
    fill(
      place,
      found.map((one, index) =>
        h(
          "article",
          { class: "version", data: { version: one.version } },
          h(
            "header",
            { class: "line between" },
            h(
              "h3",
              { class: "line" },
              one.version,
              one.version === ownVersion && binding === ownBinding && h("span", { class: "pill busy" }, "as sent"),
            ),
            texts[index] !== undefined && copyButton(() => one.body),
          ),
          texts[index] === undefined
            ? h("p", { class: "note-box" }, one.error)
            : textView(texts[index], marked && index < found.length - 1 ? base : undefined),
        ),
      ),
    );
    if (found.length === 0)
      fill(
        place,
        h(
          "p",
          { class: "help" },
          side === "response" ? "There is no response to translate." : "This call has no form in that binding.",
        ),
      );
  };
  show();
  const mark = h(
    "button",
    {
      class: "quiet",
      "aria-pressed": "true",
      data: { action: "mark-differences" },
      onClick: () => {
        marked = !marked;
        mark.setAttribute("aria-pressed", String(marked));
        show();
      },
    },
    "Mark differences from the newest",
  );
  return [
    h(
      "div",
      { class: "line wrap" },
      segments(
        "side",
        "Request or response",
        [
          ["request", "Request"],
          ["response", "Response"],
        ],
        side,
        (next) => {
          side = next;
          show();
        },
      ),
      bindings.length > 1 &&
        segments(
          "binding",
          "Binding",
          bindings.map((one) => [one, one]),
          binding,
          (next) => {
            binding = next;
            show();
          },
        ),
      mark,
    ),
    place,
  ];
}

function textOf({ method, path: place, status, headers = [], body = "" }) {
  const start = method ? `${method} ${place}` : status ? `HTTP ${status}` : "";
  return [start, ...headers.map(([name, value]) => `${name}: ${value}`), "", prettyBody(body)].join("\n").trim();
}

/** Returns JSON, or the JSON of each event or message of a stream, indented. */
function prettyBody(body) {
  const lines = body.split("\n").map(prettyJson);
  if (!lines.includes(undefined)) return lines.join("\n");
  const events = /^(data|id|event):/.test(body)
    ? body.replace(/^data: ?(.*)$/gm, (line, data) => `data: ${prettyJson(data) ?? data}`)
    : body;
  return prettyJson(body) ?? events;
}

function textView(text, base) {
  const common = base === undefined ? undefined : commonLines(base, text);
  return h(
    "pre",
    { class: "raw peer", tabindex: "0", "aria-label": "Message" },
    ...text
      .split("\n")
      .map((line, index) =>
        h("span", { class: `text-line${common && !common[index] ? " differs" : ""}` }, `${line}\n`),
      ),
  );
}
