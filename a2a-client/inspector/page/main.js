/** Start of the page. */

import { loadAgents } from "./agents.js";
import { followChanges, onChange, reloadNeeded } from "./changes.js";
import { startPrompts } from "./device_prompt.js";
import { h } from "./dom.js";
import { allExchanges, exchangesChanged, startExchanges } from "./exchanges.js";
import { icon } from "./icons.js";
import { loadInfo } from "./info.js";
import { showError } from "./notice.js";
import { allNotifications, notificationsChanged, startNotifications } from "./notifications.js";
import { setToken, takeToken, tokenRefused } from "./requests.js";
import { startRouter } from "./router.js";
import { setBadge, startShell } from "./shell.js";
import { applyTheme } from "./theme.js";

applyTheme();
tokenRefused.subscribe(askForToken);
addEventListener("unhandledrejection", ({ reason }) => showError(reason));
if (await takeToken()) start();
else askForToken();

async function start() {
  startShell();
  try {
    await Promise.all([loadAgents(), loadInfo()]);
  } catch (error) {
    if (error.status === 401) return;
    showError(error);
  }
  startRouter();
  startPrompts();
  onChange("agents", loadAgents);
  reloadNeeded.subscribe(loadAgents);
  exchangesChanged.subscribe(() => setBadge("wire", allExchanges().length));
  notificationsChanged.subscribe(() => setBadge("webhooks", allNotifications().length));
  startNotifications();
  startExchanges();
  followChanges();
}

/** Replaces the page by a question for the launch token. */
function askForToken() {
  if (document.querySelector("[data-screen=token]")) return;
  const field = h("input", {
    id: "token",
    type: "text",
    data: { field: "token" },
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    placeholder: "http://127.0.0.1:7420/#token=…",
  });
  const submit = (event) => {
    event.preventDefault();
    setToken(field.value);
    location.reload();
  };
  document.body.replaceChildren(
    h(
      "main",
      { class: "gate", data: { screen: "token" } },
      h(
        "form",
        { class: "gate-box", onSubmit: submit },
        h("span", { class: "gate-icon" }, icon("lock")),
        h("h1", "This page needs its launch token"),
        h(
          "p",
          "Open the address that ",
          h("code", "a2a inspect"),
          " printed in the terminal. It ends in ",
          h("code", "#token=…"),
          ", which is new at every start: no other page can reach your agents.",
        ),
        h("label", { for: "token" }, "Address or token"),
        h("div", { class: "line" }, field, h("button", { class: "primary", data: { action: "unlock" } }, "Open")),
      ),
    ),
  );
  field.focus();
}
