/** One exchange in full. */

import { deviationList } from "../deviations.js";
import { fill, h } from "../dom.js";
import { closeButton, tabs } from "../form.js";
import { bytes, clock, count, duration, pathOf } from "../format.js";
import { icon } from "../icons.js";
import { copyText, errorBox, showError } from "../notice.js";
import { get, path } from "../requests.js";
import { bodyView, grpcStatusView, headersView } from "./body_view.js";
import { FramesView } from "./frames.js";
import { agentName, errorOf, toneOf } from "./list.js";
import { resendForm } from "./resend.js";
import { versionsView } from "./versions.js";

/** Pane of the chosen exchange; `close` hides it, `openTab(number, tab)` changes the address. */
export class DetailPane {
  #number;
  #tab = "exchange";
  #exchange;
  #frames;
  #actions;
  #head = h("header", { class: "detail-head" });
  #body = h("div", { class: "detail-body", data: { scroll: "detail" }, tabindex: "-1" });
  #tabs;

  constructor(actions) {
    this.#actions = actions;
    this.#tabs = tabs("Exchange", TABS, this.#tab, (tab) => actions.openTab(this.#number, tab));
    this.element = h(
      "section",
      { class: "detail", "aria-label": "Chosen exchange", data: { view: "detail" } },
      this.#head,
      this.#tabs,
      this.#body,
    );
  }

  get number() {
    return this.#number;
  }

