/** A long list of which only the rows in sight exist. */

import { h, perFrame } from "./dom.js";

/**
 * Returns the rows that are in sight: `[from, to)`, with `overscan` rows more on both sides.
 */
export function visibleRange({ scrollTop, height, rowHeight, length, overscan = 8 }) {
  const from = Math.max(0, Math.floor(scrollTop / rowHeight) - overscan);
  const to = Math.min(length, Math.ceil((scrollTop + height) / rowHeight) + overscan);
  return [Math.min(from, Math.max(0, to)), Math.max(0, to)];
}

/** Returns the position of the scroll bar at which a row is in sight, as near to the present one as possible. */
export function scrollToRow({ scrollTop, height, rowHeight, row }) {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  if (top + rowHeight > scrollTop + height) return top + rowHeight - height;
  return scrollTop;
}

/**
 * Scrolling list in the role of a grid. `createRow()` returns an element once for each place, `drawRow(element, item,
 * index)` fills it; `choose(item)` is called when a row is clicked or Enter is pressed, `keyOf(item)` identifies rows.
 */
export class VirtualList {
  #items = [];
  #pool = [];
  #active = -1;
  #key;
  #options;
  #canvas = h("div", { class: "virtual-rows", role: "rowgroup" });

  constructor(options) {
    this.#options = options;
    const { label, name } = options;
    this.viewport = h(
      "div",
      {
        class: "virtual",
        role: "grid",
        tabindex: "0",
        "aria-label": label,
        "aria-rowcount": "0",
        data: { list: name, scroll: name },
      },
      this.#canvas,
    );
    this.draw = perFrame(() => this.#draw());
    this.viewport.addEventListener("scroll", this.draw, { passive: true });
    this.viewport.addEventListener("keydown", (event) => this.#onKey(event));
    this.viewport.addEventListener("click", (event) => {
      const row = event.target.closest("[data-index]");
      if (row) this.#choose(Number(row.dataset.index));
    });
    new ResizeObserver(this.draw).observe(this.viewport);
  }

  /** Shows other items. If the end was in sight, it stays in sight. */
  setItems(items, { follow = false } = {}) {
    const { rowHeight } = this.#options;
    const { scrollTop, clientHeight } = this.viewport;
    const atEnd = scrollTop + clientHeight >= this.#items.length * rowHeight - 2;
    this.#items = items;
    this.viewport.setAttribute("aria-rowcount", String(items.length));
    this.#canvas.style.height = `${items.length * rowHeight}px`;
    if (follow && atEnd) this.viewport.scrollTop = items.length * rowHeight;
    const was = this.#active;
    this.#find();
    if (was < 0 && this.#active >= 0) this.#reveal();
    this.#draw();
  }

  /** Draws every row again. */
  redraw() {
    for (const row of this.#pool) row.item = undefined;
    this.draw();
  }

  /** Marks the row with that key as the current one, and scrolls to it; to none if `key` is `undefined`. */
  setActive(key) {
    this.#key = key;
    this.#find();
    if (this.#active >= 0) this.#reveal();
    this.#draw();
  }

  /** Finds the current row: most often it is where it was. */
  #find() {
    const { keyOf } = this.#options;
    const isIt = (item) => item !== undefined && keyOf(item) === this.#key;
    if (this.#key === undefined) this.#active = -1;
    else if (!isIt(this.#items[this.#active])) this.#active = this.#items.findIndex(isIt);
  }

  /** Chooses the row `by` rows below the current one. */
  step(by) {
    if (this.#items.length === 0) return;
    const from = this.#active < 0 ? (by > 0 ? -1 : this.#items.length) : this.#active;
    this.#choose(Math.max(0, Math.min(this.#items.length - 1, from + by)));
  }

  #choose(index) {
    if (!this.#items[index]) return;
    this.#active = index;
    this.#key = this.#options.keyOf(this.#items[index]);
    this.#reveal();
    this.#draw();
    this.#options.choose(this.#items[index]);
  }

  #onKey(event) {
    const page = Math.max(1, Math.floor(this.viewport.clientHeight / this.#options.rowHeight) - 1);
    const last = this.#items.length;
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -last, End: last }[event.key];
    if (by === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.step(by);
  }

  #reveal() {
    const { scrollTop, clientHeight } = this.viewport;
    this.viewport.scrollTop = scrollToRow({
      scrollTop,
      height: clientHeight,
      rowHeight: this.#options.rowHeight,
      row: this.#active,
    });
  }

  #draw() {
    const { rowHeight, createRow, drawRow, keyOf, name } = this.#options;
    const { scrollTop, clientHeight } = this.viewport;
    const [from, to] = visibleRange({ scrollTop, height: clientHeight, rowHeight, length: this.#items.length });
    while (this.#pool.length < to - from) {
      const row = createRow();
      row.setAttribute("role", "row");
      this.#pool.push(row);
      this.#canvas.append(row);
    }
    this.#pool.forEach((row, place) => {
      // A row keeps its place modulo the pool, so that scrolling by one redraws one.
      const index = from + ((((place - from) % this.#pool.length) + this.#pool.length) % this.#pool.length);
      row.hidden = index >= to;
      if (row.hidden) return;
      const item = this.#items[index];
      if (row.item !== item) {
        row.item = item;
        drawRow(row, item, index);
      }
      row.id = `${name}-${keyOf(item)}`;
      row.dataset.index = index;
      row.setAttribute("aria-rowindex", String(index + 1));
      row.setAttribute("aria-selected", String(index === this.#active));
      row.style.transform = `translateY(${index * rowHeight}px)`;
    });
    const active = this.#items[this.#active];
    if (active && this.#active >= from && this.#active < to)
      this.viewport.setAttribute("aria-activedescendant", `${name}-${keyOf(active)}`);
    else this.viewport.removeAttribute("aria-activedescendant");
  }
}
