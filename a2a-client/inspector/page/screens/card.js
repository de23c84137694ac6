/** Screen of an agent's card. */

import { agentById, agentsChanged, chooseAgent, currentAgent } from "../agents.js";
import { cardEditor } from "../card/editor.js";
import { overview } from "../card/overview.js";
import { problemList, signatureList, versionViews } from "../card/verdicts.js";
import { deviationList } from "../deviations.js";
import { fill, h } from "../dom.js";
import { segments, tabs } from "../form.js";
import { count } from "../format.js";
import { icon } from "../icons.js";
import { emptyState, errorBox } from "../notice.js";
import { get, path, query, saveBlob } from "../requests.js";
import { go, href, replace } from "../router.js";
import { agentMark } from "../shell.js";
import { bodyView } from "../wire/body_view.js";

/** Creates the screen. */
export function create() {
  let agent;
  let tab = "overview";
  let extended = false;
  let keys;
  let found;
  const element = h("div", { class: "screen", data: { screen: "card" } });
  const head = h("header", { class: "screen-head" });
  const list = tabs("Card", [], tab, (next) => {
    tab = next;
    replace("card", [agent.id, tab]);
    draw();
  });
  const body = h("div", { class: "screen-body", tabindex: "0", role: "region", "aria-label": "Card", data: { scroll: "card" } });
  const bar = h("div", { class: "tabs-place" }, list);

  const load = async () => {
    found = undefined;
    const wanted = agent;
    fill(body, h("div", { class: "line center" }, h("span", { class: "spinner" })));
    drawHead();
    try {
      const next = await get(path`agents/${agent.id}/${extended ? "extended-card" : "card"}` + query({ keys }));
      if (wanted.id !== agent?.id) return;
      found = next;
      drawHead();
      draw();
    } catch (error) {
      if (wanted.id === agent?.id) fill(body, h("div", { class: "column" }, errorBox(error, load)));
    }
  };
  const drawHead = () => {
    const { problems = [], deviations = [] } = found ?? {};
    const remarks = problems.length || deviations.length;
    const must = problems.filter(({ level }) => level === "must").length;
    fill(
      head,
      agentMark(agent),
      h("h1", { class: "peer clip" }, agent.name),
      found &&
        h(
          "span",
          { class: `pill ${must > 0 ? "bad" : remarks > 0 ? "fair" : "good"}`, data: { field: "verdict" } },
          must > 0 ? `${must} MUST not met` : remarks > 0 ? count(remarks, "remark") : "valid",
        ),
      h("span", { class: "grow" }),
      segments(
        "card-kind",
        "Card",
        [
          ["public", "Public"],
          ["extended", "Extended"],
        ],
        extended ? "extended" : "public",
        (value) => {
          extended = value === "extended";
          load();
        },
      ),
      h(
        "button",
        {
          class: "quiet",
          disabled: !found,
          data: { action: "save-card" },
          onClick: () => saveBlob(new Blob([found.raw], { type: "application/json" }), "agent-card.json"),
        },
        icon("download"),
        "Save",
      ),
      h(
        "button",
        { class: "quiet", title: "Read again (r)", data: { action: "refresh" }, onClick: load },
        icon("refresh"),
        "Refresh",
      ),
    );
    const titled = (name, number) => (number > 0 ? `${name} (${number})` : name);
    list.setRows(
      [
        ["overview", "Overview"],
        ["problems", titled("Problems", remarks)],
        ["signatures", titled("Signatures", found?.signatures?.length ?? 0)],
        ["versions", "In every version"],
        ["raw", "JSON"],
        ["edit", "Edit"],
      ],
      tab,
    );
  };
  const draw = () => {
    if (!found) return;
    const { raw, card, deviations = [], problems = [], signatures = [], views = {} } = found;
    const view = {
      problems: () => [
        deviationList(deviations, "The card"),
        (problems.length > 0 || deviations.length === 0) && problemList(problems),
      ],
      signatures: () =>
        signatureList(signatures, keys, (url) => {
          keys = url;
          load();
        }),
      versions: () => versionViews(views),
      raw: () => bodyView(raw),
      edit: () => cardEditor(raw),
    }[tab];
    fill(
      body,
      h(
        "div",
        { class: `column ${tab === "edit" ? "wide" : ""}` },
        view
          ? view()
          : card
            ? overview(card)
            : [
                h("div", { class: "note-box bad" }, "The card cannot be read. These are its problems:"),
                problemList(problems),
              ],
      ),
    );
    body.scrollTop = 0;
  };
  agentsChanged.subscribe(() => {
    if (element.isConnected && currentAgent()?.id !== agent?.id) go("card", currentAgent() ? [currentAgent().id] : []);
  });
  return {
    element,
    show({ parts: [id, next = "overview"] }) {
      const wanted = agentById(id) ?? currentAgent();
      if (!wanted) {
        agent = undefined;
        fill(
          element,
          emptyState(
            "card",
            "No agent chosen",
            "Connect to an agent to read its card.",
            h("a", { class: "button primary", href: href("connect") }, "Connect to an agent"),
          ),
        );
        return;
      }
      if (!element.contains(head)) fill(element, head, bar, body);
      tab = next;
      const changed = wanted.id !== agent?.id;
      agent = wanted;
      if (changed) {
        extended = false;
        keys = undefined;
        chooseAgent(agent.id);
        load();
      } else {
        list.setValue(tab);
        draw();
      }
    },
    shortcuts: [["r", "Read again", () => agent && load()]],
  };
}
