/** Composer of a message: text, files, data, and the options of the request. */

import { fill, h } from "../dom.js";
import { checkBox, field, readJson, segments, textArea, textInput } from "../form.js";
import { bytes } from "../format.js";
import { icon } from "../icons.js";
import { notify } from "../notice.js";
import { fileCard } from "../part_view.js";
import { get } from "../requests.js";

/**
 * Returns `{element, focus, setAgents, setTask, setText}`. `send` receives `{parts, metadata, …}` of a composed
 * message; `agents` give the extensions and modes that can be chosen.
 */
export function composer({ send, dropTarget, endTask }) {
  const files = [];
  const text = textArea({
    class: "composer-text",
    rows: "1",
    placeholder: "Message",
    "aria-label": "Message",
    spellcheck: "true",
    data: { field: "message" },
  });
  const fileInput = h("input", {
    type: "file",
    multiple: true,
    hidden: true,
    data: { field: "files" },
    "aria-label": "Files",
    onChange: () => {
      addFiles([...fileInput.files]);
      fileInput.value = "";
    },
  });
  const list = h("div", { class: "composer-files" });
  const data = textArea({
    class: "mono",
    placeholder: '{"city": "Delft"}',
    "aria-label": "Data as JSON",
    data: { field: "data" },
  });
  const dataBox = h("div", { class: "field composer-data", hidden: true }, data);
  const options = requestOptions();
  const optionsBox = h("div", { class: "composer-options", hidden: true, id: "composer-options" }, options.element);
  const continues = h("div", { class: "composer-task", hidden: true });
  const submit = h(
    "button",
    {
      class: "primary icon-only",
      type: "submit",
      title: "Send (Enter)",
      "aria-label": "Send",
      data: { action: "send" },
    },
    icon("send"),
  );

  const toggle = (name, symbol, label, box) => {
    const button = h(
      "button",
      {
        type: "button",
        class: "icon-button",
        title: label,
        "aria-label": label,
        "aria-expanded": "false",
        data: { action: name },
        onClick: () => {
          box.hidden = !box.hidden;
          button.setAttribute("aria-expanded", String(!box.hidden));
          if (!box.hidden) box.querySelector("textarea, input, select")?.focus();
        },
      },
      icon(symbol),
    );
    return button;
  };
  const addFiles = (added) => {
    for (const file of added) {
      const total = files.reduce((sum, { size }) => sum + size, 0);
      if (total + file.size > MAX_FILES_BYTES) {
        notify(`${file.name} is too large: at most ${bytes(MAX_FILES_BYTES)} in one message`, "bad");
        continue;
      }
      files.push(file);
    }
    drawFiles();
  };
  const drawFiles = () =>
    fill(
      list,
      ...files.map((file) =>
        fileCard({
          filename: file.name,
          mediaType: file.type,
          size: file.size,
          remove: () => {
            files.splice(files.indexOf(file), 1);
            drawFiles();
          },
        }),
      ),
    );
  const compose = async (event) => {
    event?.preventDefault();
    const read = readJson(data);
    if (!read.ok) return data.focus();
    const chosen = options.read();
    if (!chosen) {
      optionsBox.hidden = false;
      return undefined;
    }
    const parts = [];
    if (text.value.trim() !== "") parts.push({ text: text.value });
    for (const file of files)
      parts.push({
        raw: await base64Of(file),
        filename: file.name,
        mediaType: file.type || "application/octet-stream",
      });
    if (read.value !== undefined && !dataBox.hidden) parts.push({ data: read.value });
    if (parts.length === 0) return text.focus();
    text.value = "";
    data.value = "";
    files.length = 0;
    drawFiles();
    text.grow();
    return send({ parts, ...chosen });
  };
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) compose(event);
  });
  text.addEventListener("paste", ({ clipboardData }) => {
    if (clipboardData.files.length > 0) addFiles([...clipboardData.files]);
  });
  acceptDrops(dropTarget, addFiles);
  const element = h(
    "form",
    { class: "composer", onSubmit: compose, "aria-label": "New message" },
    continues,
    optionsBox,
    list,
    dataBox,
    text,
    h(
      "div",
      { class: "line composer-bar" },
      h(
        "button",
        {
          type: "button",
          class: "icon-button",
          title: "Attach files",
          "aria-label": "Attach files",
          data: { action: "attach" },
          onClick: () => fileInput.click(),
        },
        icon("clip"),
      ),
      fileInput,
      toggle("add-data", "braces", "Add data (JSON)", dataBox),
      toggle("options", "sliders", "Options of the request", optionsBox),
      h("span", { class: "grow" }),
      h(
        "span",
        { class: "help composer-hint" },
        h("kbd", "Enter"),
        " sends, ",
        h("kbd", "Shift"),
        h("kbd", "Enter"),
        " breaks the line",
      ),
      submit,
    ),
  );
  return {
    element,
    focus: () => text.focus(),
    setAgents: options.setAgents,
    setText(value) {
      text.value = value;
      text.grow();
      text.focus();
    },
    setTask(task) {
      continues.hidden = !task;
      if (!task) return;
      fill(
        continues,
        h("span", "Continues task ", h("code", task)),
        h(
          "button",
          { type: "button", class: "quiet", data: { action: "new-task" }, onClick: endTask },
          "Begin a new task",
        ),
      );
    },
  };
}

