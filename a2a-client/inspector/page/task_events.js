/** Events of tasks that the page has received, for the timeline of the screen Tasks. */

import { Topic } from "./topic.js";

/** Published with the agent's and the task's id when an event was added. */
export const taskEventAdded = new Topic();

const tasks = new Map();

/** Returns the events of a task, each `{at, ms, sequence?, event}`. */
export function eventsOf(agent, task) {
  return tasks.get(`${agent} ${task}`) ?? [];
}

/** Returns the tasks of an agent of which the page has seen events, the latest first, as far as the events tell. */
export function seenTasks(agent) {
  const seen = [...tasks].filter(([key]) => key.startsWith(`${agent} `)).reverse();
  return seen.map(([key, events]) => {
    const statuses = events.map(({ event }) => event.task?.status ?? event.statusUpdate?.status);
    return { id: key.slice(agent.length + 1), status: statuses.findLast(Boolean) };
  });
}

/** Adds an event; one with a sequence number that is there already is left out. */
export function addTaskEvent(agent, task, { event, sequence, ms }) {
  const key = `${agent} ${task}`;
  const events = tasks.get(key) ?? [];
  tasks.delete(key);
  tasks.set(key, events);
  if (tasks.size > MAX_TASKS) tasks.delete(tasks.keys().next().value);
  const numbered = sequence !== undefined && sequence !== null;
  if (numbered && events.some((other) => other.sequence === sequence)) return;
  const entry = { at: Date.now(), ms, sequence, event };
  let at = events.length;
  if (numbered) while (at > 0 && events[at - 1].sequence > sequence) at -= 1;
  events.splice(at, 0, entry);
  if (events.length > MAX_EVENTS) events.shift();
  taskEventAdded.publish(agent, task);
}

/** Returns the id of the task that an event is about. */
export function taskIdOf(event) {
  return event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId ?? event.message?.taskId;
}

/** Returns the id of the context that an event is about. */
export function contextIdOf(event) {
  return (
    event.task?.contextId ??
    event.statusUpdate?.contextId ??
    event.artifactUpdate?.contextId ??
    event.message?.contextId
  );
}

/** Remembers that a task belongs to a context, for as long as the tab lives. */
export function rememberTask(context, task) {
  if (!context || rememberedTasks(context).includes(task)) return;
  const all = JSON.parse(sessionStorage.getItem(REMEMBERED) ?? "[]");
  sessionStorage.setItem(REMEMBERED, JSON.stringify([...all, [context, task]].slice(-MAX_REMEMBERED)));
}

/** Returns the tasks that are remembered of a context. */
export function rememberedTasks(context) {
  const all = JSON.parse(sessionStorage.getItem(REMEMBERED) ?? "[]");
  return all.filter(([of]) => of === context).map(([, task]) => task);
}

const REMEMBERED = "a2a-inspector-tasks";
const MAX_REMEMBERED = 200;
const MAX_TASKS = 64;
const MAX_EVENTS = 5000;
