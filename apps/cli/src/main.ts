#!/usr/bin/env node
import { main } from "./command/run-command.ts";

// Ends what still keeps the process alive, such as an idle socket.
void main().then((code) => process.exit(code));
