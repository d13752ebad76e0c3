import type { Answers } from "./choices.ts";
import { pins } from "./pins.ts";
import type { Pinned } from "./pins.ts";

/** The manifest of a project. `version` is ours: the packages and the creator are released together. */
export function manifestOf(name: string, answers: Answers, version: string): object {
  const { template, vendor, run } = answers;
  const ours = [
    "agent",
    "client",
    "core",
    "dialects",
    ...(vendor === "none" ? [] : ["providers"]),
    "server",
    "stores",
    ...(run === "temporal" ? ["temporal"] : []),
  ];
  const others: readonly Pinned[] = [
    ...(run === "local" ? [] : (["@redis/client", "pg"] as const)),
    ...(run === "temporal" ? temporal : []),
    ...(template === "web" ? (["react", "react-dom"] as const) : []),
    "zod",
  ];
  const forDevelopment: readonly Pinned[] = [
    "@types/node",
    ...(template === "web" ? (["@types/react", "@types/react-dom"] as const) : []),
    "typescript",
    ...(template === "web" ? (["vite"] as const) : []),
  ];
  return {
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: scriptsOf(answers),
    dependencies: {
      ...Object.fromEntries(ours.map((each) => [`@millrace/${each}`, version])),
      ...pinned(others),
    },
    devDependencies: pinned(forDevelopment),
    engines: { node: ">=22.19" },
  };
}

const temporal = [
  "@temporalio/activity",
  "@temporalio/client",
  "@temporalio/common",
  "@temporalio/worker",
  "@temporalio/workflow",
] as const;

const node = "node --env-file-if-exists=.env";

function scriptsOf({ template, run, "sign-in": signIn }: Answers): object {
  const program = template === "terminal" ? "src/terminal.ts" : "src/server.ts";
  return {
    dev: `${node} --watch --watch-preserve-output ${program} --dev`,
    ...(template === "web" && { build: "vite build" }),
    start: `${node} ${program}`,
    ...(template === "terminal" && { serve: `${node} src/server.ts` }),
    ...(run !== "local" && { migrate: "node --env-file-if-exists=.env.owner src/migrate.ts" }),
    ...(run === "temporal" && { worker: `${node} src/worker.ts` }),
    ...((signIn === "keys" || signIn === "session") && { user: "node src/make-user.ts" }),
    test: "node --test",
    typecheck: "tsc",
  };
}

function pinned(names: readonly Pinned[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, pins[name]]));
}

/** How a project is type-checked: strictly, and with syntax that Node runs as it is. */
export function tsconfigOf({ template }: Answers): object {
  const isWeb = template === "web";
  return {
    compilerOptions: {
      target: "es2024",
      lib: ["es2024", "esnext.disposable", ...(isWeb ? ["dom", "dom.iterable"] : [])],
      types: ["node"],
      module: "nodenext",
      ...(isWeb && { jsx: "react-jsx" }),
      strict: true,
      exactOptionalPropertyTypes: true,
      noFallthroughCasesInSwitch: true,
      noImplicitReturns: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      erasableSyntaxOnly: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      noEmit: true,
    },
    include: ["src", "test"],
  };
}
