/** Screen of the connections to agents. */

import {
  agentsChanged,
  allAgents,
  chooseAgent,
  connect,
  currentAgent,
  disconnect,
  forget,
  savedAgents,
} from "../agents.js";
import { connectForm } from "../connect/connect_form.js";
import { fill, h } from "../dom.js";
import { count, hostOf } from "../format.js";
import { icon } from "../icons.js";
import { showError } from "../notice.js";
import { go, href } from "../router.js";
import { agentMark } from "../shell.js";

/** Creates the screen. */
export function create() {
  const form = connectForm();
  const connected = h("section", { class: "stack", "aria-label": "Connected agents" });
  const stored = h("section", { class: "stack", "aria-label": "Saved agents" });
  const intro = h("div", { class: "connect-intro" });
  const element = h(
    "div",
    { class: "screen", data: { screen: "connect" } },
    h(
      "div",
      { class: "screen-body", data: { scroll: "connect" } },
      h("div", { class: "column connect-column" }, intro, form.element, connected, stored),
    ),
  );
  const draw = () => {
    const agents = allAgents();
    fill(
      intro,
      h("h1", agents.length === 0 ? "Connect to an agent" : "Agents"),
      agents.length === 0 &&
        h(
          "p",
          { class: "soft" },
          "Paste the address of any A2A agent, protocol version 0.1 to 1.0. The inspector reads its card, speaks its version and shows every byte.",
        ),
      agents.length === 0 &&
        h(
          "p",
          { class: "soft" },
          "None at hand? ",
          h("code", "a2a serve joke"),
          " runs one at ",
          h(
            "button",
            {
              type: "button",
              class: "link mono",
              data: { action: "fill-demo" },
              onClick: () => form.fillIn({ url: DEMO }),
            },
            DEMO,
          ),
          ".",
        ),
    );
    fill(
      connected,
      agents.length > 0 && [h("h2", "Connected"), h("ul", { class: "agent-list" }, ...agents.map(agentRow))],
    );
    const rest = savedAgents().filter(({ url }) => !agents.some((agent) => agent.url === url));
    fill(
      stored,
      rest.length > 0 && [
        h("h2", "Saved"),
        h("ul", { class: "agent-list" }, ...rest.map((settings) => savedRow(settings, form))),
      ],
    );
  };
  agentsChanged.subscribe(draw);
  draw();
  return {
    element,
    show(route) {
      const url = route.query.get("url");
      if (url) form.fillIn({ url, hasSecret: route.query.has("credentials") });
      if (allAgents().length === 0) form.focus();
    },
    shortcuts: [["n", "Address of a new agent", () => form.focus()]],
  };
}

function agentRow(agent) {
  const { capabilities = {}, skills = [] } = agent;
  const facts = [
    `${agent.version} ${agent.binding}`,
    capabilities.streaming ? "streaming" : "no streaming",
    capabilities.pushNotifications && "webhooks",
    capabilities.extendedCard && "extended card",
    count(skills.length, "skill"),
  ];
  const choose = (screen) => () => {
    chooseAgent(agent.id);
    go(screen, [agent.id]);
  };
  const end = async () => {
    try {
      await disconnect(agent.id);
    } catch (error) {
      showError(error);
    }
  };
  return h(
    "li",
    { class: "agent-row panel", data: { row: "agent", agent: agent.id } },
    agentMark(agent),
    h(
      "div",
      { class: "grow" },
      h(
        "div",
        { class: "line wrap" },
        h(
          "a",
          { class: "agent-name peer", href: href("card", [agent.id]), onClick: () => chooseAgent(agent.id) },
          agent.name,
        ),
        agent === currentAgent() && allAgents().length > 1 && h("span", { class: "pill busy" }, "chosen"),
        agent.hasSecret &&
          h("span", { class: "pill", title: "Requests carry credentials" }, icon("key"), "credentials"),
      ),
      h("div", { class: "mono soft wrap-any" }, agent.url),
      h("div", { class: "small soft" }, facts.filter(Boolean).join(" · ")),
    ),
    h(
      "div",
      { class: "line agent-actions" },
      h("button", { data: { action: "open-chat" }, onClick: choose("chat") }, "Chat"),
      h("button", { data: { action: "open-card" }, onClick: choose("card") }, "Card"),
      h(
        "button",
        {
          class: "icon-button",
          title: "Disconnect",
          "aria-label": `Disconnect ${agent.name}`,
          data: { action: "disconnect" },
          onClick: end,
        },
        icon("close"),
      ),
    ),
  );
}

function savedRow(settings, form) {
  const again = async (event) => {
    if (settings.hasSecret) return form.fillIn(settings);
    const { target } = event;
    target.disabled = true;
    try {
      const { hasSecret, ...rest } = settings;
      const agent = await connect({ ...rest, save: true });
      go("card", [agent.id]);
    } catch (error) {
      showError(error);
      form.fillIn(settings);
    } finally {
      target.disabled = false;
    }
  };
  return h(
    "li",
    { class: "agent-row panel slim", data: { row: "saved", url: settings.url } },
    h(
      "div",
      { class: "grow" },
      h("div", { class: "mono wrap-any" }, settings.url),
      h(
        "div",
        { class: "small soft" },
        [settings.version, settings.binding, settings.hasSecret && "credentials are not saved"]
          .filter(Boolean)
          .join(" · ") || hostOf(settings.url),
      ),
    ),
    h("button", { data: { action: "connect-saved" }, onClick: again }, settings.hasSecret ? "Fill in" : "Connect"),
    h(
      "button",
      {
        class: "icon-button",
        title: "Forget",
        "aria-label": `Forget ${settings.url}`,
        data: { action: "forget" },
        onClick: () => forget(settings.url).catch(showError),
      },
      icon("trash"),
    ),
  );
}

const DEMO = "http://127.0.0.1:8080";
