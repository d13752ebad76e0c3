import type { Case } from "./case.ts";
import { acceptCases } from "./session-store-accept.ts";
import { appendCases, denseCases } from "./session-store-append.ts";
import { claimCases } from "./session-store-claim.ts";
import { checkpointCases } from "./session-store-checkpoint.ts";
import { clockCases } from "./session-store-clock.ts";
import { commitCases } from "./session-store-commit.ts";
import { contentCases } from "./session-store-content.ts";
import { driverCases } from "./session-store-drivers.ts";
import { engineCases } from "./session-store-engines.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";
import { forkCases } from "./session-store-fork.ts";
import { headsCases } from "./session-store-heads.ts";
import { keyCases } from "./session-store-key.ts";
import { openCases } from "./session-store-open.ts";
import { pageCases } from "./session-store-page.ts";
import { readCases } from "./session-store-read.ts";
import { recordCases } from "./session-store-records.ts";
import { removeCases } from "./session-store-remove.ts";
import { resetCases } from "./session-store-reset.ts";
import { sessionCases } from "./session-store-sessions.ts";
import { settledCases } from "./session-store-settled.ts";
import { statusCases } from "./session-store-status.ts";
import { togetherCases } from "./session-store-together.ts";
import { childCases } from "./session-store-children.ts";
import { tombstoneCases } from "./session-store-tombstone.ts";
import { settlementCases } from "./session-store-settlement.ts";

/** Requirements of every SessionStore. */
export const sessionStoreCases: readonly Case<SessionStoreFixture>[] = [
  ...sessionCases,
  ...recordCases,
  ...statusCases,
  ...pageCases,
  ...removeCases,
  ...childCases,
  ...tombstoneCases,
  ...keyCases,
  ...claimCases,
  ...engineCases,
  ...acceptCases,
  ...settledCases,
  ...openCases,
  ...commitCases,
  ...settlementCases,
  ...appendCases,
  ...togetherCases,
  ...denseCases,
  ...readCases,
  ...contentCases,
  ...forkCases,
  ...resetCases,
  ...clockCases,
];

/** Requirements of a SessionStore that has `heads`. */
export const sessionStoreHeadsCases: readonly Case<SessionStoreFixture>[] = headsCases;

/** Requirements of a SessionStore that has `checkpoint` and `keepCheckpoint`. */
export const sessionStoreCheckpointCases: readonly Case<SessionStoreFixture>[] = checkpointCases;

/** Requirements of a SessionStore that has `drivers`. */
export const sessionStoreDriverCases: readonly Case<SessionStoreFixture>[] = driverCases;
