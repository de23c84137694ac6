/** Form that edits an exchange and sends it again. */

import { fill, h } from "../dom.js";
import { field, pairRows, select, setWrong, textArea, textInput } from "../form.js";
import { prettyJson } from "../format.js";
import { icon } from "../icons.js";
import { errorBox, notify } from "../notice.js";
import { post } from "../requests.js";
import { go } from "../router.js";

/** Returns the form, filled from an exchange; without one it is empty. */
export function resendForm(exchange) {
  const {
    method = "POST",
    url = "",
    number,
    request = { headers: [["content-type", "application/json"]], body: "" },
  } = exchange ?? {};
  const verb = select(
    ["GET", "POST", "PUT", "DELETE", "PATCH"].map((name) => [name, name]),
    { value: method, "aria-label": "Method", data: { field: "method" } },
  );
  const target = textInput({
    type: "url",
    class: "mono",
    value: url,
    required: true,
    "aria-label": "URL",
    data: { field: "url" },
  });
  const headers = pairRows(
    "header",
    request.headers.filter(([name]) => !AUTOMATIC.has(name.toLowerCase())),
  );
  const body = textArea({
    class: "mono",
    rows: "12",
    value: prettyJson(request.body) ?? request.body,
    data: { field: "body" },
  });
  const problem = h("div");
  const hint = h("span", { class: "help", role: "status" });
  const check = () => {
    const text = body.value.trim();
    hint.textContent =
      text === "" || prettyJson(text) !== undefined ? "" : "The body is not JSON. It is sent as it is.";
  };
  body.addEventListener("input", check);
  check();
  const submit = h(
    "button",
    { class: "primary", type: "submit", data: { action: "send-again" } },
    icon("send"),
    "Send",
  );
  const send = async (event) => {
    event.preventDefault();
    if (!setWrong(target, /^https?:\/\//.test(target.value) ? "" : "Expected an http or https URL.")) return;
    submit.disabled = true;
    problem.replaceChildren();
    try {
      const sent = await post("exchanges", {
        from: number,
        method: verb.value,
        url: target.value,
        headers: headers.pairs(),
        body: body.value,
      });
      notify(`Sent as exchange ${sent.number}`);
      go("wire", [String(sent.number)]);
    } catch (error) {
      fill(problem, errorBox(error));
    } finally {
      submit.disabled = false;
    }
  };
  const compact = () => {
    try {
      body.value = JSON.stringify(JSON.parse(body.value));
    } catch {
      check();
    }
  };
  const format = () => {
    body.value = prettyJson(body.value) ?? body.value;
    check();
  };
  body.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) element.requestSubmit();
  });
  const element = h(
    "form",
    { class: "stack resend", onSubmit: send, data: { view: "resend" } },
    h("div", { class: "resend-line" }, verb, target),
    h(
      "div",
      { class: "field" },
      h("span", { class: "label" }, "Headers"),
      h(
        "span",
        { class: "help" },
        "*** stands for the secret of the original; it is filled in if the URL has the same origin. Host, length and the like are set by the inspector.",
      ),
      headers,
    ),
    field("body", "Body", body),
    h(
      "div",
      { class: "line wrap" },
      submit,
      h("span", { class: "help" }, h("kbd", "Ctrl"), h("kbd", "Enter")),
      h("span", { class: "grow" }, hint),
      h("button", { type: "button", class: "quiet", data: { action: "format" }, onClick: format }, "Format JSON"),
      h("button", { type: "button", class: "quiet", data: { action: "compact" }, onClick: compact }, "Compact"),
    ),
    problem,
  );
  requestAnimationFrame(() => body.grow());
  return element;
}

const AUTOMATIC = new Set(["host", "content-length", "connection", "transfer-encoding", "accept-encoding"]);
