/** List of exchanges. */

import { agentById } from "../agents.js";
import { fill, h } from "../dom.js";
import { bytes, duration, hostOf, pathOf } from "../format.js";
import { VirtualList } from "../virtual_list.js";

/** Returns the columns' titles and the list; `choose` receives the summary of the chosen exchange. */
export function exchangeList(choose) {
  let scale = 1;
  const list = new VirtualList({
    label: "Exchanges",
    name: "exchange",
    rowHeight: ROW_HEIGHT,
    keyOf: ({ number }) => number,
    choose,
    createRow,
    drawRow: (row, summary) => drawRow(row, summary, scale),
  });
  let items = [];
  let order = { name: "number", descending: false };
  const head = h("div", { class: "wire-row wire-head" });
  const drawHead = () =>
    fill(
      head,
      ...COLUMNS.map(([name, title]) => {
        const cell = `cell-${name}`;
        if (!ORDERS[name]) return h("span", { class: cell }, title);
        const sign = order.name === name ? (order.descending ? " ↓" : " ↑") : "";
        const sort = () => {
          order = { name, descending: order.name === name ? !order.descending : FALLING.has(name) };
          drawHead();
          show();
          list.viewport.scrollTop = 0;
        };
        return h(
          "button",
          {
            type: "button",
            class: cell,
            "aria-label": `Sort by ${title === "#" ? "number" : title}`,
            "aria-pressed": String(order.name === name),
            data: { action: "sort", value: name },
            onClick: sort,
          },
          title + sign,
        );
      }),
    );
  const show = () => {
    const { name, descending } = order;
    const sorted =
      name === "number" && !descending
        ? items
        : items.toSorted((a, b) => ORDERS[name](a, b) * (descending ? -1 : 1) || a.number - b.number);
    list.setItems(sorted, { follow: sorted === items });
  };
  drawHead();
  return {
    head,
    list,
    /** Sets the exchanges; the bars are scaled by the slowest but for the slowest twentieth. */
    setItems(next) {
      const times = [];
      for (let index = Math.max(0, next.length - 2000); index < next.length; index += 1) {
        if (next[index].durationMs !== undefined) times.push(next[index].durationMs);
      }
      times.sort((a, b) => a - b);
      const slow = times[Math.floor(times.length * 0.95)] || 1;
      items = next;
      if (Math.abs(slow - scale) > scale / 10) {
        scale = slow;
        list.redraw();
      }
      show();
    },
  };
}

/** Returns the kind of colour of an exchange's status. */
export function toneOf({ state, status, grpcStatus }) {
  if (state === "failed" || status >= 500) return "bad";
  if (state === "open") return "busy";
  return status >= 400 || errorOf(grpcStatus) ? "fair" : "good";
}

/** Returns the name of a status by gRPC, if it is one of an error. */
export function errorOf(grpcStatus) {
  return grpcStatus === "OK" ? undefined : grpcStatus;
}

/** Returns the name of an agent, or its id if it is not connected any more. */
export function agentName(id) {
  return agentById(id)?.name ?? id ?? "";
}

function createRow() {
  const cells = COLUMNS.map(([name]) => h("span", { class: `cell-${name}`, role: "gridcell" }));
  const row = h("div", { class: "wire-row", data: { row: "exchange" } }, ...cells);
  const [number, status, operation, agent, version, sent, received, frames, time, bar] = cells;
  const dot = h("i", { class: "dot" });
  const code = h("span");
  status.append(dot, code);
  const [method, name, path] = [
    h("span", { class: "method" }),
    h("span", { class: "operation" }),
    h("span", { class: "path" }),
  ];
  operation.append(method, name, path);
  const [wait, receive] = [h("i", { class: "bar-wait" }), h("i", { class: "bar-receive" })];
  bar.append(wait, receive);
  row.parts = { number, dot, code, method, name, path, agent, version, sent, received, frames, time, wait, receive };
  return row;
}

function drawRow(row, summary, scale) {
  const { parts } = row;
  const {
    number,
    status,
    grpcStatus,
    state,
    method,
    operation,
    url,
    agent,
    proxy,
    source,
    version,
    binding,
    requestBytes,
    responseBytes,
    frames,
    headMs,
    durationMs,
    failure,
  } = summary;
  row.dataset.exchange = number;
  row.dataset.state = state;
  row.title = failure ?? url;
  setText(parts.number, number);
  parts.dot.className = `dot ${toneOf(summary)}`;
  setText(parts.code, status ?? (state === "open" ? "…" : "failed"));
  setText(parts.method, method);
  setText(parts.name, operation ?? pathOf(url));
  setText(parts.path, failure ?? errorOf(grpcStatus) ?? (operation ? `${hostOf(url)}${pathOf(url)}` : hostOf(url)));
  setText(parts.agent, proxy ? `proxy ${proxy}` : source === "resend" ? "resent" : agentName(agent));
  setText(parts.version, [version, SHORT_BINDING[binding] ?? binding].filter(Boolean).join(" "));
  setText(parts.sent, requestBytes ? bytes(requestBytes) : "");
  setText(parts.received, bytes(responseBytes));
  setText(parts.frames, frames || "");
  setText(parts.time, duration(durationMs));
  // The root keeps short durations visible next to long ones.
  const width = Math.sqrt(Math.min(1, (durationMs ?? 0) / scale)) * 100;
  const waited = durationMs ? Math.min(1, (headMs ?? durationMs) / durationMs) : 0;
  parts.wait.style.width = `${width * waited}%`;
  parts.receive.style.width = `${width * (1 - waited)}%`;
}

/** Changes the text of a cell, if it is another: most cells of a list are like those above them. */
function setText(cell, value) {
  const text = String(value);
  if (cell.text === text) return;
  cell.text = text;
  cell.textContent = text;
}

const COLUMNS = [
  ["number", "#"],
  ["status", "Status"],
  ["operation", "Operation"],
  ["agent", "Agent"],
  ["version", "Version"],
  ["sent", "Sent"],
  ["received", "Received"],
  ["frames", "Events"],
  ["time", "Time"],
  ["bar", ""],
];
const byNumber = (read) => (a, b) => (read(a) ?? -1) - (read(b) ?? -1);
const byText = (read) => (a, b) => {
  const [left, right] = [read(a) ?? "", read(b) ?? ""];
  return left < right ? -1 : Number(left > right);
};
const ORDERS = {
  number: byNumber(({ number }) => number),
  status: byNumber(({ status }) => status),
  operation: byText(({ operation }) => operation),
  agent: byText(({ agent }) => agent),
  version: byText(({ version }) => version),
  sent: byNumber(({ requestBytes }) => requestBytes),
  received: byNumber(({ responseBytes }) => responseBytes),
  frames: byNumber(({ frames }) => frames),
  time: byNumber(({ durationMs }) => durationMs),
};
/** Columns that are sorted from the greatest value first. */
const FALLING = new Set(["sent", "received", "frames", "time", "status"]);
const SHORT_BINDING = { JSONRPC: "JSON-RPC", "HTTP+JSON": "REST", GRPC: "gRPC" };
const ROW_HEIGHT = 30;
