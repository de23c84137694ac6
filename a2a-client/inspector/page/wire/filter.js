/** Filter of the exchange log: words, and terms like `status:5xx`, `time:>500`, `-op:GetTask`. */

/** Returns a predicate of summaries. `agentName` gives the name of an agent by its id. */
export function parseFilter(text, agentName = () => "") {
  const terms = [...text.matchAll(/(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi)].map(([, not, key, quoted, word]) => {
    const value = (quoted ?? word).toLowerCase();
    const test = TERMS[key?.toLowerCase()]?.(value, agentName) ?? contains(key ? `${key}:${value}` : value, agentName);
    return not ? (summary) => !test(summary) : test;
  });
  return (summary) => terms.every((test) => test(summary));
}

/** Returns the text that words are searched in. */
function searchText(summary, agentName) {
  let text = TEXTS.get(summary);
  if (text === undefined) {
    const { number, method, url, operation, status, grpcStatus, version, binding, source, agent, failure } = summary;
    const name = agent && agentName(agent);
    text = [`#${number}`, method, url, operation, status, grpcStatus, version, binding, source, name, failure]
      .filter(Boolean)
      .join(" ")
      .toLowerCase();
    TEXTS.set(summary, text);
  }
  return text;
}

/** The terms, for people. */
export const FILTER_HELP = [
  ["status:5xx", "by status: 404, 4xx, >399"],
  ["op:SendMessage", "by operation"],
  ["agent:name", "by agent"],
  ["version:0.3", "by protocol version"],
  ["binding:json", "by binding"],
  ["method:GET", "by method"],
  ["source:proxy", "client, proxy or resend"],
  ["is:failed", "failed, open, stream, error"],
  ["time:>500", "by duration in ms"],
  ["size:>10000", "by bytes received"],
  ["-word", "without a word or term"],
];

const TERMS = {
  status: (value) => {
    if (/^[1-5]xx$/.test(value)) return ({ status }) => Math.floor((status ?? 0) / 100) === Number(value[0]);
    return compare(value, ({ status }) => status);
  },
  op:
    (value) =>
    ({ operation }) =>
      (operation ?? "").toLowerCase().includes(value),
  operation: (value) => TERMS.op(value),
  agent:
    (value, agentName) =>
    ({ agent }) =>
      agent !== undefined && `${agent} ${agentName(agent)}`.toLowerCase().includes(value),
  version:
    (value) =>
    ({ version }) =>
      version === value,
  binding:
    (value) =>
    ({ binding }) =>
      (binding ?? "").toLowerCase().includes(value),
  method:
    (value) =>
    ({ method }) =>
      method.toLowerCase() === value,
  source:
    (value) =>
    ({ source }) =>
      source === value,
  proxy:
    (value) =>
    ({ proxy }) =>
      proxy === value,
  url:
    (value) =>
    ({ url }) =>
      url.toLowerCase().includes(value),
  time: (value) => compare(value, ({ durationMs }) => durationMs),
  size: (value) => compare(value, ({ responseBytes }) => responseBytes),
  frames: (value) => compare(value, ({ frames }) => frames),
  is: (value) =>
    ({
      failed: ({ state }) => state === "failed",
      open: ({ state }) => state === "open",
      stream: ({ frames }) => frames > 0,
      error: ({ state, status, grpcStatus }) =>
        state === "failed" || status >= 400 || (grpcStatus ?? "OK") !== "OK",
    })[value],
};

function compare(value, read) {
  const [, sign, digits] = /^([<>]?=?)(\d+(?:\.\d+)?)$/.exec(value) ?? [];
  if (digits === undefined) return undefined;
  const limit = Number(digits);
  const test = {
    ">": (number) => number > limit,
    ">=": (number) => number >= limit,
    "<": (number) => number < limit,
    "<=": (number) => number <= limit,
    "=": (number) => number === limit,
    "": (number) => number === limit,
  }[sign];
  return (summary) => {
    const number = read(summary);
    return number !== undefined && number !== null && test(number);
  };
}

function contains(value, agentName) {
  return (summary) => searchText(summary, agentName).includes(value);
}

const TEXTS = new WeakMap();
