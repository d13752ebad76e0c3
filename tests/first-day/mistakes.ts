/**
 * Mistakes of a first day, as data: the whole program, the first line that it prints, and its exit code.
 * None may end in silence or print a stack of ours, and each line names what to write instead. Rows are
 * compared to the letter: a message that gets worse shows here.
 */
export interface Mistake {
  readonly name: string;
  readonly program: string;
  /** The first line of output, after Node's quotation of the program. See `firstLine`. */
  readonly line: string;
  readonly exit: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Runs by a Node that is too old. Only where packages are installed. */
  readonly oldNode?: true;
}

const agentImport = `import { defineAgent, defineTool, narrateTo } from "@millrace/agent";\n`;
const openai = `${agentImport}import { openai, openaiCompatible } from "@millrace/providers/openai";\n`;
const scripted = `${agentImport}import { call, callRaw, say, scriptedModel, stall } from "@millrace/core/testing";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";\n`;
const zod = `import { z } from "zod";\n`;
const hello = `const agent = defineAgent({ model: openai("gpt-5") });\n`;
const server = `${scripted}import { createServer } from "node:http";
import { createHub, sseSink } from "@millrace/server/hub";
const store = memorySessionStore();
const log = memoryEventLog();\n`;
/** A vendor's server that answers every request alike. */
const vendor = (head: string, body: string): string => `import { createServer } from "node:http";
const vendor = createServer((_, response) => response.writeHead(${head}).end(${body}));
await new Promise((done) => vendor.listen(0, "127.0.0.1", done));
vendor.unref();
const baseUrl = "http://127.0.0.1:" + vendor.address().port + "/v1";\n`;
const toVendor = `const agent = defineAgent({ model: openaiCompatible("llama", { baseUrl }) });
for await (const text of agent.run("hi").textStream()) process.stdout.write(text);`;

const unread =
  "The program did not read this: look at (await run.result).outcome, or use run.text() or run.textStream(), which throw; warnings: false in defineAgent turns this off";
const noKey = "there is no key: pass apiKey, or set OPENAI_API_KEY";
const warned = `(node) [MILLRACE_RUN_FAILED] MillraceWarning: run_<id> failed: missing_key: ${noKey}. ${unread}`;
const schemaFix =
  "pass a schema of zod 4.2 or later, of another Standard Schema library, or fromJsonSchema({ … }) of @millrace/agent/json-schema";
const promptFix =
  "a prompt is a text, or a list of texts and files; earlier items are the transcript of agent.open";
const settingNames =
  "the options are name, model, respond, instructions, notes, tools, policy, limits, observers, hooks, context, retry, stall, price, allLabels, approvalTimeoutMs, parallel, trace, warnings";

/** Programs whose run fails, and what they do about it. */
const unreadFailures: readonly Mistake[] = [
  {
    name: "text of a narration, without a key",
    program: `${openai}${hello}for await (const event of agent.run("hi").narrate())
  if (event.type === "assistant_text_delta") process.stdout.write(event.text);`,
    line: warned,
    exit: 0,
  },
  {
    name: "text of a result, without a key",
    program: `${openai}${hello}const { text } = await agent.run("hi").result;\nprocess.stdout.write(text);`,
    line: warned,
    exit: 0,
  },
  {
    name: "deltas of a run, without a key",
    program: `${openai}${hello}for await (const event of agent.run("hi"))
  if (event.type === "content_delta") console.log(event.delta);`,
    line: warned,
    exit: 0,
  },
  {
    name: "a run that is not awaited",
    program: `${openai}${hello}agent.run("hi");`,
    line: warned,
    exit: 0,
  },
  {
    name: "a stream of text, without a key",
    program: `${openai}${hello}for await (const text of agent.run("hi").textStream()) console.log(text);`,
    line: `MillraceError: ${noKey}`,
    exit: 1,
  },
  {
    name: "the text of a run, without a key",
    program: `${openai}${hello}console.log(await agent.run("hi").text());`,
    line: `MillraceError: ${noKey}`,
    exit: 1,
  },
  {
    name: "another vendor without a key",
    program: `${agentImport}import { anthropic } from "@millrace/providers/anthropic";
console.log(await defineAgent({ model: anthropic("claude-sonnet-5") }).run("hi").text());`,
    line: "MillraceError: there is no key: pass apiKey, or set ANTHROPIC_API_KEY",
    exit: 1,
  },
  {
    name: "a time-out of the caller",
    program: `${scripted}const agent = defineAgent({ model: scriptedModel([[say("so"), stall()]]) });
console.log(await agent.run("hi", { signal: AbortSignal.timeout(50) }).text());`,
    line: "MillraceError: the run was stopped: its signal timed out; what came is in its result",
    exit: 1,
  },
  {
    name: "sending to a closed session",
    program: `${scripted}const session = await defineAgent({ model: scriptedModel([]) }).open();
await session.close();
console.log(await session.send("hi").text());`,
    line: "MillraceError: the session was closed; open it again to go on",
    exit: 1,
  },
];

