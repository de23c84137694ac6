/** Headers and bodies of HTTP messages. */

import { fill, h } from "../dom.js";
import { segments } from "../form.js";
import { bytes, prettyJson } from "../format.js";
import { icon } from "../icons.js";
import { jsonView, setFolds } from "../json_view.js";
import { copyButton } from "../notice.js";

/** Returns headers, or trailers, as a table that folds. */
export function headersView(headers, name = "headers") {
  return h(
    "details",
    { class: "fold", open: true, data: { fold: name } },
    h("summary", `${headers.length} ${name}`),
    h(
      "dl",
      { class: "headers" },
      ...headers.map(([name, value]) =>
        h(
          "div",
          h("dt", name),
          h(
            "dd",
            { class: "peer" },
            value === "***"
              ? h("span", { class: "soft", title: "A secret: the inspector never shows it" }, "***")
              : value,
          ),
        ),
      ),
    ),
  );
}

/** Returns the status of an answer by gRPC, with its details. */
export function grpcStatusView({ code, name, message, details = [] }) {
  return h(
    "div",
    { class: "grpc-status stack tight", data: { grpcStatus: name } },
    h(
      "p",
      { class: "line" },
      h("span", { class: `pill ${code === 0 ? "good" : "bad"}` }, `${code} ${name}`),
      h("span", { class: "peer" }, message),
    ),
    details.length > 0 && jsonView(details),
  );
}

/** Returns a body: JSON that folds, or raw text. */
export function bodyView(body, { omittedBytes = 0 } = {}) {
  if (!body && !omittedBytes) return h("p", { class: "help" }, "No body.");
  const pretty = body.length < MAX_TREE ? parse(body) : undefined;
  const place = h("div", { class: "body-place" });
  let tree;
  let mode = pretty === undefined ? "raw" : "pretty";
  const folds = h(
    "span",
    { class: "line tight" },
    h("button", { class: "quiet", data: { action: "unfold" }, onClick: () => setFolds(tree, true) }, "Unfold"),
    h("button", { class: "quiet", data: { action: "fold" }, onClick: () => setFolds(tree, false) }, "Fold"),
  );
  const showRaw = (text) => {
    const rest = body.length - text.length;
    fill(
      place,
      h("pre", { class: "raw peer", tabindex: "0", "aria-label": "Body as sent" }, text),
      rest > 0 &&
        h(
          "button",
          { class: "quiet", data: { action: "show-all" }, onClick: () => showRaw(body) },
          `Show ${rest.toLocaleString("en")} more characters`,
        ),
    );
  };
  const show = (next) => {
    mode = next;
    folds.hidden = mode !== "pretty";
    if (mode === "pretty") fill(place, (tree ??= jsonView(pretty)));
    else showRaw(body.slice(0, MAX_RAW));
  };
  show(mode);
  return h(
    "div",
    { class: "body", data: { body: mode } },
    h(
      "div",
      { class: "line between wrap body-bar" },
      h(
        "span",
        { class: "line" },
        pretty !== undefined &&
          segments(
            "body",
            "Form of the body",
            [
              ["pretty", "Pretty"],
              ["raw", "Raw"],
            ],
            mode,
            show,
          ),
        h("span", { class: "small soft" }, bytes(new Blob([body]).size)),
      ),
      h(
        "span",
        { class: "line tight" },
        folds,
        copyButton(() => (mode === "pretty" ? prettyJson(body) : body)),
      ),
    ),
    place,
    omittedBytes > 0 &&
      h(
        "p",
        { class: "note-box fair" },
        icon("warning"),
        ` ${bytes(omittedBytes)} more are not kept: the log has a bound for each body.`,
      ),
  );
}

function parse(text) {
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" ? value : undefined;
  } catch {
    return undefined;
  }
}

const MAX_TREE = 8 * 1024 * 1024;
const MAX_RAW = 200_000;
