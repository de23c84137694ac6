#!/usr/bin/env node
import { launch } from "../program.js";

launch(1, "a2a", "agent2agent-cli");
