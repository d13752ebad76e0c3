/** One mechanism behind a promise of security, and the tests that go red without it. */
export interface SecurityRow {
  /** The id of the promise. */
  readonly promise: string;
  /** What is promised, in a few words. */
  readonly about: string;
  readonly mechanism: string;
  /** Files from the top folder. Each has to be there. Empty: no test of this repository shows it yet. */
  readonly tests: readonly string[];
}

/**
 * The table of docs/security.md, written by `npm run readme`. A row without tests is shown as such: name the
 * file here once it is there.
 */
export const securityRows: readonly SecurityRow[] = [
  {
    promise: "P7",
    about: "what is stored stays as it was",
    mechanism:
      "Session files are only appended to, and each line is sealed over the one before. In PostgreSQL the facts are a hash chain, and the application's role has no right to change or delete them.",
    tests: [
      "packages/stores/src/file/damage.test.ts",
      "packages/stores/src/file/torn.test.ts",
      "packages/stores/src/postgres/verify.test.ts",
    ],
  },
  {
    promise: "P7",
    about: "the application's role can't become the owner",
    mechanism:
      "Functions with the owner's rights have a fixed search path with `pg_temp` last, and qualified names. Row-level security holds on every partition too.",
    tests: [
      "packages/stores/src/postgres/hostile.test.ts",
      "packages/stores/src/postgres/tenants.test.ts",
    ],
  },
  {
    promise: "P7",
    about: "the compose files keep the roles apart",
    mechanism:
      "Tables belong to a role of their own, servers and workers have another, and neither is superuser nor bypasses row-level security. Passwords are random, made with the project. The store warns of a role that the policies do not bind.",
    tests: [
      "tests/create/services.test.ts",
      "tests/create/templates.test.ts",
      "packages/stores/src/postgres/role-warning.test.ts",
    ],
  },
  {
    promise: "P7",
    about: "what is removed is gone, and that it was is not",
    mechanism:
      "`remove` takes the session, the sessions of its sub-agents and their keys in the log, and leaves a tombstone with the time and the person.",
    tests: ["tests/erasure/erasure.test.ts", "packages/core/src/store-kit/tombstone.test.ts"],
  },
  {
    promise: "P14",
    about: "no effect without a trace",
    mechanism: "The intent of a tool's execution is stored before it begins.",
    tests: ["tests/crash/crash.test.ts"],
  },
  {
    promise: "P14",
    about: "the trace names the person and what was approved",
    mechanism:
      "Inputs and answers hold the actor that the serving process knows. The answer to a question and the intent after it hold the hash of what was asked.",
    tests: ["packages/agent/src/session/identity.test.ts", "tests/sessions/questions.test.ts"],
  },
  {
    promise: "P23",
    about: "nothing outlives its call",
    mechanism:
      "The processes of a call are ended as a tree, found by ancestry, session and environment, also those that ignore signals or left their session.",
    tests: ["packages/agent/src/process/process-stops.test.ts", "tests/sessions/abort.test.ts"],
  },
  {
    promise: "P23",
    about: "by default in a PID namespace of its own",
    mechanism:
      "Wherever the system can, a tool's process and a local MCP server run in their own PID namespace, which the kernel ends as a whole. Where it can't, a warning is emitted.",
    tests: [
      "packages/agent/src/process/process-stops.test.ts",
      "packages/agent/src/process/reach.test.ts",
    ],
  },
  {
    promise: "P25",
    about: "what was approved is what runs",
    mechanism:
      "An approval is bound to a hash over session, run, call, tool, its description and schema, and input. The first answer that is stored counts, once. Only the store is believed, never Redis.",
    tests: [
      "packages/agent/src/tool/hash.property.test.ts",
      "tests/sessions/approvals.test.ts",
      "tests/forged/forged.test.ts",
      "tests/attacks/replayed.test.ts",
    ],
  },
  {
    promise: "P25",
    about: "what is shown is what was hashed",
    mechanism:
      "One rendering of a question for terminal, narration and web: complete, escaped, with counts. Where the schema changes the input, both are shown and hashed.",
    tests: [
      "packages/core/src/event/show-question.property.test.ts",
      "tests/sessions/questions.test.ts",
    ],
  },
  {
    promise: "P25",
    about: "tools of strangers ask",
    mechanism:
      "Tools of MCP servers ask unless they are trusted by name, and a description that changed asks anew. A run that read private data and saw untrusted text asks before it acts outside. A tool that is not known is denied.",
    tests: ["packages/agent/src/mcp/trust.test.ts", "packages/agent/src/session/labels.test.ts"],
  },
  {
    promise: "P25",
    about: "in the terminal, only a whole yes allows",
    mechanism:
      "The question shows all of the input. What was being typed when it came is set aside. Without a terminal the answer is no.",
    tests: [
      "apps/cli/src/display/print-question.test.ts",
      "apps/cli/src/control.test.ts",
      "apps/cli/src/pipes.test.ts",
    ],
  },
  {
    promise: "P28",
    about: "tools stay in the workspace",
    mechanism:
      "Not promised yet: there is no sandbox. A tool is code of the application, and the shell of `millrace` asks before each command. Run both in a container if they read what strangers wrote.",
    tests: [],
  },
  {
    promise: "P26",
    about: "access follows records, never names",
    mechanism:
      "A session of a sub-agent is made in the step that stores its call, as a column of its record: a name makes nobody's session a child. It is its root's for every action, and each one is asked about when it is read, also behind a fork. Names of their form are refused at every entry.",
    tests: [
      "tests/attacks/children.test.ts",
      "tests/attacks/matrix.test.ts",
      "tests/attacks/access-histories.test.ts",
    ],
  },
  {
    promise: "P26",
    about: "`authorize` is asked about what will be",
    mechanism:
      "Making, changing and forking a session ask with the metadata that it would have, and with the record as it is.",
    tests: ["packages/server/src/serve/authorize.test.ts"],
  },
  {
    promise: "P26",
    about: "what is refused looks like what is not there",
    mechanism:
      "Without `read` a session is the one 404, at the same time as a missing one. Missing names are counted by user, and names that are taken too.",
    tests: [
      "tests/attacks/matrix.test.ts",
      "packages/server/src/http/grid.test.ts",
      "packages/server/src/serve/odd-requests.test.ts",
    ],
  },
  {
    promise: "P26",
    about: "one caller takes little of the server",
    mechanism:
      "Bodies are bounded by route, by values and by what a user and a process hold at once, and a large one is read in several turns. Requests, bytes, streams, spend and wrong credentials are counted.",
    tests: [
      "tests/attacks/bounded.test.ts",
      "packages/server/src/serve/bad-input.test.ts",
      "packages/server/src/serve/raw-input.test.ts",
      "packages/server/src/serve/odd-requests.test.ts",
      "tests/web/shared-limits.test.ts",
    ],
  },
  {
    promise: "P26",
    about: "what we ship to start with is closed",
    mechanism:
      "A project of `npm create millrace` serves its own machine until a sign-in is chosen: with NODE_ENV=production it refuses to start, with a sentence. All users together have a limit on spend. Settings of the environment are checked like options.",
    tests: ["tests/create/sign-in.test.ts", "tests/environment/environment.test.ts"],
  },
  {
    promise: "P26",
    about: "no request ends a process",
    mechanism:
      "The server, the reference app and each template have one guard around all that answers; a target that is no address is 400. In a page, what can't be shown takes nothing else with it.",
    tests: [
      "tests/attacks/raw-requests.test.ts",
      "packages/server/src/serve/last-guard.test.ts",
      "tests/app/inert.test.ts",
    ],
  },
  {
    promise: "P27",
    about: "a page of another origin gets nothing",
    mechanism:
      "Unsafe requests that a browser may have signed by itself need the server's own origin, or a listed one, and JSON; nothing is readable by other origins unless it is listed. A name that is pointed here is refused by its host: in local mode always, else with `hosts`.",
    tests: ["tests/browser/other-origin.test.ts", "tests/browser/chat-attacks.test.ts"],
  },
  {
    promise: "P29",
    about: "secrets stay home",
    mechanism:
      "The exact values that the transport sends and those that are registered are taken out of causes, error bodies, log lines, spans and crash output, also in base64, hex and URL encoding. In content they are left and raise a notice.",
    tests: [
      "tests/secrets/content.test.ts",
      "tests/secrets/echoed-key.test.ts",
      "tests/secrets/secrets.test.ts",
      "tests/secrets/transport-bounds.test.ts",
      "tests/secrets/temporal.test.ts",
      "tests/temporal/secrets.test.ts",
      "packages/providers/src/google-token.test.ts",
    ],
  },
  {
    promise: "P29",
    about: "a history of Temporal has no arguments",
    mechanism:
      "Workflows get ids, names and numbers. A question is known by its id, and no hash or print of a call's arguments is in the history, by which short ones could be found. What an activity throws is cleaned of registered secrets before Temporal stores or logs it.",
    tests: [
      "packages/temporal/src/workflow/guessed-arguments.test.ts",
      "tests/temporal/history.test.ts",
      "tests/temporal/secrets.test.ts",
    ],
  },
  {
    promise: "P29",
    about: "a child has no environment but the one it is given",
    mechanism:
      "Processes are started with a short list of variables. In their own PID namespace they can't read the parent's from `/proc`.",
    tests: ["packages/agent/src/process/run-process.test.ts"],
  },
  {
    promise: "P29",
    about: "a key goes to the host that the user named",
    mechanism:
      "No variable of one vendor is read for another's server. In the command line a session's file can't name code, nor in a folder of `--store` an address; a key for a server of one's own is not sent in the clear but to this machine.",
    tests: ["apps/cli/src/words.test.ts", "apps/cli/src/prompts.test.ts"],
  },
  {
    promise: "P30",
    about: "text is inert in a terminal",
    mechanism:
      "One function writes text of models, tools and files to terminals. It lets no control character through, and our own mark of notices is replaced in it.",
    tests: [
      "packages/agent/src/observe/terminal-text.property.test.ts",
      "apps/cli/src/control.test.ts",
      "packages/agent/src/mcp/visible-text.property.test.ts",
    ],
  },
  {
    promise: "P30",
    about: "text is inert in a page",
    mechanism:
      "In `examples/chat` all text is a text node, questions are shown by `showQuestion`, and a policy lets the page load and run nothing but its own files. Not promised for pages that others write.",
    tests: ["tests/browser/inert.test.ts"],
  },
  {
    promise: "P30",
    about: "text is inert in the reference app",
    mechanism:
      "In `apps/chat` text of models is Markdown without HTML. Links lead to the web or mail, and ask before they open; no remote image is loaded; hidden and direction-changing characters are shown by their number. The policy has `default-src 'self'`, and browsers report what it stops.",
    tests: [
      "tests/app/inert.test.ts",
      "tests/browser/chat-attacks.test.ts",
      "packages/client/src/parts/visible-text.test.ts",
    ],
  },
  {
    promise: "P30",
    about: "no frame, line or cursor can be forged",
    mechanism:
      "One encoder of server-sent events, whose data are JSON without line feeds. JSON lines escape what some readers take for an end of line.",
    tests: [
      "packages/core/src/wire/sse.property.test.ts",
      "packages/agent/src/observe/json-lines.test.ts",
    ],
  },
  {
    promise: "P31",
    about: "the inside network",
    mechanism:
      "Not promised yet: no tool that fetches comes with Millrace. Redirects of vendors' answers are not followed.",
    tests: ["packages/providers/src/transport/transport.test.ts"],
  },
  {
    promise: "P31",
    about: "no plain transport but to this machine",
    mechanism:
      "Models, MCP servers, Redis and PostgreSQL without TLS are refused outside loopback, unless the option for it is named.",
    tests: [
      "packages/core/src/ports/plain-transport.test.ts",
      "packages/providers/src/plain.test.ts",
      "packages/agent/src/mcp/plain.test.ts",
      "packages/stores/src/redis/plain.test.ts",
      "packages/stores/src/postgres/plain.test.ts",
    ],
  },
  {
    promise: "P32",
    about: "what is installed is what was built",
    mechanism:
      "No published package runs a script when it is installed. Core depends on nothing, and all third-party code is in a table that is checked against manifests and imports. Versions are pinned by a lock file. Not yet: signed provenance.",
    tests: ["scripts/check-manifests.test.ts", "scripts/check-layers.test.ts"],
  },
];
