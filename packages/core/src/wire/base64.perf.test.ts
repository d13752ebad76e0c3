import { expect, it, vi } from "vitest";
import { growth, notQuadratic } from "../../../../tests/kit/growth.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";

vi.setConfig({ testTimeout: patience });

it("writing and reading bytes is linear", async () => {
  const ratio = await growth(500_000, (size) => {
    const bytes = new Uint8Array(size).fill(7);
    return () => expect(decodeBase64(encodeBase64(bytes))?.length).toBe(size);
  });

  expect(ratio).toBeLessThan(notQuadratic);
});
