/** Keyboard shortcuts. */

import { openDialog } from "./dialog.js";
import { h } from "./dom.js";

const groups = new Map();
let enabled = localStorage.getItem("a2a-inspector-keys") !== "off";

/**
 * Sets the shortcuts of a group: rows of `[keys, words, action]`, keys like `"j"`, `"Shift+E"`, `"Ctrl+k"`. Shortcuts
 * without a modifier do nothing while text is typed. `undefined` removes the group.
 */
export function setShortcuts(group, rows) {
  if (rows) groups.set(group, rows);
  else groups.delete(group);
}

/** Begins to listen. */
export function startShortcuts() {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    const pressed = keysOf(event);
    if (pressed === "Escape" && isTyping(event.target)) {
      event.target.blur();
      return;
    }
    const modified = event.ctrlKey || event.metaKey || event.altKey;
    if (!modified && (!enabled || isTyping(event.target))) return;
    for (const rows of [...groups.values()].reverse()) {
      const row = rows.find(([keys]) => keys.split(" / ").includes(pressed));
      if (row) {
        event.preventDefault();
        row[2]();
        return;
      }
    }
  });
}

/** Shows all shortcuts. */
export function showShortcuts() {
  return openDialog(
    "Keyboard",
    () => {
      const toggle = h("input", {
        type: "checkbox",
        checked: enabled,
        data: { field: "single-keys" },
        onChange: () => {
          enabled = toggle.checked;
          localStorage.setItem("a2a-inspector-keys", enabled ? "on" : "off");
        },
      });
      return [
        h(
          "div",
          { class: "keys" },
          ...[...groups].map(([group, rows]) =>
            h(
              "section",
              h("h3", group),
              h("dl", ...rows.map(([keys, words]) => h("div", h("dt", words), h("dd", keyCaps(keys))))),
            ),
          ),
        ),
        h("label", { class: "check" }, toggle, "Shortcuts of a single key"),
      ];
    },
    { name: "shortcuts", wide: true },
  );
}

/** Returns the keys as key caps. */
function keyCaps(keys) {
  return keys
    .split(" / ")
    .flatMap((combination, index) => [
      index > 0 && " or ",
      ...combination.split("+").map((key) => h("kbd", key.length === 1 ? key : (NAMES[key] ?? key))),
    ])
    .filter(Boolean);
}

function keysOf({ ctrlKey, metaKey, altKey, shiftKey, key }) {
  const letter = key.length === 1;
  const parts = [(ctrlKey || metaKey) && "Ctrl", altKey && "Alt", shiftKey && !letter && "Shift", key];
  return parts.filter(Boolean).join("+");
}

function isTyping(target) {
  return target.matches?.(
    "input:not([type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable]",
  );
}

const NAMES = { Escape: "Esc", ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→" };
