/**
 * Markdown as a tree of blocks and spans. Deliberately absent: HTML (it stays text), images (they become links) and
 * footnotes. The tree is plain data; `markdown_view.js` makes DOM nodes of it.
 */

/**
 * Returns the blocks of a text, each with a `type`:
 * `heading {level, spans}`, `paragraph {spans}`, `code {language, text}`, `list {ordered, start, items: [{checked, blocks}]}`,
 * `quote {blocks}`, `table {align, head, rows}`, `rule`.
 */
export function parseBlocks(text, depth = 0) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    const [block, next] =
      fence(lines, at) ??
      heading(lines, at) ??
      rule(lines, at) ??
      (depth < MAX_DEPTH ? (quote(lines, at, depth) ?? list(lines, at, depth)) : undefined) ??
      table(lines, at) ??
      paragraph(lines, at);
    blocks.push(block);
    at = next;
  }
  return blocks;
}

/**
 * Returns the spans of a line, each with a `type`: `text`, `code`, `strong`, `emphasis`, `strike`, `link {href, image}`,
 * `break`; `text` is text or, in the last four kinds, `spans`.
 */
export function parseSpans(text, depth = 0) {
  const spans = [];
  let plain = "";
  const flush = () => {
    if (plain) spans.push({ type: "text", text: plain });
    plain = "";
  };
  let at = 0;
  while (at < text.length) {
    const found = depth < MAX_DEPTH ? spanAt(text, at, depth) : undefined;
    if (!found) {
      plain += text[at];
      at += 1;
      continue;
    }
    const [span, next] = found;
    if (span.type === "text") plain += span.text;
    else {
      flush();
      spans.push(span);
    }
    at = next;
  }
  flush();
  return spans;
}

function spanAt(text, at, depth) {
  const letter = text[at];
  if (letter === "\\" && ESCAPABLE.includes(text[at + 1] ?? " ")) return [{ type: "text", text: text[at + 1] }, at + 2];
  if (letter === "\n") {
    const hard = text.slice(Math.max(0, at - 2), at) === "  " || text[at - 1] === "\\";
    return hard ? [{ type: "break" }, at + 1] : undefined;
  }
  if (letter === "`") return code(text, at);
  if (letter === "[" || (letter === "!" && text[at + 1] === "[")) return link(text, at, depth);
  if (letter === "<") return angleLink(text, at);
  if (letter === "h" && /^https?:\/\//.test(text.slice(at, at + 8)) && !/\w/.test(text[at - 1] ?? " "))
    return bareLink(text, at);
  if (letter === "*" || letter === "_" || letter === "~") return emphasis(text, at, depth);
  return undefined;
}

function code(text, at) {
  const ticks = /^`+/.exec(text.slice(at, at + 32))[0];
  let end = text.indexOf(ticks, at + ticks.length);
  while (end >= 0 && text[end + ticks.length] === "`") {
    end = text.indexOf(ticks, end + ticks.length + 1);
  }
  if (end < 0) return [{ type: "text", text: ticks }, at + ticks.length];
  return [{ type: "code", text: text.slice(at + ticks.length, end).replace(/^ (.+) $/, "$1") }, end + ticks.length];
}

function link(text, at, depth) {
  const image = text[at] === "!";
  const begin = image ? at + 2 : at + 1;
  const window = text.slice(begin, begin + MAX_LINK);
  const found =
    /^((?:[^[\]\\]|\\.|\[[^\]]*\])*)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+["'(][^"')]*["')])?\s*\)/.exec(
      window,
    );
  if (!found) return undefined;
  const [whole, label, target] = found;
  const spans = parseSpans(label || target, depth + 1);
  if (!isWebUrl(target)) return [{ type: "link", image, spans, refused: target }, begin + whole.length];
  return [{ type: "link", image, href: target, spans }, begin + whole.length];
}

function angleLink(text, at) {
  const found = /^<(https?:\/\/[^\s<>]+)>/.exec(text.slice(at, at + MAX_LINK));
  return found
    ? [{ type: "link", href: found[1], spans: [{ type: "text", text: found[1] }] }, at + found[0].length]
    : undefined;
}

