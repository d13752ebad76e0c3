import type { AnyTools } from "@millrace/core/reading";
import type { AgentSettings } from "../definition/settings.ts";
import type { Tool } from "../definition/tool.ts";
import type { Schema } from "../schema/schema.ts";
import type { Content } from "../session/input.ts";
import type { OpenOptions } from "../session/open.ts";
import type { Run } from "../session/run.ts";
import type { OutputFor, RunOptions, Session } from "../session/session.ts";

/** Described once, run as often as wanted. All functions are bound. */
export interface Agent<Tools extends AnyTools = AnyTools> {
  readonly name: string;
  readonly tools: Tools;
  /** A session in memory with one prompt. */
  readonly run: <S extends Schema | undefined = undefined>(
    content: Content,
    options?: RunOptions<Tools, S>,
  ) => Run<Tools, OutputFor<S>>;
  /** Opens a session, or takes one up again: what a crash left unfinished goes on. */
  readonly open: (options?: OpenOptions) => Promise<Session<Tools>>;
  /** The same agent with some of its settings changed. */
  readonly with: <
    const Changed extends readonly Tool[] = Tools extends readonly Tool[] ? Tools : [],
  >(
    changes: Partial<AgentSettings<Changed>>,
  ) => Agent<Changed>;
  /** This agent as a tool of another: a session of its own, which the call names. */
  readonly asTool: <const Name extends string>(options: {
    readonly name: Name;
    readonly description: string;
  }) => Tool<Name, { readonly prompt: string }, string>;
}
