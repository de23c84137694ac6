/** Screen of the connections to agents. */

import {
  agentsChanged,
  allAgents,
  chooseAgent,
  connect,
  currentAgent,
  disconnect,
  forget,
  savedAgents,
} from "../agents.js";
import { fill, h } from "../dom.js";
import { checkBox, field, pairRows, segments, select, setWrong, textArea, textInput } from "../form.js";
import { count, hostOf } from "../format.js";
import { icon } from "../icons.js";
import { errorBox, notify, showError } from "../notice.js";
import { go, href } from "../router.js";
import { agentMark } from "../shell.js";

/** Creates the screen. */
export function create() {
  const form = connectForm();
  const connected = h("section", { class: "stack", "aria-label": "Connected agents" });
  const stored = h("section", { class: "stack", "aria-label": "Saved agents" });
  const intro = h("div", { class: "connect-intro" });
  const element = h(
    "div",
    { class: "screen", data: { screen: "connect" } },
    h(
      "div",
      { class: "screen-body", data: { scroll: "connect" } },
      h("div", { class: "column connect-column" }, intro, form.element, connected, stored),
    ),
  );
  const draw = () => {
    const agents = allAgents();
    fill(
      intro,
      h("h1", agents.length === 0 ? "Connect to an agent" : "Agents"),
      agents.length === 0 &&
        h(
          "p",
          { class: "soft" },
          "Paste the address of any A2A agent, protocol version 0.1 to 1.0. The inspector reads its card, speaks its version and shows every byte.",
        ),
      agents.length === 0 &&
        h(
          "p",
          { class: "soft" },
          "None at hand? ",
          h("code", "a2a serve joke"),
          " runs one at ",
          h(
            "button",
            {
              type: "button",
              class: "link mono",
              data: { action: "fill-demo" },
              onClick: () => form.fillIn({ url: DEMO }),
            },
            DEMO,
          ),
          ".",
        ),
    );
    fill(
      connected,
      agents.length > 0 && [h("h2", "Connected"), h("ul", { class: "agent-list" }, ...agents.map(agentRow))],
    );
    const rest = savedAgents().filter(({ url }) => !agents.some((agent) => agent.url === url));
    fill(
      stored,
      rest.length > 0 && [
        h("h2", "Saved"),
        h("ul", { class: "agent-list" }, ...rest.map((settings) => savedRow(settings, form))),
      ],
    );
  };
  agentsChanged.subscribe(draw);
  draw();
  return {
    element,
    show(route) {
      const url = route.query.get("url");
      if (url) form.fillIn({ url });
      if (allAgents().length === 0) form.focus();
    },
    shortcuts: [["n", "Address of a new agent", () => form.focus()]],
  };
}

