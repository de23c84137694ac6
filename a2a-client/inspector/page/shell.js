/** Frame of the page: navigation, agent switcher, the current screen. */

import { agentsChanged, allAgents, chooseAgent, currentAgent } from "./agents.js";
import { linkChanged } from "./changes.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { serverInfo } from "./info.js";
import { openMenu } from "./menu.js";
import { errorBox, hideNotice, notify, showError } from "./notice.js";
import { openPalette } from "./palette.js";
import { go, href, routeChanged } from "./router.js";
import { setShortcuts, showShortcuts, startShortcuts } from "./shortcuts.js";
import { nextTheme, theme } from "./theme.js";

/** The screens in the order of the navigation. */
export const SCREENS = [
  ["connect", "Connect"],
  ["card", "Card"],
  ["chat", "Chat"],
  ["tasks", "Tasks"],
  ["wire", "Wire"],
  ["proxy", "Proxy"],
  ["webhooks", "Webhooks"],
  ["conformance", "Conformance"],
];

const created = new Map();
const scrolls = new WeakMap();
let shown;
let wanted;
let main;
let links;

/** Builds the frame and follows the routes. */
export function startShell() {
  main = h("main", { id: "main", tabindex: "-1" });
  links = new Map(
    SCREENS.map(([name, title], index) => [
      name,
      h(
        "a",
        {
          href: href(name),
          class: "nav-link",
          data: { nav: name },
          title: `${title} (${index + 1})`,
        },
        icon(name),
        h("span", { class: "nav-text" }, title),
        h("span", { class: "badge", data: { badge: name } }),
      ),
    ]),
  );
  const skip = (event) => {
    event.preventDefault();
    main.focus();
  };
  document.body.replaceChildren(
    h("a", { class: "skip", href: "#main", onClick: skip }, "Skip to the screen"),
    h(
      "div",
      { class: "frame" },
      h(
        "aside",
        { class: "side", "aria-label": "Inspector" },
        switcher(),
        h("nav", { "aria-label": "Screens" }, h("ul", ...[...links.values()].map((link) => h("li", link)))),
        footer(),
      ),
      main,
    ),
  );
  routeChanged.subscribe(showRoute);
  shortcuts();
  startShortcuts();
}

/** Sets the number next to a screen in the navigation; 0 hides it. */
export function setBadge(name, value, tone = "plain") {
  const badge = links?.get(name)?.querySelector(".badge");
  if (!badge) return;
  badge.textContent = value ? (value > 9999 ? `${Math.floor(value / 1000)}k` : String(value)) : "";
  badge.className = `badge ${tone}`;
}

async function showRoute(route) {
  wanted = route;
  const name = links.has(route.screen) ? route.screen : currentAgent() ? "chat" : "connect";
  const title = SCREENS.find(([known]) => known === name)[1];
  document.title = `${title} · A2A inspector`;
  for (const [other, link] of links) {
    if (other === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!created.has(name)) {
    const loading = import(`./screens/${name}.js`).then((module) => module.create());
    created.set(name, loading);
    loading.catch(() => created.delete(name));
  }
  let screen;
  try {
    screen = await created.get(name);
  } catch (error) {
    if (wanted === route)
      fill(
        main,
        errorBox(error, () => showRoute(route)),
      );
    return;
  }
  // Another screen was chosen while this one was loading.
  if (wanted !== route) return;
  if (shown !== screen) {
    keepScroll(shown?.element);
    shown?.hide?.();
    fill(main, screen.element);
    shown = screen;
    main.dataset.current = name;
    restoreScroll(screen.element);
  }
  setShortcuts(title, screen.shortcuts);
  for (const [, other] of SCREENS) if (other !== title) setShortcuts(other);
  screen.show(route);
}

/** Scroll positions are lost when a screen leaves the document. */
function keepScroll(element) {
  for (const part of element?.querySelectorAll("[data-scroll]") ?? []) scrolls.set(part, part.scrollTop);
}

function restoreScroll(element) {
  for (const part of element.querySelectorAll("[data-scroll]")) part.scrollTop = scrolls.get(part) ?? 0;
}

/** Returns the button with the chosen agent, which opens the list of agents. */
function switcher() {
  const button = h("button", {
    class: "switcher",
    "aria-haspopup": "menu",
    data: { action: "switch-agent" },
    onClick: chooseFromMenu,
  });
  const draw = () => {
    const agent = currentAgent();
    button.title = agent ? `${agent.name}\n${agent.url}` : "";
    fill(
      button,
      agentMark(agent),
      h(
        "span",
        { class: "switcher-text" },
        h("span", { class: "switcher-name" }, agent?.name ?? "No agent"),
        h("span", { class: "switcher-place" }, agent ? `${agent.version} ${agent.binding}` : "Connect to one"),
      ),
      icon("down"),
    );
  };
  agentsChanged.subscribe(draw);
  draw();
  return button;
}

/** Returns a coloured letter that stands for an agent. */
export function agentMark(agent) {
  const letter = agent ? [...(agent.name || "?")][0].toUpperCase() : "";
  const hue = [...(agent?.url ?? "")].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 8, 0);
  return h(
    "span",
    { class: "mark", "aria-hidden": "true", data: { hue: agent ? hue : "none" } },
    letter || icon("connect"),
  );
}

