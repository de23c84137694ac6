/** Screen of webhooks: receivers, and the notifications that came. */

import { currentAgent } from "../agents.js";
import { fill, h } from "../dom.js";
import { closeButton } from "../form.js";
import { clock, count, shortId } from "../format.js";
import { icon } from "../icons.js";
import { jsonView } from "../json_view.js";
import { emptyState, errorBox, showError } from "../notice.js";
import { allNotifications, droppedNotifications, notificationsChanged } from "../notifications.js";
import { del, get, path, post } from "../requests.js";
import { href, replace } from "../router.js";
import { splitPanes } from "../split.js";
import { eventSummary } from "../tasks/event_summary.js";
import { receiverForm, receiverRow } from "../webhooks/receivers.js";
import { bodyView, headersView } from "../wire/body_view.js";

/** Creates the screen. */
export function create() {
  let receivers = [];
  let chosen;
  let isOpen = false;
  let loaded = false;
  const receiverList = h("div", { class: "receiver-list" });
  const problem = h("div");
  const list = h("div", {
    class: "notification-list",
    role: "listbox",
    tabindex: "0",
    "aria-label": "Notifications",
    data: { scroll: "notifications", list: "notification" },
  });
  const empty = h("div", { class: "webhook-empty" });
  const note = h("p", { class: "small soft", role: "status" });
  const first = h(
    "div",
    { class: "webhook-list" },
    h("section", { class: "receivers", "aria-label": "Receivers" }, receiverList, problem),
    h("div", { class: "list-title" }, h("h2", "Notifications"), note),
    list,
    empty,
  );
  const detailBody = h("div", { class: "detail-body", tabindex: "-1", data: { scroll: "notification" } });
  const detailHead = h("header", { class: "detail-head" });
  const detail = h(
    "section",
    { class: "detail", "aria-label": "Chosen notification", data: { view: "notification" } },
    detailHead,
    detailBody,
  );
  const panes = splitPanes("webhooks", first, detail, "Width of the list");
  const form = receiverForm(async (settings) => {
    await post("receivers", settings);
    await loadReceivers();
  });

  const open = (number) => {
    chosen = number;
    const notification = allNotifications().find((one) => one.number === number);
    isOpen = Boolean(notification);
    panes.setOpen(isOpen);
    for (const row of list.children)
      row.setAttribute("aria-selected", String(Number(row.dataset.notification) === number));
    list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
    if (notification) drawDetail(notification);
  };
  const choose = (number) => {
    replace("webhooks", [String(number)]);
    open(number);
  };
  const close = () => {
    replace("webhooks");
    open(undefined);
    list.focus();
  };
  const loadReceivers = async () => {
    try {
      ({ receivers = [] } = await get("receivers"));
      problem.replaceChildren();
    } catch (error) {
      fill(problem, errorBox(error, loadReceivers));
    }
    loaded = true;
    draw();
  };
  const stop = async (id) => {
    await del(path`receivers/${id}`).catch(showError);
    await loadReceivers();
  };
  const draw = () => {
    fill(
      receiverList,
      receivers.map((one) => receiverRow(one, () => stop(one.id))),
      loaded &&
        receivers.length === 0 &&
        allNotifications().length > 0 &&
        h("p", { class: "help" }, "No receiver listens."),
    );
    drawList();
    if (chosen !== undefined) open(chosen);
  };
  const drawList = () => {
    const notifications = allNotifications();
    const failed = notifications.filter(hasFailed).length;
    note.textContent =
      notifications.length === 0
        ? ""
        : [
            count(notifications.length, "notification"),
            failed > 0 && `${failed} with a failed check`,
            droppedNotifications() > 0 && `${droppedNotifications()} older dropped`,
          ]
            .filter(Boolean)
            .join(", ");
    list.previousElementSibling.hidden = notifications.length === 0;
    list.hidden = notifications.length === 0;
    fill(list, notifications.toReversed().slice(0, MAX_ROWS).map(row));
    empty.hidden = notifications.length > 0;
    if (loaded && !empty.hidden) {
      fill(
        empty,
        receivers.length === 0
          ? emptyState(
              "webhooks",
              "Receive push notifications",
              "A receiver listens at a URL of its own. Set that URL as the webhook of a task; each notification then appears here, with its token, signature, order and duplicates judged.",
              h(
                "button",
                { class: "primary", data: { action: "add-receiver" }, onClick: () => form.open() },
                "Start a receiver",
              ),
            )
          : emptyState(
              "webhooks",
              "Waiting for notifications",
              [
                "Set the URL above as the webhook of a task: in the options of a message in the ",
                h("a", { href: href("chat") }, "chat"),
                ", or on the tab Webhooks of a ",
                h("a", { href: href("tasks") }, "task"),
                ". Agents often refuse addresses of this machine: ",
                h("code", "a2a serve"),
                " allows them with ",
                h("code", "--local-webhooks"),
                ".",
              ].reduce((p, part) => (p.append(part), p), h("p")),
            ),
      );
    }
  };
  const row = (notification) => {
    const { number, at, task, version, event, verdicts, status } = notification;
    const summary = event ? eventSummary(event) : { title: "not readable", text: "", tone: "bad" };
    return h(
      "div",
      {
        class: "notification-row",
        role: "option",
        id: `notification-${number}`,
        "aria-selected": String(number === chosen),
        data: { row: "notification", notification: number },
        onClick: () => choose(number),
      },
      h("i", { class: `dot ${hasFailed(notification) ? "bad" : "good"}` }),
      h("span", { class: "soft nowrap" }, clock(at)),
      h("span", { class: "clip peer" }, h("b", summary.title), " ", h("span", { class: "soft" }, summary.text)),
      h(
        "span",
        { class: "line tight verdict-pills" },
        ...verdicts.filter(({ ok }) => !ok).map(({ check }) => h("span", { class: "pill bad" }, check)),
        status >= 400 && h("span", { class: "pill fair", title: "The receiver's answer" }, status),
      ),
      h("span", { class: "mono soft small nowrap notification-task", title: task }, task && shortId(task)),
      h("span", { class: "soft small nowrap" }, version),
    );
  };
  const drawDetail = ({ number, at, receiver, task, version, event, delivery, verdicts, status, request }) => {
    const failed = verdicts.filter(({ ok }) => !ok).length;
    fill(
      detailHead,
      h("h2", `Notification ${number}`),
      h(
        "span",
        { class: `pill ${failed > 0 ? "bad" : "good"}`, data: { field: "verdict" } },
        failed > 0 ? count(failed, "failed check") : "passed",
      ),
      h("span", { class: "grow" }),
      task &&
        currentAgent() &&
        h("a", { class: "button quiet", href: href("tasks", [currentAgent().id, task]) }, icon("tasks"), "Task"),
      closeButton(close),
    );
    fill(
      detailBody,
      h(
        "div",
        { class: "stack" },
        h(
          "dl",
          { class: "facts" },
          ...[
            ["Received", clock(at)],
            ["Receiver", receiver],
            ["Task", task],
            ["Protocol", version],
            ["Delivery", delivery],
            ["Answered with", status],
          ]
            .filter(([, value]) => value)
            .map(([name, value]) => h("div", h("dt", name), h("dd", { class: "peer" }, value))),
        ),
        h(
          "ul",
          { class: "verdict-list" },
          ...verdicts.map(({ check, ok, message }) =>
            h(
              "li",
              { data: { row: "verdict", check, ok: String(ok) } },
              h(
                "span",
                { class: `sign ${ok ? "good" : "bad"}`, "aria-label": ok ? "passed" : "failed", role: "img" },
                ok ? "✓" : "✗",
              ),
              h("b", check),
              h("span", { class: "peer" }, message),
            ),
          ),
        ),
        event &&
          h(
            "section",
            { class: "side-pane" },
            h("h3", "Event"),
            h("div", { class: "body" }, h("div", { class: "body-place" }, jsonView(event, { open: 5 }))),
          ),
        h("section", { class: "side-pane" }, h("h3", "Request"), headersView(request.headers), bodyView(request.body)),
      ),
    );
  };
  const step = (by) => {
    const numbers = allNotifications()
      .map(({ number }) => number)
      .toReversed();
    if (numbers.length === 0) return;
    const at = numbers.indexOf(chosen);
    choose(numbers[Math.max(0, Math.min(numbers.length - 1, at + by))]);
  };
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    step(by);
  });
  notificationsChanged.subscribe(() => {
    if (!element.isConnected) return;
    drawList();
    // The address may name one that has just come.
    if (chosen !== undefined && !isOpen) open(chosen);
  });
  const element = h(
    "div",
    { class: "screen", data: { screen: "webhooks" } },
    h(
      "header",
      { class: "screen-head" },
      h("h1", "Webhooks"),
      h("span", { class: "grow" }),
      h(
        "button",
        { class: "primary", data: { action: "add-receiver" }, onClick: () => form.open() },
        icon("plus"),
        "Start a receiver",
      ),
    ),
    form.element,
    panes.element,
  );
  return {
    element,
    async show({ parts: [number] }) {
      await loadReceivers();
      open(number ? Number(number) : undefined);
    },
    shortcuts: [
      ["n", "Start a receiver", () => form.open()],
      ["j", "Next notification", () => step(1)],
      ["k", "Previous notification", () => step(-1)],
      ["Escape", "Close the notification", () => chosen !== undefined && close()],
    ],
  };
}

/** Returns whether a check of a notification failed. */
function hasFailed({ verdicts }) {
  return verdicts.some(({ ok }) => !ok);
}

const MAX_ROWS = 500;
