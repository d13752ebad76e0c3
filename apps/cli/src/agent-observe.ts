// What a terminal program needs of the agent package and its entry does not give yet. The one place
// that knows their files.
export { createNarrator } from "../../../packages/agent/src/observe/narrator.ts";
export { createTerminalText, terminalLine } from "../../../packages/agent/src/observe/terminal-text.ts";
export type { TerminalText } from "../../../packages/agent/src/observe/terminal-text.ts";
export { jsonLines } from "../../../packages/agent/src/observe/json-lines.ts";
