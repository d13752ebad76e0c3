import { Client } from "@modelcontextprotocol/client";
import type { Transport } from "@modelcontextprotocol/client";

import { MillraceError } from "@millrace/core";
import {
  callSiteOf,
  checkOption,
  refusePlainTransport,
  shown,
  transportOf,
  withStackOf,
} from "@millrace/core/checks";

import { notOpened } from "./not-opened.ts";
import { describeTools } from "./describe-tools.ts";
import type { McpTool, RefusedTool } from "./describe-tools.ts";
import { openHttpServer } from "./http-server.ts";
import { listTools } from "./list-tools.ts";
import { labelsCheck } from "../definition/check-tool.ts";
import type { ToolLabel } from "../definition/labels.ts";
import { keepPins } from "./pins.ts";
import type { Pins } from "./pins.ts";
import { isServerName } from "./tool-names.ts";

/** Where a server is and how it is treated. */
export type McpOptions<Name extends string> = McpSettings<Name> & (McpAddress | McpCommand);

/** What every connection to a server takes, however the server is reached. */
export interface McpSettings<Name extends string> {
  /** What its tools' names begin with: 1 to 32 letters, digits or `-`. There is no `_` in it, so that no two servers share a tool name. */
  readonly name: Name;
  /**
   * Trusts the server's hints on its tools' effects: `readOnlyHint` makes a tool `pure`, `idempotentHint`
   * makes it `idempotent`. Left out, all its tools are `effectful`, because a server that lies would
   * have its calls repeated after a crash.
   */
  readonly trustAnnotations?: boolean | undefined;
  /**
   * Tools of the server that run without a question, by the server's own names for them. Left out: none,
   * so each call of each tool asks. A hint of the server (`destructiveHint`) makes a named tool ask all the
   * same, and so does a description or a schema that is not the one of its pin.
   */
  readonly trust?: readonly string[] | undefined;
  /**
   * What the trusted tools were when they were trusted: `connection.pins` of an earlier connection, which a
   * program keeps over its restarts. Left out: what they were when this process first opened the server.
   */
  readonly pins?: Pins | undefined;
  /** What happens to calls of all other tools. Left out: `ask`. */
  readonly approve?: "ask" | "deny" | undefined;
  /**
   * The labels of its tools, by the server's own names for them. Left out: `sees_untrusted` and
   * `acts_outside`, because a call hands its input to a stranger and gets a stranger's text.
   */
  readonly labels?: Readonly<Record<string, readonly ToolLabel[]>> | undefined;
  /** How long a call may take. Default: 60,000. */
  readonly callTimeoutMs?: number | undefined;
  /** How long opening may take. Default: 30,000. */
  readonly openTimeoutMs?: number | undefined;
  /** Bytes that the server may send as one answer. Default: 10 MiB. */
  readonly limitBytes?: number | undefined;
  /** Called when the server announces that its tools changed. The open connection keeps those it has. */
  readonly onChanged?: (() => void) | undefined;
  /** Aborts the opening. */
  readonly signal?: AbortSignal | undefined;
}

/** A server that is reached by streamable HTTP. */
export interface McpAddress {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * Whether the `url` may be `http://` at an address that is not this machine's. Default: `false`, and
   * opening throws `invalid_definition`.
   */
  readonly allowPlain?: boolean | undefined;
}

/** A server that is started as a process of ours, without a shell. */
export interface McpCommand {
  readonly command: readonly string[];
  /**
   * Variables beside the few that are passed on from our own environment (`PATH`, `HOME`, `LANG`,
   * `TMPDIR` and their like). Nothing else of ours reaches the server, so no key does.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly cwd?: string | undefined;
  /**
   * Whether the server runs in a PID namespace, which no process of it can leave and from which it sees
   * none of ours. Left out: `prefer`, wherever the machine has them, with a warning where it has none.
   * `require`: else it is not started. `off`: never.
   */
  readonly pidNamespace?: "prefer" | "require" | "off" | undefined;
}

