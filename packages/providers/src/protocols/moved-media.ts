import { partId } from "@millrace/core/model";
import type { FilePart, MediaPart, TextPart } from "@millrace/core";
import type { Abilities, ModelPart, ModelTurn, UserPart, UserTurn } from "./prepare.ts";

/**
 * Media and files of the model. Most vendors take them from users only, so they are shown in a user
 * turn behind the model's turn and the answers to its calls, and a text refers to them in their place.
 */
export class MovedMedia {
  readonly #keeps: NonNullable<Abilities["keeps"]>;
  #waiting: UserPart[] = [];

  constructor(keeps: NonNullable<Abilities["keeps"]>) {
    this.#keeps = keeps;
  }

  /** The turn without the media that the vendor does not take in it. */
  without(turn: ModelTurn): ModelTurn {
    const parts = turn.parts.map((part): ModelPart => {
      if ((part.kind !== "media" && part.kind !== "file") || this.#keeps(part, turn)) return part;
      this.#waiting.push(part);
      const name = part.kind === "file" ? `file ${part.name}` : "media";
      const text = `[${name}, ${part.mediaType}: in the next user message]`.toWellFormed();
      const reference: TextPart = { kind: "text", id: part.id, text };
      references.add(reference);
      return reference;
    });
    return { ...turn, parts };
  }

  /** The user turn for the media of the turns so far, if there are any. */
  take(): readonly UserTurn[] {
    const parts = this.#waiting;
    this.#waiting = [];
    if (parts.length === 0) return [];
    const heading = { kind: "text", id: partId("p0"), text: "Made by the assistant:" } as const;
    return [{ role: "user", parts: [heading, ...parts] }];
  }
}

const references = new WeakSet<TextPart>();

/** True for a text that was put in the place of media. */
export function refersToMedia(part: TextPart): boolean {
  return references.has(part);
}

/** True for sound that the model made and wrote down. OpenAI takes no sound back, but its text. */
export function isTranscribed(part: MediaPart | FilePart, { parts }: ModelTurn): boolean {
  const isSound = part.mediaType.startsWith("audio/");
  return (
    isSound && parts.some((each) => each.kind === "text" && each.metadata?.["transcript"] === true)
  );
}
