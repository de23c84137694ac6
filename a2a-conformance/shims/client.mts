// A client under test: what the suite talks to line by line (docs/reference/client-protocol.md).
//
//   a2a-conformance client --stdio 'node client.mts' --protocol-version 1.0 --binding jsonrpc
//
// It needs nothing but Node (22.18 or later runs TypeScript as it is; with 22.6 add
// --experimental-strip-types). It speaks 1.0 by JSON-RPC. A client of your own takes the place of `call`.
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";

const LIMIT = 32 << 20;
const METHODS: Record<string, string> = {
  send_message: "SendMessage", stream: "SendStreamingMessage", get_task: "GetTask",
  cancel_task: "CancelTask", subscribe: "SubscribeToTask",
};
const KINDS: Record<number, string> = {
  [-32700]: "JSON_PARSE", [-32600]: "INVALID_REQUEST", [-32601]: "METHOD_NOT_FOUND", [-32602]: "INVALID_PARAMS",
  [-32603]: "INTERNAL", [-32001]: "TASK_NOT_FOUND", [-32002]: "TASK_NOT_CANCELABLE",
  [-32003]: "PUSH_NOTIFICATION_NOT_SUPPORTED", [-32004]: "UNSUPPORTED_OPERATION",
  [-32005]: "CONTENT_TYPE_NOT_SUPPORTED", [-32006]: "INVALID_AGENT_RESPONSE",
  [-32008]: "EXTENSION_SUPPORT_REQUIRED", [-32009]: "VERSION_NOT_SUPPORTED",
};
// Instructions with other members are not implemented in this example.
const KNOWN = [
  "id", "case", "op", "url", "protocol_version", "binding", "text", "task", "context", "history", "patience_ms", "credentials",
];
const STATES = ["submitted", "working", "input-required", "auth-required", "completed", "failed", "canceled", "rejected"];
const LAST = ["completed", "failed", "canceled", "rejected", "input-required"];

class Failure extends Error {
  readonly kind: string;
  constructor(kind: string, message = "") {
    super(message);
    this.kind = kind;
  }
}

// The text of a body as it comes; silence and endless lines are errors.
async function* chunks(ask: any, response: Response): AsyncGenerator<string> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  try {
    while (true) {
      let timer: NodeJS.Timeout | undefined;
      const silence = new Promise<never>((_, fail) => {
        timer = setTimeout(() => fail(new Failure("TIMEOUT")), ask.patience_ms ?? 3000);
      });
      const { done, value } = await Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer));
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function read(ask: any, response: Response): Promise<any> {
  let text = "";
  for await (const chunk of chunks(ask, response)) {
    text += chunk;
    if (text.length > LIMIT) throw new Failure("TOO_LARGE");
  }
  return JSON.parse(text);
}

async function request(ask: any, url: string, init: RequestInit): Promise<Response> {
  const aborts = new AbortController();
  const timer = setTimeout(() => aborts.abort(), ask.patience_ms ?? 3000);
  try {
    const response = await fetch(url, { ...init, redirect: "manual", signal: aborts.signal });
    if (response.status >= 300 && response.status < 400) throw new Failure("REDIRECTED");
    return response;
  } finally {
    clearTimeout(timer);
  }
}

async function call(ask: any): Promise<[string, Response]> {
  const found = await request(ask, new URL(".well-known/agent-card.json", ask.url).href, {});
  if (found.status !== 200) throw new Failure("MALFORMED", "no card");
  const card = await read(ask, found);
  const spoken = (one: any) => one.protocolBinding === "JSONRPC" && `${one.protocolVersion}.`.startsWith("1.0.");
  const place = card.supportedInterfaces.find(spoken);
  if (!place) throw new Failure("MALFORMED", "no interface that is spoken here");
  let params: any = { id: ask.task, historyLength: ask.history };
  if (ask.op === "send_message" || ask.op === "stream") {
    const parts = [{ text: ask.text ?? "" }];
    params = { message: { messageId: randomUUID(), role: "ROLE_USER", parts, taskId: ask.task, contextId: ask.context } };
  }
  if (place.tenant) params.tenant = place.tenant;
  const id = randomUUID();
  const streams = ask.op === "stream" || ask.op === "subscribe";
  const headers: Record<string, string> = {
    "Content-Type": "application/json", "A2A-Version": "1.0",
    Accept: streams ? "text/event-stream" : "application/json",
  };
  const own = new URL(place.url).origin === new URL(ask.url).origin;
  if (own && ask.credentials?.bearer) headers.Authorization = `Bearer ${ask.credentials.bearer}`;
  const body = JSON.stringify({ jsonrpc: "2.0", id, method: METHODS[ask.op], params });
  const response = await request(ask, place.url, { method: "POST", headers, body });
  if (response.status === 401 || response.status === 403) throw new Failure("UNAUTHENTICATED");
  return [id, response];
}

