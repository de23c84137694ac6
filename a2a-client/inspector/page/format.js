/** Numbers, times and names as text. */

/** Returns a size in bytes, like `1.4 kB`. */
export function bytes(count) {
  if (count === undefined || count === null) return "";
  if (count < 1000) return `${count} B`;
  const units = ["kB", "MB", "GB"];
  let value = count;
  let unit = -1;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Returns a duration in milliseconds, like `12 ms`, `1.25 s`, `3 min 4 s`. */
export function duration(ms) {
  if (ms === undefined || ms === null) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** Returns the local time of day with milliseconds; empty for what is not a time. */
export function clock(time) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const two = (number) => String(number).padStart(2, "0");
  const ms = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`;
}

/** Returns the local date and time, to seconds. */
export function moment(time) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return String(time ?? "");
  return date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/** Returns how long ago a time is, like `5 min ago`. */
export function ago(time, now = Date.now()) {
  const seconds = Math.round((now - new Date(time).getTime()) / 1000);
  if (Number.isNaN(seconds)) return "";
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** Returns a number with its noun, like `1 task`, `2,000 tasks`. */
export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** Returns the beginning of a long id. */
export function shortId(id) {
  const text = String(id ?? "");
  return text.length > 13 ? `${text.slice(0, 8)}…${text.slice(-3)}` : text;
}

/** Returns the host of a URL, or the URL itself if it is none. */
export function hostOf(url) {
  try {
    return new URL(url).host;
  } catch {
    return String(url);
  }
}

/** Returns the path and query of a URL. */
export function pathOf(url) {
  try {
    const { pathname, search } = new URL(url);
    return pathname + search;
  } catch {
    return String(url);
  }
}

/** Returns a message with a capital at its start, unless it starts with a quoted name. */
export function sentence(text) {
  return String(text).charAt(0).toUpperCase() + String(text).slice(1);
}

/** Returns a text cut after `length` characters, on one line. */
export function clip(text, length) {
  const line = String(text)
    .slice(0, length * 2)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/** Returns JSON with two spaces of indentation if the text is JSON, else `undefined`. */
export function prettyJson(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}

/** Task states in the order of the specification: name on the wire → name for people and kind of colour. */
export const TASK_STATES = new Map([
  ["TASK_STATE_SUBMITTED", { words: "submitted", tone: "plain" }],
  ["TASK_STATE_WORKING", { words: "working", tone: "busy" }],
  ["TASK_STATE_COMPLETED", { words: "completed", tone: "good" }],
  ["TASK_STATE_FAILED", { words: "failed", tone: "bad" }],
  ["TASK_STATE_CANCELED", { words: "canceled", tone: "plain" }],
  ["TASK_STATE_INPUT_REQUIRED", { words: "input required", tone: "fair" }],
  ["TASK_STATE_REJECTED", { words: "rejected", tone: "bad" }],
  ["TASK_STATE_AUTH_REQUIRED", { words: "auth required", tone: "fair" }],
]);

/** Returns the name and tone of a task state; unknown ones keep their name. */
export function taskState(state) {
  return (
    TASK_STATES.get(state) ?? {
      words: String(state ?? "unspecified")
        .replace("TASK_STATE_", "")
        .toLowerCase(),
      tone: "plain",
    }
  );
}

/** Returns whether no event can follow in this state. */
export function isTerminal(state) {
  return ["COMPLETED", "FAILED", "CANCELED", "REJECTED"].some((end) => state === `TASK_STATE_${end}`);
}
