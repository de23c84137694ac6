/** Screen of recording proxies, with faults on demand. */

import { currentAgent } from "../agents.js";
import { onChange } from "../changes.js";
import { fill, h, throttle } from "../dom.js";
import { exchangesChanged } from "../exchanges.js";
import { cancelButton, checkBox, field, select, setWrong, textInput } from "../form.js";
import { count } from "../format.js";
import { icon } from "../icons.js";
import { copyButton, emptyState, errorBox, showError } from "../notice.js";
import { del, get, path, post, put } from "../requests.js";
import { href } from "../router.js";

/** Creates the screen. */
export function create() {
  const rows = new Map();
  const list = h("div", { class: "stack proxy-list" });
  const form = proxyForm((settings) => post("proxies", settings).then(load));
  const body = h("div", { class: "column" }, list);
  const element = h(
    "div",
    { class: "screen", data: { screen: "proxy" } },
    h(
      "header",
      { class: "screen-head" },
      h("h1", "Proxy"),
      h("span", { class: "grow" }),
      h(
        "button",
        { class: "primary", data: { action: "add-proxy" }, onClick: () => form.open() },
        icon("plus"),
        "Start a proxy",
      ),
    ),
    form.element,
    h("div", { class: "screen-body", data: { scroll: "proxy" } }, body),
  );

  async function load() {
    try {
      draw((await get("proxies")).proxies ?? []);
    } catch (error) {
      rows.clear();
      fill(list, errorBox(error, load));
    }
  }
  const stop = (id) => del(path`proxies/${id}`).then(load, showError);
  const draw = (proxies) => {
    for (const [id, row] of rows) {
      if (proxies.some((proxy) => proxy.id === id)) continue;
      row.element.remove();
      rows.delete(id);
    }
    if (proxies.length === 0) {
      fill(
        list,
        emptyState(
          "proxy",
          "Record other people's clients",
          "A proxy stands between a client and an agent. Point the client at the proxy's address: every exchange appears on the wire, and faults show how the client copes.",
          h("button", { class: "primary", data: { action: "add-proxy" }, onClick: () => form.open() }, "Start a proxy"),
        ),
      );
      return;
    }
    list.querySelector(":scope > .empty, :scope > .error-box")?.remove();
    for (const proxy of proxies) {
      if (!rows.has(proxy.id)) {
        const row = proxyRow(proxy.id, () => stop(proxy.id));
        rows.set(proxy.id, row);
        list.append(row.element);
      }
      rows.get(proxy.id).update(proxy);
    }
  };
  onChange("proxy", (proxy) => {
    if (!element.isConnected) return;
    if (proxy?.id && rows.has(proxy.id)) rows.get(proxy.id).update(proxy);
    else load();
  });
  // The numbers of requests grow.
  exchangesChanged.subscribe(throttle(300, () => element.isConnected && load()));
  return { element, show: load, shortcuts: [["n", "Start a proxy", () => form.open()]] };
}

