/** Search over screens, agents and actions. */

import { allAgents, chooseAgent, currentAgent } from "./agents.js";
import { openDialog } from "./dialog.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { go } from "./router.js";
import { SCREENS } from "./shell.js";
import { showShortcuts } from "./shortcuts.js";
import { applyTheme, nextTheme } from "./theme.js";

/** Opens the search. */
export function openPalette() {
  if (document.querySelector("[data-dialog=palette]")) return;
  openDialog(
    "Search and commands",
    (close) => {
      let rows = [];
      let active = 0;
      const field = h("input", {
        type: "search",
        class: "palette-field",
        autofocus: true,
        role: "combobox",
        "aria-expanded": "true",
        "aria-controls": "palette-list",
        "aria-label": "Search",
        placeholder: "A screen, an agent, a task id, the number of an exchange…",
        autocomplete: "off",
        spellcheck: "false",
        data: { field: "palette" },
      });
      const list = h("ul", { class: "palette-list", id: "palette-list", role: "listbox", "aria-label": "Results" });
      const choose = (row) => {
        close();
        row?.action();
      };
      const draw = () => {
        rows = find(field.value);
        active = Math.max(0, Math.min(active, rows.length - 1));
        fill(
          list,
          ...rows.map((row, index) =>
            h(
              "li",
              {
                role: "option",
                id: `palette-${index}`,
                "aria-selected": String(index === active),
                onClick: () => choose(row),
              },
              icon(row.icon),
              h("span", row.label),
              h("small", row.detail ?? ""),
            ),
          ),
        );
        if (rows.length === 0)
          list.append(h("li", { class: "soft", role: "option", "aria-selected": "false" }, "Nothing has that name."));
        field.setAttribute("aria-activedescendant", `palette-${active}`);
        list.children[active]?.scrollIntoView({ block: "nearest" });
      };
      field.addEventListener("input", () => {
        active = 0;
        draw();
      });
      field.addEventListener("keydown", (event) => {
        const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (by) {
          active = (active + by + rows.length) % Math.max(1, rows.length);
          draw();
        } else if (event.key === "Enter") choose(rows[active]);
        else return;
        event.preventDefault();
      });
      draw();
      return [field, list];
    },
    { name: "palette" },
  );
}

function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const number = /^#?(\d+)$/.exec(text.trim())?.[1];
  const rows = [
    ...(number ? [{ label: `Exchange ${number}`, icon: "wire", action: () => go("wire", [number]) }] : []),
    ...SCREENS.map(([name, title], index) => ({
      label: title,
      detail: `screen · ${index + 1}`,
      icon: name,
      action: () => go(name),
    })),
    ...allAgents().flatMap((agent) => [
      { label: agent.name, detail: `choose · ${agent.url}`, icon: "connect", action: () => chooseAgent(agent.id) },
      { label: `Chat with ${agent.name}`, detail: agent.url, icon: "chat", action: () => go("chat", [agent.id]) },
    ]),
    {
      label: "Light or dark",
      detail: "theme",
      icon: "moon",
      action: () => {
        nextTheme();
        applyTheme();
      },
    },
    { label: "Keyboard shortcuts", detail: "?", icon: "keyboard", action: showShortcuts },
  ];
  const task = text.trim();
  if (/^[\w.:-]{6,}$/.test(task) && !number) {
    rows.push({
      label: `Task ${task}`,
      detail: "by its id",
      icon: "tasks",
      action: () => go("tasks", [currentAgent()?.id ?? "-", task]),
    });
  }
  return rows.filter(
    ({ label, detail, icon: name }) =>
      (number && name === "wire" && label.startsWith("Exchange")) ||
      words.every((word) => `${label} ${detail ?? ""}`.toLowerCase().includes(word)) ||
      label === `Task ${task}`,
  );
}
