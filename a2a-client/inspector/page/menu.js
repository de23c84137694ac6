/** Menus that open from a button. */

import { h } from "./dom.js";
import { icon } from "./icons.js";

/**
 * Opens a menu below a button. Rows are `{label, detail?, icon?, mark?, checked?, tone?, data?, action}`. Arrow keys,
 * Home, End and the first letter move; Escape and a click elsewhere close it.
 */
export function openMenu(button, rows) {
  document.querySelector(".menu")?.remove();
  const menu = h(
    "div",
    { class: "menu", role: "menu", popover: "auto" },
    ...rows.map((row) =>
      h(
        "button",
        {
          role: row.checked === undefined ? "menuitem" : "menuitemradio",
          "aria-checked": row.checked === undefined ? undefined : String(row.checked),
          class: `menu-row ${row.tone ?? ""}`,
          tabindex: "-1",
          data: row.data ?? {},
          onClick: () => {
            close();
            row.action();
          },
        },
        row.mark ?? (row.icon ? icon(row.icon) : null),
        h("span", { class: "menu-text" }, h("span", row.label), row.detail && h("small", row.detail)),
        row.checked && h("span", { class: "menu-check" }, icon("check")),
      ),
    ),
  );
  const close = () => {
    menu.remove();
    button.setAttribute("aria-expanded", "false");
    button.focus();
  };
  menu.addEventListener("keydown", (event) => move(event, menu, close));
  menu.addEventListener("toggle", ({ newState }) => {
    if (newState !== "closed") return;
    menu.remove();
    button.setAttribute("aria-expanded", "false");
  });
  document.body.append(menu);
  button.setAttribute("aria-expanded", "true");
  menu.showPopover();
  placeBeside(menu, button);
  (menu.querySelector("[aria-checked=true]") ?? menu.firstElementChild)?.focus();
}

function move(event, menu, close) {
  const rows = [...menu.children];
  const at = rows.indexOf(document.activeElement);
  const to = {
    ArrowDown: (at + 1) % rows.length,
    ArrowUp: (at - 1 + rows.length) % rows.length,
    Home: 0,
    End: rows.length - 1,
  }[event.key];
  if (to !== undefined) rows[to].focus();
  else if (event.key === "Escape" || event.key === "Tab") close();
  else if (event.key.length === 1 && /\S/.test(event.key) && event.key !== " ") {
    const letter = event.key.toLowerCase();
    const next = [...rows.slice(at + 1), ...rows.slice(0, at + 1)].find((row) =>
      row.textContent.trim().toLowerCase().startsWith(letter),
    );
    next?.focus();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

function placeBeside(menu, button) {
  const box = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const below = box.bottom + 4 + height <= innerHeight || box.top < height;
  menu.style.left = `${Math.max(8, Math.min(box.left, innerWidth - width - 8))}px`;
  menu.style.top = `${Math.max(8, below ? box.bottom + 4 : box.top - 4 - height)}px`;
}
