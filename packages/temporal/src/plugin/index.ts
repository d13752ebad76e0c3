// For workers whose workflows are other programs than our loop, such as those of Temporal's own plug-ins.
export { sessionMemo } from "./session-memo.ts";
export { sessionPlugin } from "./session-plugin.ts";
export type { SessionPlugin, SessionPluginOptions } from "./session-plugin.ts";
export { throughSession } from "./through-session.ts";
