/** Column of one agent in the chat: transcript, streams and their ends. */

import { fill, h } from "../dom.js";
import { icon } from "../icons.js";
import { errorBox, showError } from "../notice.js";
import { metadataFold, partView, stepOf } from "../part_view.js";
import { get, path, post, query, stream } from "../requests.js";
import { href } from "../router.js";
import { addTaskEvent, contextIdOf, rememberTask, rememberedTasks, taskIdOf } from "../task_events.js";
import { Conversation } from "./conversation.js";
import { TaskView } from "./task_view.js";

/** Conversation with one agent. `changed` is called when its context, its open task or a stream changes. */
export class ChatColumn {
  #agent;
  #changed;
  #conversation = new Conversation();
  /** Views of the present turns, by task. */
  #views = new Map();
  #allViews = [];
  /** Where the next turn of a task begins. */
  #marks = new Map();
  #streams = new Map();
  #transcript = h("div", {
    class: "transcript",
    data: { scroll: "chat" },
    role: "log",
    "aria-label": "Conversation",
    tabindex: "0",
  });
  #plain = false;
  /** Whether the end of the conversation is in sight, and stays so while it grows. */
  #follows = true;
  #growth;
  #emptyText;

  constructor(agent, changed, empty) {
    this.#agent = agent;
    this.#changed = changed;
    this.#emptyText = empty;
    this.element = h(
      "section",
      { class: "chat-column", "aria-label": agent.name, data: { agent: agent.id } },
      this.#transcript,
    );
    this.#transcript.addEventListener("scroll", () => {
      const { scrollHeight, scrollTop, clientHeight } = this.#transcript;
      this.#follows = scrollHeight - scrollTop - clientHeight < MAX_GAP;
    });
    // Streams and images grow after they were added.
    this.#growth = new ResizeObserver(() => this.#follows && this.#toEnd());
    this.#drawEmpty();
  }

  get agent() {
    return this.#agent;
  }

  get contextId() {
    return this.#conversation.contextId;
  }

  get taskId() {
    return this.#conversation.taskId;
  }

  get isEmpty() {
    return this.#conversation.entries.length === 0;
  }

  /** Shows text as it is, or as Markdown. */
  setPlain(plain) {
    this.#plain = plain;
    for (const view of this.#allViews) view.redraw();
  }

  /** Begins a new conversation. */
  reset() {
    for (const abort of this.#streams.values()) abort.abort();
    this.#conversation = new Conversation();
    this.#views.clear();
    this.#marks.clear();
    this.#allViews = [];
    this.#drawEmpty();
    this.#changed(this);
  }

  /** Lets the next message begin a new task in the same conversation. */
  endTask() {
    this.#conversation.taskId = undefined;
    this.#changed(this);
  }

  /** Sends a composed message and follows the answer. */
  async send(
    { parts, steps = true, streaming = "auto", messageMetadata, referenceTaskIds = [], request = {} },
    taskId = this.#conversation.taskId,
  ) {
    const message = {
      messageId: crypto.randomUUID(),
      role: "ROLE_USER",
      parts,
      ...(this.contextId && { contextId: this.contextId }),
      ...(taskId && { taskId }),
      ...(messageMetadata && { metadata: messageMetadata }),
      ...(referenceTaskIds.length > 0 && { referenceTaskIds }),
      ...(request.extensions && { extensions: request.extensions }),
    };
    this.#endTurn(taskId);
    const turn = this.#addUserMessage(message);
    const isStream = streaming === "stream" || (streaming === "auto" && this.#agent.capabilities?.streaming !== false);
    const key = message.messageId;
    await this.#follow(
      key,
      path`agents/${this.#agent.id}/messages`,
      { method: "POST", body: { message, ...request, stream: isStream, steps } },
      { turn, taskId },
    );
  }

  /** Follows a task again, after the last event that was seen. */
  async resume(task) {
    await this.#follow(
      task.id,
      path`agents/${this.#agent.id}/tasks/${task.id}/events` + query({ after: task.sequence }),
      {},
      { taskId: task.id },
    );
  }

  /** Reads the tasks of a context from the agent, after the page was loaded again. */
  async restore(contextId) {
    this.#conversation.contextId = contextId;
    fill(
      this.#transcript,
      h("div", { class: "line center soft" }, h("span", { class: "spinner" }), "Reading the conversation"),
    );
    try {
      const tasks = await this.#tasksOf(contextId);
      this.#transcript.replaceChildren();
      tasks.sort((a, b) => String(a.status?.timestamp).localeCompare(String(b.status?.timestamp)));
      for (const task of tasks) {
        this.#restoreTask(task);
      }
      if (tasks.length === 0) this.#drawEmpty();
    } catch (error) {
      fill(this.#transcript, h("div", { class: "turn" }, errorBox(error)));
    }
    this.#changed(this);
  }

  /** Reads the tasks of a context: by a list, or where the version has none one by one, as the page remembers them. */
  async #tasksOf(contextId) {
    const base = path`agents/${this.#agent.id}/tasks`;
    try {
      const { tasks = [] } = await get(
        base + query({ contextId, historyLength: 50, pageSize: 50, includeArtifacts: true }),
      );
      return tasks;
    } catch (error) {
      const known = rememberedTasks(contextId);
      if (known.length === 0) throw error;
      return Promise.all(known.map((id) => get(`${base}/${encodeURIComponent(id)}${query({ historyLength: 50 })}`)));
    }
  }

  #restoreTask(snapshot) {
    const { task } = this.#conversation.task(snapshot.id, snapshot.contextId);
    const changed = task.apply({ task: snapshot });
    const { history = [], status = {} } = snapshot;
    for (const message of history) {
      if (message.role === "ROLE_USER") this.#addUserMessage(message);
      else if (message.messageId !== status.message?.messageId && !message.parts.every(stepOf))
        this.#addAgentMessage(message);
    }
    const messages = task.messages.length - (status.message ? 1 : 0);
    const view = this.#addView(task, { messages, steps: 0 });
    view.update(changed);
    this.#conversation.settle(task);
  }

  /** Returns whether an answer is being followed. */
  get isLive() {
    return this.#streams.size > 0;
  }

  /** Stops following all answers; the tasks go on. */
  stop() {
    for (const abort of this.#streams.values()) abort.abort();
  }

  async #follow(key, place, options, { turn, taskId }) {
    const abort = new AbortController();
    this.#streams.get(key)?.abort();
    this.#streams.set(key, abort);
    this.#changed(this);
    const waiting = h(
      "div",
      { class: "turn waiting", role: "status" },
      h("span", { class: "spinner" }),
      "Waiting for the agent",
      h("button", { class: "quiet", data: { action: "stop" }, onClick: () => abort.abort() }, "Stop"),
    );
    const mine = new Set();
    const exchanges = [];
    const view = taskId && this.#views.get(taskId);
    if (view) {
      view.abort?.abort(REPLACED);
      mine.add(view);
      view.setLive(true);
      view.abort = abort;
    } else this.#append(waiting);
    try {
      for await (const { event, data } of stream(place, { ...options, signal: abort.signal })) {
        if (event === "exchange") {
          exchanges.push(data.number);
          for (const one of mine) one.addExchange(data.number);
          turn?.addExchange(data.number);
        } else if (event === "failed") {
          throw Object.assign(new Error(data.message), { hint: data.hint, kind: data.kind });
        } else if (event === "update") {
          waiting.remove();
          const shown = this.#apply(data);
          if (shown && !mine.has(shown)) {
            mine.add(shown);
            shown.abort = abort;
            shown.setLive(true);
            for (const number of exchanges) shown.addExchange(number);
          }
        }
      }
    } catch (error) {
      if (abort.signal.reason !== REPLACED) this.#ended(error, mine, waiting);
    } finally {
      waiting.remove();
      if (this.#streams.get(key) === abort) this.#streams.delete(key);
      for (const one of mine) if (one.abort === abort) one.setLive(false);
      this.#changed(this);
    }
  }

  /** Says why no more events come. */
  #ended(error, views, waiting) {
    const stopped = error.name === "AbortError";
    const box = stopped
      ? h(
          "p",
          { class: "help" },
          views.size > 0
            ? "You stopped following. The task goes on: Resume continues after the last event."
            : "You stopped waiting. The agent may still work on it: see Tasks.",
        )
      : [errorBox(error), this.#credentialsLink(error)];
    const [last] = [...views].slice(-1);
    if (last) last.showProblem(h("div", { class: "stack tight" }, box));
    else if (waiting.isConnected) waiting.replaceWith(h("div", { class: "turn" }, box));
    else this.#append(h("div", { class: "turn" }, box));
  }

  /** Returns a link to the form of the connection, if the agent refused the credentials. */
  #credentialsLink({ kind }) {
    if (kind !== "refused" && kind !== "credentials") return null;
    const address = href("connect", [], { url: this.#agent.url, credentials: "1" });
    return h("a", { class: "button", href: address, data: { action: "give-credentials" } }, "Give credentials");
  }

  /** Applies an update of the stream; returns the view of its task, if it is about one. */
  #apply({ event, sequence, ms, reconnections }) {
    const id = taskIdOf(event);
    if (!id) {
      if (event.message) this.#addAgentMessage(event.message);
      return undefined;
    }
    addTaskEvent(this.#agent.id, id, { event, sequence, ms });
    rememberTask(contextIdOf(event), id);
    const { task } = this.#conversation.task(id, contextIdOf(event));
    const view = this.#views.get(id) ?? this.#addView(task, this.#marks.get(id));
    if (reconnections) view.reconnections = reconnections;
    view.update(task.apply(event, sequence));
    this.#conversation.settle(task);
    this.#changed(this);
    return view;
  }

  #addView(task, since) {
    const actions = {
      agent: this.#agent.id,
      plain: () => this.#plain,
      cancel: (one) => this.#cancel(one),
      resume: (one) => this.resume(one),
      stop: () => this.#views.get(task.id)?.abort?.abort(),
      answer: (one, parts) => {
        // The form goes: whoever answered by the keyboard writes on below.
        document.querySelector("[data-field=message]")?.focus();
        return this.send({ parts }, one.id);
      },
    };
    const view = new TaskView(task, actions, since);
    this.#views.set(task.id, view);
    this.#allViews.push(view);
    this.#append(view.element);
    return view;
  }

  /** Ends the present turn of a task: the user answers it. */
  #endTurn(taskId) {
    const view = this.#views.get(taskId);
    if (!view) return;
    view.abort?.abort(REPLACED);
    view.freeze();
    this.#views.delete(taskId);
    const { messages } = this.#conversation.task(taskId).task;
    this.#marks.set(taskId, { messages: messages.length, steps: messages.length });
  }

  async #cancel(task) {
    try {
      const canceled = await post(path`agents/${this.#agent.id}/tasks/${task.id}/cancel`);
      if (canceled?.id) this.#apply({ event: { task: canceled } });
    } catch (error) {
      showError(error);
    }
  }

  #addUserMessage(message) {
    if (this.isEmpty) this.#transcript.replaceChildren();
    this.#conversation.addMessage(message);
    const links = h("span", { class: "line tight" });
    const body = h("div", { class: "bubble" }, ...message.parts.map((part) => partView(part)), metadataFold(message));
    this.#append(
      h(
        "article",
        {
          class: "turn user-turn",
          "aria-label": "Your message",
          data: { row: "message", message: message.messageId },
        },
        body,
        links,
      ),
    );
    this.#toEnd();
    return {
      addExchange: (number) =>
        links.append(
          h(
            "a",
            { class: "small", href: href("wire", [String(number)]), data: { exchange: number }, title: "On the wire" },
            `#${number}`,
          ),
        ),
    };
  }

  #addAgentMessage(message) {
    this.#conversation.addMessage(message);
    const steps = message.parts.map(stepOf).filter(Boolean);
    this.#append(
      h(
        "article",
        {
          class: "turn agent-turn",
          "aria-label": "Message of the agent",
          data: { row: "message", message: message.messageId },
        },
        h(
          "header",
          { class: "turn-head" },
          h("span", { class: "pill" }, "message"),
          steps.length > 0 && h("span", { class: "small soft" }, `${steps.length} steps`),
        ),
        ...message.parts.map((part) => partView(part, { plain: this.#plain })),
        metadataFold(message),
      ),
    );
    this.#changed(this);
  }

  #append(element) {
    this.#transcript.querySelector(":scope > .chat-empty")?.remove();
    this.#transcript.append(element);
    this.#growth.observe(element);
  }

  #toEnd() {
    this.#transcript.scrollTop = this.#transcript.scrollHeight;
  }

  #drawEmpty() {
    fill(this.#transcript, h("div", { class: "chat-empty" }, icon("chat"), this.#emptyText(this.#agent)));
  }
}

/** Reason for which a stream ends: another one has the task's events from now on. */
const REPLACED = new DOMException("replaced", "AbortError");
/** Pixels below which the end counts as in sight. */
const MAX_GAP = 80;
