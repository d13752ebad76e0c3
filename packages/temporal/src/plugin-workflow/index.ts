// For the bundle of workflows that have a session: added by the plug-in. Nothing here uses Node.
export { interceptors } from "./interceptors.ts";
export { finishRun } from "./finish-run.ts";
