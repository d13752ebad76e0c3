#!/usr/bin/env node
import { main } from "./run-command.ts";

// Whatever still holds the process then, such as a socket that nobody waits for, is of no use.
void main().then((code) => process.exit(code));
