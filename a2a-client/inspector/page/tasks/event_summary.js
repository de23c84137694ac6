/** Events of tasks in a line. */

import { TASK_STATES, clip, shortId, taskState } from "../format.js";
import { stepOf } from "../part_view.js";

/** Returns what a `StreamResponse` says: `{kind, tone, title, text}`. */
export function eventSummary(event) {
  if (event.task) {
    const { words, tone } = taskState(event.task.status?.state);
    return { kind: "task", tone, title: `Task, ${words}`, text: textOfParts(event.task.status?.message?.parts) };
  }
  if (event.statusUpdate) {
    const { status } = event.statusUpdate;
    const { words, tone } = taskState(status?.state);
    return { kind: "status", tone, title: words, text: textOfParts(status?.message?.parts) };
  }
  if (event.artifactUpdate) {
    const { artifact = {}, append, lastChunk } = event.artifactUpdate;
    const notes = [append && "more", lastChunk && "last"].filter(Boolean).join(", ");
    return {
      kind: "artifact",
      tone: "plain",
      title: `${artifact.name || shortId(artifact.artifactId) || "artifact"}${notes ? ` (${notes})` : ""}`,
      text: textOfParts(artifact.parts),
    };
  }
  if (event.message) {
    const step = (event.message.parts ?? []).map(stepOf).find(Boolean);
    return { kind: "message", tone: "plain", title: step?.title ?? "Message", text: textOfParts(event.message.parts) };
  }
  return { kind: "unknown", tone: "fair", title: "Unknown event", text: clip(JSON.stringify(event), 200) };
}

/** Returns parts as a line of text. */
export function textOfParts(parts) {
  const texts = (parts ?? []).map(
    (part) =>
      stepOf(part)?.title ??
      part.text ??
      part.filename ??
      part.url ??
      (part.data === undefined ? "file" : JSON.stringify(part.data)),
  );
  return clip(texts.join(" "), 240);
}

/** The states as options of a list. */
export const STATE_OPTIONS = [["", "Any state"], ...[...TASK_STATES].map(([name, { words }]) => [name, words])];
