import { itemId, partId } from "@millrace/core/writing";
import type { Item } from "@millrace/core";
import type { ModelResponse } from "@millrace/core/ports";
import { describe, expect, test } from "vitest";
import { Learned } from "./learned.ts";

const model = "openai-responses/gpt";
const item = (response: ModelResponse | undefined): Item => ({
  id: itemId("m1"),
  author: "model",
  model,
  parts: [{ kind: "reasoning", id: partId("r1"), text: "", opaque: { encrypted_content: "x" } }],
  stop: "end",
  ...(response === undefined ? {} : { metadata: { response: { scope: response.scope ?? "" } } }),
});
const openai = (): Learned => new Learned("https://api.openai.com/v1");
const isSent = (learned: Learned, response: ModelResponse | undefined): boolean =>
  learned.withoutForeign([item(response)], model)[0]?.model === model;

describe("what only its vendor can read", () => {
  test("goes back to the same endpoint, with another query or slash", () => {
    const response = openai().scoped({});

    expect(isSent(openai(), response)).toBe(true);
    expect(isSent(new Learned("https://api.openai.com/v1/?a=b"), response)).toBe(true);
    expect(isSent(new Learned("https://mine.openai.azure.com/openai/v1"), response)).toBe(false);
  });

  test("goes back to the same organization, or where that is not known yet", () => {
    const response = openai().scoped({ organization: "org-a" });
    const other = openai();
    expect(isSent(other, response)).toBe(true);

    other.scoped({ organization: "org-b" });
    expect(isSent(other, response)).toBe(false);
    const same = openai();
    same.scoped({ organization: "org-a" });
    expect(isSent(same, response)).toBe(true);
  });

  test("of a version that stored no scope goes back", () => {
    expect(isSent(openai(), undefined)).toBe(true);
  });

  test("names neither the endpoint nor the organization", () => {
    const response = openai().scoped({ organization: "org-a", requestId: "r" });

    expect(response).toEqual({
      requestId: "r",
      scope: expect.stringMatching(/^[0-9a-f]{8}\.[0-9a-f]{8}$/) as string,
    });
  });
});
