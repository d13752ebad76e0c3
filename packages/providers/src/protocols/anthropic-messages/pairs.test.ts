import type { Json, Item, JsonObject, Part } from "@millrace/core";
import { describe, expect, test } from "vitest";
import {
  answers,
  bodyOf,
  call,
  custom,
  item,
  look,
  messagesOf,
  native,
  result,
  textBlock,
  says,
  signed,
  text,
  user,
} from "../../testing/anthropic-items.ts";

describe("tools of the vendor", () => {
  const use = {
    type: "server_tool_use",
    id: "srvtoolu_1",
    name: "web_search",
    input: { query: "x" },
  };
  const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };

  test("go back as they came", () => {
    const upload = { type: "container_upload", file_id: "file_1" };
    const transcript = [
      user("Search."),
      says(
        custom(use),
        custom(found),
        custom(upload),
        custom({ type: "hologram", a: 1 }),
        "Found.",
      ),
      user("And?"),
    ];

    expect(messagesOf(transcript)).toMatchObject([
      {},
      { content: [use, found, upload, { type: "hologram", a: 1 }, textBlock("Found.")] },
      {},
    ]);
  });

  test.each<[string, readonly Part[]]>([
    ["a tool without a result", [custom(use)]],
    ["a result without its tool", [custom(found)]],
    ["a result before its tool", [custom(found), custom(use)]],
    [
      "a tool whose input was no JSON",
      [custom(use, { unusable: "bad_json", raw: "{" }), custom(found)],
    ],
    ["a block that never came whole", [custom(null)]],
    ["a block under another name", [{ ...custom(use), name: "hologram" } as Part, custom(found)]],
    ["an empty summary", [custom({ type: "compaction", content: "" })]],
    [
      "a search that found a tool which is gone",
      [
        custom({ ...use, name: "tool_search_tool_regex" }),
        custom({
          type: "tool_search_tool_result",
          tool_use_id: "srvtoolu_1",
          content: { tool_references: [{ type: "tool_reference", tool_name: "gone" }] },
        }),
      ],
    ],
  ])("do not go back: %s", (_, parts) => {
    expect(messagesOf([user("Search."), says(...parts, "Found."), user("And?")])).toMatchObject([
      {},
      { content: [textBlock("Found.")] },
      {},
    ]);
  });

  test("a second result, and the same tool in a later turn, are left out", () => {
    const transcript = [
      user("Search."),
      says(custom(use), custom(found), custom(found), "One."),
      user("Again."),
      says(custom(use), custom(found), "Two."),
      user("And?"),
    ];

    expect(messagesOf(transcript)).toMatchObject([
      {},
      { content: [use, found, textBlock("One.")] },
      {},
      { content: [textBlock("Two.")] },
      {},
    ]);
  });

  test("of another model stay at home", () => {
    const foreign = item("model", [custom(use), custom(found), text("Hi.")], { model: "other/x" });

    expect(messagesOf([user("Hi"), foreign, user("A")])).toMatchObject([
      {},
      { content: [textBlock("Hi.")] },
      {},
    ]);
  });

  test("a turn that was paused goes on as it is, but for white space at its end", () => {
    const paused = (...parts: readonly Part[]): Item =>
      item("model", parts, { model: native, stop: "paused" });

    expect(messagesOf([user("Search."), paused(text("Sure.\n"), custom(use))])).toEqual([
      { role: "user", content: [textBlock("Search.")] },
      { role: "assistant", content: [textBlock("Sure.\n"), use] },
    ]);
    const late = paused(custom(use), custom(found), text("Sure. \n"));
    expect(messagesOf([user("Search."), late])).toMatchObject([
      {},
      { role: "assistant", content: [use, found, textBlock("Sure.")] },
    ]);
  });

  test.each<[string, readonly Part[], readonly JsonObject[]]>([
    ["only said something", [text("Sure.\n")], [textBlock("Sure.")]],
    ["only thought", [signed("Hm.")], []],
    [
      "began what can't be sent",
      [text("Sure."), custom(use, { unusable: "partial" })],
      [textBlock("Sure.")],
    ],
  ])("a turn that was paused and %s does not go on by itself", (_, parts, content) => {
    const paused = item("model", parts, { model: native, stop: "paused" });

    expect(messagesOf([user("Search."), paused])).toEqual(
      content.length === 0
        ? [{ role: "user", content: [textBlock("Search."), textBlock("(continue)")] }]
        : [
            { role: "user", content: [textBlock("Search.")] },
            { role: "assistant", content },
            { role: "user", content: [textBlock("(continue)")] },
          ],
    );
  });

  test("a turn that was paused is sent alike while it is the last and afterwards", () => {
    const said = item("model", [text("Sure. ")], { model: native, stop: "paused" });
    const searched = item("model", [custom(use), custom(found), text("So: ")], {
      model: native,
      stop: "paused",
    });
    for (const paused of [said, searched]) {
      const before = messagesOf([user("Search."), paused]);
      const after = messagesOf([user("Search."), paused, says("It rains."), user("Thanks.")]);

      const blocks = (messages: Json): readonly unknown[] =>
        (messages as readonly JsonObject[]).flatMap(({ role, content }) =>
          (content as readonly JsonObject[]).map((block) => [role, block]),
        );
      expect(blocks(after).slice(0, blocks(before).length)).toEqual(blocks(before));
    }
  });

  test("a paused turn of which nothing is left does not make the turn before it go on", () => {
    const before = says(custom(use), custom(found), "One.");
    const paused = item("model", [custom({ ...use, id: "srvtoolu_9" }, { unusable: "partial" })], {
      model: native,
      stop: "paused",
    });

    expect(messagesOf([user("Search."), before, paused])).toMatchObject([
      {},
      { role: "assistant", content: [use, found, textBlock("One.")] },
      { role: "user", content: [textBlock("(continue)")] },
    ]);
  });

  test("code that calls ours waits in its container, and is answered later", () => {
    const code = { type: "server_tool_use", id: "srvtoolu_2", name: "code_execution", input: {} };
    const caller = { type: "code_execution_20260120", tool_id: "srvtoolu_2" };
    const done = { type: "code_execution_tool_result", tool_use_id: "srvtoolu_2", content: {} };
    const calling = item("model", [custom(code), call("a", {}, { caller })], {
      model: native,
      stop: "tools",
      evidence: { stop_reason: "tool_use", container: { id: "container_1" } },
    });
    const waiting = [user("Run."), calling, answers(result("a", "one"))];

    const body = bodyOf(waiting, { tools: [look] });
    expect(body["container"]).toBe("container_1");
    expect(body["messages"]).toMatchObject([
      {},
      { content: [code, { type: "tool_use", caller }] },
      {},
    ]);

    const later = bodyOf([...waiting, says(custom(done), "Done."), user("And?")], {
      tools: [look],
    });
    expect(later).not.toHaveProperty("container");
    expect(later["messages"]).toMatchObject([
      {},
      { content: [code, { caller }] },
      {},
      { content: [done, textBlock("Done.")] },
      {},
    ]);

    const other = messagesOf([...waiting, says(call("b")), answers(result("b", "two"))]);
    expect(JSON.stringify(other)).not.toContain("srvtoolu_2");

    const again = item("model", [text("Hm."), custom(code)], { model: native, stop: "paused" });
    expect(JSON.stringify(messagesOf([...waiting, again]))).not.toContain("srvtoolu_2");

    const never = messagesOf([...waiting, says("Never mind."), user("And?")], { tools: [look] });
    expect(never).toMatchObject([{}, { content: [{ type: "tool_use" }] }, {}, {}, {}]);
    expect(JSON.stringify(never)).not.toContain("srvtoolu_2");
  });
});
