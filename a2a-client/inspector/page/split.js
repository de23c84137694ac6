/** Two panes with a divider that can be moved. */

import { h } from "./dom.js";

/**
 * Returns `{element, setOpen}`: the first pane takes all room until the second is opened. The divider moves by pointer and
 * by arrow keys; its place is remembered under `name`. Where there is no room for both, the second covers the first.
 */
export function splitPanes(name, first, second, label) {
  const key = `a2a-inspector-split-${name}`;
  const divider = h("div", {
    class: "divider",
    role: "separator",
    tabindex: "0",
    "aria-orientation": "vertical",
    "aria-label": label,
    "aria-valuemin": "20",
    "aria-valuemax": "80",
  });
  const element = h("div", { class: "split", data: { open: "false" } }, first, divider, second);
  first.classList.add("split-first");
  second.classList.add("split-second");
  const set = (percent) => {
    const value = Math.max(20, Math.min(80, percent));
    element.style.setProperty("--split", `${value}%`);
    divider.setAttribute("aria-valuenow", String(Math.round(value)));
    localStorage.setItem(key, String(value));
  };
  const value = () => Number(localStorage.getItem(key)) || 44;
  set(value());
  divider.addEventListener("pointerdown", (down) => {
    divider.setPointerCapture(down.pointerId);
    const box = element.getBoundingClientRect();
    const move = ({ clientX }) => set(((clientX - box.left) / box.width) * 100);
    divider.addEventListener("pointermove", move);
    divider.addEventListener("pointerup", () => divider.removeEventListener("pointermove", move), { once: true });
  });
  divider.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -4, ArrowRight: 4 }[event.key];
    if (!by) return;
    event.preventDefault();
    set(value() + by);
  });
  return {
    element,
    setOpen: (open) => {
      element.dataset.open = String(open);
    },
  };
}
