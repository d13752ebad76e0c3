// What our packages check at their doors: options, addresses, logs, disks, and how they warn.
export {
  callSiteOf,
  checkOption,
  checkOptions,
  expects,
  refusal,
  shown,
  withStackOf,
  withoutLogin,
} from "./ports/options.ts";
export type { CallSite, Door, OptionCheck, OptionChecks } from "./ports/options.ts";
export { noteLog, noteMissingLog } from "./ports/log-use.ts";
export { diskRefusal } from "./ports/disk-refusal.ts";
export { warn } from "./ports/warn.ts";
export type { WarningCode } from "./ports/warn.ts";
export {
  isLoopback,
  plainTransportFault,
  refusePlainTransport,
  transportOf,
} from "./ports/plain-transport.ts";
export type { Transport } from "./ports/plain-transport.ts";
