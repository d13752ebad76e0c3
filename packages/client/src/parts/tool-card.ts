import { createElement as h, useId, useState } from "react";
import type { ReactNode } from "react";
import { describeCall, progressOf } from "./describe-call.ts";
import type { ToolCardPart } from "./describe-call.ts";
import { showElapsed, useElapsed } from "./elapsed.ts";
import { visibleText } from "./visible-text.ts";

/** The texts of a card. Pass others for another language. */
export type ToolCardLabels = Readonly<Record<ToolCardPart["state"] | "input" | "output", string>>;

/** What a tool card is given. */
export interface ToolCardProps {
  readonly part: ToolCardPart;
  /** What it does now, or came to, in one line. Left out: `describeCall(part)`. */
  readonly summary?: ReactNode;
  /** Whether its details are open at first. */
  readonly defaultOpen?: boolean | undefined;
  readonly labels?: Partial<ToolCardLabels> | undefined;
  readonly className?: string | undefined;
  /**
   * Shown in the details, after arguments and output: the session of a sub-agent, say. Rendered while the card
   * is open or the call runs.
   */
  readonly children?: ReactNode;
}

const english: ToolCardLabels = {
  writing: "writing",
  waiting: "waiting",
  running: "running",
  finished: "done",
  failed: "failed",
  denied: "denied",
  unknown: "outcome unknown",
  input: "Arguments",
  output: "Output",
};

/**
 * One call of a tool: a line from its first argument byte on, with its progress and time, and details that
 * open. Without a style of its own: each element has a `data-part`, and the card its `data-state`.
 */
export function ToolCard(props: ToolCardProps): ReactNode {
  const { part, className, children } = props;
  const { tool, state } = part;
  const labels = { ...english, ...props.labels };
  const details = useId();
  const [isOpen, setOpen] = useState(props.defaultOpen === true);
  const elapsed = useElapsed(state === "running");
  const share = state === "running" ? progressOf(part.message) : undefined;
  return h(
    "section",
    {
      className,
      "aria-label": `${visibleText(tool)}, ${labels[state]}`,
      "data-part": "tool-card",
      "data-state": state,
    },
    h(
      "button",
      {
        type: "button",
        "aria-expanded": isOpen,
        "aria-controls": details,
        "data-part": "summary",
        onClick: () => setOpen(!isOpen),
      },
      h("span", { "data-part": "mark", "aria-hidden": true }),
      h("bdi", { "data-part": "name" }, visibleText(tool)),
      h("bdi", { "data-part": "what" }, props.summary ?? describeCall(part)),
      h("span", { "data-part": "state" }, labels[state]),
      elapsed !== undefined && h("span", { "data-part": "time" }, showElapsed(elapsed)),
    ),
    share !== undefined &&
      h(
        "div",
        {
          role: "progressbar",
          "aria-label": visibleText(tool),
          "aria-valuemin": 0,
          "aria-valuemax": 100,
          "aria-valuenow": Math.round(share * 100),
          "data-part": "progress",
        },
        h("i", { style: { inlineSize: `${share * 100}%` } }),
      ),
    h(
      "div",
      { id: details, hidden: !isOpen, "data-part": "details" },
      isOpen && h(Block, { label: labels.input, text: part.raw }),
      isOpen && h(Block, { label: labels.output, text: outputOf(part) }),
      (isOpen || state === "running") && children,
    ),
  );
}

function Block({ label, text }: { readonly label: string; readonly text: string }): ReactNode {
  if (text === "") return null;
  return h(
    "figure",
    null,
    h("figcaption", null, label),
    h("pre", { tabIndex: 0, dir: "auto", "data-part": "block" }, visibleText(text)),
  );
}

/** All that a call gave, as text. */
function outputOf(part: ToolCardPart): string {
  if (part.state === "running") return part.text;
  if (part.state === "failed" || part.state === "unknown") return part.message;
  if (part.state === "denied") return part.reason ?? "";
  if (part.state !== "finished") return "";
  if (part.text !== "") return part.text;
  return typeof part.output === "string" ? part.output : JSON.stringify(part.output, undefined, 2);
}
