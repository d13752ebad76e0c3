import { openMcp } from "@millrace/agent/mcp";
await openMcp({ name: "files", command: "npx server" });
