/** Screen of conversations: one agent, or two side by side. */

import { agentById, agentsChanged, allAgents, chooseAgent, currentAgent } from "../agents.js";
import { ChatColumn } from "../chat/column.js";
import { composer } from "../chat/composer.js";
import { fill, h } from "../dom.js";
import { clip, shortId } from "../format.js";
import { icon } from "../icons.js";
import { openMenu } from "../menu.js";
import { emptyState } from "../notice.js";
import { go, href, replace } from "../router.js";
import { agentMark } from "../shell.js";

/** Creates the screen. */
export function create() {
  const columns = new Map();
  let shown = [];
  let plain = false;
  const head = h("header", { class: "screen-head" });
  const place = h("div", { class: "chat-columns" });
  const element = h("div", { class: "screen chat-screen", data: { screen: "chat" } });
  const target = h("div", { class: "chat-body" });
  const compose = composer({
    dropTarget: target,
    send: (message) => Promise.all(shown.map((column) => column.send(message))),
    endTask: () => shown.forEach((column) => column.endTask()),
  });
  fill(
    target,
    place,
    h("div", { class: "composer-place" }, compose.element),
    h("div", { class: "drop-hint" }, icon("clip"), "Drop files to attach them"),
  );

  const column = (agent) => {
    if (!columns.has(agent.id))
      columns.set(agent.id, new ChatColumn(agent, changed, (one) => suggestions(one, compose)));
    return columns.get(agent.id);
  };
  const changed = () => {
    compose.setTask(shown.length === 1 ? shown[0].taskId : undefined);
    drawHead();
    if (shown.length === 1 && location.hash.startsWith("#/chat"))
      replace("chat", [shown[0].agent.id, shown[0].contextId].filter(Boolean));
  };
  const togglePlain = () => {
    plain = !plain;
    shown.forEach((one) => one.setPlain(plain));
    drawHead();
  };
  const renew = () => {
    shown.forEach((one) => one.reset());
    compose.focus();
  };
  const second = (event) => {
    const others = allAgents().filter((agent) => agent.id !== shown[0].agent.id);
    openMenu(event.currentTarget, [
      ...others.map((agent) => ({
        label: agent.name,
        detail: agent.url,
        mark: agentMark(agent),
        action: () => go("chat", [`${shown[0].agent.id}+${agent.id}`]),
      })),
      { label: "Connect to another agent", icon: "plus", action: () => go("connect") },
    ]);
  };
  const drawHead = () => {
    const names = shown.map((one) =>
      h(
        "span",
        { class: "line chat-name" },
        agentMark(one.agent),
        h("h1", { class: "peer clip" }, one.agent.name),
        h("span", { class: "small soft nowrap" }, `${one.agent.version} ${one.agent.binding}`),
        shown.length === 1 &&
          one.contextId &&
          h("code", { class: "soft small nowrap", title: `contextId ${one.contextId}` }, shortId(one.contextId)),
      ),
    );
    fill(
      head,
      ...names,
      h("span", { class: "grow" }),
      h(
        "button",
        {
          class: "quiet",
          "aria-pressed": String(plain),
          title: "Show text as it is, without Markdown",
          data: { action: "plain" },
          onClick: togglePlain,
        },
        "Plain text",
      ),
      shown.length === 1
        ? h(
            "button",
            { class: "quiet", "aria-haspopup": "menu", data: { action: "side-by-side" }, onClick: second },
            icon("columns"),
            "Side by side",
          )
        : h(
            "button",
            { class: "quiet", data: { action: "single" }, onClick: () => go("chat", [shown[0].agent.id]) },
            icon("close"),
            "One agent",
          ),
      h(
        "button",
        { class: "quiet", data: { action: "new-conversation" }, title: "New conversation (n)", onClick: renew },
        icon("plus"),
        "New conversation",
      ),
    );
  };
  const show = (agents) => {
    shown = agents.map(column);
    place.dataset.columns = String(shown.length);
    // An element that is inserted again loses its scroll position.
    if (shown.length !== place.children.length || shown.some((one, index) => one.element !== place.children[index]))
      fill(place, ...shown.map((one) => one.element));
    shown.forEach((one) => one.setPlain(plain));
    compose.setAgents(agents);
    compose.setTask(shown.length === 1 ? shown[0].taskId : undefined);
    drawHead();
    if (!element.contains(head)) fill(element, head, target);
  };
  agentsChanged.subscribe(() => {
    for (const id of columns.keys()) if (!agentById(id)) columns.delete(id);
    if (element.isConnected && currentAgent() && shown.length === 1 && shown[0].agent.id !== currentAgent().id)
      go("chat", [currentAgent().id]);
    else if (element.isConnected && !currentAgent()) drawNone(element);
  });

  return {
    element,
    show(route) {
      const ids = (route.parts[0] ?? "").split("+").filter(Boolean);
      const agents = ids.map(agentById).filter(Boolean).slice(0, 2);
      if (agents.length === 0 && currentAgent()) agents.push(currentAgent());
      if (agents.length === 0) return drawNone(element);
      if (agents.length === 1 && agents[0] !== currentAgent()) chooseAgent(agents[0].id);
      show(agents);
      const [, context] = route.parts;
      if (context && agents.length === 1 && shown[0].contextId !== context) {
        if (!shown[0].isEmpty) shown[0].reset();
        shown[0].restore(context);
      } else if (agents.length === 1 && shown[0].contextId && !context)
        replace("chat", [agents[0].id, shown[0].contextId]);
      if (matchMedia("(hover: hover)").matches) compose.focus();
      return undefined;
    },
    shortcuts: [
      ["m", "Write a message", () => compose.focus()],
      ["n", "New conversation", renew],
      ["p", "Plain text or Markdown", togglePlain],
      ["s", "Stop following", () => shown.forEach((one) => one.stop())],
    ],
  };
}

function drawNone(element) {
  fill(
    element,
    emptyState(
      "chat",
      "No agent to talk to",
      "Connect to an agent first. Its skills suggest what to say.",
      h("a", { class: "button primary", href: href("connect") }, "Connect to an agent"),
    ),
  );
}

/** Returns the greeting of an empty conversation, with the examples of the agent's skills. */
function suggestions(agent, compose) {
  const examples = (agent.skills ?? [])
    .flatMap((skill) => (skill.examples ?? []).map((example) => [example, skill.name]))
    .slice(0, MAX_EXAMPLES);
  const skills = (agent.skills ?? []).slice(0, MAX_EXAMPLES);
  return [
    h("p", { class: "chat-empty-title peer" }, `Say something to ${agent.name}`),
    examples.length > 0
      ? h(
          "div",
          { class: "suggestions" },
          ...examples.map(([example, skill]) =>
            h(
              "button",
              {
                class: "suggestion",
                title: skill,
                data: { action: "suggestion" },
                onClick: () => compose.setText(String(example)),
              },
              clip(example, 120),
            ),
          ),
        )
      : h(
          "div",
          { class: "suggestions" },
          ...skills.map(({ name, description }) =>
            h(
              "p",
              { class: "suggestion-skill" },
              h("b", { class: "peer" }, name),
              " ",
              h("span", { class: "soft peer" }, clip(description ?? "", 140)),
            ),
          ),
        ),
  ];
}

const MAX_EXAMPLES = 6;
