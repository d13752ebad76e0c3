export type { Case } from "./case.ts";
export { blobStoreCases } from "./blob-store.ts";
export type { BlobStoreFixture, OpenedBlobStore } from "./blob-store-fixture.ts";
export { eventLogCases, eventLogLossCases } from "./event-log.ts";
export type {
  EventLogFixture,
  LosableEventLog,
  LosableEventLogFixture,
  OpenedEventLog,
  OpenEventLogOptions,
} from "./event-log-fixture.ts";
export {
  sessionStoreCases,
  sessionStoreCheckpointCases,
  sessionStoreDriverCases,
  sessionStoreHeadsCases,
} from "./session-store.ts";
export type { OpenedSessionStore, SessionStoreFixture } from "./session-store-fixture.ts";
export { deliveryCases, deliveryLossCases } from "./delivery.ts";
export type {
  DeliveryFixture,
  LosableDelivery,
  LosableDeliveryFixture,
  MovableClock,
  OpenedDelivery,
} from "./delivery-fixture.ts";
export { withKeys } from "./with-keys.ts";
export { countersCases } from "./counters.ts";
export type { CountersFixture, OpenedCounters } from "./counters.ts";
