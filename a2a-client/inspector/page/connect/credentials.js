/** Choice of credentials for a connection. */

import { fill, h } from "../dom.js";
import { field, segments, textArea, textInput } from "../form.js";

/** Returns the choice of credentials with the fields of each kind. */
export function credentialFields() {
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