/** Returns the options of a request: `{element, setAgents, read}`; `read` returns `undefined` if a field is wrong. */
function requestOptions() {
  let streaming = "auto";
  const stream = segments(
    "stream",
    "Answer",
    [
      ["auto", "As the card says"],
      ["stream", "Streamed"],
      ["once", "At once"],
    ],
    streaming,
    (value) => {
      streaming = value;
    },
  );
  const immediately = checkBox("returnImmediately", "Return immediately", {
    help: "Do not wait for the end of the task.",
  });
  const steps = checkBox("steps", "Ask for steps", {
    checked: true,
    help: "Reasoning and tool calls, if the agent reports them.",
  });
  const history = textInput({ type: "number", min: "0", placeholder: "as the agent likes" });
  const modes = h("div", { class: "choice-list" });
  const ownModes = textInput({ class: "mono", placeholder: "text/plain, image/png" });
  const extensions = h("div", { class: "choice-list" });
  const ownExtensions = textInput({ class: "mono", placeholder: "https://…" });
  const messageMetadata = textArea({ class: "mono", placeholder: "{}" });
  const metadata = textArea({ class: "mono", placeholder: "{}" });
  const references = textInput({ class: "mono", placeholder: "task ids" });
  const webhook = textInput({ type: "url", class: "mono", placeholder: "https://…" });
  const receivers = h("datalist", { id: "receivers" });
  webhook.setAttribute("list", receivers.id);
  webhook.addEventListener("focus", async () => {
    const { receivers: found = [] } = await get("receivers").catch(() => ({}));
    fill(receivers, ...found.map(({ id, url }) => h("option", { value: url }, `Receiver ${id}`)));
  });
  const token = textInput({ class: "mono", placeholder: "none" });
  const chosenIn = (list) => [...list.querySelectorAll("input:checked")].map((box) => box.value);
  const listed = (input) => input.value.split(/[\s,]+/).filter(Boolean);
  const boxes = (name, values, checked) =>
    values.map(([value, help]) => {
      const box = checkBox(name, value, { help, checked: checked(value) });
      box.box.value = value;
      return box;
    });
  return {
    element: h(
      "div",
      { class: "stack" },
      h(
        "div",
        { class: "fields" },
        h("div", { class: "field" }, h("span", { class: "label" }, "Answer"), h("div", stream)),
        field("historyLength", "Messages of history", history),
        immediately,
        steps,
      ),
      h(
        "div",
        { class: "fields" },
        h(
          "div",
          { class: "field" },
          h("span", { class: "label" }, "Accepted modes"),
          modes,
          field("ownModes", "Others", ownModes),
        ),
        h(
          "div",
          { class: "field" },
          h("span", { class: "label" }, "Extensions"),
          extensions,
          field("ownExtensions", "Others", ownExtensions),
        ),
      ),
      h(
        "div",
        { class: "fields" },
        field("messageMetadata", "Metadata of the message", messageMetadata),
        field("metadata", "Metadata of the request", metadata),
        field("referenceTaskIds", "Tasks it refers to", references),
      ),
      h(
        "div",
        { class: "fields" },
        field("webhookUrl", "Webhook for this task", webhook, "The screen Webhooks gives you a URL."),
        receivers,
        field("webhookToken", "Token of the webhook", token),
      ),
    ),
    setAgents(agents) {
      const all = (key) => [...new Set(agents.flatMap((agent) => agent[key] ?? []))];
      fill(
        modes,
        boxes(
          "mode",
          all("outputModes").map((mode) => [mode]),
          () => false,
        ),
      );
      const declared = new Map(agents.flatMap((agent) => agent.extensions ?? []).map((one) => [one.uri, one]));
      fill(
        extensions,
        boxes(
          "extension",
          [...declared.values()].map(({ uri, description, required }) => [
            uri,
            [required && "required", description].filter(Boolean).join(" · "),
          ]),
          (uri) => declared.get(uri).required,
        ),
      );
      if (declared.size === 0) fill(extensions, h("p", { class: "help" }, "The card declares none."));
      if (all("outputModes").length === 0) fill(modes, h("p", { class: "help" }, "The card names none."));
    },
    read() {
      const [ofMessage, ofRequest] = [messageMetadata, metadata].map((control) => readJson(control, { object: true }));
      if (!ofMessage.ok || !ofRequest.ok) return undefined;
      const accepted = [...chosenIn(modes), ...listed(ownModes)];
      const configuration = {
        ...(accepted.length > 0 && { acceptedOutputModes: accepted }),
        ...(history.value !== "" && { historyLength: Number(history.value) }),
        ...(immediately.box.checked && { returnImmediately: true }),
        ...(webhook.value.trim() && {
          taskPushNotificationConfig: {
            url: webhook.value.trim(),
            ...(token.value.trim() && { token: token.value.trim() }),
          },
        }),
      };
      const uris = [...chosenIn(extensions), ...listed(ownExtensions)];
      return {
        streaming,
        steps: steps.box.checked,
        messageMetadata: ofMessage.value,
        referenceTaskIds: listed(references),
        request: {
          ...(Object.keys(configuration).length > 0 && { configuration }),
          ...(ofRequest.value && { metadata: ofRequest.value }),
          ...(uris.length > 0 && { extensions: uris }),
        },
      };
    },
  };
}

/** Shows where files may be dropped while they are dragged over the element. */
function acceptDrops(element, accept) {
  let depth = 0;
  const hasFiles = ({ dataTransfer }) => [...(dataTransfer?.types ?? [])].includes("Files");
  const over = (by) => (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth += by;
    element.classList.toggle("dropping", depth > 0);
  };
  element.addEventListener("dragenter", over(1));
  element.addEventListener("dragleave", over(-1));
  element.addEventListener("dragover", over(0));
  element.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    element.classList.remove("dropping");
    accept([...event.dataTransfer.files]);
  });
}

async function base64Of(file) {
  const url = await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(",") + 1);
}

const MAX_FILES_BYTES = 16 * 1024 * 1024;
