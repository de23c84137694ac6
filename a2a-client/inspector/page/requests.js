/** Requests to the inspector's own server. */

import { EventDecoder } from "./event_decoder.js";
import { Topic } from "./topic.js";

/** A request that failed: what was wrong, and what to do about it. */
class Problem extends Error {
  constructor(message, { hint, status, kind, card } = {}) {
    super(message);
    this.hint = hint;
    this.status = status;
    this.kind = kind;
    this.card = card;
  }
}

/** Published when the server refuses the launch token. */
export const tokenRefused = new Topic();

export const get = (path, options) => call("GET", path, undefined, options);
export const post = (path, body, options) => call("POST", path, body ?? {}, options);
export const put = (path, body, options) => call("PUT", path, body, options);
export const del = (path, options) => call("DELETE", path, undefined, options);

/**
 * Finds the launch token: in the fragment (`#token=…`, also after a route), from which it is removed; in the session; or in
 * another tab of the inspector. Returns whether there is one.
 */
export async function takeToken() {
  const given = /[#?&]token=([\w-]+)/.exec(location.hash);
  if (given) {
    sessionStorage.setItem(TOKEN, given[1]);
    const route = location.hash.replace(given[0].slice(1), "").replace(/[?&]$/, "");
    history.replaceState(null, "", `${location.pathname}${route.startsWith("#/") ? route : "#/"}`);
  }
  const tabs = new BroadcastChannel("a2a-inspector");
  if (sessionStorage.getItem(TOKEN) === null) await askTabs(tabs);
  tabs.onmessage = ({ data }) => {
    if (data === "token?") tabs.postMessage({ token: sessionStorage.getItem(TOKEN) });
  };
  return sessionStorage.getItem(TOKEN) !== null;
}

/** Asks the other tabs of this origin for the token, so that a link can be opened in a new tab. */
function askTabs(tabs) {
  return new Promise((resolve) => {
    setTimeout(resolve, MAX_TAB_WAIT_MS);
    tabs.onmessage = ({ data }) => {
      if (!data.token) return;
      sessionStorage.setItem(TOKEN, data.token);
      resolve();
    };
    tabs.postMessage("token?");
  });
}

/** Keeps a token that was pasted: the token itself, or the whole address. */
export function setToken(text) {
  sessionStorage.setItem(TOKEN, text.trim().replace(/^.*token=/, ""));
}

/**
 * Streams Server-Sent Events: yields `{event, id, data}` with `data` read as JSON. Calls `onOpen` when the server
 * has accepted. Aborting `signal` ends the stream with an `AbortError`.
 */
export async function* stream(path, { method = "GET", body, signal, onOpen } = {}) {
  const response = await request(method, path, body, { signal });
  onOpen?.();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const decoder = new EventDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const { event, id, data } of decoder.push(value)) yield { event, id, data: JSON.parse(data) };
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Fetches a file and hands it to the browser's downloads. */
export async function download(path, name) {
  const response = await request("GET", path);
  saveBlob(await response.blob(), name);
}

/** Hands a blob to the browser's downloads. */
export function saveBlob(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Returns a path with its segments encoded: api`agents/${id}/card`. */
export function path(strings, ...values) {
  return strings.reduce((text, part, index) => text + encodeURIComponent(values[index - 1]) + part);
}

/** Returns a query of those parameters that have a value, with its question mark. */
export function query(parameters) {
  const entries = Object.entries(parameters).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  const text = new URLSearchParams(entries).toString();
  return text ? `?${text}` : "";
}

async function call(method, path, body, options) {
  const response = await request(method, path, body, options);
  const text = await response.text();
  return text === "" ? undefined : JSON.parse(text);
}

async function request(method, path, body, { signal } = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(TOKEN) ?? ""}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(`/api/${path}`, {
      method,
      headers,
      signal,
      cache: "no-store",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("the inspector does not answer", {
      hint: "Is `a2a inspect` still running? Start it again and open the address that it prints.",
      kind: "offline",
    });
  }
  if (response.ok) return response;
  if (response.status === 401) tokenRefused.publish();
  throw await problemOf(response);
}

async function problemOf(response) {
  const { status } = response;
  try {
    const { error } = await response.json();
    return new Problem(error.message, { hint: error.hint, status, kind: error.kind, card: error.card });
  } catch {
    return new Problem(`the inspector answered ${status} ${response.statusText}`.trim(), { status });
  }
}

const TOKEN = "a2a-inspector-token";
const MAX_TAB_WAIT_MS = 150;
