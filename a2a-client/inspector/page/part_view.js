/** Parts of messages and artifacts: text, data and files. */

import { h } from "./dom.js";
import { bytes, prettyJson } from "./format.js";
import { icon } from "./icons.js";
import { jsonView } from "./json_view.js";
import { codeView, linkView, markdownView } from "./markdown_view.js";
import { saveBlob } from "./requests.js";

/** Returns one part. `plain` shows text as it is, without Markdown. */
export function partView(part, { plain = false } = {}) {
  if (typeof part.text === "string") return textView(part.text, part.mediaType, plain);
  if (part.data !== undefined) return h("div", { class: "part-data" }, jsonView(part.data));
  if (typeof part.raw === "string") return rawView(part);
  if (typeof part.url === "string") return urlView(part);
  return h(
    "div",
    { class: "part-data" },
    h("p", { class: "help" }, "A part of a kind that protocol 1.0 does not have."),
    jsonView(part),
  );
}

/** Returns the kind of step that a part carries: `{kind, title, detail}`, or `undefined` if it carries none. */
export function stepOf(part) {
  const metadata = part.metadata ?? {};
  const kind = metadata.adk_type ?? metadata.type;
  const data = part.data;
  if (typeof part.text === "string" && (metadata.thought === true || metadata.adk_thought === true)) {
    return { kind: "reasoning", title: "Reasoning", text: part.text };
  }
  if (data === null || typeof data !== "object") return undefined;
  switch (kind) {
    case "function_call":
      return { kind, title: `Call ${data.name ?? "of a tool"}`, id: data.id, value: parsed(data.args) };
    case "function_response":
      return { kind, title: `Response of ${data.name ?? "a tool"}`, id: data.id, value: parsed(data.response) };
    case "executable_code":
      return { kind, title: "Code", language: data.language, code: data.code ?? data.content };
    case "code_execution_result":
      return { kind, title: `Result${data.outcome ? `: ${data.outcome}` : ""}`, code: data.output ?? data.content };
    default:
      return undefined;
  }
}

/** Returns metadata and extensions as a fold; `null` if there are none. */
export function metadataFold({ metadata, extensions }) {
  const found = {
    ...(metadata && Object.keys(metadata).length > 0 && { metadata }),
    ...(extensions?.length > 0 && { extensions }),
  };
  if (Object.keys(found).length === 0) return null;
  const body = h("div", { class: "part-data" });
  const fold = h(
    "details",
    { class: "fold", data: { fold: "metadata" } },
    h("summary", icon("braces"), Object.keys(found).join(", ")),
    body,
  );
  fold.addEventListener("toggle", () => body.hasChildNodes() || body.append(jsonView(found)));
  return fold;
}

/** Returns the content of a step. */
export function stepView(step) {
  if (step.text !== undefined) return markdownView(step.text);
  if (step.code !== undefined) return codeView(String(step.code), step.language ?? "");
  return typeof step.value === "string" ? codeView(step.value) : jsonView(step.value ?? null);
}

/** Returns the bytes of Base64 in either alphabet, or `undefined` if it is none. */
function decodeBase64(text) {
  try {
    const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function textView(text, mediaType = "", plain = false) {
  if (plain) return h("pre", { class: "plain-text peer" }, text);
  if (/json/.test(mediaType) && prettyJson(text)) return jsonView(JSON.parse(text));
  if (/html|xml|svg/.test(mediaType)) return codeView(text, languageOf(mediaType));
  return markdownView(text);
}

function rawView(part) {
  const { raw, mediaType = "application/octet-stream", filename } = part;
  const content = decodeBase64(raw);
  if (!content) return h("div", { class: "note-box bad" }, `The file ${filename ?? ""} is not valid Base64.`);
  const blob = new Blob([content], { type: mediaType });
  const card = fileCard({
    filename,
    mediaType,
    size: content.length,
    save: () => saveBlob(blob, safeName(filename, mediaType)),
  });
  const preview = previewOf(blob, content, mediaType, filename);
  return h("div", { class: "part-file" }, preview, card);
}

function previewOf(blob, content, mediaType, filename) {
  const kind = mediaType.split("/")[0];
  if (kind === "image") {
    const url = URL.createObjectURL(blob);
    const image = h("img", { src: url, alt: filename ? `Image ${filename}` : "Image from the agent" });
    image.addEventListener("load", () => URL.revokeObjectURL(url));
    image.addEventListener("error", () => {
      URL.revokeObjectURL(url);
      image.replaceWith(h("p", { class: "help" }, "The browser cannot show this image."));
    });
    return image;
  }
  if (kind === "audio" || kind === "video")
    return h(kind, { src: URL.createObjectURL(blob), controls: true, preload: "metadata" });
  if (content.length > MAX_PREVIEW || !/^text\/|json|xml|yaml/.test(mediaType)) return null;
  const text = new TextDecoder().decode(content);
  if (/json/.test(mediaType) && prettyJson(text)) return jsonView(JSON.parse(text));
  return /markdown/.test(mediaType) ? markdownView(text) : codeView(text, languageOf(mediaType));
}

function languageOf(mediaType) {
  return mediaType
    .replace(/;.*$/, "")
    .replace(/^.*[/+]/, "")
    .replace(/^(x-|plain$)/, "");
}

function urlView({ url, filename, mediaType }) {
  return h(
    "div",
    { class: "file-card" },
    icon("external"),
    h(
      "div",
      { class: "grow" },
      h("div", { class: "file-name peer" }, filename ?? "File at a URL"),
      h("div", { class: "small soft wrap-any" }, linkView(url), mediaType && ` · ${mediaType}`),
    ),
    h("span", { class: "help" }, "not loaded"),
  );
}

/** Returns the card of a file: name, type, size, and a button that saves it. */
export function fileCard({ filename, mediaType, size, save, remove }) {
  return h(
    "div",
    { class: "file-card" },
    icon("file"),
    h(
      "div",
      { class: "grow" },
      h("div", { class: "file-name peer" }, filename || "Unnamed file"),
      h("div", { class: "small soft" }, `${mediaType || "unknown type"} · ${bytes(size)}`),
    ),
    save &&
      h(
        "button",
        {
          class: "icon-button",
          title: "Save",
          "aria-label": `Save ${filename ?? "file"}`,
          data: { action: "save-file" },
          onClick: save,
        },
        icon("download"),
      ),
    remove &&
      h(
        "button",
        {
          type: "button",
          class: "icon-button",
          title: "Remove",
          "aria-label": `Remove ${filename}`,
          data: { action: "remove-file" },
          onClick: remove,
        },
        icon("close"),
      ),
  );
}

function parsed(value) {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Returns a file name without the characters that mean something to a file system. */
function safeName(filename, mediaType) {
  const name = (filename ?? "")
    .replace(/[\u0000-\u001f\u202a-\u202e\u2066-\u2069/\\:*?"<>|]+/g, "_")
    .replace(/^\.+/, "")
    .slice(-120);
  return name || `file.${mediaType.replace(/^.*\//, "").replace(/\W.*$/, "") || "bin"}`;
}

const MAX_PREVIEW = 512 * 1024;
