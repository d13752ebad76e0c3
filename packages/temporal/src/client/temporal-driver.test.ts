import { once } from "node:events";
import { sessionId, sessionUid } from "@millrace/core/writing";
import { expect, it } from "vitest";
import { temporalDriver } from "./temporal-driver.ts";

/** Nothing listens there. */
const nobody = "127.0.0.1:1";

it("a driver without a log warns when Temporal does not answer, and says where to look", async () => {
  await using driver = temporalDriver({
    address: nobody,
    index: { due: () => Promise.resolve([]) },
  });
  const warned = once(process, "warning");

  driver.wake({ uid: sessionUid("u"), sessionId: sessionId("s"), head: 1 });
  const [warning] = (await warned) as [
    Error & { readonly detail?: string; readonly code?: string },
  ];

  expect(warning.code).toBe("MILLRACE_DRIVER_FAILED");
  expect(warning.message).toContain("Temporal does not answer");
  expect(warning.detail).toContain("TEMPORAL_ADDRESS");
});
