/** Prompt of the OAuth device flow. */

import { agentsChanged, allAgents } from "./agents.js";
import { onChange } from "./changes.js";
import { openDialog } from "./dialog.js";
import { h, isSafeUrl } from "./dom.js";
import { allExchanges, exchangesChanged } from "./exchanges.js";
import { hostOf } from "./format.js";
import { icon } from "./icons.js";
import { copyButton } from "./notice.js";

/** Shows a prompt whenever the server needs the user to sign in. */
export function startPrompts() {
  onChange("prompt", ({ agentUrl, userCode, verificationUri, expiresInSeconds }) => {
    const end = Date.now() + (expiresInSeconds ?? 600) * 1000;
    const left = h("p", { class: "soft", role: "timer" });
    const tick = () => {
      const seconds = Math.max(0, Math.round((end - Date.now()) / 1000));
      left.textContent =
        seconds > 0
          ? `The code is valid for ${Math.floor(seconds / 60)} min ${seconds % 60} s.`
          : "The code has expired: connect again.";
    };
    tick();
    const timer = setInterval(tick, 1000);
    const before = allExchanges().at(-1)?.number ?? 0;
    let unsubscribe;
    openDialog(
      "Sign in",
      (close) => {
        const agent = () => allAgents().find(({ url }) => url === agentUrl);
        // The request for which the user signs in is made once there is a token.
        const isCalled = () => allExchanges().some((one) => one.number > before && one.agent === agent()?.id);
        const ends = [
          agentsChanged.subscribe(() => agent() && close()),
          exchangesChanged.subscribe(() => isCalled() && close()),
        ];
        unsubscribe = () => ends.forEach((end) => end());
        return [
          h("p", h("bdi", hostOf(agentUrl)), " asks for a sign-in. Open this page and enter the code:"),
          h(
            "div",
            { class: "device-code" },
            h("output", { data: { field: "user-code" } }, userCode),
            copyButton(() => userCode),
          ),
          isSafeUrl(verificationUri)
            ? h(
                "p",
                h(
                  "a",
                  {
                    class: "button primary",
                    href: verificationUri,
                    target: "_blank",
                    rel: "noreferrer noopener",
                    data: { action: "verify" },
                  },
                  `Open ${hostOf(verificationUri)}`,
                  icon("external"),
                ),
              )
            : h("p", { class: "soft" }, `The agent named an address that is no web page: ${verificationUri}`),
          left,
          h("p", { class: "soft" }, "The inspector goes on as soon as you have agreed there."),
          h("div", { class: "line end" }, h("button", { onClick: close }, "Close")),
        ];
      },
      { name: "device" },
    ).then(() => {
      clearInterval(timer);
      unsubscribe();
    });
  });
}
