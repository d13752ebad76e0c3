import type { View } from "@millrace/core";
import { showQuestion } from "@millrace/core/reading";
import type { Sent } from "@millrace/core/reading";
import { createElement as h, useState } from "react";
import type { ReactNode } from "react";
import { useTimeLeft } from "./elapsed.ts";

/** The texts of a question. Pass others for another language. */
export interface ApprovalLabels {
  readonly title: (tool: string) => string;
  readonly waiting: string;
  /** How long it still waits, for a question that does not wait for ever. */
  readonly left: (ms: number) => string;
  readonly gets: string;
  readonly allow: string;
  readonly deny: string;
  readonly reason: string;
  readonly sent: string;
  readonly refused: string;
}

/** What an approval card is given. */
export interface ApprovalCardProps {
  readonly ask: Pick<View["approvals"][number], "id" | "tool" | "parsed" | "expiresAt"> & {
    readonly input: object;
  };
  readonly onAllow: (approvalId: string) => Sent;
  readonly onDeny: (approvalId: string, reason?: string) => Sent;
  readonly labels?: Partial<ApprovalLabels> | undefined;
  readonly className?: string | undefined;
}

const english: ApprovalLabels = {
  title: (tool) => `Approve ${tool}`,
  waiting: "waits for you",
  left: (ms) => {
    if (ms === 0) return "its time is up";
    if (ms < 120_000) return `${Math.ceil(ms / 1_000)} s left`;
    return `${Math.ceil(ms / 60_000)} min left`;
  },
  gets: "The tool gets",
  allow: "Run once",
  deny: "Deny",
  reason: "Reason, if you like",
  sent: "sent",
  refused: "not taken: it was answered elsewhere, or the server is away",
};

/**
 * A question to a person, with exactly what will run: `showQuestion`, never shortened. Any client of the session
 * may answer; the card is gone when one has. Without a style of its own: each element has a `data-part`.
 */
export function ApprovalCard(props: ApprovalCardProps): ReactNode {
  const { ask, onAllow, onDeny, className } = props;
  const labels = { ...english, ...props.labels };
  const { tool, input, parsed } = showQuestion(ask);
  const [state, setState] = useState<"open" | "sent" | "refused">("open");
  const [reason, setReason] = useState("");
  const left = useTimeLeft(ask.expiresAt);
  const settle = async ({ accepted }: Sent): Promise<void> => {
    setState("sent");
    if (!(await accepted).accepted) setState("refused");
  };
  const given = reason.trim() === "" ? undefined : reason.trim();
  return h(
    "section",
    { className, "aria-label": labels.title(tool), "data-part": "approval", "data-state": state },
    h(
      "header",
      null,
      h("span", { "data-part": "mark", "aria-hidden": true }),
      h("bdi", { "data-part": "name" }, tool),
      h("span", { "data-part": "state" }, labels.waiting),
      left !== undefined && h("span", { "data-part": "time" }, labels.left(left)),
    ),
    h("pre", { tabIndex: 0, "data-part": "input" }, `${input.text} ${input.counts}`.trim()),
    parsed &&
      h(
        "figure",
        null,
        h("figcaption", null, labels.gets),
        h("pre", { tabIndex: 0, "data-part": "parsed" }, `${parsed.text} ${parsed.counts}`.trim()),
      ),
    h(
      "div",
      { "data-part": "choices" },
      h(
        "button",
        {
          type: "button",
          "data-part": "allow",
          disabled: state === "sent",
          onClick: () => void settle(onAllow(ask.id)),
        },
        labels.allow,
      ),
      h(
        "button",
        {
          type: "button",
          "data-part": "deny",
          disabled: state === "sent",
          onClick: () => void settle(onDeny(ask.id, given)),
        },
        labels.deny,
      ),
      h("input", {
        "aria-label": labels.reason,
        placeholder: labels.reason,
        "data-part": "reason",
        value: reason,
        onChange: (event: { readonly target: { readonly value: string } }) =>
          setReason(event.target.value),
      }),
      h("span", { role: "status", "data-part": "note" }, state === "open" ? "" : labels[state]),
    ),
  );
}