function result(id: string, said: any): any {
  if (said.error) {
    const reason = said.error.data?.[0]?.reason ?? KINDS[said.error.code];
    throw new Failure(reason ?? "OTHER", said.error.message);
  }
  if (said.id !== id) throw new Failure("MALFORMED", "the answer to another request");
  return said.result;
}

async function once(ask: any): Promise<any> {
  const [id, response] = await call(ask);
  const got = result(id, await read(ask, response));
  return digest(ask.op === "send_message" ? got : { task: got });
}

async function follow(ask: any, tell: (said: any) => void): Promise<void> {
  const [id, response] = await call(ask);
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    result(id, await read(ask, response));
    throw new Failure("MALFORMED", "no stream");
  }
  let rest = "";
  let data: string[] = [];
  for await (const chunk of chunks(ask, response)) {
    rest += chunk;
    if (rest.length > LIMIT) throw new Failure("TOO_LARGE");
    // A long line is not searched again for each of its chunks.
    if (!/[\r\n]/.test(chunk)) continue;
    // A CR at the end may be the first half of a line end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    for (const line of lines) {
      if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
      if (line !== "" || data.length === 0) continue;
      const event = digest(result(id, JSON.parse(data.join("\n"))));
      data = [];
      tell({ event });
      if (event.message || LAST.includes((event.task ?? event.status)?.state)) return;
    }
  }
  throw new Failure("CONNECTION", "the stream ended before the task did");
}

function digest(got: any): any {
  const text = (parts: any[] = []) => parts.map((part) => part.text ?? "").join("");
  const state = (status: any) => {
    const name = status.state.replace(/^TASK_STATE_/, "").toLowerCase().replaceAll("_", "-");
    return STATES.includes(name) ? name : "unknown";
  };
  const status = (status: any) => ({ state: state(status), text: text(status.message?.parts) });
  if (got.task) {
    const artifacts = (got.task.artifacts ?? []).map((one: any) => ({ id: one.artifactId, text: text(one.parts) }));
    return { task: { id: got.task.id, context: got.task.contextId, ...status(got.task.status), artifacts } };
  }
  if (got.message) return { message: { id: got.message.messageId, text: text(got.message.parts) } };
  if (got.statusUpdate) return { status: { task: got.statusUpdate.taskId, ...status(got.statusUpdate.status) } };
  const { taskId, artifact, append = false, lastChunk = false } = got.artifactUpdate;
  return { artifact: { task: taskId, id: artifact.artifactId, text: text(artifact.parts), append, last: lastChunk } };
}

for await (const line of createInterface({ input: process.stdin })) {
  const ask = JSON.parse(line);
  const tell = (said: any) => process.stdout.write(JSON.stringify({ id: ask.id, ...said }) + "\n");
  try {
    const shown = Object.keys(ask.credentials ?? {});
    const known = Object.keys(ask).every((name) => KNOWN.includes(name)) && shown.every((name) => name === "bearer");
    if (!METHODS[ask.op] || !known || ask.binding === "GRPC") {
      tell({ error: { kind: "UNIMPLEMENTED", message: "not in this example" } });
    } else if (ask.op === "stream" || ask.op === "subscribe") {
      await follow(ask, tell);
      tell({ done: true });
    } else {
      tell({ result: await once(ask) });
    }
  } catch (error: any) {
    const kind = error instanceof Failure ? error.kind : error instanceof SyntaxError ? "MALFORMED" : "CONNECTION";
    tell({ error: { kind, message: String(error.message) } });
  }
}
