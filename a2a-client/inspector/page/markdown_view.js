/** DOM nodes of Markdown, code and links. */

import { h } from "./dom.js";
import { hostOf } from "./format.js";
import { highlight } from "./highlight.js";
import { icon } from "./icons.js";
import { isWebUrl, parseBlocks } from "./markdown.js";
import { copyButton } from "./notice.js";

/** Returns a text of an agent, read as Markdown. */
export function markdownView(text) {
  if (text.length > MAX_LENGTH) return h("pre", { class: "plain-text peer" }, text);
  return h("div", { class: "markdown peer" }, ...parseBlocks(text).map(block));
}

/** Returns a block of code with its language and a button that copies it. */
export function codeView(text, language = "") {
  const pre = h(
    "pre",
    { tabindex: "0", "aria-label": language ? `Code in ${language}` : "Code" },
    h("code", ...highlight(text, language)),
  );
  return h(
    "figure",
    { class: "code" },
    h(
      "figcaption",
      h("span", language || "text"),
      copyButton(() => text),
    ),
    pre,
  );
}

/** Returns a link to another site, which shows its host; anything but http and https stays text. */
export function linkView(href, content) {
  if (!isWebUrl(href)) return h("span", { class: "refused", title: `Not followed: ${href}` }, content ?? href);
  const label = content ?? href;
  const shown = typeof label === "string" ? label : label.map((node) => node.textContent ?? node).join("");
  const host = hostOf(href);
  return h(
    "a",
    { href, target: "_blank", rel: "noreferrer noopener", title: href },
    label,
    !shown.includes(host) && h("span", { class: "link-host" }, ` (${host})`),
  );
}

function block(part) {
  switch (part.type) {
    case "heading":
      return h(`h${Math.min(6, part.level + 2)}`, { class: `level-${part.level}` }, ...spans(part.spans));
    case "code":
      return codeView(part.text, part.language);
    case "rule":
      return h("hr");
    case "quote":
      return h("blockquote", ...part.blocks.map(block));
    case "list":
      return h(
        part.ordered ? "ol" : "ul",
        part.ordered && part.start !== 1 ? { start: String(part.start) } : {},
        ...part.items.map(item),
      );
    case "table":
      return tableView(part);
    default:
      return h("p", ...spans(part.spans));
  }
}

function item({ checked, blocks }) {
  const [only] = blocks;
  const content =
    blocks.length > 0 && only.type === "paragraph"
      ? [...spans(only.spans), ...blocks.slice(1).map(block)]
      : blocks.map(block);
  if (checked === undefined) return h("li", ...content);
  return h(
    "li",
    { class: "task-item" },
    h("input", { type: "checkbox", checked, disabled: true, "aria-label": checked ? "done" : "open" }),
    h("span", ...content),
  );
}

function tableView({ align, head, rows }) {
  const cell = (name) => (content, index) => h(name, { class: `align-${align[index]}` }, ...spans(content));
  return h(
    "div",
    { class: "table-scroll", tabindex: "0", role: "group", "aria-label": "Table" },
    h(
      "table",
      h("thead", h("tr", ...head.map(cell("th")))),
      h("tbody", ...rows.map((row) => h("tr", ...row.map(cell("td"))))),
    ),
  );
}

function spans(parts) {
  return parts.map((part) => {
    switch (part.type) {
      case "code":
        return h("code", part.text);
      case "strong":
        return h("strong", ...spans(part.spans));
      case "emphasis":
        return h("em", ...spans(part.spans));
      case "strike":
        return h("s", ...spans(part.spans));
      case "break":
        return h("br");
      case "link":
        return linkSpan(part);
      default:
        return part.text;
    }
  });
}

function linkSpan({ href, refused, image, spans: label }) {
  const content = [image ? icon("file") : null, ...spans(label)].filter(Boolean);
  const view = linkView(href ?? refused, content);
  if (image) view.title = `Image, not loaded: ${href ?? refused}`;
  return view;
}

/** A longer text is shown as it is. */
const MAX_LENGTH = 300_000;
