// A long session as a chat shows it, and what the browser makes of it while a reply is written.
import { createClient, previewOf } from "@millrace/client";
import type { ClientView, PartOf } from "@millrace/client";
import { useSession } from "@millrace/client/react";
import type { ToolShape } from "@millrace/core/reading";
import { memo } from "react";
import type { ReactElement } from "react";
import { createRoot } from "react-dom/client";
import { meter } from "./meter.ts";

interface Change {
  readonly line: number;
  readonly text: string;
}

interface Input {
  readonly changes: readonly Change[];
}

type Edit = ToolShape<"edit", Input, string>;

interface Server {
  readonly "~agent"?: { readonly tools: readonly [Edit] };
}

const client = createClient<Server>({ url: "/agent", shareTabs: false });
const renders = new Map<string, number>();

function count(name: string): void {
  renders.set(name, (renders.get(name) ?? 0) + 1);
}

const Paragraph = memo(({ text }: { text: string }) => <p>{text}</p>);

const Part = memo(({ item, part }: { item: string; part: PartOf<typeof client> }) => {
  count(`${item}/${part.id}`);
  if (part.kind === "tool_call") return shownCall(part);
  if (part.kind !== "text") return <i>{part.kind}</i>;
  return part.text.split("\n").map((text, at) => <Paragraph key={at} text={text} />);
});

/** A change of a call, as far as it has come. */
const Line = memo(({ change }: { change: Partial<Change> }) => {
  count("lines");
  return (
    <li>
      {change.line} {change.text}
    </li>
  );
});

/** A call, also while it is being written. */
function shownCall(
  part: Extract<PartOf<typeof client>, { readonly kind: "tool_call" }>,
): ReactElement {
  // Of a call that waits nothing is checked yet: as with its preview, the page trusts the model.
  const input = part.state === "writing" ? previewOf(part) : (part.input as Partial<Input>);
  const { changes = [] } = input;
  return (
    <ul className={part.state}>
      {changes.map((change, at) => (
        <Line key={at} change={change} />
      ))}
    </ul>
  );
}

const Item = memo(({ item }: { item: ClientView<readonly [Edit]>["items"][number] }) => {
  count(item.id);
  return (
    <article className={item.author}>
      {item.parts.map((part) => (
        <Part key={part.id} item={item.id} part={part} />
      ))}
    </article>
  );
});

const Talk = (): ReactElement => {
  const { items, status } = useSession(client, "long");
  count("talk");
  return (
    <main aria-busy={status === "running"}>
      {items.map((item) => (
        <Item key={item.id} item={item} />
      ))}
    </main>
  );
};

client.session("long").subscribe(() => count("changes"));
Object.assign(globalThis, { renders, meter });
createRoot(document.querySelector("#root") ?? document.body).render(<Talk />);