function connectForm() {
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
      if (error.name !== "AbortError") fill(problem, errorBox(error));
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
        "In addition to those of the system, for agents with a private certificate.",
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

/** Returns the choice of credentials with the fields of each kind. */
function credentialFields() {
  const secret = (props) => textInput({ type: "password", class: "mono", autocomplete: "off", ...props });
  const inputs = {
    bearer: secret({ placeholder: "token" }),
    apiKey: secret({ placeholder: "key" }),
    user: textInput({}),
    password: secret({}),
    clientId: textInput({}),
    tokenUrl: textInput({ type: "url", placeholder: "from the card" }),
    scopes: textInput({ placeholder: "read write" }),
    certificate: textArea({ class: "mono", placeholder: "-----BEGIN CERTIFICATE-----" }),
    key: textArea({ class: "mono", placeholder: "-----BEGIN PRIVATE KEY-----" }),
  };
  const fields = {
    none: [h("p", { class: "help" }, "Nothing is sent.")],
    bearer: [
      field("bearer", "Bearer token", inputs.bearer, "Sent as Authorization: Bearer, only to this agent's origin."),
    ],
    apiKey: [field("apiKey", "API key", inputs.apiKey, "Placed where the card's security scheme says.")],
    basic: [field("user", "User name", inputs.user), field("password", "Password", inputs.password)],
    oauthDevice: [
      field("clientId", "Client id", inputs.clientId),
      field("tokenUrl", "Token URL", inputs.tokenUrl),
      field("scopes", "Scopes", inputs.scopes, "Separated by spaces."),
    ],
    clientCertificate: [
      field("certificate", "Certificate (PEM)", inputs.certificate),
      field("key", "Private key (PEM)", inputs.key),
    ],
  };
  const place = h("div", { class: "fields" });
  let kind = "none";
  const show = (next) => {
    kind = next;
    fill(place, fields[next]);
  };
  const choice = segments(
    "credentials",
    "Credentials",
    [
      ["none", "None"],
      ["bearer", "Bearer"],
      ["apiKey", "API key"],
      ["basic", "Password"],
      ["oauthDevice", "OAuth sign-in"],
      ["clientCertificate", "Client certificate"],
    ],
    kind,
    show,
  );
  show(kind);
  const value = (name) => inputs[name].value.trim();
  return {
    element: h("div", { class: "field" }, h("span", { class: "label" }, "Credentials"), h("div", choice), place),
    choose(settings) {
      const next =
        ["bearer", "apiKey", "basic", "oauthDevice", "clientCertificate"].find((name) => settings[name]) ?? "none";
      inputs.clientId.value = settings.oauthDevice?.clientId ?? "";
      inputs.tokenUrl.value = settings.oauthDevice?.tokenUrl ?? "";
      choice.setValue(next);
      show(next);
    },
    clear() {
      for (const name of ["bearer", "apiKey", "password", "key"]) inputs[name].value = "";
    },
    read() {
      const scopes = value("scopes")
        .split(/[\s,]+/)
        .filter(Boolean);
      return {
        none: {},
        bearer: { bearer: value("bearer") },
        apiKey: { apiKey: value("apiKey") },
        basic: { basic: `${value("user")}:${inputs.password.value}` },
        oauthDevice: {
          oauthDevice: {
            clientId: value("clientId"),
            tokenUrl: value("tokenUrl") || undefined,
            scopes: scopes.length > 0 ? scopes : undefined,
          },
        },
        clientCertificate: { clientCertificate: { certificate: value("certificate"), key: value("key") } },
      }[kind];
    },
  };
}

function agentRow(agent) {
  const { capabilities = {}, skills = [] } = agent;
  const facts = [
    `${agent.version} ${agent.binding}`,
    capabilities.streaming ? "streaming" : "no streaming",
    capabilities.pushNotifications && "webhooks",
    capabilities.extendedCard && "extended card",
    count(skills.length, "skill"),
  ];
  const choose = (screen) => () => {
    chooseAgent(agent.id);
    go(screen, [agent.id]);
  };
  const end = async () => {
    try {
      await disconnect(agent.id);
    } catch (error) {
      showError(error);
    }
  };
  return h(
    "li",
    { class: "agent-row panel", data: { row: "agent", agent: agent.id } },
    agentMark(agent),
    h(
      "div",
      { class: "grow" },
      h(
        "div",
        { class: "line wrap" },
        h(
          "a",
          { class: "agent-name peer", href: href("card", [agent.id]), onClick: () => chooseAgent(agent.id) },
          agent.name,
        ),
        agent === currentAgent() && allAgents().length > 1 && h("span", { class: "pill busy" }, "chosen"),
        agent.hasSecret &&
          h("span", { class: "pill", title: "Requests carry credentials" }, icon("key"), "credentials"),
      ),
      h("div", { class: "mono soft wrap-any" }, agent.url),
      h("div", { class: "small soft" }, facts.filter(Boolean).join(" · ")),
    ),
    h(
      "div",
      { class: "line agent-actions" },
      h("button", { data: { action: "open-chat" }, onClick: choose("chat") }, "Chat"),
      h("button", { data: { action: "open-card" }, onClick: choose("card") }, "Card"),
      h(
        "button",
        {
          class: "icon-button",
          title: "Disconnect",
          "aria-label": `Disconnect ${agent.name}`,
          data: { action: "disconnect" },
          onClick: end,
        },
        icon("close"),
      ),
    ),
  );
}

function savedRow(settings, form) {
  const again = async (event) => {
    if (settings.hasSecret) return form.fillIn(settings);
    const { target } = event;
    target.disabled = true;
    try {
      const { hasSecret, ...rest } = settings;
      const agent = await connect({ ...rest, save: true });
      go("card", [agent.id]);
    } catch (error) {
      showError(error);
      form.fillIn(settings);
    } finally {
      target.disabled = false;
    }
  };
  return h(
    "li",
    { class: "agent-row panel slim", data: { row: "saved", url: settings.url } },
    h(
      "div",
      { class: "grow" },
      h("div", { class: "mono wrap-any" }, settings.url),
      h(
        "div",
        { class: "small soft" },
        [settings.version, settings.binding, settings.hasSecret && "credentials are not saved"]
          .filter(Boolean)
          .join(" · ") || hostOf(settings.url),
      ),
    ),
    h("button", { data: { action: "connect-saved" }, onClick: again }, settings.hasSecret ? "Fill in" : "Connect"),
    h(
      "button",
      {
        class: "icon-button",
        title: "Forget",
        "aria-label": `Forget ${settings.url}`,
        data: { action: "forget" },
        onClick: () => forget(settings.url).catch(showError),
      },
      icon("trash"),
    ),
  );
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

const DEMO = "http://127.0.0.1:8080";
