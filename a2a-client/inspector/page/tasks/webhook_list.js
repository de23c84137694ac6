/** Webhooks that are set for a task. */

import { fill, h } from "../dom.js";
import { field, select, setWrong, textInput } from "../form.js";
import { icon } from "../icons.js";
import { errorBox, showError } from "../notice.js";
import { del, get, path, post } from "../requests.js";
import { href } from "../router.js";

/** Returns the list of a task's webhooks, with a form that adds one. */
export function webhookList(agent, task) {
  const list = h("ul", { class: "stack tight" });
  const receivers = select([["", "A URL of your own"]], { "aria-label": "Receiver" });
  const url = textInput({ type: "url", class: "mono", placeholder: "https://…" });
  const token = textInput({ class: "mono", placeholder: "none" });
  const base = path`agents/${agent}/tasks/${task}/webhooks`;
  const load = async () => {
    try {
      const { configs = [] } = await get(base);
      fill(list, configs.length === 0 ? h("li", { class: "help" }, "None is set for this task.") : configs.map(row));
    } catch (error) {
      fill(list, h("li", errorBox(error, load)));
    }
  };
  const row = (config) =>
    h(
      "li",
      { class: "file-card", data: { row: "webhook", config: config.id } },
      icon("webhooks"),
      h(
        "div",
        { class: "grow" },
        h("div", { class: "mono small wrap-any" }, config.url),
        h(
          "div",
          { class: "small soft" },
          [
            config.id && `id ${config.id}`,
            config.token && "with a token",
            config.authentication && config.authentication.scheme,
          ]
            .filter(Boolean)
            .join(" · "),
        ),
      ),
      h(
        "button",
        {
          class: "icon-button",
          title: "Remove",
          "aria-label": `Remove ${config.url}`,
          data: { action: "remove-webhook" },
          onClick: () => del(path`agents/${agent}/tasks/${task}/webhooks/${config.id}`).then(load, showError),
        },
        icon("trash"),
      ),
    );
  const add = async (event) => {
    event.preventDefault();
    if (!setWrong(url, /^https?:\/\//.test(url.value) ? "" : "Expected an http or https URL.")) return;
    try {
      await post(base, { url: url.value.trim(), ...(token.value && { token: token.value }) });
      url.value = token.value = "";
      await load();
    } catch (error) {
      showError(error);
    }
  };
  receivers.addEventListener("change", () => {
    url.value = receivers.value;
  });
  get("receivers").then(
    ({ receivers: found = [] }) => {
      for (const one of found) receivers.append(h("option", { value: one.url }, `Receiver ${one.id}: ${one.url}`));
    },
    () => {},
  );
  load();
  return h(
    "div",
    { class: "stack", data: { view: "webhooks" } },
    list,
    h(
      "form",
      { class: "stack", novalidate: true, onSubmit: add },
      h(
        "div",
        { class: "fields" },
        field("receiver", "Receiver", receivers),
        field("webhookUrl", "URL", url),
        field("webhookToken", "Token", token),
      ),
      h(
        "div",
        { class: "line wrap" },
        h("button", { type: "submit", data: { action: "add-webhook" } }, icon("plus"), "Add webhook"),
        h(
          "span",
          { class: "help" },
          "A receiver of the inspector judges each notification: ",
          h("a", { href: href("webhooks") }, "make one"),
          ".",
        ),
      ),
    ),
  );
}
