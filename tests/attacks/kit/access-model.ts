/** What may be done to a session. The test's own list: nothing here is the product's. */
export type Right = "read" | "send" | "decide" | "stop" | "manage";

/** A user of a tenant, by the token. Two of them have one name. */
export interface Person {
  readonly token: string;
  readonly tenant: string;
  readonly user: string;
}

export const people: readonly Person[] = [
  { token: "ann", tenant: "t1", user: "ann" },
  { token: "bob", tenant: "t1", user: "bob" },
  { token: "cy", tenant: "t1", user: "cy" },
  { token: "other-ann", tenant: "t2", user: "ann" },
  { token: "dee", tenant: "t2", user: "dee" },
];

/** A session that somebody made, until it is removed. */
export interface Made {
  readonly tenant: string;
  readonly name: string;
  readonly owner: string;
  /** By user. */
  shares: Readonly<Record<string, readonly Right[]>>;
  /** Names of the sessions of its sub-agents, each with a text that stands in that session alone. */
  readonly children: Map<string, string>;
  isRemoved: boolean;
}

/**
 * Who may do what, as a table: sessions by tenant and name, with their owners and shares. A sub-agent's session is
 * its maker's in all. This is written from the documentation alone, and shares no code with the server.
 */
export class AccessModel {
  readonly all: Made[] = [];

  make(session: Omit<Made, "children" | "isRemoved">): Made {
    const made = { ...session, children: new Map<string, string>(), isRemoved: false };
    this.all.push(made);
    return made;
  }

  /** The session of a name, or the one whose sub-agent has that name. */
  find(tenant: string, name: string): Made | undefined {
    return this.all.find(
      (made) =>
        !made.isRemoved &&
        made.tenant === tenant &&
        (made.name === name || made.children.has(name)),
    );
  }

  may({ tenant, user }: Person, right: Right, name: string): boolean {
    const made = this.find(tenant, name);
    if (made === undefined) return false;
    return made.owner === user || made.shares[user]?.includes(right) === true;
  }

  /** The status of a request that needs this right, where the server would answer `fine`. */
  status(person: Person, right: Right, name: string, fine: number): number {
    if (this.may(person, right, name)) return fine;
    return this.may(person, "read", name) ? 403 : 404;
  }

  /** Texts of sub-agents that nothing may show to this person. */
  hidden({ tenant, user }: Person): readonly string[] {
    return this.all
      .filter(
        (made) =>
          made.isRemoved ||
          made.tenant !== tenant ||
          (made.owner !== user && made.shares[user]?.includes("read") !== true),
      )
      .flatMap(({ children }) => [...children.values()]);
  }
}
