export type { Cuts, RandomCuts } from "./cuts.ts";
export { startFaultProxy } from "./fault-proxy.ts";
export type { FaultProxy, FaultProxyOptions } from "./fault-proxy.ts";
export type { CutKind, Direction, Faults, Slice } from "./faults.ts";
export type { FaultConnection, Traffic } from "./faulty-connection.ts";
export { startRecorder } from "./recorder.ts";
export type { Recorded, Recorder, RecorderOptions } from "./recorder.ts";
export { replayRecording } from "./recording.ts";
export type { Recording, ReplayOptions } from "./recording.ts";
export { startVendorServer } from "./vendor-server.ts";
export type { VendorServer, VendorServerOptions } from "./vendor-server.ts";
export type {
  HttpReply,
  Pacing,
  RawReply,
  ReplyEnding,
  ReplyOutcome,
  VendorReply,
  VendorRequest,
  VendorScript,
} from "./vendor-reply.ts";
