import type { Cause } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import { connectionOf, initialMachine, step } from "../connection/machine.ts";
import type { Command, ConnectionEvent, Machine } from "../connection/machine.ts";
import { usualHeartbeatMs } from "../connection/states.ts";
import type { TimerName } from "../connection/states.ts";
import type { Requests } from "../http/requests.ts";
import { carryJson, carryStream } from "./carry.ts";
import type { Report } from "./carry.ts";
import { carryShared } from "./tabs.ts";
import type { Tabs } from "./tabs.ts";
import type { WatchedSessions } from "./watched.ts";

/** How a client's connection stands. `reconnecting` and `offline` are for people to see. */
export type ClientConnection = ReturnType<typeof connectionOf>;

/** What a connector needs. */
export interface ConnectorParts {
  readonly requests: Requests;
  readonly sessions: WatchedSessions;
  readonly random: () => number;
  readonly clock: Clock;
  readonly tabs?: Tabs | undefined;
}

/** Carries out what the machine of the connection commands: timers, streams, renewals. */
export class Connector {
  readonly #parts: ConnectorParts;
  readonly #timers = new Map<TimerName, () => void>();
  #machine: Machine = initialMachine;
  #held: AbortController | undefined;
  /**
   * The heartbeat that a server named last as a part of the usual one: a connection may be silent for so much longer
   * or less. Polls have no heartbeat: they are as short, so that a lost one is found as soon.
   */
  #pace = 1;

  constructor(parts: ConnectorParts) {
    this.#parts = parts;
  }

  get machine(): Machine {
    return this.#machine;
  }

  get connection(): ClientConnection {
    return connectionOf(this.#machine);
  }

  /** Why requests have no token. */
  get fault(): Cause | undefined {
    return this.#parts.requests.fault;
  }

  take(event: ConnectionEvent): void {
    const before = this.#machine;
    const shown = this.connection;
    const { requests, sessions, random } = this.#parts;
    const { machine, commands } = step(before, event, random());
    this.#machine = machine;
    for (const command of commands) this.#carryOut(command);
    const { state } = machine;
    if (state !== before.state) {
      // After a planned end other requests are still under way.
      const isLost = state === "waiting" && machine.attempt > 0;
      if (isLost || state === "offline" || state === "frozen") requests.doubt();
      if (state === "live") requests.wake();
    }
    if (this.connection === shown && machine.refusal === before.refusal) return;
    sessions.changeAll();
    sessions.flush();
  }

  #carryOut(command: Command): void {
    const { requests, sessions, tabs } = this.#parts;
    switch (command.type) {
      case "connect":
        this.#hold(command.number, (signal, report) => {
          const name = tabs?.name(requests.who);
          const onOpen = ({ url, headers }: Response): void => {
            const ms = Number(headers.get("millrace-heartbeat")) || usualHeartbeatMs;
            this.#pace = Math.min(4, Math.max(0.1, ms / usualHeartbeatMs));
            // Now it is known who this is, and that streams are scarce: the next one is shared.
            if (name === undefined && tabs?.isWorth(url) === true) this.take({ type: "watch" });
          };
          const carried = {
            requests,
            sessions,
            signal,
            report,
            onOpen,
            pace: Math.min(1, this.#pace),
          };
          if (command.form === "json") return carryJson(carried);
          return tabs !== undefined && name !== undefined
            ? carryShared(carried, tabs, name)
            : carryStream(carried);
        });
        break;
      case "renew":
        this.#hold(command.number, async (_signal, report) => {
          await requests.token(true);
          report({ type: "renewed" });
        });
        break;
      case "disconnect":
        this.#held?.abort();
        this.#held = undefined;
        break;
      case "set_timer":
        this.#set(command);
        break;
      case "clear_timer":
        this.#clear(command.timer);
        break;
      default:
        command satisfies never;
    }
  }

  #set({ timer, ms }: Extract<Command, { readonly type: "set_timer" }>): void {
    const due = timer === "silence_timeout" ? ms * this.#pace : ms;
    this.#clear(timer);
    this.#timers.set(
      timer,
      this.#parts.clock.after(due, () => this.take({ type: timer })),
    );
  }

  #clear(timer: TimerName): void {
    this.#timers.get(timer)?.();
    this.#timers.delete(timer);
  }

  #hold(number: number, work: (signal: AbortSignal, report: Report) => Promise<void>): void {
    const held = (this.#held = new AbortController());
    const report: Report = (event) => this.take({ ...event, number });
    work(held.signal, report).catch(() => report({ type: "failed" }));
  }
}
