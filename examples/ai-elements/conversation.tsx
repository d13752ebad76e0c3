// A conversation of a session. The markup is a stand-in: AI Elements are components that you copy into your own page, and
// each comment names the one that takes these props.
import type { ClientSession } from "@millrace/client";
import { getToolName, isToolUIPart } from "ai";
import type { UIMessage } from "ai";
import type { ReactNode } from "react";
import { messagesOf } from "./messages.ts";

type Decisions = Pick<ClientSession, "allow" | "deny">;

/** Shows a session that `useSession` gives. */
export function Conversation({ session }: { readonly session: ClientSession }): ReactNode {
  const blobUrl = (hash: string): string => `/agent/v1/sessions/${session.id}/blobs/${hash}`;
  return messagesOf(session.items, blobUrl).map(({ id, role, parts }) => (
    // <Message from={role}>
    <article key={id} data-from={role}>
      {parts.map((part, at) => (
        <Part key={at} part={part} decisions={session} />
      ))}
    </article>
  ));
}

interface PartProps {
  readonly part: UIMessage["parts"][number];
  readonly decisions: Decisions;
}

function Part({ part, decisions }: PartProps): ReactNode {
  if (part.type === "text") return <p>{part.text}</p>; // <MessageResponse>{text}</MessageResponse>
  if (part.type === "reasoning")
    // <Reasoning isStreaming={…}><ReasoningTrigger /><ReasoningContent>{text}</ReasoningContent></Reasoning>
    return <details open={part.state === "streaming"}>{part.text}</details>;
  if (part.type === "file") return <a href={part.url}>{part.filename ?? part.mediaType}</a>; // <Attachment data={part}>
  if (!isToolUIPart(part)) return null;
  return (
    // <Tool><ToolHeader type={part.type} state={part.state} /><ToolInput input={…} /><ToolOutput output={…} errorText={…} /></Tool>
    <section aria-label={getToolName(part)} data-state={part.state}>
      <pre>{JSON.stringify(part.input)}</pre>
      {part.state === "output-available" && <pre>{JSON.stringify(part.output)}</pre>}
      {part.state === "output-error" && <p>{part.errorText}</p>}
      {part.state === "approval-requested" && (
        // <Confirmation approval={part.approval} state={part.state}>
        <p>
          <button onClick={() => decisions.allow(part.approval.id)}>Allow</button>
          <button onClick={() => decisions.deny(part.approval.id)}>Deny</button>
        </p>
      )}
    </section>
  );
}
