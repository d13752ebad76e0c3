import { Socket } from "node:net";

/** The message after which PostgreSQL commits what was sent, and the one by which it only answers. */
const sync = Buffer.from([0x53, 0, 0, 0, 4]);
const flush = Buffer.from([0x48, 0, 0, 0, 4]);
/** The end of an answer outside of a transaction: what was sent is committed. */
const idle = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
/** The first byte of a message with the parameters of a statement. */
const bind = 0x42;

/** Stops the next statement that stores an item on its way to PostgreSQL, or the answer on its way back. */
export interface StatementCuts {
  /** Calls `kill` when PostgreSQL has executed the statement and was not told to commit it. */
  readonly beforeCommit: (kill: () => void) => void;
  /** Calls `kill` when PostgreSQL has committed it, before the driver reads the answer. */
  readonly beforeAnswer: (kill: () => void) => void;
}

/** Watches what this process writes to its sockets. */
export function watchStatements(): StatementCuts {
  let cut: { readonly isCommitted: boolean; readonly kill: () => void } | undefined;
  let victim: Socket | undefined;
  const watched = {
    write(this: Socket, chunk: unknown, ...rest: readonly never[]): boolean {
      const { write } = original;
      if (cut === undefined || !Buffer.isBuffer(chunk)) return write.call(this, chunk, ...rest);
      if (chunk[0] === bind && chunk.includes("item_committed")) victim = this; // oxlint-disable-line no-this-alias
      if (this !== victim || !chunk.equals(sync)) return write.call(this, chunk, ...rest);
      const { isCommitted, kill } = cut;
      this.prependListener("data", (answer: Buffer) => {
        if (!isCommitted || answer.subarray(-idle.length).equals(idle)) kill();
      });
      return write.call(this, isCommitted ? sync : flush, ...rest);
    },
  };
  // oxlint-disable-next-line typescript/unbound-method -- called with its socket
  const original = { write: Socket.prototype.write as (...args: readonly unknown[]) => boolean };
  Object.assign(Socket.prototype, watched);
  return {
    beforeCommit: (kill) => (cut = { isCommitted: false, kill }),
    beforeAnswer: (kill) => (cut = { isCommitted: true, kill }),
  };
}
