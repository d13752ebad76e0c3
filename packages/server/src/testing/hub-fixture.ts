import { emptyState, replay, snapshot } from "@millrace/core/reading";
import { expect } from "vitest";
import { createHub } from "../hub/hub.ts";
import type { Hub } from "../hub/hub.ts";
import type { HubOptions } from "../hub/options.ts";
import type { Client } from "./client.ts";
import { name, SessionFixture } from "./session-fixture.ts";

/** A session and a hub that watches it. */
export interface HubFixture {
  readonly session: SessionFixture;
  readonly hub: Hub;
  /** Advances the clock by 1 ms, which runs all that waits for no timer. */
  readonly settle: () => Promise<void>;
}

export async function openHubFixture(options: Partial<HubOptions> = {}): Promise<HubFixture> {
  const session = await SessionFixture.open();
  const hub = createHub({
    store: session.store,
    log: session.log,
    clock: session.clock,
    ...options,
  });
  return { session, hub, settle: () => session.clock.advance(1) };
}

/** Every client is still watching and shows the state of the stored facts. Lanes are not compared. */
export async function expectStoredState(
  session: SessionFixture,
  clients: readonly Client[],
): Promise<void> {
  const facts = await session.truth.read(session.uid);
  const truth = snapshot(replay(emptyState(session.uid, name), facts));
  for (const client of clients) {
    expect(client.ended()).toBeUndefined();
    expect(snapshot({ ...client.state(), lanes: [] })).toEqual(truth);
  }
}
