import { emptyState, replay, snapshot } from "@millrace/core/reading";
import { expect } from "vitest";
import { createHub } from "../hub/hub.ts";
import type { Hub, HubOptions } from "../hub/hub.ts";
import type { Client } from "./client.ts";
import { name, Scene } from "./scene.ts";

/** A session and a hub that watches it. */
export interface HubStage {
  readonly scene: Scene;
  readonly hub: Hub;
  /** Lets everything happen that waits for no time. */
  readonly settle: () => Promise<void>;
}

export async function stage(options: Partial<HubOptions> = {}): Promise<HubStage> {
  const scene = await Scene.open();
  const hub = createHub({ store: scene.store, log: scene.log, clock: scene.clock, ...options });
  return { scene, hub, settle: () => scene.clock.advance(1) };
}

/** What the store says that everybody knows in the end. Lanes are not in it. */
export async function expectTrue(scene: Scene, clients: readonly Client[]): Promise<void> {
  const facts = await scene.truth.read(scene.uid);
  const truth = snapshot(replay(emptyState(scene.uid, name), facts));
  for (const client of clients) {
    expect(client.ended()).toBeUndefined();
    expect(snapshot({ ...client.state(), lanes: [] })).toEqual(truth);
  }
}
