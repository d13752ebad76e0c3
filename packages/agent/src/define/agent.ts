import type { Tombstone } from "@millrace/core/ports";
import type { AnyTools } from "@millrace/core/reading";
import type { AgentSettings } from "../definition/settings.ts";
import type { Tool } from "../definition/tool.ts";
import type { OutputFor, Schema } from "@millrace/core/schema";
import type { Content } from "../session/input.ts";
import type { OpenOptions } from "../session/open.ts";
import type { SessionRemoval } from "../session/remove.ts";
import type { Run } from "../session/run.ts";
import type { RunOptions, Session } from "../session/session.ts";

/** A defined agent. It has no state, so it can run any number of sessions. All functions are bound. */
export interface Agent<Tools extends AnyTools = AnyTools> {
  readonly name: string;
  readonly tools: Tools;
  /** Runs one prompt in a new session in memory, and closes the session after it. */
  readonly run: <S extends Schema | undefined = undefined>(
    content: Content,
    options?: RunOptions<Tools, S>,
  ) => Run<Tools, OutputFor<S>>;
  /** Opens a session, and creates it if needed. A run that a crash interrupted continues. */
  readonly open: (options?: OpenOptions) => Promise<Session<Tools>>;
  /**
   * Removes a session and the sessions of its sub-agents for ever, from the store and the log. Forks stay.
   * Its runs and viewers end, in this process and in others. Resolves to the tombstone, which has the
   * time and the `actor` and no content; undefined if there never was a session of this id. A call that
   * failed half way is repeated. `open` of a removed id begins a new session. Throws `session_locked` if
   * another process holds the session in a store with locks, and errors of the store and the log.
   */
  readonly remove: (id: string, options: SessionRemoval) => Promise<Tombstone | undefined>;
  /** A new agent with some settings changed. */
  readonly with: <
    const Changed extends readonly Tool[] = Tools extends readonly Tool[] ? Tools : [],
  >(
    changes: Partial<AgentSettings<Changed>>,
  ) => Agent<Changed>;
  /** This agent as a tool of another agent. Each call runs in a session of its own. */
  readonly asTool: <const Name extends string>(options: {
    readonly name: Name;
    readonly description: string;
  }) => Tool<Name, { readonly prompt: string }, string>;
}
