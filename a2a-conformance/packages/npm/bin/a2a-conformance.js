#!/usr/bin/env node
import { launch } from "../program.js";

launch(4, "a2a-conformance");
