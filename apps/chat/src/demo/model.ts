import type { Model } from "@millrace/core";
import { scriptedModel } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import { pace } from "./pace.ts";

const delayMs = 16 * pace;

/** A model that computes its reply from the transcript, and writes it at the pace of a real one. */
export function demoModel(
  id: string,
  replyTo: (transcript: Parameters<Model["stream"]>[0]["transcript"]) => readonly ScriptedPart[],
): Model {
  const options = { id, delayMs, chunk: [4, 7, 3, 6, 5] };
  return {
    id,
    stream: (request) =>
      scriptedModel([({ transcript }) => replyTo(transcript)], options).stream(request),
  };
}