/** Addresses and options of vendors. */
const vendors: readonly Mistake[] = [
  {
    name: "an address without a scheme",
    program: `${openai}defineAgent({ model: openaiCompatible("llama", { baseUrl: "localhost:11434/v1" }) });`,
    line: 'MillraceError: openaiCompatible: baseUrl is "localhost:11434/v1": begin it with http:// or https://, as in "http://localhost:11434/v1"',
    exit: 1,
  },
  {
    name: "an address without a scheme in the environment",
    program: `${openai}${hello}console.log(await agent.run("hi").text());`,
    env: { OPENAI_API_KEY: "none", OPENAI_BASE_URL: "localhost:8080" },
    line: 'MillraceError: the address "localhost:8080/responses" is no URL: begin baseUrl, or the variable that sets it, with http:// or https://',
    exit: 1,
  },
  {
    name: "a server that does not run",
    program: `${openai}const baseUrl = "http://127.0.0.1:9/v1";\n${toVendor}`,
    line: "MillraceError: no connection: connect ECONNREFUSED 127.0.0.1:9 (at http://127.0.0.1:9/v1/chat/completions)",
    exit: 1,
  },
  {
    name: "a path that the server does not have",
    program: `${openai}${vendor("404", `"Not found"`)}${toVendor}`,
    line: "MillraceError: the vendor answered 404 (at http://127.0.0.1:<port>/v1/chat/completions)",
    exit: 1,
  },
  {
    name: "a key that the server refuses",
    program: `${openai}${vendor("401", `'{"error":{"message":"bad key"}}'`)}${toVendor}`,
    line: "MillraceError: the vendor answered 401: bad key (at http://127.0.0.1:<port>/v1/chat/completions)",
    exit: 1,
  },
  {
    name: "a page instead of an API",
    program: `${openai}${vendor(`200, { "content-type": "text/html" }`, `"<html></html>"`)}${toVendor}`,
    line: "MillraceError: the answer is no stream; is baseUrl right? (at http://127.0.0.1:<port>/v1/chat/completions)",
    exit: 1,
  },
  {
    name: "a model as an option",
    program: `${openai}openai({ model: "gpt-5" });`,
    line: `MillraceError: openai: the model's name is an object with model: pass the vendor's name of the model first, such as "gpt-5", then the options`,
    exit: 1,
  },
  {
    name: "baseURL for baseUrl",
    program: `${openai}openai("gpt-5", { baseURL: "http://localhost:1234/v1" });`,
    line: "MillraceError: openai: baseURL is no option of openai: write it as baseUrl",
    exit: 1,
  },
  {
    name: "a compatible server without an address",
    program: `${openai}openaiCompatible("llama", {});`,
    line: 'MillraceError: openaiCompatible: baseUrl is missing: begin it with http:// or https://, as in "http://localhost:11434/v1"',
    exit: 1,
  },
];

