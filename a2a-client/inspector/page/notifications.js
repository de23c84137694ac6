/** Notifications that the receivers have got, as the page knows them. */

import { onChange, reloadNeeded } from "./changes.js";
import { get, query } from "./requests.js";
import { Topic } from "./topic.js";

/** Published when notifications were added. */
export const notificationsChanged = new Topic();

let notifications = [];
let dropped = 0;

/** Returns the notifications, the oldest first. */
export const allNotifications = () => notifications;

/** Returns how many the server has dropped. */
export const droppedNotifications = () => dropped;

/** Reads all notifications as soon as those to come are followed. */
export function startNotifications() {
  onChange("notification", (notification) => add([notification]));
  reloadNeeded.subscribe(load);
}

async function load() {
  for (;;) {
    const page = await get(`notifications${query({ after: notifications.at(-1)?.number ?? 0 })}`);
    dropped = page.dropped ?? 0;
    if (page.notifications.length === 0) return;
    add(page.notifications);
  }
}

function add(added) {
  const known = new Set(notifications.slice(-added.length - 200).map(({ number }) => number));
  notifications = [...notifications, ...added.filter(({ number }) => !known.has(number))]
    .sort((a, b) => a.number - b.number)
    .slice(-MAX_NOTIFICATIONS);
  notificationsChanged.publish();
}

const MAX_NOTIFICATIONS = 1000;
