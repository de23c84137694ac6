/** Light and dark. */

const KEY = "a2a-inspector-theme";
const ORDER = ["auto", "light", "dark"];

/** Returns the chosen theme: `auto`, `light` or `dark`. */
export function theme() {
  const stored = localStorage.getItem(KEY);
  return ORDER.includes(stored) ? stored : "auto";
}

/** Applies the chosen theme to the page. */
export function applyTheme() {
  const chosen = theme();
  if (chosen === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

/** Switches to the next theme and returns it. */
export function nextTheme() {
  const next = ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length];
  localStorage.setItem(KEY, next);
  applyTheme();
  return next;
}