/** Settings of agents. */
const agents: readonly Mistake[] = [
  {
    name: "a model's name instead of a model",
    program: `${agentImport}defineAgent({ model: "gpt-5" });`,
    line: 'MillraceError: defineAgent: model is "gpt-5": pass a model, such as openai("gpt-5") of @millrace/providers/openai',
    exit: 1,
  },
  {
    name: "an agent without a model",
    program: `${agentImport}defineAgent({ instructions: "Be brief." });`,
    line: 'MillraceError: defineAgent: model is missing: pass a model, such as openai("gpt-5") of @millrace/providers/openai',
    exit: 1,
  },
  {
    name: "a system prompt",
    program: `${openai}defineAgent({ model: openai("gpt-5"), system: "Be brief." });`,
    line: "MillraceError: defineAgent: system is no option of defineAgent: write it as instructions",
    exit: 1,
  },
  {
    name: "a misspelt setting",
    program: `${openai}defineAgent({ model: openai("gpt-5"), instruction: "Be brief." });`,
    line: `MillraceError: defineAgent: instruction is no option of defineAgent: ${settingNames}`,
    exit: 1,
  },
  {
    name: "a limit below nothing",
    program: `${openai}defineAgent({ model: openai("gpt-5"), limits: { turns: -1 } });`,
    line: "MillraceError: defineAgent: limits.turns is -1: use a whole number from 0",
    exit: 1,
  },
  {
    name: "tools as an object",
    program: `${openai}defineAgent({ model: openai("gpt-5"), tools: { weather: {} } });`,
    line: "MillraceError: defineAgent: tools is an object with weather: use a list of what defineTool made, such as [weather]",
    exit: 1,
  },
  {
    name: "a tool that defineTool did not make",
    program: `${openai}defineAgent({ model: openai("gpt-5"), tools: [{ name: "weather", execute() {} }] });`,
    line: "MillraceError: defineAgent: tools is a list of 1: use a list of what defineTool made, such as [weather]",
    exit: 1,
  },
  {
    name: "two tools with one name",
    program: `${openai}${zod}const weather = defineTool({ name: "weather", input: z.object({}), run: () => 1 });
defineAgent({ model: openai("gpt-5"), tools: [weather, weather] });`,
    line: "MillraceError: defineAgent: two tools are called weather: a model could not tell them apart; give one another name",
    exit: 1,
  },
  {
    name: "an unknown policy",
    program: `${openai}defineAgent({ model: openai("gpt-5"), policy: [{ tool: "shell", policy: "never" }] });`,
    line: 'MillraceError: defineAgent: the rule for shell says "allow", "ask" or "deny", not "never"',
    exit: 1,
  },
];

/** Definitions of tools. */
const tools: readonly Mistake[] = [
  {
    name: "inputSchema for input",
    program: `${agentImport}${zod}defineTool({ name: "weather", inputSchema: z.object({}), run: () => 1 });`,
    line: `MillraceError: defineTool: inputSchema is no option of defineTool: write it as input, and ${schemaFix}`,
    exit: 1,
  },
  {
    name: "parameters for input",
    program: `${agentImport}defineTool({ name: "weather", parameters: { type: "object" }, run: () => 1 });`,
    line: `MillraceError: defineTool: parameters is no option of defineTool: write it as input, and ${schemaFix}`,
    exit: 1,
  },
  {
    name: "a plain JSON Schema",
    program: `${agentImport}defineTool({ name: "weather", input: { type: "object" }, run: () => 1 });`,
    line: `MillraceError: defineTool: input is an object with type: ${schemaFix}`,
    exit: 1,
  },
  {
    name: "execute for run",
    program: `${agentImport}${zod}defineTool({ name: "weather", input: z.object({}), execute: () => 1 });`,
    line: "MillraceError: defineTool: execute is no option of defineTool: write the function as run",
    exit: 1,
  },
  {
    name: "a tool without a function",
    program: `${agentImport}${zod}defineTool({ name: "weather", input: z.object({}) });`,
    line: 'MillraceError: defineTool: run is missing: pass a function of the input, or "client" if a client answers the calls',
    exit: 1,
  },
  {
    name: "a name with a blank",
    program: `${agentImport}${zod}defineTool({ name: "get weather", input: z.object({}), run: () => 1 });`,
    line: 'MillraceError: defineTool: name is "get weather": use 1 to 64 letters, digits, "_", "-", ".", ":" or "/"',
    exit: 1,
  },
  {
    name: "approval as a flag",
    program: `${agentImport}${zod}defineTool({ name: "weather", input: z.object({}), approve: true, run: () => 1 });`,
    line: 'MillraceError: defineTool: approve is true: use "allow", "ask", "deny" or a function',
    exit: 1,
  },
  {
    name: "no time for a tool",
    program: `${agentImport}${zod}defineTool({ name: "weather", input: z.object({}), limits: { seconds: 0 }, run: () => 1 });`,
    line: "MillraceError: defineTool: limits.seconds is 0: use a number of seconds above 0",
    exit: 1,
  },
  {
    name: "a call of a tool that is not there",
    program: `${scripted}const model = scriptedModel([[call("nope", {})], [say("so")]]);
await defineAgent({ model, observers: [narrateTo(process.stdout)] }).run("hi").result;`,
    line: '► nope: not run: there is no tool "nope"; there are no tools',
    exit: 0,
  },
  {
    name: "arguments that do not fit",
    program: `${scripted}${zod}const add = defineTool({ name: "add", input: z.object({ a: z.number() }), run: ({ a }) => a });
const model = scriptedModel([[call("add", { a: "one" })], [say("so")]]);
await defineAgent({ model, tools: [add], observers: [narrateTo(process.stdout)] }).run("hi").result;`,
    line: "► add: not run: the arguments don't fit the tool's schema: a: Invalid input: expected number, received string",
    exit: 0,
  },
];

