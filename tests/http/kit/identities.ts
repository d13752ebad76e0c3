import type { HttpWho } from "@millrace/conformance/http";
import type { MillraceOptions } from "@millrace/server";

type Authorize = NonNullable<MillraceOptions["authorize"]>;

/** Credentials that say whom they are for. Good for tests: anyone can make them. */
export function tokenOf(who: HttpWho): string {
  return Buffer.from(JSON.stringify(who)).toString("base64url");
}

/** Finds the person in the header or in the cookie of a request. */
export function authenticate(request: Request): HttpWho | undefined {
  const header = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
  const cookie = /(?:^|; )who=([^;]+)/.exec(request.headers.get("cookie") ?? "")?.[1];
  try {
    const text = Buffer.from(header ?? cookie ?? "", "base64url").toString();
    return JSON.parse(text) as HttpWho;
  } catch {
    return undefined;
  }
}

/** The role table, and what a session's metadata grants to a user: as it is, not as the user would have it. */
export const authorize: Authorize = ({ who, action, session, current = session }) => {
  const { owner, metadata } = current;
  if (metadata["authorizer"] === "throws") throw new Error("the authoriser broke");
  if (owner === who.user || who.roles?.includes("service") === true) return true;
  const ofAdmins = ["list", "read", "stop", "manage"];
  if (who.roles?.includes("admin") === true) return ofAdmins.includes(action);
  const grants = metadata["grants"] as Readonly<Record<string, readonly string[]>> | undefined;
  return grants?.[who.user]?.includes(action) === true;
};
