import type { Case } from "./case.ts";
import { announceCases, nudgeCases } from "./event-log-announce.ts";
import { apartCases, removeCases } from "./event-log-apart.ts";
import { contentCases } from "./event-log-content.ts";
import type { EventLogFixture, LosableEventLogFixture } from "./event-log-fixture.ts";
import { headCases } from "./event-log-heads.ts";
import { openingCases, orderCases } from "./event-log-order.ts";
import { concurrencyCases, lossCases } from "./event-log-race.ts";
import { readCases, retentionCases } from "./event-log-read.ts";
import { tailCases } from "./event-log-tail.ts";
import { watchedCases } from "./event-log-watched.ts";

/** Requirements of every EventLog. */
export const eventLogCases: readonly Case<EventLogFixture>[] = [
  ...orderCases,
  ...openingCases,
  ...readCases,
  ...retentionCases,
  ...contentCases,
  ...tailCases,
  ...watchedCases,
  ...announceCases,
  ...headCases,
  ...nudgeCases,
  ...apartCases,
  ...removeCases,
  ...concurrencyCases,
];

/** Requirements of every EventLog that can lose data on demand. */
export const eventLogLossCases: readonly Case<LosableEventLogFixture>[] = lossCases;