/** Prompts, sessions, stores and servers. */
const sessions: readonly Mistake[] = [
  {
    name: "messages as a prompt",
    program: `${openai}${hello}agent.run([{ role: "user", content: "hi" }]);`,
    line: `MillraceError: agent.run: the prompt's [0] is an object with role, content: ${promptFix}`,
    exit: 1,
  },
  {
    name: "no prompt",
    program: `${openai}${hello}agent.run(process.argv[2]);`,
    line: `MillraceError: agent.run: the prompt is missing: ${promptFix}`,
    exit: 1,
  },
  {
    name: "an object as a prompt",
    program: `${openai}${hello}agent.run({ prompt: "hi" });`,
    line: `MillraceError: agent.run: the prompt is an object with prompt: ${promptFix}`,
    exit: 1,
  },
  {
    name: "a controller as a signal",
    program: `${openai}${hello}agent.run("hi", { signal: new AbortController() });`,
    line: "MillraceError: agent.run: signal is an object without fields: use the signal of an AbortController, or AbortSignal.timeout(10_000)",
    exit: 1,
  },
  {
    name: "maxSteps of a run",
    program: `${openai}${hello}agent.run("hi", { maxSteps: 5 });`,
    line: "MillraceError: agent.run: maxSteps is no option of agent.run: write limits: { turns: … }",
    exit: 1,
  },
  {
    name: "a path as a store",
    program: `${openai}${hello}await agent.open({ store: "./sessions" });`,
    line: 'MillraceError: agent.open: store is "./sessions": pass a store, such as fileStore("sessions") of @millrace/stores/file',
    exit: 1,
  },
  {
    name: "sessionId for id",
    program: `${openai}${hello}await agent.open({ sessionId: "a" });`,
    line: "MillraceError: agent.open: sessionId is no option of agent.open: write it as id",
    exit: 1,
  },
  {
    name: "a file store without a folder",
    program: `import { fileStore } from "@millrace/stores/file";\nfileStore({ folder: "sessions" });`,
    line: 'MillraceError: fileStore: the folder is an object with folder: pass the folder of the sessions first, as in fileStore("sessions")',
    exit: 1,
  },
  {
    name: "PostgreSQL without an address",
    program: `import { postgresStore } from "@millrace/stores/postgres";\npostgresStore();`,
    line: 'MillraceError: postgresStore: url is missing: pass one, as in "postgres://localhost/app", or a pool, or set DATABASE_URL',
    exit: 1,
  },
  {
    name: "a PostgreSQL that does not run",
    program: `${openai}import { postgresStore } from "@millrace/stores/postgres";
${hello}const store = postgresStore({ url: "postgres://me:secret@127.0.0.1:9/app" });
await agent.open({ store, log: undefined });`,
    line: "[Error: no connection to PostgreSQL at postgres://127.0.0.1:9/app: connect ECONNREFUSED 127.0.0.1:9]",
    exit: 1,
  },
  {
    name: "Redis without a scheme",
    program: `import { redisLog } from "@millrace/stores/redis";\nredisLog({ url: "localhost:6379" });`,
    line: 'MillraceError: redisLog: url is "localhost:6379": begin it with redis:// or rediss://, as in "redis://localhost:6379"',
    exit: 1,
  },
  {
    name: "an MCP server that does not run",
    program: `import { openMcp } from "@millrace/agent/mcp";\n
import { createServer } from "node:http";
const free = createServer();
await new Promise((done) => free.listen(0, "127.0.0.1", done));
const { port } = free.address();
await new Promise((done) => free.close(done));
await openMcp({ name: "files", url: "http://127.0.0.1:" + port + "/mcp" });`,
    line: "Error: the server files could not be opened at http://127.0.0.1:<port>/mcp: fetch failed: connect ECONNREFUSED 127.0.0.1:<port>",
    exit: 1,
  },
  {
    name: "an MCP command as one text",
    program: `import { openMcp } from "@millrace/agent/mcp";\nawait openMcp({ name: "files", command: "npx server" });`,
    line: 'MillraceError: openMcp: command is "npx server": a command needs a program to start, then its arguments, as a list such as ["npx", "server"]',
    exit: 1,
  },
  {
    name: "a hub without a log",
    program: `${server}createHub({ store });`,
    line: "MillraceError: createHub: log is missing: pass the log that the sessions are driven with",
    exit: 1,
  },
  {
    name: "a date as a clock",
    program: `${server}createHub({ store, log, clock: Date });`,
    line: "MillraceError: createHub: clock is a function: pass a clock, such as systemClock of @millrace/core/memory, or leave it out",
    exit: 1,
  },
  {
    name: "a response as a sink",
    program: `${server}const { uid, sessionId } = await store.create({ sessionId: "a" });
await createHub({ store, log }).deliver({ uid, sessionId }, { writeHead() {} });`,
    line: "MillraceError: hub.deliver: the sink is an object with writeHead: pass sseSink(response)",
    exit: 1,
  },
  {
    name: "two sessions to one response",
    program: `${server}const { uid, sessionId } = await store.create({ sessionId: "a" });
const hub = createHub({ store, log });
const web = createServer(async (_, response) => {
  hub.deliver({ uid, sessionId }, sseSink(response));
  await hub.deliver({ uid, sessionId }, sseSink(response));
}).listen(0, "127.0.0.1", () => fetch("http://127.0.0.1:" + web.address().port));`,
    line: "[MillraceError: hub.deliver: the response has a session already: answer each request with its own response, and deliver to it once]",
    exit: 1,
  },
  {
    name: "a session without the log of its hub",
    program: `${server}const hub = createHub({ store, log });
const session = await defineAgent({ model: scriptedModel([]) }).open({ store });
await session.close();
hub[Symbol.dispose]();`,
    line: "(node) [MILLRACE_OTHER_LOG] MillraceWarning: a session is written with another log than its hub reads: viewers see its text only once it is stored. Pass one and the same log to createHub and to agent.open",
    exit: 0,
  },
  {
    name: "a worker without a store",
    program: `${openai}import { createWorker } from "@millrace/agent/worker";\n${hello}await createWorker({ agent });`,
    line: "MillraceError: createWorker: store is missing: pass a store with an index of drivers, such as postgresStore({ url }) of @millrace/stores/postgres",
    exit: 1,
  },
  {
    name: "an old Node",
    program: `${openai}${hello}console.log(await agent.run("hi").text());`,
    line: '[Error: Millrace needs Node 22.19 or later, and this is Node 20.20.2: install a newer one, such as by "nvm install 24"]',
    exit: 1,
    oldNode: true,
  },
];

/** All mistakes. */
export const mistakes: readonly Mistake[] = [
  ...unreadFailures,
  ...vendors,
  ...agents,
  ...tools,
  ...sessions,
];