function chooseFromMenu() {
  const button = document.querySelector("[data-action=switch-agent]");
  if (allAgents().length === 0) return go("connect");
  const rows = allAgents().map((agent) => ({
    label: agent.name,
    detail: `${agent.version} ${agent.binding} · ${agent.url}`,
    mark: agentMark(agent),
    checked: agent === currentAgent(),
    data: { agent: agent.id },
    action: () => chooseAgent(agent.id),
  }));
  return openMenu(button, [...rows, { label: "Connect to another agent", icon: "plus", action: () => go("connect") }]);
}

function step(by) {
  const agents = allAgents();
  if (agents.length < 2) return;
  const next = agents[(agents.indexOf(currentAgent()) + by + agents.length) % agents.length];
  chooseAgent(next.id);
  notify(next.name);
}

function footer() {
  const themeButton = h("button", {
    class: "icon-button",
    data: { action: "theme" },
    onClick: () => drawTheme(nextTheme()),
  });
  const drawTheme = (chosen) => {
    themeButton.title = themeButton.ariaLabel = `Theme: ${chosen === "auto" ? "as the system" : chosen}`;
    fill(themeButton, icon({ auto: "auto", light: "sun", dark: "moon" }[chosen]));
  };
  drawTheme(theme());
  const link = h("span", { class: "link-state", role: "status", data: { link: "connecting" } });
  linkChanged.subscribe((open) => {
    link.dataset.link = open ? "open" : "lost";
    link.title = open ? `a2a ${serverInfo().version} on ${serverInfo().listen ?? location.host}` : "";
    if (open) hideNotice(LOST);
    else showError(LOST);
    link.textContent = open ? `a2a ${serverInfo().version}` : "inspector stopped";
  });
  return h(
    "div",
    { class: "side-foot" },
    link,
    h(
      "button",
      {
        class: "icon-button",
        "aria-label": "Search and commands",
        title: "Search and commands (Ctrl+K)",
        data: { action: "palette" },
        onClick: openPalette,
      },
      icon("search"),
    ),
    themeButton,
    h(
      "button",
      {
        class: "icon-button",
        "aria-label": "Keyboard shortcuts",
        title: "Keyboard shortcuts (?)",
        data: { action: "shortcuts" },
        onClick: showShortcuts,
      },
      icon("keyboard"),
    ),
  );
}

function shortcuts() {
  setShortcuts("Everywhere", [
    ["?", "Show this list", showShortcuts],
    ["Ctrl+k", "Search and commands", openPalette],
    ["Escape", "Leave a field", () => {}],
    ...SCREENS.map(([name, title], index) => [String(index + 1), title, () => go(name)]),
    ["a", "Choose the agent", chooseFromMenu],
    ["[", "Previous agent", () => step(-1)],
    ["]", "Next agent", () => step(1)],
    ["t", "Light or dark", () => document.querySelector("[data-action=theme]").click()],
  ]);
}

const LOST = {
  message: "the inspector does not answer",
  hint: "Is `a2a inspect` still running? After a new start, open the address that it prints.",
};
