import { describe, expect, it } from "vitest";
import { parseCommand } from "./command/arguments.ts";
import { interrupt } from "./chat/chat.ts";
import { chooseModel } from "./model/choose-model.ts";
import { newSessionName } from "./session/defaults.ts";
import { goOnCommand } from "./session/go-on.ts";
import { readAnswer, readLine } from "./chat/typed-line.ts";
import { defaultStoreFolder } from "./session/defaults.ts";

describe("the command line", () => {
  it("asks for a new session if it says nothing else", () => {
    expect(parseCommand(["chat"])).toEqual({
      command: "chat",
      options: {
        prompt: undefined,
        print: false,
        session: undefined,
        resume: false,
        model: undefined,
        store: undefined,
        json: undefined,
        tools: ["time", "shell"],
      },
    });
    expect(parseCommand([])).toEqual(parseCommand(["chat"]));
  });

  it.each([
    [["hello there"], { prompt: "hello there", print: false }],
    [["chat", "hello"], { prompt: "hello", print: false }],
    [["-p", "hello"], { prompt: "hello", print: true }],
    [["hello", "--print"], { prompt: "hello", print: true }],
    [["-p", "--", "--json"], { prompt: "--json", print: true, json: undefined }],
    [["-p", "--json", "hello"], { prompt: "hello", json: "result" }],
    [["--json=events", "chat", "chat"], { prompt: "chat", json: "events" }],
  ])("names a prompt and how it is answered: %j", (words, options) => {
    expect(parseCommand(words)).toMatchObject({ command: "chat", options });
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
    [["two", "words"]],
    [["chat", "two", "words"]],
    [[" "]],
    [["--json=all"]],
    [["--list", "hello"]],
    [["--store", ""]],
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
      name: "anthropic/a/b",
      vendor: "anthropic",
      model: "a/b",
      baseUrl: "http://here",
    });
    expect(chooseModel(undefined, { ...env, MILLRACE_MODEL: "demo" }).kind).toBe("demo");
    expect(chooseModel("scripted:./x.mjs", {})).toMatchObject({
      kind: "scripted",
      file: "./x.mjs",
    });
  });

  it("is one of an OpenAI-compatible server, on this machine unless an address names another", () => {
    const ollama = { kind: "server", model: "qwen3:8b", baseUrl: "http://127.0.0.1:11434/v1" };
    expect(chooseModel("ollama/qwen3:8b", {})).toMatchObject(ollama);
    expect(chooseModel("vllm/org/name", {})).toMatchObject({
      model: "org/name",
      baseUrl: "http://127.0.0.1:8000/v1",
    });
    expect(
      chooseModel("vllm/m", { VLLM_BASE_URL: "https://gpu.test/v1", VLLM_API_KEY: "k" }),
    ).toMatchObject({ baseUrl: "https://gpu.test/v1", apiKey: "k" });
    expect(
      chooseModel("https://gpu.test/v1#org/name:8b", {
        MILLRACE_API_KEY: "k",
        OPENAI_API_KEY: "o",
      }),
    ).toMatchObject({ model: "org/name:8b", baseUrl: "https://gpu.test/v1", apiKey: "k" });
  });

  it("gets no key in the clear, except on this machine", () => {
    const env = { MILLRACE_API_KEY: "k" };

    expect(chooseModel("http://gpu.test/v1#m", env).kind).toBe("problem");
    expect(chooseModel("http://127.0.0.1.gpu.test/v1#m", env).kind).toBe("problem");
    expect(chooseModel("http://gpu.test/v1#m", {}).kind).toBe("server");
    for (const host of ["localhost:1", "127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "LOCALHOST:1"]) {
      expect(chooseModel(`http://${host}/v1#m`, env)).toMatchObject({ apiKey: "k" });
    }
  });

  it("is the session's own, unless its file names code or, in another folder, an address", () => {
    const env = { MILLRACE_MODEL: "openai/x", OPENAI_API_KEY: "k" };
    const address = "http://127.0.0.1:1/v1#m";
    const own = (remembered: string) =>
      chooseModel(undefined, env, { remembered, ownFolder: true });
    const other = (remembered: string) =>
      chooseModel(undefined, env, { remembered, ownFolder: false });

    expect(own("demo").kind).toBe("demo");
    expect(other("demo").kind).toBe("demo");
    expect(other("ollama/m").kind).toBe("server");
    expect(own(address).kind).toBe("server");
    expect(other(address)).toMatchObject({
      kind: "problem",
      problem: expect.stringContaining("--model") as string,
    });
    expect(own("scripted:/tmp/x.mjs").kind).toBe("problem");
    expect(
      chooseModel("demo", env, { remembered: "scripted:/tmp/x.mjs", ownFolder: false }).kind,
    ).toBe("demo");
  });

  it.each([
    "anthropic",
    "anthropic/",
    "/x",
    "other/x",
    "scripted:",
    "toString/x",
    "ollama/",
    "hasOwn/x",
    "http://",
    "http://host/v1",
    "http://host/v1#",
    "https://user:word@host/v1#m",
    "https://host/v1?key=k#m",
    "ftp://host/v1#m",
  ])("that is called %j is a problem", (name) => {
    expect(chooseModel(name, { ANTHROPIC_API_KEY: "k" }).kind).toBe("problem");
  });

  it("without its key is a problem that says which variable to set", () => {
    expect(chooseModel("gemini/x", { GEMINI_API_KEY: "" })).toMatchObject({
      kind: "problem",
      problem: expect.stringContaining("GEMINI_API_KEY") as string,
    });
  });
});

it("the line to go on by has all that differs from what is chosen by itself, quoted for a shell", () => {
  const plain = { model: undefined, store: undefined, tools: ["time", "shell"] } as const;

  expect(goOnCommand("a-1", plain)).toBe("millrace chat --resume a-1");
  expect(goOnCommand("it's", { model: "http://h/v1#m", store: "my folder", tools: [] })).toBe(
    String.raw`millrace chat --resume 'it'\''s' --model http://h/v1#m --store 'my folder' --tools none`,
  );
  expect(goOnCommand("#1", { ...plain, tools: ["time"] })).toBe(
    "millrace chat --resume '#1' --tools time",
  );
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
