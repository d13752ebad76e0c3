import { AbstractChat as Chat7, DefaultChatTransport as Transport7 } from "ai";
import { AbstractChat as Chat5, DefaultChatTransport as Transport5 } from "ai-v5";
import { AbstractChat as Chat6, DefaultChatTransport as Transport6 } from "ai-v6";

/** A major version of the AI SDK. */
export type Version = 5 | 6 | 7;
export const versions: readonly Version[] = [5, 6, 7];

/** A message as the library holds it. */
export interface HeldMessage {
  readonly id: string;
  readonly role: string;
  readonly metadata?: unknown;
  readonly parts: readonly (Readonly<Record<string, unknown>> & { readonly type: string })[];
}

/** The library's chat, as far as all three versions have it: what `useChat` is made of, without React. */
export interface HeldChat {
  messages: readonly HeldMessage[];
  readonly status: string;
  readonly error: Error | undefined;
  readonly sendMessage: (message?: object, options?: object) => Promise<void>;
  readonly regenerate: (options?: object) => Promise<void>;
  readonly resumeStream: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly addToolOutput?: (output: object) => Promise<void>;
  readonly addToolResult: (output: object) => Promise<void>;
  readonly addToolApprovalResponse?: (answer: object) => Promise<void>;
}

export interface ChatOptions {
  readonly id: string;
  readonly fetch: typeof fetch;
  readonly messages?: readonly HeldMessage[];
  readonly generateId?: () => string;
  readonly sendAutomaticallyWhen?: (held: { readonly messages: readonly never[] }) => boolean;
  readonly onToolCall?: (called: { readonly toolCall: object }) => void;
  readonly onData?: (part: { readonly type: string; readonly data: unknown }) => void;
  /** Called after each change of the messages. */
  readonly onChange?: (messages: readonly HeldMessage[]) => void;
}

/** Where each version's requests go: pages can only name another `api`. */
export const apiOf: Readonly<Record<Version, string>> = {
  5: "http://localhost/ai-sdk-v5",
  6: "http://localhost/ai-sdk-v6",
  7: "http://localhost/ai-sdk",
};

const chats = { 5: Chat5, 6: Chat6, 7: Chat7 };
const transports: Readonly<Record<Version, new (options: object) => object>> = {
  5: Transport5,
  6: Transport6,
  7: Transport7,
};

/** A chat of the library, unmodified, with its own transport. */
export function openChat(version: Version, options: ChatOptions): HeldChat {
  const { fetch, messages = [], onChange, ...rest } = options;
  const transport = new transports[version]({
    api: apiOf[version],
    fetch,
    headers: { authorization: "Bearer ann" },
  });
  const state = {
    status: "ready",
    error: undefined,
    messages: [...messages],
    pushMessage: (message: HeldMessage) => {
      state.messages = [...state.messages, message];
      onChange?.(state.messages);
    },
    popMessage: () => {
      state.messages = state.messages.slice(0, -1);
    },
    replaceMessage: (at: number, message: HeldMessage) => {
      state.messages = state.messages.with(at, { ...message });
      onChange?.(state.messages);
    },
    snapshot: <T>(thing: T): T => structuredClone(thing),
  };
  class Held extends (chats[version] as unknown as new (init: object) => object) {}
  return new Held({ ...rest, transport, state }) as HeldChat;
}

/** A message as it would be stored: without fields that have no value. */
export function stored(message: unknown): unknown {
  return message === undefined ? undefined : (JSON.parse(JSON.stringify(message)) as unknown);
}
