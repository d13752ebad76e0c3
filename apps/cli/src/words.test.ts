import { describe, expect, it } from "vitest";
import { parseCommand } from "./command/arguments.ts";
import { interrupt } from "./chat/interrupt.ts";
import { chooseModel } from "./model/choose-model.ts";
import { newSessionName } from "./session/defaults.ts";
import { readAnswer, readLine } from "./chat/typed-line.ts";
import { defaultStoreFolder } from "./session/defaults.ts";

describe("the command line", () => {
  it("asks for a new session if it says nothing else", () => {
    expect(parseCommand(["chat"])).toEqual({
      command: "chat",
      options: {
        session: undefined,
        resume: false,
        model: undefined,
        store: undefined,
        json: false,
        tools: ["time", "shell"],
      },
    });
  });

  it("names a session to make or one to resume, not both", () => {
    expect(parseCommand(["chat", "--session", "a"])).toMatchObject({
      options: { session: "a", resume: false },
    });
    expect(parseCommand(["chat", "--resume", "a"])).toMatchObject({
      options: { session: "a", resume: true },
    });
    expect(parseCommand(["chat", "--resume", "a", "--session", "b"]).command).toBe("usage");
  });

  it("chooses tools by name", () => {
    expect(parseCommand(["chat", "--tools", "none"])).toMatchObject({ options: { tools: [] } });
    expect(parseCommand(["chat", "--tools", "shell,shell"])).toMatchObject({
      options: { tools: ["shell"] },
    });
    expect(parseCommand(["chat", "--tools", "rm"])).toMatchObject({ command: "usage" });
  });

  it.each([
    [[]],
    [["talk"]],
    [["chat", "hello"]],
    [["chat", "--sesion", "x"]],
    [["chat", "--model"]],
  ])("is a usage problem if it is %j", (words) => {
    expect(parseCommand(words).command).toBe("usage");
  });
});

describe("a typed line", () => {
  it("is words for the model, or one of our commands", () => {
    expect(readLine("hello")).toEqual({ kind: "prompt", text: "hello" });
    expect(readLine("  ")).toEqual({ kind: "nothing" });
    expect(readLine("/followup and then?")).toEqual({ kind: "follow_up", text: "and then?" });
    expect(readLine("/back 2")).toEqual({ kind: "back", place: 2 });
    expect(readLine("/quit")).toEqual({ kind: "quit" });
    expect(readLine("/bakc").kind).toBe("unknown");
    expect(readLine("/back x").kind).toBe("unknown");
  });

  it("may begin with a path, or with a slash that was doubled", () => {
    expect(readLine("/etc/hosts is odd")).toEqual({ kind: "prompt", text: "/etc/hosts is odd" });
    expect(readLine("//quit")).toEqual({ kind: "prompt", text: "/quit" });
  });

  it.each(["y", "Y", "yes", " yes "])("allows by %j", (line) => {
    expect(readAnswer(line)).toEqual({ answer: "allow" });
  });

  it.each(["", "yep", "yes please", "ye", "ok", "yn", "y y", "what?"])(
    "does not allow by %j",
    (line) => {
      expect(readAnswer(line)).toEqual({ answer: "unclear" });
    },
  );

  it("denies with or without a reason", () => {
    expect(readAnswer("n")).toEqual({ answer: "deny", reason: undefined });
    expect(readAnswer("no, not today")).toEqual({ answer: "deny", reason: "not today" });
  });
});

describe("Ctrl-C", () => {
  const idle = { time: 10_000, last: undefined, running: false, typed: false };

  it("stops a run, clears a line, and else leaves", () => {
    expect(interrupt({ ...idle, running: true, typed: true })).toBe("abort");
    expect(interrupt({ ...idle, typed: true })).toBe("clear");
    expect(interrupt(idle)).toBe("leave");
  });

  it("leaves if it comes twice within two seconds", () => {
    expect(interrupt({ ...idle, running: true, last: 8_001 })).toBe("leave");
    expect(interrupt({ ...idle, running: true, last: 8_000 })).toBe("abort");
  });
});

describe("a model", () => {
  it("is chosen by vendor and name, with the vendor's own variables", () => {
    const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://here" };

    expect(chooseModel("anthropic/a/b", env)).toEqual({
      kind: "vendor",
      vendor: "anthropic",
      name: "a/b",
      baseUrl: "http://here",
    });
    expect(chooseModel(undefined, { ...env, MILLRACE_MODEL: "demo" })).toEqual({ kind: "demo" });
    expect(chooseModel("scripted:./x.mjs", {})).toEqual({ kind: "scripted", file: "./x.mjs" });
  });

  it.each(["anthropic", "anthropic/", "/x", "other/x", "scripted:", "toString/x"])(
    "that is called %j is a problem",
    (name) => {
      expect(chooseModel(name, { ANTHROPIC_API_KEY: "k" }).kind).toBe("problem");
    },
  );

  it("without its key is a problem that says which variable to set", () => {
    expect(chooseModel("gemini/x", { GEMINI_API_KEY: "" })).toMatchObject({
      kind: "problem",
      problem: expect.stringContaining("GEMINI_API_KEY") as string,
    });
  });
});

it("sessions are kept where XDG says, or in the home folder", () => {
  expect(defaultStoreFolder({ XDG_STATE_HOME: "/state" }, "/home/a")).toBe(
    "/state/millrace/sessions",
  );
  const home = "/home/a/.local/state/millrace/sessions";
  expect(defaultStoreFolder({}, "/home/a")).toBe(home);
  expect(defaultStoreFolder({ XDG_STATE_HOME: "relative" }, "/home/a")).toBe(home);
});

it("a new session is called by its day and five letters", () => {
  expect(newSessionName(Date.UTC(2026, 10, 15), () => 0)).toBe("2026-11-15-aaaaa");
  expect(newSessionName(0, () => 0.999_999)).toBe("1970-01-01-99999");
});
