/** The connected agents, and the one that the screens are about. */

import { visible } from "./dom.js";
import { del, get, path, post, query } from "./requests.js";
import { Topic } from "./topic.js";

/** Published when the list or the chosen agent has changed. */
export const agentsChanged = new Topic();

let agents = [];
let saved = [];
let chosen = sessionStorage.getItem("a2a-inspector-agent");

/** Returns the connected agents. */
export const allAgents = () => agents;

/** Returns the settings that were saved without their secrets. */
export const savedAgents = () => saved;

/** Returns the agent of that id. */
export const agentById = (id) => agents.find((agent) => agent.id === id);

/** Returns the chosen agent; the first one if none was chosen. */
export const currentAgent = () => agentById(chosen) ?? agents[0];

/** Reads the list again. */
export async function loadAgents() {
  ({ agents = [], saved = [] } = await get("agents"));
  for (const agent of agents) agent.name = visible(agent.name);
  agentsChanged.publish();
}

/** Chooses an agent. */
export function chooseAgent(id) {
  if (chosen === id) return;
  chosen = id;
  sessionStorage.setItem("a2a-inspector-agent", id);
  agentsChanged.publish();
}

/** Connects to an agent, chooses it and returns it. */
export async function connect(settings, signal) {
  const agent = await post("agents", settings, { signal });
  await loadAgents();
  chooseAgent(agent.id);
  return agent;
}

/** Ends the connection to an agent. */
export async function disconnect(id) {
  await del(path`agents/${id}`);
  await loadAgents();
}

/** Removes saved settings. */
export async function forget(url) {
  await del(`saved${query({ url })}`);
  await loadAgents();
}
