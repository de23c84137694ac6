/** A conversation with an agent as plain data: messages and tasks, updated event by event. */

/** Messages and tasks of one `contextId`, in order. */
export class Conversation {
  contextId;
  /** The task that the next message continues. */
  taskId;
  /** Entries `{kind: "message", message}` or `{kind: "task", task}`. */
  entries = [];
  #tasks = new Map();

  /** Adds a message. */
  addMessage(message) {
    this.contextId ??= message.contextId;
    const entry = { kind: "message", message };
    this.entries.push(entry);
    return entry;
  }

  /** Returns the task of that id, which is added if it is new: `{task, added}`. */
  task(id, contextId) {
    if (contextId) this.contextId = contextId;
    const known = this.#tasks.get(id);
    if (known) return { task: known, added: false };
    const task = new TaskModel(id, contextId);
    this.#tasks.set(id, task);
    this.entries.push({ kind: "task", task });
    return { task, added: true };
  }

  /** Notes after an event whether the next message belongs to this task. */
  settle(task) {
    if (task.waitsForUser()) this.taskId = task.id;
    else if (this.taskId === task.id) this.taskId = undefined;
  }
}

/** State of one task, from its events. */
export class TaskModel {
  status = { state: "TASK_STATE_SUBMITTED" };
  /** Artifacts by id, with the parts of all their chunks. */
  artifacts = new Map();
  /** Messages of the agent and of its status, in order. */
  messages = [];
  /** Messages of the user in the history that the agent returned. */
  userMessages = [];
  /** Number of the last event, if it has one: an event that was found by reading the task has none. */
  sequence;
  events = 0;
  metadata;

  constructor(id, contextId) {
    this.id = id;
    this.contextId = contextId;
  }

  /** Returns whether the agent waits for the user. */
  waitsForUser() {
    return this.status.state === "TASK_STATE_INPUT_REQUIRED" || this.status.state === "TASK_STATE_AUTH_REQUIRED";
  }

  /** Applies a `StreamResponse`. Returns what changed: `{artifacts: [id], messages?}`; `messages` includes the status. */
  apply(event, sequence) {
    this.events += 1;
    this.sequence = sequence ?? undefined;
    if (event.task) return this.#applyTask(event.task);
    if (event.statusUpdate) return this.#applyStatus(event.statusUpdate.status ?? this.status);
    if (event.artifactUpdate) return { artifacts: [this.#applyArtifact(event.artifactUpdate)] };
    if (event.message) {
      this.#addMessage(event.message);
      return { artifacts: [], messages: true };
    }
    return { artifacts: [] };
  }

  #applyTask(task) {
    for (const message of task.history ?? []) this.#addMessage(message);
    const before = this.artifacts;
    const isNew = ({ artifactId, parts }) => JSON.stringify(before.get(artifactId)?.parts) !== JSON.stringify(parts);
    const artifacts = (task.artifacts ?? []).map((artifact) => ({ ...artifact, parts: joinedParts(artifact.parts) }));
    this.artifacts = new Map(artifacts.map((artifact) => [artifact.artifactId, artifact]));
    this.metadata = task.metadata;
    this.#applyStatus(task.status ?? this.status);
    return { messages: true, artifacts: artifacts.filter(isNew).map(({ artifactId }) => artifactId) };
  }

  #applyStatus(status) {
    this.status = status;
    if (status.message) this.#addMessage(status.message);
    return { messages: true, artifacts: [] };
  }

  #applyArtifact({ artifact, append, lastChunk }) {
    const id = artifact.artifactId;
    const known = this.artifacts.get(id);
    if (append && known) {
      known.size = (known.size ?? 0) + JSON.stringify(artifact.parts ?? []).length;
      if (known.size < MAX_ARTIFACT) appendParts(known.parts, artifact.parts ?? []);
      else known.isCut = true;
      for (const name of ["name", "description", "metadata", "extensions"])
        if (artifact[name] !== undefined) known[name] = artifact[name];
      known.complete = lastChunk;
    } else {
      this.artifacts.set(id, {
        ...structuredClone(artifact),
        parts: structuredClone(artifact.parts ?? []),
        complete: lastChunk,
        cutBefore: Boolean(append),
      });
    }
    return id;
  }

  #addMessage(message) {
    const list = message.role === "ROLE_USER" ? this.userMessages : this.messages;
    const isKnown = message.messageId && list.some(({ messageId }) => messageId === message.messageId);
    if (!isKnown && list.length < MAX_MESSAGES) list.push(message);
  }
}

/** Appends the parts of a chunk: text continues the text before it. */
export function appendParts(parts, chunk) {
  for (const part of chunk) {
    const last = parts.at(-1);
    const continues =
      last &&
      typeof last.text === "string" &&
      typeof part.text === "string" &&
      last.mediaType === part.mediaType &&
      JSON.stringify(last.metadata) === JSON.stringify(part.metadata);
    if (continues) last.text += part.text;
    else parts.push(structuredClone(part));
  }
}

/** Returns copies of an artifact's parts, in which the chunks of one text are one part. */
export function joinedParts(parts) {
  const joined = [];
  appendParts(joined, parts ?? []);
  return joined;
}

/** Returns the text of a message's or an artifact's parts. */
export function textOf(parts) {
  return (parts ?? [])
    .map((part) => part.text)
    .filter((text) => typeof text === "string")
    .join("\n");
}

/** Characters of an artifact's JSON that the page keeps. */
const MAX_ARTIFACT = 32_000_000;
/** Messages of a task that the page keeps. */
const MAX_MESSAGES = 5000;
