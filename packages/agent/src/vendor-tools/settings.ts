import { checkOptions, expects } from "@millrace/core/checks";
import type { OptionCheck } from "@millrace/core/checks";
import type { VendorTool } from "@millrace/core/model";
import type { ToolLabel } from "../definition/labels.ts";
import type { Policy, SessionInfo, ToolExecution, ToolLimits } from "../definition/tool.ts";
import { labelsCheck, toolNameCheck } from "../definition/check-tool.ts";

/** What decides whether a call may run. */
export type ApproveSetting<In> =
  | Policy
  | ((input: In, session: SessionInfo) => Policy | Promise<Policy>);

/** The settings that all tools of vendors share. The rest is as `defineTool` has it. */
export interface VendorToolSettings<In> {
  /** The name that the agent, its rules and its viewers know it by. */
  readonly name?: string | undefined;
  /** For vendors that get it as an ordinary function. */
  readonly description?: string | undefined;
  readonly approve?: ApproveSetting<In> | undefined;
  readonly limits?: ToolLimits | undefined;
  readonly labels?: readonly ToolLabel[] | undefined;
  readonly queue?: string | undefined;
  /** See `VendorTool`. */
  readonly native?: VendorTool["native"];
}

/** The user's code that a tool runs. */
export type RunVendorTool<In, Out> = (input: In, execution: ToolExecution) => Out | Promise<Out>;

/** The settings of `defineTool` that all these tools have. What is given as undefined counts as left out. */
export interface SharedSettings<In> {
  readonly name: string;
  readonly description: string;
  readonly approve: ApproveSetting<In>;
  readonly sequence: "alone";
  readonly limits: ToolLimits | undefined;
  readonly labels: readonly ToolLabel[] | undefined;
  readonly queue: string | undefined;
}

export function sharedSettings<In>(
  given: VendorToolSettings<In>,
  defaults: Pick<SharedSettings<In>, "name" | "description" | "approve">,
): SharedSettings<In> {
  return {
    name: given.name ?? defaults.name,
    description: given.description ?? defaults.description,
    approve: given.approve ?? defaults.approve,
    // Each call may depend on what the one before has changed.
    sequence: "alone",
    limits: given.limits,
    labels: given.labels,
    queue: given.queue,
  };
}

const { call, either, oneOf, optional, record, whole } = expects;

export const flagCheck: OptionCheck = {
  accepts: (value) => typeof value === "boolean",
  fix: "use true or false",
};

/** Checks the options of a function that makes such a tool. `more` are its own. */
export function checkSettings(
  name: string,
  from: (...given: never[]) => unknown,
  options: unknown,
  more: Readonly<Record<string, OptionCheck>> = {},
): void {
  checkOptions<Record<string, unknown>>({ name, from, hints: hintsFor }, options, {
    name: optional(toolNameCheck),
    description: optional({ accepts: (value) => typeof value === "string", fix: "use a text" }),
    approve: optional(
      either(oneOf("allow", "ask", "deny"), call(), 'use "allow", "ask", "deny" or a function'),
    ),
    limits: optional(record("use an object such as { seconds: 60 }")),
    labels: optional(labelsCheck),
    queue: optional({
      accepts: (value) => typeof value === "string" && value !== "",
      fix: "use the name of a task queue",
    }),
    native: optional(flagCheck),
    run: call(),
    ...more,
  });
}

/** Names of options in vendors' own libraries. */
const hintsFor = {
  execute: "write the function as run",
  needsApproval: 'write approve: "ask"',
  displayWidthPx: "write it as width",
  displayHeightPx: "write it as height",
  display_width_px: "write it as width",
  display_height_px: "write it as height",
  maxChars: "write it as maxCharacters",
};

export const pixelsCheck: OptionCheck = whole(1);
