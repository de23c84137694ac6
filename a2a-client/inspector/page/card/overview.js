/** A card as people read it. */

import { h } from "../dom.js";
import { count } from "../format.js";
import { icon } from "../icons.js";
import { jsonView } from "../json_view.js";
import { linkView } from "../markdown_view.js";

/** Returns a card of protocol 1.0 form as sections: what the agent is, can do, and asks for. */
export function overview(card) {
  const {
    name,
    description,
    version,
    provider,
    documentationUrl,
    iconUrl,
    capabilities = {},
    supportedInterfaces = [],
    skills = [],
  } = card;
  const hasTenant = supportedInterfaces.some(({ tenant }) => tenant);
  const modes = (list) => (list ?? []).map((mode) => h("span", { class: "tag peer" }, mode));
  return h(
    "div",
    { class: "stack card-overview", data: { view: "overview" } },
    h(
      "section",
      { class: "panel card-title" },
      h(
        "div",
        { class: "line wrap" },
        h("h2", { class: "peer" }, name),
        version && h("span", { class: "tag peer" }, `version ${version}`),
      ),
      h("p", { class: "peer card-description" }, description),
      h(
        "dl",
        { class: "facts" },
        fact("Provider", provider && [provider.organization, provider.url && [" ", linkView(provider.url)]]),
        fact("Documentation", documentationUrl && linkView(documentationUrl)),
        fact("Icon", iconUrl && [linkView(iconUrl), h("span", { class: "help" }, " not loaded")]),
      ),
    ),
    section(
      "Interfaces",
      "connect",
      h(
        "table",
        { class: "grid-table" },
        h(
          "thead",
          h(
            "tr",
            ...["Version", "Binding", "URL", hasTenant && "Tenant"]
              .filter(Boolean)
              .map((title) => h("th", { scope: "col" }, title)),
          ),
        ),
        h(
          "tbody",
          ...supportedInterfaces.map((one) =>
            h(
              "tr",
              { data: { row: "interface" } },
              h("td", one.protocolVersion),
              h("td", one.protocolBinding),
              h("td", { class: "mono" }, one.url),
              hasTenant && h("td", one.tenant ?? ""),
            ),
          ),
        ),
      ),
    ),
    section(
      "Capabilities",
      "check",
      h(
        "ul",
        { class: "capabilities" },
        capability("Streaming", capabilities.streaming),
        capability("Push notifications", capabilities.pushNotifications),
        capability("Extended card", capabilities.extendedAgentCard),
      ),
      (capabilities.extensions ?? []).map((extension) =>
        h(
          "div",
          { class: "card-item", data: { row: "extension" } },
          h(
            "div",
            { class: "line wrap" },
            h("code", { class: "peer" }, extension.uri),
            extension.required && h("span", { class: "pill fair" }, "required"),
          ),
          extension.description && h("p", { class: "soft small peer" }, extension.description),
          extension.params && h("details", { class: "fold" }, h("summary", "Parameters"), jsonView(extension.params)),
        ),
      ),
    ),
    section(
      count(skills.length, "skill"),
      "tool",
      ...skills.map((skill) =>
        h(
          "div",
          { class: "card-item", data: { row: "skill", skill: skill.id } },
          h(
            "div",
            { class: "line wrap" },
            h("b", { class: "peer" }, skill.name),
            h("code", { class: "soft peer" }, skill.id),
            ...(skill.tags ?? []).map((tag) => h("span", { class: "tag peer" }, tag)),
          ),
          h("p", { class: "small peer" }, skill.description),
          (skill.examples ?? []).length > 0 &&
            h(
              "ul",
              { class: "examples" },
              ...skill.examples.map((example) => h("li", { class: "peer" }, `“${example}”`)),
            ),
        ),
      ),
    ),
    section(
      "Modes",
      "file",
      h(
        "dl",
        { class: "facts" },
        fact("Input", modes(card.defaultInputModes)),
        fact("Output", modes(card.defaultOutputModes)),
      ),
    ),
    section("Security", "lock", ...security(card)),
  );
}

function section(title, symbol, ...content) {
  return h("section", { class: "panel" }, h("h3", { class: "line section-title" }, icon(symbol), title), ...content);
}

function fact(name, value) {
  if (!value || (Array.isArray(value) && value.length === 0)) return null;
  return h("div", h("dt", name), h("dd", { class: "peer line wrap tight" }, value));
}

function capability(name, has) {
  return h(
    "li",
    { class: has ? "" : "soft" },
    has ? h("span", { class: "good-sign" }, icon("check")) : h("span", { class: "no-sign" }, "–"),
    name,
    h("span", { class: "sr" }, has ? "yes" : "no"),
  );
}

function security({ securitySchemes = {}, securityRequirements = [] }) {
  const schemes = Object.entries(securitySchemes);
  if (schemes.length === 0)
    return [h("p", { class: "help" }, "The card names no security scheme: requests need no credentials.")];
  return [
    ...schemes.map(([name, scheme]) => {
      const [kind, body] = Object.entries(scheme)[0] ?? ["unknown", {}];
      return h(
        "div",
        { class: "card-item", data: { row: "scheme" } },
        h(
          "div",
          { class: "line wrap" },
          icon("key"),
          h("b", { class: "peer" }, name),
          h("span", { class: "tag" }, SCHEMES[kind] ?? kind),
        ),
        h("details", { class: "fold" }, h("summary", "Details"), jsonView(body)),
      );
    }),
    h(
      "p",
      { class: "small" },
      securityRequirements.length === 0
        ? "None of them is required."
        : [
            "Required: ",
            securityRequirements.map((one, index) => [
              index > 0 && " or ",
              h(
                "code",
                Object.entries(one.schemes ?? one)
                  .map(
                    ([name, scopes]) =>
                      `${name}${(scopes.list ?? scopes)?.length ? ` (${(scopes.list ?? scopes).join(", ")})` : ""}`,
                  )
                  .join(" and "),
              ),
            ]),
          ],
    ),
  ];
}

const SCHEMES = {
  apiKeySecurityScheme: "API key",
  httpAuthSecurityScheme: "HTTP authentication",
  oauth2SecurityScheme: "OAuth 2.0",
  openIdConnectSecurityScheme: "OpenID Connect",
  mtlsSecurityScheme: "mutual TLS",
  mutualTlsSecurityScheme: "mutual TLS",
};
