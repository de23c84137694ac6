/** The stream of changes that the server pushes to the page. */

import { throttle } from "./dom.js";
import { stream } from "./requests.js";
import { Topic } from "./topic.js";

const topics = new Map();

/** Published with `true` when the stream opens, `false` when it is lost. */
export const linkChanged = new Topic();

/** Published when the stream opens, and when it has left out changes: everything shown is to be read. */
export const reloadNeeded = new Topic();

/** Adds a listener of one kind of change: `exchange`, `notification`, `proxy`, `run`, `prompt`, `agents`. */
export function onChange(kind, listener) {
  if (!topics.has(kind)) topics.set(kind, new Topic());
  return topics.get(kind).subscribe(listener);
}

/** Follows the changes for as long as the page lives; reconnects with backoff. */
export async function followChanges() {
  let attempt = 0;
  const onOpen = () => {
    attempt = 0;
    linkChanged.publish(true);
    reloadNeeded.publish();
  };
  for (;;) {
    try {
      for await (const { event, data } of stream("changes", { onOpen })) {
        if (event === "lagged") reload();
        else topics.get(event)?.publish(data);
      }
    } catch (error) {
      if (error.status === 401) return;
    }
    linkChanged.publish(false);
    await new Promise((resolve) => setTimeout(resolve, Math.min(500 * 2 ** attempt, MAX_BACKOFF_MS)));
    attempt += 1;
  }
}

const reload = throttle(1000, () => reloadNeeded.publish());
const MAX_BACKOFF_MS = 8000;
