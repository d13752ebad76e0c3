// The page's markup, of assistant-ui's own primitives. It knows nothing of the runtime below it.
import {
  AuiIf,
  ComposerPrimitive,
  MessagePrimitive,
  QueueItemPrimitive,
  ThreadPrimitive,
} from "@assistant-ui/react";
import type {
  DataMessagePartProps,
  ReasoningMessagePartProps,
  ToolCallMessagePartProps,
} from "@assistant-ui/react";
import type { ReactNode } from "react";

export function Thread(): ReactNode {
  return (
    <ThreadPrimitive.Root className="thread">
      <ThreadPrimitive.Viewport className="viewport">
        <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
      </ThreadPrimitive.Viewport>
      <ComposerPrimitive.Queue>{() => <Waiting />}</ComposerPrimitive.Queue>
      <ComposerPrimitive.Root className="composer">
        <ComposerPrimitive.Attachments>
          {({ attachment }) => <small className="attached">{attachment.name}</small>}
        </ComposerPrimitive.Attachments>
        <ComposerPrimitive.AddAttachment>Attach</ComposerPrimitive.AddAttachment>
        <ComposerPrimitive.Input aria-label="Message" placeholder="Ask about Oslo" />
        <AuiIf condition={({ thread }) => thread.isRunning}>
          <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
        </AuiIf>
        <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
      </ComposerPrimitive.Root>
    </ThreadPrimitive.Root>
  );
}

function Waiting(): ReactNode {
  return (
    <p className="waiting">
      <QueueItemPrimitive.Text /> <QueueItemPrimitive.Remove>Take back</QueueItemPrimitive.Remove>
    </p>
  );
}

function UserMessage(): ReactNode {
  return (
    <MessagePrimitive.Root className="user">
      <MessagePrimitive.Parts components={{ data: { Fallback: Data } }} />
    </MessagePrimitive.Root>
  );
}

const byName = { place: Place };

function AssistantMessage(): ReactNode {
  return (
    <MessagePrimitive.Root className="assistant">
      <MessagePrimitive.Parts
        components={{
          Reasoning,
          tools: { by_name: byName, Fallback: Call },
          data: { Fallback: Data },
        }}
      />
      <MessagePrimitive.Error>
        <p role="alert">This reply failed.</p>
      </MessagePrimitive.Error>
      <AuiIf condition={({ message }) => isCancelled(message.status)}>
        <small>stopped</small>
      </AuiIf>
    </MessagePrimitive.Root>
  );
}

function isCancelled(status: { readonly type: string; readonly reason?: string } | undefined) {
  return status?.type === "incomplete" && status.reason === "cancelled";
}

function Reasoning({ text }: ReasoningMessagePartProps): ReactNode {
  return (
    <details>
      <summary>Thoughts</summary>
      {text}
    </details>
  );
}

/** A call, and the question that it asks, with exactly what will run. */
function Call(call: ToolCallMessagePartProps): ReactNode {
  const { toolName, argsText, artifact, approval, result, isError } = call;
  const progress = (artifact as { readonly message?: string } | undefined)?.message; // ours: see `callOf`
  const isAsked = approval !== undefined && approval.approved === undefined;
  return (
    <section aria-label={toolName} className={isError ? "call failed" : "call"}>
      <code>
        {toolName} {argsText}
      </code>
      {result === undefined && <small>{progress}</small>}
      {result !== undefined && <pre>{JSON.stringify(result)}</pre>}
      {isAsked && result === undefined && (
        <p>
          <button onClick={() => void call.respondToApproval({ approved: true })}>Allow</button>
          <button
            onClick={() => void call.respondToApproval({ approved: false, reason: "not now" })}
          >
            Deny
          </button>
        </p>
      )}
    </section>
  );
}

/** A tool that the page runs: the person says where they are. */
function Place(call: ToolCallMessagePartProps): ReactNode {
  if (call.result !== undefined) return <Call {...call} />;
  return <button onClick={() => call.addResult({ city: "Oslo" })}>I am in Oslo</button>;
}

/** A file, an image, or a value: here no more than its name. */
function Data({ name, data }: DataMessagePartProps): ReactNode {
  const { name: given = name } = data as { readonly name?: string }; // ours: see `partOf`
  return <p className="data">{given}</p>;
}