  /** Shows an exchange. */
  async show(number, tab = "exchange") {
    const same = this.#number === number && this.#exchange;
    if (same && this.#tab === tab) return;
    this.#tab = tab;
    this.#tabs.setValue(tab);
    if (same) {
      this.#draw();
      return;
    }
    this.#number = number;
    this.#exchange = undefined;
    this.element.dataset.exchange = number;
    await this.#load();
  }

  /** Reads the exchange again if it has changed on the wire. */
  async refresh(summary) {
    if (!this.#exchange || (this.#exchange.state !== "open" && summary.state !== "open")) return;
    const exchange = await get(path`exchanges/${this.#number}`).catch(() => undefined);
    if (!exchange || exchange.number !== this.#number) return;
    const had = this.#exchange;
    this.#exchange = exchange;
    const onlyFrames = this.#frames && had.response?.frames && exchange.response?.frames && exchange.state === "open";
    this.#drawHead();
    if (onlyFrames) this.#frames.update(exchange.response.frames, exchange.durationMs);
    else if (this.#tab === "exchange") this.#draw();
  }

  /** Copies the request as a command of curl, or of grpcurl. */
  async copyCurl() {
    try {
      const { command } = await get(path`exchanges/${this.#number}/curl`);
      await copyText(command, `Copied as ${command.split(" ")[0]}`);
    } catch (error) {
      showError(error);
    }
  }

  async #load() {
    const number = this.#number;
    try {
      const exchange = await get(path`exchanges/${number}`);
      if (number !== this.#number) return;
      this.#exchange = exchange;
      this.#draw();
    } catch (error) {
      if (number !== this.#number) return;
      fill(this.#head, h("h2", `Exchange ${number}`), h("span", { class: "grow" }), closeButton(this.#actions.close));
      fill(
        this.#body,
        errorBox(error, () => this.#load()),
      );
    }
  }

  #draw() {
    this.#drawHead();
    this.#frames = undefined;
    const views = {
      exchange: () => this.#exchangeView(),
      versions: () => versionsView(this.#exchange),
      resend: () => resendForm(this.#exchange),
    };
    fill(this.#body, (views[this.#tab] ?? views.exchange)());
    this.#body.scrollTop = 0;
  }

  #drawHead() {
    const { number, method, url, status, grpcStatus, state, operation, binding } = this.#exchange;
    const curl = binding === "GRPC" ? "grpcurl" : "curl";
    fill(
      this.#head,
      h("h2", { class: "clip peer" }, `#${number} ${operation ?? pathOf(url)}`),
      h(
        "span",
        { class: `pill ${toneOf(this.#exchange)}`, data: { state } },
        state === "open" && h("span", { class: "dot busy" }),
        String(errorOf(grpcStatus) ?? status ?? state),
      ),
      h("span", { class: "grow" }),
      h(
        "button",
        { class: "quiet", title: `Copy as ${curl} (c)`, data: { action: "copy-curl" }, onClick: () => this.copyCurl() },
        icon("copy"),
        curl,
      ),
      closeButton(this.#actions.close),
      h("p", { class: "detail-url mono soft peer" }, `${method} ${url}`),
    );
  }

  #exchangeView() {
    const {
      request,
      response,
      failure,
      agent,
      proxy,
      source,
      startedAt,
      version,
      binding,
      requestBytes,
      responseBytes,
      durationMs,
      state,
      url,
      deviations = [],
    } = this.#exchange;
    const facts = [
      ["Began", clock(startedAt)],
      ["From", proxy ? `proxy ${proxy}` : source === "resend" ? "edit and resend" : agentName(agent)],
      ["Protocol", [version, binding].filter(Boolean).join(" ") || (isCard(url) ? "agent card" : "not recognised")],
      ["Sent", bytes(requestBytes)],
      ["Received", bytes(responseBytes)],
    ];
    return h(
      "div",
      { class: "stack exchange-view", data: { view: "exchange" } },
      h(
        "dl",
        { class: "facts" },
        ...facts.map(([name, value]) => h("div", h("dt", name), h("dd", { class: "peer" }, value))),
      ),
      timing(this.#exchange),
      failure &&
        errorBox(
          Object.assign(new Error(failure), {
            hint: response ? undefined : "Nothing came back. Is the agent running at this address?",
          }),
        ),
      deviationList(deviations, isCard(url) ? "The card" : "The answer"),
      h(
        "div",
        { class: "sides" },
        h(
          "section",
          { class: "side-pane", "aria-label": "Request" },
          h("h3", "Request", h("small", request.httpVersion ?? "")),
          this.#requestView(request),
        ),
        h(
          "section",
          { class: "side-pane", "aria-label": "Response" },
          h("h3", "Response", h("small", [response?.httpVersion, this.#exchange.status].filter(Boolean).join(" "))),
          response
            ? this.#responseView(response, durationMs)
            : h("p", { class: "help" }, state === "open" ? "Waiting for the response." : "There was none."),
        ),
      ),
    );
  }

  #requestView(request) {
    if (!request.frames) return [headersView(request.headers), bodyView(request.body, request)];
    return [headersView(request.headers), framesView(new FramesView(), request, "message")];
  }

  #responseView(response, durationMs) {
    const { headers, trailers, frames, body, grpcStatus } = response;
    const { binding, state } = this.#exchange;
    const end = [
      trailers && headersView(trailers, "trailers"),
      grpcStatus && grpcStatusView(grpcStatus),
      binding === "GRPC" && state === "done" && !grpcStatus && h("p", { class: "help" }, NO_STATUS),
    ];
    if (!frames) return [headersView(headers), body === "" && grpcStatus ? null : bodyView(body, response), ...end];
    this.#frames = new FramesView();
    const noun = binding === "GRPC" ? "message" : "event";
    return [headersView(headers), framesView(this.#frames, response, noun, durationMs), ...end];
  }
}

/** Returns the frames of a request or a response, with their number. */
function framesView(view, { frames, omittedBytes }, noun, durationMs) {
  view.update(frames, durationMs);
  return [
    h("h3", { class: "frames-title" }, count(frames.length, noun)),
    view.element,
    omittedBytes > 0 && h("p", { class: "note-box fair" }, `${bytes(omittedBytes)} of later ${noun}s are not kept.`),
  ];
}

/** Returns the bar of the time until the head of the response and of the time until its end. */
function timing({ headMs, durationMs, state, frames }) {
  const end = durationMs ?? headMs;
  if (end === undefined) return null;
  const waited = headMs ?? end;
  const share = (ms) => `${Math.max(0, Math.min(100, (ms / Math.max(end, 0.001)) * 100))}%`;
  return h(
    "div",
    { class: "timing" },
    h(
      "div",
      {
        class: "timing-bar",
        role: "img",
        "aria-label": `${duration(waited)} until the head of the response, ${duration(end)} in all`,
      },
      h("i", { class: "bar-wait", style: { width: share(waited) } }),
      h("i", { class: "bar-receive", style: { width: share(end - waited) } }),
    ),
    h(
      "div",
      { class: "timing-legend" },
      h("span", h("i", { class: "bar-wait" }), `waiting ${duration(waited)}`),
      h(
        "span",
        h("i", { class: "bar-receive" }),
        `${frames > 0 ? "streaming" : "receiving"} ${state === "open" ? "…" : duration(end - waited)}`,
      ),
      h("span", { class: "timing-total" }, `total ${state === "open" ? "…" : duration(end)}`),
    ),
  );
}

/** Returns whether a URL is that of a card, whose exchanges have no operation. */
function isCard(url) {
  return /\/agent(-card)?(\.json|$)/.test(pathOf(url).split("?")[0]);
}

const NO_STATUS = "No status came. The client does not wait for one after the last event of a task.";

const TABS = [
  ["exchange", "Exchange"],
  ["versions", "In every version"],
  ["resend", "Edit and resend"],
];
