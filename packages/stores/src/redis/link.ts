import { MillraceError } from "@millrace/core";
import { withoutLogin } from "@millrace/core/checks";
import { createClient, ErrorReply } from "@redis/client";
import type { RedisClientOptions } from "@redis/client";

/** A connection as the client library has it. */
export type Client = ReturnType<typeof createClient>;

export interface LinkOptions {
  /** Undefined if the settings hold the address. */
  readonly url: string | undefined;
  readonly settings: RedisClientOptions;
  /** How long a ping may stay unanswered before the connection is closed, and how long opening may take. */
  readonly timeoutMs: number;
  /** How many commands may wait for an answer, or for the connection. */
  readonly waiting: number;
  readonly onUp?: ((client: Client) => void) | undefined;
  readonly onDown?: ((cause: Error) => void) | undefined;
}

/**
 * One connection to Redis, opened when it is needed. A connection that breaks, or that leaves a ping
 * unanswered for too long, is closed and rejects all that waits on it; the next `open` makes another.
 * No command is sent twice: only the caller knows whether a repeat is safe.
 */
export class Link {
  readonly #options: LinkOptions;
  #client: Client | undefined;
  #opening: Promise<Client> | undefined;
  #waiting = 0;
  #closed = false;
  #pings: NodeJS.Timeout | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** The connection, if there is one. A caller that tries it first saves the wait for `open`. */
  get client(): Client | undefined {
    return this.#client;
  }

  /** Rejects when Redis can't be reached within the time limit. Calls at the same time share one try. */
  async open(): Promise<Client> {
    if (this.#closed) throw new MillraceError("closed", "this log was closed");
    if (this.#client !== undefined) return this.#client;
    if (this.#waiting >= this.#options.waiting) {
      throw new Error(`${this.#waiting} calls wait for Redis already`);
    }
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    this.#waiting += 1;
    try {
      return await this.#opening;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Closes a connection. All that waits on it is rejected, and the next `open` makes another one. */
  lose(client: Client, cause: Error): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    clearInterval(this.#pings);
    client.destroy();
    this.#options.onDown?.(cause);
  }

  close(): void {
    this.#closed = true;
    if (this.#client !== undefined) this.lose(this.#client, new Error("the log was closed"));
  }

  async #connect(): Promise<Client> {
    const { timeoutMs, onUp } = this.#options;
    const client = this.#create();
    // A failure also rejects what waits and ends the connection. Without a listener this event throws.
    client.on("error", () => undefined);
    client.once("terminated", (cause: unknown) => this.lose(client, asError(cause)));
    // A cluster has moved the slot of a subscription, which brings no message any more.
    client.on("sharded-channel-moved", () => this.lose(client, new Error("a slot has moved")));
    // The library limits only the TCP handshake: a stopped Redis accepts connections and never answers.
    const deadline = setTimeout(() => client.destroy(), timeoutMs);
    try {
      await client.connect();
    } catch (error) {
      client.destroy();
      throw this.#unreachable(error);
    } finally {
      clearTimeout(deadline);
    }
    if (this.#closed || !client.isReady) {
      client.destroy();
      throw new Error("the connection to Redis broke as it was made");
    }
    this.#client = client;
    this.#pingRegularly(client);
    onUp?.(client);
    return client;
  }

  /** The error of a connection that could not be made, with its address. */
  #unreachable(error: unknown): Error {
    const { url, settings, timeoutMs } = this.#options;
    const host =
      settings.socket !== undefined && "host" in settings.socket ? settings.socket.host : "";
    const address = url === undefined ? (host ?? "") : withoutLogin(url);
    const reason = asError(error).message || `no answer within ${timeoutMs} ms`;
    return new Error(`no connection to Redis at ${address}: ${reason}`, { cause: error });
  }

  #create(): Client {
    const { url, settings, timeoutMs, waiting } = this.#options;
    // The library writes into what it is given, hence the copies.
    const socket = { ...settings.socket, connectTimeout: timeoutMs, reconnectStrategy: false };
    return createClient({
      ...settings,
      ...(url === undefined ? {} : { url }),
      socket,
      RESP: 3, // so that a connection with subscriptions answers a ping
      disableOfflineQueue: true,
      commandsQueueMaxLength: 4 * waiting, // an append is two commands, now and then five
      commandOptions: { ...settings.commandOptions, timeout: 0 }, // a timer for each command is expensive
      maintNotifications: "disabled",
      pingInterval: 0,
    } as RedisClientOptions); // a socket's settings are a union that spreading loses
  }

  /** Redis answers in order, so an answered ping proves that all commands before it were answered. */
  #pingRegularly(client: Client): void {
    const { timeoutMs } = this.#options;
    let askedAt: number | undefined;
    const answered = (): void => {
      askedAt = undefined;
    };
    const late = (): void => {
      if (askedAt === undefined) return;
      this.lose(client, new Error(`Redis has not answered for ${timeoutMs} ms`));
    };
    this.#pings = setInterval(() => {
      if (askedAt === undefined) {
        askedAt = performance.now();
        client.sendCommand(["PING"]).then(answered, (error: unknown) => {
          if (error instanceof ErrorReply) answered(); // "LOADING" is an answer
        });
      } else if (performance.now() - askedAt >= timeoutMs) {
        // If this process was suspended, the answer has arrived and is read before the callback.
        setImmediate(late);
      }
    }, timeoutMs / 2).unref();
  }
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}
