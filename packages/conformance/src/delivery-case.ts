import type { Case } from "./case.ts";
import type { DeliveryFixture, LosableDeliveryFixture } from "./delivery-fixture.ts";
import { Stage } from "./delivery-stage.ts";
import type { OpenEventLogOptions } from "./event-log-fixture.ts";

/** A case with a session in which a run and its first turn have begun. */
export function deliveryCase(
  name: string,
  run: (stage: Stage) => Promise<void>,
  options?: OpenEventLogOptions,
): Case<DeliveryFixture> {
  return {
    name,
    run: async (fixture) => {
      await using opened = await fixture.open(options);
      await using stage = await Stage.open(opened);
      await run(stage);
    },
  };
}

export function deliveryLossCase(
  name: string,
  run: (stage: Stage, lose: (lane?: number) => Promise<void>) => Promise<void>,
): Case<LosableDeliveryFixture> {
  return {
    name,
    run: async (fixture) => {
      await using opened = await fixture.open();
      await using stage = await Stage.open(opened);
      await run(stage, (lane) => opened.lose(stage.uid, lane));
    },
  };
}
