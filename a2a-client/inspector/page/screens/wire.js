/** Screen of the exchanges on the wire. */

import { agentsChanged } from "../agents.js";
import { confirmDialog } from "../dialog.js";
import { debounce, fill, h, throttle } from "../dom.js";
import { allExchanges, clearExchanges, exchangeByNumber, exchangesChanged, logSize } from "../exchanges.js";
import { segments, textInput } from "../form.js";
import { bytes, count } from "../format.js";
import { icon } from "../icons.js";
import { openMenu } from "../menu.js";
import { emptyState, showError } from "../notice.js";
import { download, query } from "../requests.js";
import { href, replace } from "../router.js";
import { splitPanes } from "../split.js";
import { DetailPane } from "../wire/detail.js";
import { FILTER_HELP, parseFilter } from "../wire/filter.js";
import { agentName, exchangeList } from "../wire/list.js";

/** Creates the screen. */
export function create() {
  let shown = [];
  let quick = "";
  const filter = textInput({
    type: "search",
    placeholder: "Filter: a word, status:5xx, op:SendMessage, time:>500",
    "aria-label": "Filter",
    data: { field: "filter" },
  });
  const quickFilter = segments(
    "quick-filter",
    "Kind",
    [
      ["", "All"],
      ["is:error", "Errors"],
      ["is:stream", "Streams"],
      ["source:proxy", "Proxy"],
    ],
    quick,
    (value) => {
      quick = value;
      apply();
    },
  );
  const total = h("span", { class: "small soft nowrap", role: "status", data: { field: "count" } });
  const { head, list, setItems } = exchangeList(({ number }) => openTab(number, "exchange"));
  const none = h("div", { class: "wire-none", hidden: true });
  const first = h("div", { class: "wire-list" }, h("div", { class: "wire-table" }, head, list.viewport), none);
  const address = (number, tab) => [number && String(number), number && tab !== "exchange" && tab].filter(Boolean);
  const openTab = (number, tab) => {
    const words = { q: filter.value };
    if (pane.number === number || location.hash.startsWith("#/wire/")) replace("wire", address(number, tab), words);
    else history.pushState(null, "", href("wire", address(number, tab), words));
    open(number, tab);
  };
  const close = () => {
    replace("wire", [], { q: filter.value });
    open(undefined);
    list.viewport.focus();
  };
  const pane = new DetailPane({ close, openTab });
  const panes = splitPanes("wire", first, pane.element, "Width of the list");

  const open = (number, tab) => {
    panes.setOpen(number !== undefined);
    list.setActive(number);
    pane.element.hidden = number === undefined;
    if (number !== undefined) pane.show(number, tab);
  };
  const apply = () => {
    const matches = parseFilter(`${quick} ${filter.value}`.trim(), agentName);
    const all = allExchanges();
    shown = quick || filter.value.trim() ? all.filter(matches) : all.slice();
    setItems(shown);
    drawCount(all);
  };
  const drawCount = (all) => {
    const { dropped, bytes: size } = logSize();
    total.textContent =
      shown.length === all.length
        ? count(all.length, "exchange")
        : `${shown.length.toLocaleString("en")} of ${count(all.length, "exchange")}`;
    total.title = [size > 0 && `${bytes(size)} held`, dropped > 0 && `${count(dropped, "older exchange")} dropped`]
      .filter(Boolean)
      .join(", ");
    none.hidden = shown.length > 0;
    if (all.length === 0) {
      fill(
        none,
        emptyState(
          "wire",
          "Nothing on the wire yet",
          "Every request to an agent appears here, byte by byte: talk to one in the chat, or point another client at the proxy.",
          h("a", { class: "button primary", href: href("chat") }, "Open the chat"),
          h("a", { class: "button", href: href("proxy") }, "Record a client"),
        ),
      );
    } else if (shown.length === 0) {
      fill(
        none,
        h(
          "div",
          { class: "filter-help" },
          h("p", "No exchange matches."),
          h("dl", ...FILTER_HELP.map(([term, words]) => h("div", h("dt", h("code", term)), h("dd", words)))),
          h(
            "button",
            {
              data: { action: "clear-filter" },
              onClick: () => {
                filter.value = quick = "";
                quickFilter.setValue("");
                apply();
              },
            },
            "Show all",
          ),
        ),
      );
    }
  };
  const remember = debounce(300, () =>
    replace("wire", location.hash.split("?")[0].split("/").slice(2).map(decodeURIComponent).filter(Boolean), {
      q: filter.value,
    }),
  );
  filter.addEventListener("input", () => {
    apply();
    remember();
  });
  filter.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      list.viewport.focus();
      list.step(1);
    }
  });
  const numbers = () =>
    shown.length === allExchanges().length ? undefined : ranges(shown.map(({ number }) => number));
  const save = (kind, name) => download(`export/${kind}${query({ numbers: numbers() })}`, name).catch(showError);
  const exportMenu = (event) =>
    openMenu(event.currentTarget, [
      {
        label: "HAR",
        detail: "for browsers and other tools",
        icon: "download",
        data: { action: "export-har" },
        action: () => save("har", "a2a.har"),
      },
      {
        label: "Recording",
        detail: "for the conformance suite and tests",
        icon: "download",
        data: { action: "export-recording" },
        action: () => save("recording", "a2a-recording.json"),
      },
    ]);
  const clear = async () => {
    if (
      !(await confirmDialog(
        "Clear the log?",
        `${count(allExchanges().length, "exchange")} will be gone. Export them first if you need them.`,
        "Clear",
      ))
    )
      return;
    close();
    clearExchanges().catch(showError);
  };
  const refreshPane = throttle(150, () => {
    const summary = exchangeByNumber(pane.number);
    if (summary) pane.refresh(summary);
  });
  exchangesChanged.subscribe(() => {
    if (!element.isConnected) return;
    apply();
    refreshPane();
  });
  agentsChanged.subscribe(() => element.isConnected && apply());

  const element = h(
    "div",
    { class: "screen", data: { screen: "wire" } },
    h(
      "header",
      { class: "screen-head" },
      h("h1", "Wire"),
      h("div", { class: "search" }, icon("search"), filter),
      quickFilter,
      total,
      h(
        "span",
        { class: "line tight" },
        h(
          "button",
          { class: "quiet", "aria-haspopup": "menu", data: { action: "export" }, onClick: exportMenu },
          icon("download"),
          "Export",
        ),
        h("button", { class: "quiet", data: { action: "clear" }, onClick: clear }, icon("trash"), "Clear"),
      ),
    ),
    panes.element,
  );
  const withChosen = (action) => () => pane.number !== undefined && !pane.element.hidden && action(pane.number);
  return {
    element,
    show(route) {
      const [number, tab = "exchange"] = route.parts;
      const words = route.query.get("q");
      if (words !== null) filter.value = words;
      apply();
      open(/^\d+$/.test(number ?? "") ? Number(number) : undefined, tab);
    },
    shortcuts: [
      ["/", "Filter", () => filter.focus()],
      ["j", "Next exchange", () => list.step(1)],
      ["k", "Previous exchange", () => list.step(-1)],
      ["Escape", "Close the exchange", withChosen(close)],
      ["e", "Edit and resend", withChosen((number) => openTab(number, "resend"))],
      ["v", "In every version", withChosen((number) => openTab(number, "versions"))],
      ["c", "Copy as curl", withChosen(() => pane.copyCurl())],
    ],
  };
}

/** Returns ascending numbers as ranges, like `3,7-12`. */
function ranges(numbers) {
  const found = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  return found.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(",");
}
