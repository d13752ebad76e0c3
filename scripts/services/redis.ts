/** A Redis server for tests. */
import { connect } from "node:net";
import { findRedis, missing } from "./programs.ts";
import { type Server, startServer } from "./server.ts";

/** Options of a Redis server. */
export interface RedisOptions {
  /**
   * What a restart finds: nothing (`none`, the default), what was written until a second before
   * (`everysec`), or all that was acknowledged (`always`).
   */
  readonly persistence?: "none" | "everysec" | "always" | undefined;
  /**
   * Further settings as in redis.conf, such as `maxmemory`. They override the defaults of this
   * file.
   */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** Starts a Redis. Rejects if it is not installed. */
export async function startRedis(options: RedisOptions = {}): Promise<Server> {
  const file = findRedis();
  if (file === undefined) throw missing("Redis");
  const { persistence = "none", settings = {} } = options;
  const ours = {
    save: "",
    ...(persistence !== "none" && { appendonly: "yes", appendfsync: persistence }),
    // Small nodes make trimming exact: Redis removes whole nodes only.
    "stream-node-max-bytes": "1024",
    ...settings,
  };
  const parameters = Object.entries(ours).flatMap(([name, value]) => [`--${name}`, value]);
  return startServer({
    name: "redis",
    command: ({ folder, port }) => ({
      file,
      parameters: ["--bind", "127.0.0.1", "--port", `${port}`, "--dir", folder, ...parameters],
    }),
    answers: async ({ port }, pid) => {
      const answer = await ask(port, "INFO server", "PING"); // no PONG while it loads its data
      return answer.includes(`process_id:${pid}\r\n`) && answer.endsWith("+PONG\r\n");
    },
    url: ({ port }) => `redis://127.0.0.1:${port}`,
    quit: "SIGKILL", // it leaves nothing outside of its folder
  });
}

/** Sends inline commands over a connection of its own, and returns the answers as Redis sent them. */
export function ask(port: number, ...commands: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(1_000, () => fail(new Error(`port ${port} does not answer`)));
    socket.once("error", fail);
    socket.setEncoding("utf8").on("data", (text: string) => (answer += text));
    socket.once("end", () => resolve(answer.replace(/\+OK\r\n$/, ""))); // the answer to QUIT
    socket.end([...commands, "QUIT", ""].join("\r\n"));
  });
}
