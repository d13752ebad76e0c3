// Before anybody signs in: each browser of this machine that loads the page is a guest, by a cookie that the server signs.
import { randomUUID } from "node:crypto";
import { refuseOutsideDevelopment } from "./refuse.ts";
import type { SignIn } from "./serve.ts";
import { cookieOf, signed, verified } from "./signed.ts";

/** Ends the program in production, with what is missing. */
export function development(missing: string): SignIn {
  refuseOutsideDevelopment(missing);
  return {
    authenticate: ({ headers }) => {
      const user = guestOf(headers.get("cookie"));
      return user === undefined ? undefined : { tenant: "default", user };
    },
    answer: ({ headers }, response) => {
      const isPage = headers.accept?.includes("text/html") === true;
      if (!isPage || guestOf(headers.cookie) !== undefined) return false;
      const guest = signed("guest", randomUUID());
      response.setHeader("set-cookie", `guest=${guest}; Path=/; HttpOnly; SameSite=Strict`);
      return false;
    },
  };
}

function guestOf(cookies: string | null | undefined): string | undefined {
  return verified("guest", cookieOf(cookies, "guest") ?? "");
}
