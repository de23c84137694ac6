/** Screen of an agent's tasks. */

import { agentById, agentsChanged, chooseAgent, currentAgent } from "../agents.js";
import { debounce, fill, h, throttle } from "../dom.js";
import { select, textInput } from "../form.js";
import { ago, count, moment, shortId, taskState } from "../format.js";
import { icon } from "../icons.js";
import { emptyState, errorBox } from "../notice.js";
import { get, path, query } from "../requests.js";
import { go, href, replace } from "../router.js";
import { splitPanes } from "../split.js";
import { seenTasks } from "../task_events.js";
import { TaskPane } from "../tasks/detail.js";
import { STATE_OPTIONS, textOfParts } from "../tasks/event_summary.js";

/** Creates the screen. */
export function create() {
  let agent;
  let tokens = [""];
  let page = { tasks: [] };
  let chosen;
  let request;
  const state = select(STATE_OPTIONS, { "aria-label": "State", data: { field: "state" } });
  const context = textInput({
    class: "mono",
    placeholder: "Context id",
    "aria-label": "Context id",
    data: { field: "contextId" },
  });
  const size = select(
    [
      ["10", "10"],
      ["20", "20"],
      ["50", "50"],
      ["100", "100"],
    ],
    { value: "50", "aria-label": "Tasks on a page", data: { field: "pageSize" } },
  );
  const byId = textInput({
    class: "mono",
    placeholder: "Task id",
    "aria-label": "Open a task by its id",
    data: { field: "taskId" },
  });
  const list = h("div", {
    class: "task-list",
    role: "listbox",
    tabindex: "0",
    "aria-label": "Tasks",
    data: { scroll: "tasks", list: "task" },
  });
  const note = h("div", { class: "task-list-note" });
  const pager = h("div", { class: "line between pager" });
  const place = h("div", { class: "task-list-place" }, note, list, pager);
  const openTask = (id, tab) => {
    const words = [agent.id, id, tab !== "timeline" && tab].filter(Boolean);
    if (chosen) replace("tasks", words);
    else history.pushState(null, "", href("tasks", words));
    open(id, tab);
  };
  const close = () => {
    replace("tasks", [agent.id]);
    open(undefined);
    list.focus();
  };
  const pane = new TaskPane({ close, openTab: openTask, changed: throttle(300, () => load(true)) });
  const panes = splitPanes("tasks", place, pane.element, "Width of the list");

  const open = (id, tab) => {
    chosen = id;
    panes.setOpen(Boolean(id));
    pane.element.hidden = !id;
    mark();
    if (id) pane.show(agent.id, id, tab);
  };
  const showRows = (tasks) => {
    fill(list, tasks.map(row));
    fill(note);
    list.hidden = tasks.length === 0;
  };
  const mark = () => {
    for (const row of list.children) row.setAttribute("aria-selected", String(row.dataset.task === chosen));
    const selected = list.querySelector("[aria-selected=true]");
    if (selected) list.setAttribute("aria-activedescendant", selected.id);
    else list.removeAttribute("aria-activedescendant");
    selected?.scrollIntoView({ block: "nearest" });
  };
  const load = async (quietly = false) => {
    if (!agent) return;
    request?.abort();
    request = new AbortController();
    if (!quietly) list.classList.add("loading");
    try {
      page = await get(
        path`agents/${agent.id}/tasks` +
          query({
            state: state.value,
            contextId: context.value.trim(),
            pageSize: size.value,
            pageToken: tokens.at(-1),
            historyLength: 1,
          }),
        { signal: request.signal },
      );
      draw();
    } catch (error) {
      if (error.name !== "AbortError") drawProblem(error);
    } finally {
      list.classList.remove("loading");
    }
  };
  const draw = () => {
    const { tasks = [], totalSize, nextPageToken } = page;
    showRows(tasks);
    if (tasks.length === 0)
      fill(
        note,
        state.value || context.value
          ? h("p", { class: "list-problem help" }, "No task matches.")
          : emptyState(
              "tasks",
              "No tasks yet",
              "A message in the chat makes one. The list shows the tasks that the agent lets you see.",
              h("a", { class: "button primary", href: href("chat", [agent.id]) }, "Open the chat"),
            ),
      );
    const first = (tokens.length - 1) * Number(size.value);
    fill(
      pager,
      h(
        "span",
        { class: "small soft", role: "status" },
        tasks.length > 0
          ? `${first + 1}–${first + tasks.length}${totalSize > 0 ? ` of ${count(totalSize, "task")}` : ""}`
          : "",
        nextPageToken && tasks.length < Number(size.value) && ", as the agent sends fewer on a page",
      ),
      h(
        "span",
        { class: "line tight" },
        h(
          "button",
          { disabled: tokens.length === 1, data: { action: "previous-page" }, onClick: () => turn(-1) },
          icon("left"),
          "Previous",
        ),
        h(
          "button",
          { disabled: !nextPageToken, data: { action: "next-page" }, onClick: () => turn(1) },
          "Next",
          icon("right"),
        ),
      ),
    );
    mark();
  };
  /** Not every version can list tasks: the tasks of the chat are known all the same. */
  const drawProblem = (error) => {
    const seen = seenTasks(agent.id);
    showRows(seen);
    fill(
      note,
      h(
        "div",
        { class: "list-problem" },
        errorBox(error, () => load()),
      ),
      seen.length > 0 && h("p", { class: "list-note help" }, "Tasks of which this page has seen events:"),
    );
    fill(pager);
    mark();
  };
  const turn = (by) => {
    if (by > 0 && page.nextPageToken) tokens.push(page.nextPageToken);
    else if (by < 0 && tokens.length > 1) tokens.pop();
    else return;
    list.scrollTop = 0;
    load();
  };
  const restart = () => {
    tokens = [""];
    load();
  };
  const row = (task) => {
    const { words, tone } = taskState(task.status?.state);
    return h(
      "div",
      {
        class: "task-row",
        role: "option",
        id: `task-${task.id}`,
        "aria-selected": "false",
        data: { row: "task", task: task.id, state: words.replace(" ", "-") },
        onClick: () => openTask(task.id, "timeline"),
      },
      h("span", { class: `pill ${tone}` }, words),
      h(
        "span",
        { class: "task-text clip peer" },
        textOfParts(task.status?.message?.parts) || textOfParts(task.history?.at(-1)?.parts) || "no message",
      ),
      h("span", { class: "mono soft task-id", title: task.id }, shortId(task.id)),
      h("time", { class: "soft small task-time", title: moment(task.status?.timestamp) }, ago(task.status?.timestamp)),
    );
  };
  const step = (by) => {
    const rows = [...list.querySelectorAll("[data-task]")];
    if (rows.length === 0) return;
    const at = rows.findIndex(({ dataset }) => dataset.task === chosen);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    openTask(next.dataset.task, "timeline");
  };
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    step(by);
  });
  state.addEventListener("change", restart);
  size.addEventListener("change", restart);
  context.addEventListener("input", debounce(300, restart));
  const openById = (event) => {
    event.preventDefault();
    if (byId.value.trim()) openTask(byId.value.trim(), "timeline");
    byId.value = "";
  };
  const element = h("div", { class: "screen", data: { screen: "tasks" } });
  const head = h(
    "header",
    { class: "screen-head" },
    h("h1", "Tasks"),
    h(
      "div",
      { class: "line filter-fields" },
      state,
      context,
      h("label", { class: "line small soft nowrap" }, "Page of", size),
    ),
    h("span", { class: "grow" }),
    h(
      "form",
      { class: "line by-id", onSubmit: openById },
      byId,
      h("button", { type: "submit", data: { action: "open-task" } }, "Open"),
    ),
    h(
      "button",
      { class: "quiet", title: "Read again (r)", data: { action: "refresh" }, onClick: () => load() },
      icon("refresh"),
      "Refresh",
    ),
  );
  const show = (id, task, tab) => {
    const next = agentById(id) ?? currentAgent();
    if (!next) {
      fill(
        element,
        emptyState(
          "tasks",
          "No agent chosen",
          "Connect to an agent to see its tasks.",
          h("a", { class: "button primary", href: href("connect") }, "Connect to an agent"),
        ),
      );
      agent = undefined;
      return;
    }
    if (!element.contains(head)) fill(element, head, panes.element);
    const changed = next.id !== agent?.id;
    agent = next;
    if (changed) {
      tokens = [""];
      page = { tasks: [] };
      showRows([]);
      fill(pager);
      chooseAgent(agent.id);
    }
    open(task, tab);
    load(!changed);
  };
  agentsChanged.subscribe(() => {
    if (element.isConnected && currentAgent()?.id !== agent?.id) go("tasks", currentAgent() ? [currentAgent().id] : []);
  });
  return {
    element,
    show: ({ parts: [id, task, tab = "timeline"] }) => show(id, task, tab),
    shortcuts: [
      ["j", "Next task", () => step(1)],
      ["k", "Previous task", () => step(-1)],
      ["r", "Read again", () => load()],
      ["Escape", "Close the task", () => chosen && close()],
      ["/", "Context id", () => context.focus()],
    ],
  };
}
