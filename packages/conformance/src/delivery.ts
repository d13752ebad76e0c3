import type { Case } from "./case.ts";
import { announcementCases } from "./delivery-announce.ts";
import { attemptCases, zombieLossCases } from "./delivery-attempts.ts";
import { cursorCases } from "./delivery-cursor.ts";
import type { DeliveryFixture, LosableDeliveryFixture } from "./delivery-fixture.ts";
import { joinCases } from "./delivery-join.ts";
import { laneCases } from "./delivery-lanes.ts";
import { lossCases, outageCases } from "./delivery-loss.ts";
import { randomCases } from "./delivery-random.ts";
import { resetCases } from "./delivery-reset.ts";
import { resumeCases } from "./delivery-resume.ts";
import { speedCases } from "./delivery-speed.ts";

/** Requirements of a store and a log together. */
export const deliveryCases: readonly Case<DeliveryFixture>[] = [
  ...joinCases,
  ...resumeCases,
  ...cursorCases,
  ...announcementCases,
  ...outageCases,
  ...attemptCases,
  ...laneCases,
  ...resetCases,
  ...speedCases,
];

/** Requirements of both when the log loses data. */
export const deliveryLossCases: readonly Case<LosableDeliveryFixture>[] = [
  ...lossCases,
  ...zombieLossCases,
  ...randomCases,
];
