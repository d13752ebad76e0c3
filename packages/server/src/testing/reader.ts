import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Request } from "./reader-run.ts";

/** The child process that reads connections. One request at a time. */
export interface Reader {
  readonly ask: (request: Request) => Promise<unknown>;
  readonly end: () => void;
}

export function startReader(): Reader {
  const path = fileURLToPath(new URL("reader-run.ts", import.meta.url));
  const child = fork(path, {
    execArgv: ["--conditions=@millrace/source", "--no-warnings"],
    serialization: "advanced",
  });
  const failed = once(child, "exit").then(() => {
    throw new Error("the reader has ended");
  });
  failed.catch(() => undefined); // it may exit without a request under way
  return {
    ask: async (request) => {
      child.send(request);
      const answered = once(child, "message");
      const [answer] = (await Promise.race([answered, failed])) as [{ readonly given: unknown }];
      return answer.given;
    },
    end: () => child.disconnect(),
  };
}
