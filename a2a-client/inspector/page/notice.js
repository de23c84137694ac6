/** Errors and short messages. */

import { add, h } from "./dom.js";
import { sentence } from "./format.js";
import { icon } from "./icons.js";

/** Shows a short message at the edge of the page; it leaves by itself. */
export function notify(text, tone = "plain") {
  const notice = h(
    "div",
    { class: `toast ${tone}`, role: "status", data: { notice: tone } },
    icon(tone === "bad" ? "warning" : "check"),
    h("span", text),
  );
  place().append(notice);
  setTimeout(() => notice.remove(), NOTICE_MS);
}

/** Shows an error at the edge of the page, with what to do; it stays until it is closed. */
export function showError(error) {
  if (error.name === "AbortError" || error.status === 401) return;
  hideNotice(error);
  const close = h(
    "button",
    { class: "icon-button", "aria-label": "Close", data: { action: "close-notice" } },
    icon("close"),
  );
  const notice = h(
    "div",
    { class: "toast bad", role: "alert", data: { notice: "bad", text: error.message } },
    icon("warning"),
    h("div", { class: "grow" }, wording(error)),
    close,
  );
  close.addEventListener("click", () => notice.remove());
  place().append(notice);
}

/** Removes the notice of an error. */
export function hideNotice({ message }) {
  for (const notice of place().children) if (notice.dataset.text === message) notice.remove();
}

/** Returns a box with an error: what was wrong, what to do, and a button that tries again if `retry` is given. */
export function errorBox(error, retry) {
  const box = h(
    "div",
    { class: "error-box", role: "alert", data: { error: error.kind ?? error.status ?? "error" } },
    icon("warning"),
    h("div", { class: "grow" }, wording(error)),
  );
  if (retry) box.append(h("button", { data: { action: "retry" }, onClick: retry }, "Try again"));
  return box;
}

/** Returns a text for an empty place: what belongs there, and the next step. */
export function emptyState(name, title, text, ...actions) {
  const box = h("div", { class: "empty" }, h("span", { class: "empty-icon" }, icon(name)), h("h2", title));
  add(box, typeof text === "string" ? h("p", text) : text);
  if (actions.length > 0) box.append(add(h("div", { class: "line center" }), actions));
  return box;
}

/** Copies text and says so. */
export async function copyText(text, what = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
    notify(what);
  } catch {
    notify("The browser did not allow copying", "bad");
  }
}

/** Returns a button that copies what `text()` returns. */
export function copyButton(text, label = "Copy") {
  return h(
    "button",
    { class: "quiet", data: { action: "copy" }, title: label, onClick: () => copyText(text()) },
    icon("copy"),
    h("span", label),
  );
}

function wording(error) {
  return [
    h("p", { class: "error-text" }, sentence(error.message ?? error)),
    error.hint && h("p", { class: "error-hint" }, sentence(error.hint)),
  ];
}

function place() {
  let place = document.querySelector(".toasts");
  if (!place) document.body.append((place = h("div", { class: "toasts" })));
  return place;
}

const NOTICE_MS = 2500;
