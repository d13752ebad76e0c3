import { sessionId, sessionUid } from "@millrace/core/writing";
import { expect, it } from "vitest";
import { temporalDriver } from "./temporal-driver.ts";

type Warning = Error & { readonly detail?: string; readonly code?: string };

/** Nothing listens there. */
const nobody = "127.0.0.1:1";

it("a driver without a log warns when Temporal does not answer, and says where to look", async () => {
  await using driver = temporalDriver({
    address: nobody,
    index: { due: () => Promise.resolve([]) },
  });
  // A run of another file in this process may warn too.
  const warned = new Promise<Warning>((resolve) => {
    process.on("warning", function listen(warning: Warning) {
      if (warning.code !== "MILLRACE_DRIVER_FAILED") return;
      process.off("warning", listen);
      resolve(warning);
    });
  });

  driver.wake({ uid: sessionUid("u"), sessionId: sessionId("s"), head: 1 });
  const warning = await warned;

  expect(warning.message).toContain("Temporal does not answer");
  expect(warning.detail).toContain("TEMPORAL_ADDRESS");
});