/** An open connection to a server, and its tools as they were when it was opened. */
export interface McpConnection<Name extends string = string> extends AsyncDisposable {
  readonly name: Name;
  readonly tools: readonly McpTool<Name>[];
  /** Tools that the server offers and that were left out, and why. */
  readonly refused: readonly RefusedTool[];
  /** What its tools are now, by the server's own names: a hash of description and schemas each. */
  readonly pins: Pins;
  /**
   * True once the server announced that its tools changed. Those of this connection stay as they are,
   * description and schema included, because that is what was approved; open it again for the others.
   */
  readonly changed: boolean;
  /** Ends the connection and, for a command, the process with all that it started. Never rejects. */
  readonly close: () => Promise<void>;
}

/**
 * Connects to an MCP server and gives its tools to agents, named `<server>_<tool>`. What the server
 * says of itself is taken as a stranger's data: bounded, made readable, and left out where it can't
 * be used. Rejects if the server can't be reached or doesn't speak the protocol; nothing is left
 * behind then.
 */
export async function openMcp<const Name extends string>(
  options: McpOptions<Name>,
): Promise<McpConnection<Name>> {
  const { name, callTimeoutMs = 60_000, openTimeoutMs = 30_000 } = options;
  const site = callSiteOf(openMcp);
  try {
    check(options, callTimeoutMs, openTimeoutMs);
  } catch (error) {
    throw error instanceof Error ? withStackOf(site, error) : error;
  }
  const server = await serverOf(options);
  const client = new Client({ name: "millrace", version: "0.1.0" });
  let changed = false;
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    changed = true;
    options.onChanged?.();
  });

  let closing: Promise<void> | undefined;
  let isOver = false;
  Object.assign(client, {
    onclose: () => {
      isOver = true;
    },
  });
  const close = (): Promise<void> => {
    closing ??= endServer(client, server);
    return closing;
  };
  const gone = (): string | undefined => {
    if (closing !== undefined) return `the connection to ${name} was closed: open it again`;
    if (!isOver) return undefined;
    const how = server.exit() ?? "ended the connection";
    return `the server ${name} ${how}: open the connection again`;
  };

  try {
    const { tools, refused, pins } = await within(openTimeoutMs, options.signal, async (signal) => {
      // The signal fires first; the client's own time-out has a poorer message.
      const limits = { signal, timeout: openTimeoutMs + 1_000 };
      await client.connect(server.transport, limits);
      const listed = await listTools(client, limits);
      const described = await describeTools(name, listed.tools, {
        target: { server: name, client, gone },
        trustAnnotations: options.trustAnnotations ?? false,
        approve: options.approve ?? "ask",
        trust: options.trust ?? [],
        keepPins: (own) => options.pins ?? keepPins(addressOf(options), own),
        labels: options.labels ?? {},
        callTimeoutMs,
      });
      const cut = listed.cut === undefined ? [] : [{ tool: "(the rest)", reason: listed.cut }];
      return { ...described, refused: [...described.refused, ...cut] };
    });
    return {
      name,
      tools,
      refused,
      pins,
      get changed() {
        return changed;
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    const how = server.exit();
    const words = server.lastWords();
    await close();
    throw withStackOf(site, notOpened(options, { error, how, words }));
  }
}

function check<Name extends string>(
  options: McpOptions<Name>,
  callTimeoutMs: number,
  openTimeoutMs: number,
): void {
  if (!isServerName(options.name)) {
    throw new MillraceError(
      "invalid_definition",
      `a server's name has 1 to 32 letters, digits or "-", not ${JSON.stringify(options.name)}`,
    );
  }
  for (const [tool, labels] of Object.entries(options.labels ?? {}))
    checkOption({ name: "openMcp", from: openMcp }, `labels.${tool}`, labels, labelsCheck);
  // A caller without types may pass anything.
  const { trust = [], approve = "ask" }: { readonly trust?: unknown; readonly approve?: unknown } =
    options;
  if (!Array.isArray(trust) || trust.some((tool) => typeof tool !== "string")) {
    throw new MillraceError(
      "invalid_definition",
      `trust is a list of the server's tools that run without a question, not ${JSON.stringify(trust)}`,
    );
  }
  if (approve !== "ask" && approve !== "deny") {
    throw new MillraceError(
      "invalid_definition",
      `approve of the server ${options.name} is "ask" or "deny", not ${JSON.stringify(approve)}: name the tools that run without a question in trust`,
    );
  }
  for (const value of [callTimeoutMs, openTimeoutMs, options.limitBytes ?? 1]) {
    if (!(value > 0)) {
      throw new MillraceError("invalid_definition", `limits are above 0, not ${value}`);
    }
  }
  // A caller without types may pass both, neither, or a command as one text.
  const { command, url } = options as { readonly command?: unknown; readonly url?: unknown };
  if (command !== undefined && !(Array.isArray(command) && (command[0] ?? "") !== "")) {
    throw new MillraceError(
      "invalid_definition",
      `openMcp: command is ${shown(command)}: a command needs a program to start, then its arguments, as a list such as ["npx", "server"]`,
    );
  }
  if (command !== undefined) return;
  if (typeof url !== "string" || !/^https?:$/u.test(URL.parse(url)?.protocol ?? "")) {
    throw new MillraceError(
      "invalid_definition",
      `openMcp: url is ${shown(url)}: a server's address begins with http or https; a local server is a command`,
    );
  }
  if ("url" in options) {
    const { url, allowPlain } = options;
    refusePlainTransport(transportOf(url, { secure: "https:", allowPlain }));
  }
}

/** What names a server: a program may open several, and one of them may change its name for another. */
function addressOf(options: McpOptions<string>): string {
  const place = "url" in options ? options.url : options.command;
  return JSON.stringify([options.name, place]);
}

/** A server of either sort. */
interface Server {
  readonly transport: Transport;
  /** Takes leave, where that is due. Never rejects. */
  readonly leave: () => Promise<void>;
  /** How its process ended. Undefined if it has none or it runs. */
  readonly exit: () => string | undefined;
  readonly lastWords: () => string;
}

const tenMebibytes = 10 * 1024 * 1024;

async function serverOf(options: McpOptions<string>): Promise<Server> {
  const limitBytes = options.limitBytes ?? tenMebibytes;
  if ("url" in options) {
    const server = openHttpServer({
      url: new URL(options.url),
      headers: options.headers ?? {},
      fetch: options.fetch,
      limitBytes,
    });
    return { ...server, exit: () => undefined, lastWords: () => "" };
  }
  // Only here, so that servers over HTTP can be used where there are no processes.
  const { ServerProcess } = await import("./server-process.ts");
  const { command, cwd, env = {}, pidNamespace = "prefer" } = options;
  const transport = new ServerProcess({ command, cwd, env, pidNamespace, limitBytes });
  return {
    transport,
    leave: () => Promise.resolve(),
    exit: () => transport.exit,
    lastWords: () => transport.lastWords,
  };
}

async function endServer(client: Client, server: Server): Promise<void> {
  await server.leave();
  await client.close().catch(() => undefined);
  // The client may have let go of a transport that is not at its end.
  await server.transport.close().catch(() => undefined);
}

/** Runs something that has to end in that time. Its signal is aborted then, or with the other one. */
async function within<T>(
  ms: number,
  outer: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new Error(`it took longer than ${ms / 1_000} s`)), ms);
  const stop = (): void => over.abort(new Error("it was aborted"));
  if (outer?.aborted === true) stop();
  outer?.addEventListener("abort", stop, { once: true });
  const stopped = new Promise<never>((_resolve, reject) => {
    over.signal.addEventListener("abort", () => reject(over.signal.reason as Error), {
      once: true,
    });
  });
  try {
    over.signal.throwIfAborted();
    return await Promise.race([run(over.signal), stopped]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", stop);
  }
}
