/** Form of a new connection. */

import { connect } from "../agents.js";
import { fill, h } from "../dom.js";
import { checkBox, field, pairRows, select, setWrong, textArea, textInput } from "../form.js";
import { errorBox, notify } from "../notice.js";
import { go } from "../router.js";
import { credentialFields } from "./credentials.js";

/** Returns the form: `{element, focus, fillIn}`; `fillIn` takes saved settings. */
export function connectForm() {
  const url = textInput({
    type: "url",
    inputmode: "url",
    required: true,
    class: "url-field mono",
    placeholder: "https://agent.example",
    "aria-label": "Address of the agent",
    data: { field: "url" },
  });
  const version = select([
    ["", "As the card says"],
    ["1.0", "1.0"],
    ["0.3", "0.3"],
    ["0.2", "0.2"],
    ["0.1", "0.1"],
  ]);
  const binding = select([
    ["", "As the card says"],
    ["JSONRPC", "JSON-RPC"],
    ["HTTP+JSON", "HTTP+JSON (REST)"],
    ["GRPC", "gRPC"],
  ]);
  const tenant = textInput({ placeholder: "none" });
  const noCard = checkBox("noCard", "There is no card", {
    help: "Speak to this address directly, with the version and binding chosen here.",
  });
  const strict = checkBox("strict", "Read strictly", {
    help: "Refuse answers that deviate from the specification instead of repairing them.",
  });
  const save = checkBox("save", "Remember this agent", { checked: true, help: "Without secrets." });
  const headers = pairRows("header", [], { secret: false });
  const authorities = textArea({ class: "mono", placeholder: "-----BEGIN CERTIFICATE-----" });
  const credentials = credentialFields();
  const problem = h("div");
  const submit = h("button", { class: "primary big", type: "submit", data: { action: "connect" } }, "Connect");
  let abort;

  const read = () => ({
    url: withScheme(url.value.trim()),
    version: version.value || undefined,
    binding: binding.value || undefined,
    tenant: tenant.value.trim() || undefined,
    noCard: noCard.box.checked || undefined,
    strict: strict.box.checked || undefined,
    headers: headers.pairs().length > 0 ? headers.pairs() : undefined,
    authorities: authorities.value.trim() || undefined,
    save: save.box.checked || undefined,
    ...credentials.read(),
  });
  const send = async (event) => {
    event.preventDefault();
    if (abort) return abort.abort();
    const settings = read();
    if (
      !setWrong(
        url,
        isUrl(settings.url) ? "" : "Expected an address like https://agent.example or http://127.0.0.1:8080.",
      )
    )
      return url.focus();
    problem.replaceChildren();
    abort = new AbortController();
    fill(submit, h("span", { class: "spinner" }), "Cancel");
    try {
      const agent = await connect(settings, abort.signal);
      notify(`Connected to ${agent.name}`);
      url.value = "";
      credentials.clear();
      go("card", [agent.id]);
    } catch (error) {
      if (error.name !== "AbortError")
        fill(problem, h("div", { class: "stack" }, errorBox(error), error.card && brokenCard(error.card)));
    } finally {
      abort = undefined;
      fill(submit, "Connect");
    }
  };
  const more = h(
    "details",
    { class: "fold more", data: { fold: "options" } },
    h("summary", "Version, credentials, headers"),
    h(
      "div",
      { class: "stack more-fields" },
      h(
        "div",
        { class: "fields" },
        field("version", "Protocol version", version),
        field("binding", "Binding", binding),
        field("tenant", "Tenant", tenant, "Only agents that serve several tenants need it."),
      ),
      credentials.element,
      h(
        "div",
        { class: "field" },
        h("span", { class: "label" }, "Headers"),
        h("span", { class: "help" }, "Sent with every request to this agent."),
        headers,
      ),
      field(
        "authorities",
        "Trusted certificate authorities (PEM)",
        authorities,
        "In addition to the system's, for agents with a private certificate.",
      ),
      h("div", { class: "fields" }, noCard, strict, save),
    ),
  );
  const element = h(
    "form",
    { class: "stack connect-form", onSubmit: send },
    h("div", { class: "connect-line" }, url, submit),
    problem,
    more,
  );
  element.noValidate = true;
  return {
    element,
    focus: () => url.focus(),
    fillIn(settings) {
      url.value = settings.url ?? "";
      version.value = settings.version ?? "";
      binding.value = settings.binding ?? "";
      tenant.value = settings.tenant ?? "";
      noCard.box.checked = Boolean(settings.noCard);
      strict.box.checked = Boolean(settings.strict);
      authorities.value = settings.authorities ?? "";
      headers.setPairs((settings.headers ?? []).map(([name, value]) => [name, value === "***" ? "" : value]));
      credentials.choose(settings);
      more.open = Boolean(settings.hasSecret || settings.version || settings.headers?.length);
      url.focus();
    },
  };
}

/** Returns a card that could not be read, with the verdicts of the linter. */
function brokenCard(card) {
  const place = h("div");
  const show = async () => {
    const { cardEditor } = await import("../card/editor.js");
    fill(place, cardEditor(card));
  };
  fill(
    place,
    h("button", { type: "button", data: { action: "show-card" }, onClick: show }, "Show what is wrong with the card"),
  );
  return place;
}

/** Returns the address with `https://`, or `http://` for this machine, if it has no scheme. */
function withScheme(text) {
  if (/^[a-z]+:\/\//i.test(text) || text === "") return text;
  return `${/^(localhost|127\.|\[::1\])/.test(text) ? "http" : "https"}://${text}`;
}

function isUrl(text) {
  try {
    return ["http:", "https:"].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}
