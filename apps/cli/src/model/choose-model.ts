import { resolve } from "node:path";
import { isLoopback } from "@millrace/core/checks";

type Env = Readonly<Record<string, string | undefined>>;

/** Which model was chosen, and by what it is made. `name` is what the user calls it. */
export type ModelChoice =
  | { readonly kind: "demo"; readonly name: string }
  | { readonly kind: "scripted"; readonly name: string; readonly file: string }
  | {
      readonly kind: "vendor";
      readonly name: string;
      readonly vendor: Vendor;
      readonly model: string;
      readonly baseUrl: string | undefined;
    }
  /** An OpenAI-compatible server. */
  | {
      readonly kind: "server";
      readonly name: string;
      readonly model: string;
      readonly baseUrl: string;
      readonly apiKey: string | undefined;
    }
  | ModelProblem;

interface ModelProblem {
  readonly kind: "problem";
  readonly problem: string;
}

export type Vendor = keyof typeof vendors;

/** The variables are those of the vendors' own libraries. */
const vendors = {
  anthropic: { key: "ANTHROPIC_API_KEY", address: "ANTHROPIC_BASE_URL" },
  openai: { key: "OPENAI_API_KEY", address: "OPENAI_BASE_URL" },
  gemini: { key: "GEMINI_API_KEY", address: "GEMINI_BASE_URL" },
} as const;

/** Servers that people run themselves, at their usual ports on this machine. They need no key. */
const servers = {
  ollama: { key: "OLLAMA_API_KEY", address: "OLLAMA_BASE_URL", own: "http://127.0.0.1:11434/v1" },
  vllm: { key: "VLLM_API_KEY", address: "VLLM_BASE_URL", own: "http://127.0.0.1:8000/v1" },
} as const;

const fallback = "anthropic/claude-sonnet-5";
const forms =
  "anthropic/<name>, openai/<name>, gemini/<name>, ollama/<name>, vllm/<name>, http://<host>/v1#<name>, scripted:<file> or demo";

/** The model of a session that is gone on with. */
interface SessionModel {
  /** The model that it began with. */
  readonly remembered: string | undefined;
  /**
   * Whether the session is in the user's own folder of sessions. One that `--store` names may come from
   * elsewhere, so an address in it is not connected to unless the user names it.
   */
  readonly ownFolder: boolean;
}

/**
 * Reads which model is wanted, and whether the key for it is there. What the user names by `--model` goes
 * before the session's own, and that before `MILLRACE_MODEL` and the default.
 */
export function chooseModel(
  option: string | undefined,
  env: Env,
  { remembered, ownFolder }: SessionModel = { remembered: undefined, ownFolder: true },
): ModelChoice {
  if (option !== undefined) return readModel(option, env);
  if (remembered === undefined) return readModel(env["MILLRACE_MODEL"] || fallback, env);
  if (isTakenFromSession(remembered, ownFolder)) return readModel(remembered, env);
  return problem(
    `the session's file names the model ${JSON.stringify(remembered)}: to use it, give --model yourself`,
  );
}

/**
 * Whether a model is used because a session's file names it. Such a file is data: it neither runs code
 * nor chooses where prompts and keys are sent.
 */
export function isTakenFromSession(model: string, ownFolder: boolean): boolean {
  return !model.startsWith("scripted:") && (ownFolder || readAddress(model) === undefined);
}

function readModel(wanted: string, env: Env): ModelChoice {
  if (wanted === "demo") return { kind: "demo", name: wanted };
  if (wanted.startsWith("scripted:")) {
    const file = wanted.slice("scripted:".length);
    return file === ""
      ? problem("the file is missing: --model scripted:<file>")
      : { kind: "scripted", name: `scripted:${resolve(file)}`, file };
  }
  if (/^https?:/i.test(wanted)) {
    const address = readAddress(wanted);
    return address === undefined
      ? problem(
          `${JSON.stringify(wanted)} is no model: write http://<host>/v1#<name>, without user or query`,
        )
      : server({ name: wanted, ...address, keyVariable: "MILLRACE_API_KEY" }, env);
  }
  const slash = wanted.indexOf("/");
  const before = wanted.slice(0, slash);
  const model = wanted.slice(slash + 1);
  const isNamed = slash > 0 && model !== "";
  if (isNamed && isKey(vendors, before)) return vendorModel(wanted, before, model, env);
  if (isNamed && isKey(servers, before)) {
    const { key, address, own } = servers[before];
    const baseUrl = env[address] || own;
    const wrong = addressProblem(address, baseUrl);
    if (wrong !== undefined) return problem(wrong);
    return server({ name: wanted, model, baseUrl, keyVariable: key }, env);
  }
  return problem(`there is no model ${JSON.stringify(wanted)}: --model takes ${forms}`);
}

function vendorModel(wanted: string, vendor: Vendor, model: string, env: Env): ModelChoice {
  const { key, address } = vendors[vendor];
  if (!env[key]) {
    return problem(
      `there is no key for ${wanted}: set ${key}. To try it without a key: --model demo`,
    );
  }
  const baseUrl = env[address] || undefined;
  const wrong = baseUrl === undefined ? undefined : addressProblem(address, baseUrl);
  if (wrong !== undefined) return problem(wrong);
  return { kind: "vendor", name: wanted, vendor, model, baseUrl };
}

function server(
  named: {
    readonly name: string;
    readonly model: string;
    readonly baseUrl: string;
    readonly keyVariable: string;
  },
  env: Env,
): ModelChoice {
  const { name, model, baseUrl, keyVariable } = named;
  const apiKey = env[keyVariable] || undefined;
  const { isLoopback, protocol } = readAddress(`${baseUrl}#${model}`) ?? {};
  if (apiKey !== undefined && protocol === "http:" && isLoopback !== true) {
    return problem(
      `the key in ${keyVariable} would be sent to ${baseUrl} in the clear: use https, or unset it`,
    );
  }
  return { kind: "server", name, model, baseUrl, apiKey };
}

function isKey<Table extends object>(table: Table, name: string): name is string & keyof Table {
  return Object.hasOwn(table, name);
}

function problem(text: string): ModelProblem {
  return { kind: "problem", problem: text };
}

/** A model of a server at an address: `http://127.0.0.1:1234/v1#name`. */
interface ModelAddress {
  readonly baseUrl: string;
  readonly model: string;
  readonly protocol: "http:" | "https:";
  /** Whether it never leaves this machine. */
  readonly isLoopback: boolean;
}

/**
 * Reads an address of a model. The name is what follows `#`, as it is written. Undefined if there is no
 * name, or if the address is none of HTTP. A user, a password and a query are refused: they are
 * credentials, and an address is stored with its session.
 */
function readAddress(text: string): ModelAddress | undefined {
  const hash = text.indexOf("#");
  const baseUrl = text.slice(0, hash);
  const model = text.slice(hash + 1);
  if (hash < 0 || model === "" || !URL.canParse(baseUrl)) return undefined;
  const { protocol, username, password, search, hostname } = new URL(baseUrl);
  if (protocol !== "http:" && protocol !== "https:") return undefined;
  if (username !== "" || password !== "" || search !== "") return undefined;
  return { baseUrl, model, protocol, isLoopback: isLoopback(hostname) };
}

/** What is wrong with an address that a variable names, and how to write it. */
function addressProblem(variable: string, baseUrl: string): string | undefined {
  return readAddress(`${baseUrl}#x`) === undefined
    ? `${variable} is no address of HTTP: ${JSON.stringify(baseUrl)}: write http://<host>/v1`
    : undefined;
}