function bareLink(text, at) {
  const found = /^https?:\/\/[^\s<>"`]+/.exec(text.slice(at, at + MAX_LINK));
  const href = found?.[0].replace(/[.,;:!?'*_~\])}]+$/, "");
  return href && isWebUrl(href)
    ? [{ type: "link", href, spans: [{ type: "text", text: href }] }, at + href.length]
    : undefined;
}

function emphasis(text, at, depth) {
  const letter = text[at];
  const run = /^(\*+|_+|~+)/.exec(text.slice(at, at + 4))[0];
  const width = Math.min(run.length, letter === "~" ? 2 : 3);
  const plain = [{ type: "text", text: run }, at + run.length];
  if (letter === "~" && width < 2) return plain;
  const inWord = /\w/.test(text[at - 1] ?? " ");
  if (/\s/.test(text[at + width] ?? " ") || (letter === "_" && inWord)) return plain;
  const mark = letter.repeat(width);
  let end = text.indexOf(mark, at + width);
  for (let tries = 0; end >= 0 && tries < 64; tries += 1) {
    const closes =
      !/\s/.test(text[end - 1]) &&
      text[end - 1] !== "\\" &&
      !(letter === "_" && /\w/.test(text[end + width] ?? " ")) &&
      (text[end + width] !== letter || width === 3);
    if (closes && end > at + width) break;
    let next = end + 1;
    while (text[next] === letter && text[next - 1] === letter) next += 1;
    end = text.indexOf(mark, next);
  }
  if (end < 0) return plain;
  const inner = parseSpans(text.slice(at + width, end), depth + 1);
  const span =
    letter === "~"
      ? { type: "strike", spans: inner }
      : width === 3
        ? { type: "strong", spans: [{ type: "emphasis", spans: inner }] }
        : { type: width === 2 ? "strong" : "emphasis", spans: inner };
  return [span, end + width];
}

function fence(lines, at) {
  const open = /^( {0,3})(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/.exec(lines[at]);
  if (!open) return undefined;
  const [, indent, mark, language] = open;
  let end = at + 1;
  while (end < lines.length && !(lines[end].trim().startsWith(mark) && /^[`~]+$/.test(lines[end].trim()))) end += 1;
  const body = lines.slice(at + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
  return [{ type: "code", language, text: body.join("\n"), open: end >= lines.length }, end + 1];
}

function heading(lines, at) {
  const found = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(lines[at]);
  return found ? [{ type: "heading", level: found[1].length, spans: parseSpans(found[2]) }, at + 1] : undefined;
}

function rule(lines, at) {
  return /^ {0,3}([-*_])(\s*\1){2,}\s*$/.test(lines[at]) ? [{ type: "rule" }, at + 1] : undefined;
}

function quote(lines, at, depth) {
  if (!/^ {0,3}>/.test(lines[at])) return undefined;
  let end = at;
  const inner = [];
  while (end < lines.length && (/^ {0,3}>/.test(lines[end]) || (lines[end].trim() !== "" && inner.at(-1)?.trim()))) {
    inner.push(lines[end].replace(/^ {0,3}> ?/, ""));
    end += 1;
  }
  return [{ type: "quote", blocks: parseBlocks(inner.join("\n"), depth + 1) }, end];
}

function list(lines, at, depth) {
  const first = ITEM.exec(lines[at]);
  if (!first) return undefined;
  const ordered = /\d/.test(first[2]);
  const items = [];
  let end = at;
  while (end < lines.length) {
    const found = ITEM.exec(lines[end]);
    if (!found || found[1].length > first[1].length + 3 || /\d/.test(found[2]) !== ordered) break;
    const indent = found[1].length + found[2].length + 1;
    const body = [found[3]];
    end += 1;
    while (end < lines.length) {
      const line = lines[end];
      const leading = /^\s*/.exec(line)[0].length;
      if (line.trim() === "") {
        const next = lines[end + 1] ?? "";
        if (next.trim() === "" || /^\s*/.exec(next)[0].length < indent) break;
      } else if (
        leading < indent &&
        (ITEM.test(line) || lines[end - 1].trim() === "" || /^ {0,3}(#{1,6}\s|>|```|~~~)/.test(line))
      )
        break;
      body.push(line.slice(Math.min(leading, indent)));
      end += 1;
    }
    const box = /^\[([ xX])\]\s+/.exec(body[0]);
    if (box) body[0] = body[0].slice(box[0].length);
    items.push({ checked: box ? box[1] !== " " : undefined, blocks: parseBlocks(body.join("\n"), depth + 1) });
    const blank =
      (lines[end] ?? "").trim() === "" &&
      ITEM.test(lines[end + 1] ?? "") &&
      /\d/.test(ITEM.exec(lines[end + 1])[2]) === ordered;
    if (blank) end += 1;
  }
  return [{ type: "list", ordered, start: ordered ? Number.parseInt(first[2], 10) : undefined, items }, end];
}

function table(lines, at) {
  if (
    !lines[at].includes("|") ||
    !/^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(lines[at + 1] ?? "") ||
    !lines[at + 1].includes("-")
  )
    return undefined;
  const align = cells(lines[at + 1])
    .map((cell) => `${cell.startsWith(":") ? "l" : ""}${cell.endsWith(":") ? "r" : ""}`)
    .map((sides) => ({ lr: "center", r: "right" })[sides] ?? "left");
  const head = cells(lines[at]).map((cell) => parseSpans(cell));
  if (head.length !== align.length) return undefined;
  const rows = [];
  let end = at + 2;
  while (end < lines.length && lines[end].trim() !== "" && lines[end].includes("|")) {
    rows.push(
      cells(lines[end])
        .slice(0, head.length)
        .map((cell) => parseSpans(cell)),
    );
    end += 1;
  }
  return [{ type: "table", align, head, rows }, end];
}

function cells(line) {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replace(/\\\|/g, "|"));
}

function paragraph(lines, at) {
  let end = at + 1;
  while (
    end < lines.length &&
    lines[end].trim() !== "" &&
    !/^ {0,3}(#{1,6}\s|>|```|~~~|[-*+]\s|1[.)]\s)/.test(lines[end]) &&
    !rule(lines, end)
  )
    end += 1;
  return [
    {
      type: "paragraph",
      spans: parseSpans(
        lines
          .slice(at, end)
          .map((line) => line.replace(/^\s+/, ""))
          .join("\n"),
      ),
    },
    end,
  ];
}

/** Returns whether a link may be followed: only http and https. */
export function isWebUrl(text) {
  try {
    return ["http:", "https:"].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}

const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const ESCAPABLE = "\\`*_{}[]()#+-.!~|<>\"'";
const MAX_DEPTH = 12;
const MAX_LINK = 2048;
