/** Construction of DOM nodes without HTML strings: text of peers only ever becomes text nodes. */

/**
 * Returns an element.
 *
 * `props` are attributes; functions under `on…` are listeners, `data` is the dataset, `style` sets single CSS
 * properties. A string, node or array in place of `props` is the first child.
 */
export function h(name, props, ...children) {
  const element = document.createElement(name);
  if (isChild(props)) {
    children.unshift(props);
  } else {
    for (const [key, value] of Object.entries(props ?? {})) set(element, key, value);
  }
  add(element, children);
  return element;
}

/** Appends children: nodes, text, arrays of them; `null`, `undefined` and `false` are left out. */
export function add(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "string" ? visible(child) : child);
  }
  return element;
}

/** Returns a text in which characters that reorder or hide others are spelled out, like `⟨U+202E⟩`. */
export function visible(text) {
  return text.replace(HIDDEN, (letter) => `⟨U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** Replaces the children of an element. A control that had the focus passes it to its successor of the same action. */
export function fill(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement : undefined;
  const { action, value } = focused?.dataset ?? {};
  element.replaceChildren();
  add(element, children);
  if (action && !focused.isConnected) {
    const successor = [...element.querySelectorAll("[data-action]")].find(
      ({ dataset }) => dataset.action === action && dataset.value === value,
    );
    successor?.focus({ preventScroll: true });
  }
  return element;
}

/** Sets one attribute, property or listener. Throws on a URL that could run a script. */
function set(element, key, value) {
  if (value === null || value === undefined || value === false) {
    if (PROPERTIES.has(key)) element[key] = false;
    else if (!key.startsWith("on") && key !== "data" && key !== "style") element.removeAttribute(key);
    return;
  }
  if (typeof value === "function") {
    element.addEventListener(key.slice(2).toLowerCase(), value);
  } else if (key === "data") {
    for (const [name, item] of Object.entries(value)) {
      if (item !== undefined && item !== null) element.dataset[name] = item;
    }
  } else if (key === "style") {
    for (const [name, item] of Object.entries(value)) element.style.setProperty(name, item);
  } else if (key === "value" || PROPERTIES.has(key)) {
    element[key] = value;
  } else {
    if ((key === "href" || key === "src") && !isSafeUrl(value)) throw new Error(`refused URL in ${key}: ${value}`);
    element.setAttribute(key, value === true ? "" : visible(String(value)));
  }
}

/** Returns whether a URL may be the target of a link or an image of this page. */
export function isSafeUrl(url) {
  return /^(https?:\/\/|blob:|#)/i.test(url) || /^[\w/-]+\.svg$/.test(url);
}

/** Returns an element of an SVG drawing. */
export function svg(name, props, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(props ?? {})) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Returns a function that runs `work` at most once per animation frame, with its last arguments. */
export function perFrame(work) {
  let last;
  let scheduled = false;
  return (...args) => {
    last = args;
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      work(...last);
    });
  };
}

/** Returns a function that runs `work` at most once in `ms`; the last call is never lost. */
export function throttle(ms, work) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      work();
    }, ms);
  };
}

/** Returns a function that runs `work` once `ms` have passed without another call. */
export function debounce(ms, work) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), ms);
  };
}

function isChild(value) {
  return typeof value === "string" || typeof value === "number" || Array.isArray(value) || value instanceof Node;
}

const PROPERTIES = new Set([
  "checked",
  "disabled",
  "hidden",
  "open",
  "readOnly",
  "required",
  "selected",
  "indeterminate",
]);
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
