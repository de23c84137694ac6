/** Receivers of notifications. */

import { fill, h } from "../dom.js";
import { cancelButton, field, textInput } from "../form.js";
import { icon } from "../icons.js";
import { copyButton, errorBox } from "../notice.js";

/** Returns the form of a new receiver: `{element, open}`. */
export function receiverForm(start) {
  const token = textInput({ class: "mono", placeholder: "none" });
  const secret = textInput({ type: "password", class: "mono", placeholder: "whsec_…" });
  const jwksUrl = textInput({ type: "url", class: "mono", placeholder: "https://agent.example/.well-known/jwks.json" });
  const listen = textInput({ class: "mono", placeholder: "127.0.0.1, a free port" });
  const url = textInput({ type: "url", class: "mono", placeholder: "the address it listens on" });
  const problem = h("div");
  const submit = async (event) => {
    event.preventDefault();
    const value = (input) => input.value.trim() || undefined;
    try {
      await start({
        token: value(token),
        secret: value(secret),
        jwksUrl: value(jwksUrl),
        listen: value(listen),
        url: value(url),
      });
      problem.replaceChildren();
      element.hidden = true;
      secret.value = "";
    } catch (error) {
      fill(problem, errorBox(error));
    }
  };
  const random = () => {
    token.value = crypto.randomUUID().replaceAll("-", "");
  };
  const element = h(
    "form",
    { class: "head-form", hidden: true, onSubmit: submit, data: { view: "new-receiver" } },
    h(
      "div",
      { class: "fields" },
      field("token", "Token", token, "Notifications must carry it."),
      field("secret", "Secret", secret, "Of Standard Webhooks: notifications must be signed with it."),
      field(
        "jwksUrl",
        "Keys of the agent",
        jwksUrl,
        "JSON Web Key Set: notifications must have a token signed by one.",
      ),
      field("listen", "Listen on", listen),
      field("publicUrl", "URL for agents", url, "If agents reach it by another, like a tunnel."),
    ),
    problem,
    h(
      "div",
      { class: "line wrap" },
      h("button", { class: "primary", type: "submit", data: { action: "start-receiver" } }, "Start"),
      h("button", { type: "button", data: { action: "random-token" }, onClick: random }, "Random token"),
      cancelButton(),
    ),
  );
  return {
    element,
    open() {
      element.hidden = false;
      token.focus();
    },
  };
}

/** Returns the row of a receiver. */
export function receiverRow({ id, url, hasToken, hasSecret, jwksUrl }, stop) {
  const checks = [
    hasToken && "token",
    hasSecret && "signature",
    jwksUrl && "signed by the agent's keys",
    "order",
    "duplicates",
  ].filter(Boolean);
  return h(
    "div",
    { class: "receiver-row", data: { row: "receiver", receiver: id } },
    h("i", { class: "dot good" }),
    h(
      "div",
      { class: "grow" },
      h("div", { class: "mono wrap-any" }, url),
      h("div", { class: "small soft" }, `${id} · checks ${checks.join(", ")}`),
    ),
    copyButton(() => url, "Copy URL"),
    h(
      "button",
      {
        class: "icon-button",
        title: "Stop",
        "aria-label": `Stop receiver ${id}`,
        data: { action: "stop-receiver" },
        onClick: stop,
      },
      icon("trash"),
    ),
  );
}
