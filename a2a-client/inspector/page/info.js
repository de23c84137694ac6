/** What the server says about itself. */

import { get } from "./requests.js";

let info = { version: "", features: [], limits: {} };

/** Returns the version, features and limits of the server. */
export const serverInfo = () => info;

/** Returns whether the server has a feature. */
export const hasFeature = (name) => info.features?.includes(name) ?? false;

/** Reads the information. */
export async function loadInfo() {
  info = await get("info");
}
