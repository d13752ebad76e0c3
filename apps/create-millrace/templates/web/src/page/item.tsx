import type { PartOf } from "@millrace/client";
import { ToolCard, visibleText } from "@millrace/client/parts";
import { memo } from "react";
import { Boundary } from "./boundary.tsx";
import type { PageClient } from "./main.tsx";

type Item = ReturnType<PageClient["session"]>["items"][number];

/** One message. Only one that has changed is rendered again. A part that can't be shown takes no other with it. */
export const ItemView = memo(({ item }: { readonly item: Item }) => (
  <article className={item.author} aria-label={item.author === "user" ? "You" : "Agent"}>
    {item.parts.map((part) => (
      <Boundary key={part.id} of={part} fallback={<Unshowable part={part} />}>
        <PartView part={part} />
      </Boundary>
    ))}
    {item.stop === "aborted" && <small>stopped</small>}
  </article>
));

const PartView = memo(({ part }: { readonly part: PartOf<PageClient> }) => {
  switch (part.kind) {
    case "text":
      return <p className={part.live ? "live" : ""}>{visibleText(part.text)}</p>;
    case "reasoning":
      return (
        <details open={part.live}>
          <summary>{part.live ? "Thinking…" : "Thought"}</summary>
          <p>{visibleText(part.text)}</p>
        </details>
      );
    case "tool_call":
      if (part.state === "waiting") return null; // its question shows it
      return <ToolCard part={part} summary={summaryOf(part)} />;
    default:
      return <small>{part.kind}</small>;
  }
});

function Unshowable({ part }: { readonly part: PartOf<PageClient> }) {
  if (part.kind === "text") return <p>{visibleText(part.text)}</p>;
  return <small>{part.kind}: this page failed to show it</small>;
}

/** The types of a tool's input and output are those of its schema. */
function summaryOf(part: Extract<PartOf<PageClient>, { kind: "tool_call" }>): string | undefined {
  if (part.tool !== "refund" || part.state !== "finished") return undefined;
  return visibleText(`${(part.output.cents / 100).toFixed(2)} € · ${part.output.reference}`);
}
