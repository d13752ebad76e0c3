export { openTelemetry } from "./open-telemetry.ts";
export type { OpenTelemetryOptions, TelemetryObserver } from "./open-telemetry.ts";
