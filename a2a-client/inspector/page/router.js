/** Routes in the fragment of the address: `#/wire/42?q=status:500`. */

import { Topic } from "./topic.js";

/** Published with every new route. */
export const routeChanged = new Topic();

/** Returns the route of a fragment: `{screen, parts, query}`. */
export function parseRoute(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [screen = "", ...parts] = path.split("/").map(decode);
  return { screen, parts: parts.filter((part) => part !== ""), query: new URLSearchParams(query) };
}

/** Returns the fragment of a screen and its parts. */
export function href(screen, parts = [], query = {}) {
  const path = [screen, ...parts].map((part) => encodeURIComponent(part)).join("/");
  const entries = Object.entries(query).filter(([, value]) => value);
  const text = new URLSearchParams(entries).toString();
  return `#/${path}${text ? `?${text}` : ""}`;
}

/** Goes to a screen. */
export function go(screen, parts, query) {
  location.hash = href(screen, parts, query);
}

/** Changes the address of the current screen without a step in the history. */
export function replace(screen, parts, query) {
  history.replaceState(null, "", href(screen, parts, query));
}

/** Begins to publish routes, with the present one first. */
export function startRouter() {
  const publish = () => routeChanged.publish(parseRoute(location.hash));
  addEventListener("hashchange", publish);
  publish();
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