/** Returns the form of a new proxy: `{element, open}`. */
function proxyForm(start) {
  const upstream = textInput({ type: "url", class: "mono", placeholder: "https://agent.example", required: true });
  const listen = textInput({ class: "mono", placeholder: "127.0.0.1:0, a free port" });
  const origins = textInput({ class: "mono", placeholder: "https://api.example" });
  const problem = h("div");
  const submit = async (event) => {
    event.preventDefault();
    if (!setWrong(upstream, /^https?:\/\//.test(upstream.value) ? "" : "Expected an http or https URL."))
      return upstream.focus();
    try {
      await start({
        upstream: upstream.value.trim(),
        listen: listen.value.trim() || "127.0.0.1:0",
        origins: origins.value.split(/[\s,]+/).filter(Boolean),
      });
      problem.replaceChildren();
      element.hidden = true;
    } catch (error) {
      fill(problem, errorBox(error));
    }
    return undefined;
  };
  const element = h(
    "form",
    { class: "head-form", hidden: true, novalidate: true, onSubmit: submit, data: { view: "new-proxy" } },
    h(
      "div",
      { class: "fields" },
      field("upstream", "Agent", upstream, "Where requests go."),
      field("listen", "Listen on", listen, "Where clients connect to."),
      field("origins", "Other origins", origins, "Where requests go, too, if the card names them."),
    ),
    problem,
    h(
      "div",
      { class: "line" },
      h("button", { class: "primary", type: "submit", data: { action: "start-proxy" } }, "Start"),
      cancelButton(),
    ),
  );
  return {
    element,
    open() {
      element.hidden = false;
      if (!upstream.value) upstream.value = currentAgent()?.url ?? "";
      upstream.focus();
    },
  };
}

/** Returns the panel of a proxy: `{element, update}`. */
function proxyRow(id, stop) {
  const address = h("code", { class: "proxy-address wrap-any" });
  const upstream = h("span", { class: "mono soft wrap-any" });
  const requests = h("a", {
    class: "small",
    href: href("wire", [], { q: `proxy:${id}` }),
    data: { action: "show-exchanges" },
  });
  const origins = h("div", { class: "stack tight" });
  const confirm = (origin) => post(path`proxies/${id}/origins`, { origin }).then((proxy) => update(proxy), showError);
  const fault = faultForm(async (next) => update(await put(path`proxies/${id}/fault`, next)));
  const element = h(
    "section",
    { class: "panel proxy", "aria-label": `Proxy ${id}`, data: { row: "proxy", proxy: id } },
    h(
      "div",
      { class: "line between wrap" },
      h(
        "div",
        { class: "line" },
        h("i", { class: "dot good" }),
        address,
        copyButton(() => address.textContent, "Copy address"),
      ),
      h(
        "div",
        { class: "line" },
        requests,
        h(
          "button",
          {
            class: "icon-button",
            title: "Stop",
            "aria-label": `Stop proxy ${id}`,
            data: { action: "stop-proxy" },
            onClick: stop,
          },
          icon("trash"),
        ),
      ),
    ),
    h("div", { class: "line proxy-flow" }, icon("right"), upstream),
    origins,
    fault.element,
  );
  const update = (proxy) => {
    if (!proxy) return;
    address.textContent = proxy.url ?? proxy.address;
    upstream.textContent = proxy.upstream;
    requests.textContent = count(proxy.requests ?? 0, "request");
    fill(
      origins,
      (proxy.origins ?? []).map((origin) =>
        h("div", { class: "line proxy-flow" }, icon("right"), h("span", { class: "mono soft wrap-any" }, origin)),
      ),
      (proxy.namedOrigins ?? []).map((origin) =>
        h(
          "div",
          { class: "line wrap" },
          h("span", { class: "help" }, "The card names another origin, to which clients go past the proxy:"),
          h("span", { class: "mono soft wrap-any" }, origin),
          h(
            "button",
            {
              type: "button",
              class: "quiet",
              data: { action: "confirm-origin", value: origin },
              onClick: () => confirm(origin),
            },
            "Pass on to it",
          ),
        ),
      ),
    );
    fault.show(proxy.fault);
  };
  return { element, update };
}

/** Returns the form of a proxy's fault: `{element, show}`. */
function faultForm(set) {
  const number = (name, label, value, props) =>
    field(name, label, textInput({ type: "number", min: "0", value, ...props }));
  const fields = {
    cut: [number("afterEvents", "Events before the cut", "3")],
    delay: [number("ms", "Milliseconds", "2000", { max: "600000" })],
    status: [
      number("status", "Status", "503", { min: "400", max: "599" }),
      number("retryAfter", "Retry-After in seconds", ""),
    ],
    duplicate: [number("event", "Event that comes twice", "1", { min: "1" })],
  };
  const kind = select(Object.entries(KINDS), { value: "cut" });
  const place = h("div", { class: "line fault-fields" });
  const once = checkBox("once", "Once", { checked: true });
  const state = h("div", { class: "line wrap", role: "status" });
  const problem = h("div");
  const draw = () => fill(place, fields[kind.value]);
  kind.addEventListener("change", draw);
  draw();
  const apply = async (fault) => {
    try {
      await set(fault);
      problem.replaceChildren();
    } catch (error) {
      fill(problem, errorBox(error));
    }
  };
  const submit = (event) => {
    event.preventDefault();
    const values = [...place.querySelectorAll("input")]
      .filter((input) => input.value !== "")
      .map((input) => [input.dataset.field, Number(input.value)]);
    apply({ kind: kind.value, ...Object.fromEntries(values), once: once.box.checked });
  };
  return {
    element: h(
      "form",
      { class: "fault stack tight", onSubmit: submit },
      h(
        "div",
        { class: "line wrap fault-line" },
        field("faultKind", "Fault", kind),
        place,
        once,
        h("button", { type: "submit", data: { action: "set-fault" } }, "Set"),
      ),
      state,
      problem,
    ),
    show(fault) {
      fill(
        state,
        fault
          ? [
              h("span", { class: "pill fair", data: { fault: fault.kind } }, icon("warning"), describeFault(fault)),
              h(
                "button",
                { type: "button", class: "quiet", data: { action: "clear-fault" }, onClick: () => apply(null) },
                "Remove",
              ),
            ]
          : h("span", { class: "help", data: { fault: "none" } }, "No fault: everything passes through."),
      );
    },
  };
}

function describeFault({ kind, afterEvents, ms, status, retryAfter, event, once }) {
  const words =
    {
      cut: `Cuts a stream after ${count(afterEvents ?? 0, "event")}`,
      delay: `Holds a request back for ${ms} ms`,
      status: `Answers ${status}${retryAfter === undefined ? "" : `, Retry-After ${retryAfter} s`}`,
      duplicate: `Sends event ${event} twice`,
    }[kind] ?? kind;
  return `${words}, ${once ? "once" : "every time"}`;
}

const KINDS = { cut: "Cut the stream", delay: "Delay", status: "Answer an error", duplicate: "Duplicate an event" };
