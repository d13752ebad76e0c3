// Who a request is from. A real application looks at its session cookie or checks a token.
import type { Identity } from "@millrace/server";

const users: Readonly<Record<string, Identity>> = {
  "Bearer token-of-ann": { tenant: "acme", user: "ann" },
};

export function identify(request: Request): Identity | undefined {
  return users[request.headers.get("authorization") ?? ""];
}
