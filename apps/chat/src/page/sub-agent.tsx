import type { ClientSession } from "@millrace/client";
import { ApprovalCard } from "@millrace/client/parts";
import { useSession } from "@millrace/client/react";
import { useContext } from "react";
import type { ReactNode } from "react";
import { client } from "./client.ts";
import type { Item } from "./client.ts";
import { SessionContext } from "./session-context.ts";

interface SubAgentProps {
  readonly callId: string;
  readonly show: (item: Item) => ReactNode;
}

/** The session of a sub-agent, inside the call that it works on. */
export function SubAgent({ callId, show }: SubAgentProps): ReactNode {
  const parent = useContext(SessionContext);
  const child = parent?.child(callId);
  return child === undefined ? null : <Child session={child} show={show} />;
}

interface ChildProps {
  readonly session: ClientSession;
  readonly show: SubAgentProps["show"];
}

function Child({ session, show }: ChildProps): ReactNode {
  const { items, approvals, allow, deny, loading } = useSession(client, session.id);
  return (
    <SessionContext value={session}>
      <div className="child" role="group" aria-label="Sub-agent">
        {loading && <small className="other">loading</small>}
        {items.map(show)}
        {approvals.map((ask) => (
          <ApprovalCard key={ask.id} ask={ask} onAllow={allow} onDeny={deny} />
        ))}
      </div>
    </SessionContext>
  );
}
