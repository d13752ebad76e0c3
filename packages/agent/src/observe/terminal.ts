export { narrationLine } from "./narrate-to.ts";
export { createNarrator } from "./narrator.ts";
export {
  createTerminalText,
  noticeMark,
  terminalLine,
  withoutNoticeMark,
} from "./terminal-text.ts";
export type { TerminalText } from "./terminal-text.ts";
