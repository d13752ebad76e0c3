import type { View } from "@millrace/core";
import { createElement as h } from "react";
import type { ReactNode } from "react";
import { visibleText } from "./visible-text.ts";

type Waiting = View["queue"][number];

/** What a queue is given. */
export interface InputQueueProps {
  readonly queue: readonly Waiting[];
  readonly onTakeBack: (inputId: string) => void;
  /** Takes it back into the editor. Left out: there is no such button. */
  readonly onEdit?: ((input: Waiting) => void) | undefined;
  readonly labels?: Partial<InputQueueLabels> | undefined;
  readonly className?: string | undefined;
}

/** The texts of the queue. Pass others for another language. */
export interface InputQueueLabels {
  readonly title: string;
  readonly steer: string;
  readonly later: string;
  readonly edit: string;
  readonly takeBack: string;
  readonly files: string;
}

const english: InputQueueLabels = {
  title: "Waiting to be taken up",
  steer: "steers",
  later: "next",
  edit: "Edit",
  takeBack: "Take back",
  files: "files",
};

/** What waits to be taken up by the run, each with the way to take it back. Nothing if nothing waits. */
export function InputQueue(props: InputQueueProps): ReactNode {
  const { onTakeBack, onEdit, className } = props;
  const queue = props.queue.filter(({ kind }) => kind !== "answer");
  const labels = { ...english, ...props.labels };
  if (queue.length === 0) return null;
  const rows = queue.map((input) => {
    const text = input.text === "" ? labels.files : visibleText(input.text);
    const button = (part: string, label: string, onClick: () => void): ReactNode =>
      h(
        "button",
        { type: "button", "data-part": part, "aria-label": `${label}: ${text}`, onClick },
        label,
      );
    return h(
      "li",
      { key: input.id, "data-part": "queued", "data-kind": input.kind },
      h("span", { "data-part": "kind" }, input.kind === "steer" ? labels.steer : labels.later),
      h("bdi", { "data-part": "text" }, text),
      onEdit && button("edit", labels.edit, () => onEdit(input)),
      button("take-back", labels.takeBack, () => onTakeBack(input.id)),
    );
  });
  return h("ul", { className, "aria-label": labels.title, "data-part": "queue" }, rows);
}
