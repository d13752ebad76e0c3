// For authors of protocols, of framings, and of bridges to other frameworks.
export type { Framed, Framer, Framing, VendorEvent } from "./framing/framing.ts";
export type {
  ClosePart,
  Halt,
  Operation,
  Protocol,
  ReplyContext,
  RequestTarget,
  StreamEnd,
  Translated,
  WireRequest,
} from "./protocol.ts";

// A transcript becomes a request.
export { askFor } from "./protocols/output.ts";
export { callIdsOf, chooseCallId } from "./protocols/call-id.ts";
export { optionsOf } from "./protocols/part-options.ts";
export type { OptionRules } from "./protocols/part-options.ts";
export { prepare, resultText } from "./protocols/prepare.ts";
export type { ModelTurn, ToolTurn, Turn, UserPart } from "./protocols/prepare.ts";
export { refusalCause, RequestRefusal } from "./protocols/refusal.ts";
export { applySettings } from "./protocols/settings.ts";
export type { AppliedSettings } from "./protocols/settings.ts";
export type {
  SettingContext,
  InherentSetting,
  RefusedSetting,
  SentSetting,
  SettingName,
  SettingRow,
  SettingRows,
  SettingsTable,
} from "./settings.ts";
export { wireNames, withOwnNames, withWireNames } from "./protocols/tool-names.ts";
export type { WireNames } from "./protocols/tool-names.ts";

// A vendor's operations become deltas.
export { cutEnding, ReplyReader } from "./reply.ts";
export type { DeltaSink, Reading, ReplyEnd } from "./reply.ts";

// Failures and their causes.
export { codeOfError, failure, vendorFailure } from "./failure.ts";
export type { FailureCode } from "./failure.ts";
export { networkFailure } from "./transport/errors.ts";
export { excerpt } from "./transport/redact.ts";
export { errorIn, statusFailure } from "./transport/vendor-error.ts";
export { withRetryTime } from "./vendor-delay.ts";
