import type { Case } from "./case.ts";
import type { DeliveryFixture, LosableDeliveryFixture } from "./delivery-fixture.ts";
import { DeliverySession } from "./delivery-session.ts";
import type { OpenEventLogOptions } from "./event-log-fixture.ts";

/** A case with a session in which a run and its first turn have begun. */
export function deliveryCase(
  name: string,
  run: (session: DeliverySession) => Promise<void>,
  options?: OpenEventLogOptions,
): Case<DeliveryFixture> {
  return {
    name,
    run: async (fixture) => {
      await using opened = await fixture.open(options);
      await using session = await DeliverySession.open(opened);
      await run(session);
    },
  };
}

export function deliveryLossCase(
  name: string,
  run: (session: DeliverySession, lose: (lane?: number) => Promise<void>) => Promise<void>,
): Case<LosableDeliveryFixture> {
  return {
    name,
    run: async (fixture) => {
      await using opened = await fixture.open();
      await using session = await DeliverySession.open(opened);
      await run(session, (lane) => opened.lose(session.uid, lane));
    },
  };
}
