import type { MemoryInput, PatchInput, TextEditorInput } from "@millrace/core/model";
import { expects } from "@millrace/core/checks";
import type { Issue } from "@millrace/core/schema";
import { defineTool } from "../definition/tool.ts";
import type { Tool } from "../definition/tool.ts";
import { checkSettings, sharedSettings } from "./settings.ts";
import type { RunVendorTool, VendorToolSettings } from "./settings.ts";
import { listOf, schemaFrom, text, unionIssues, unionSchema, whole } from "./variants.ts";
import type { Field, Union, Variant } from "./variants.ts";

/** The settings of `applyPatchTool`. */
export interface ApplyPatchToolOptions extends VendorToolSettings<PatchInput> {
  /** Changes the file. If it throws, the model gets the message and can try another patch. */
  readonly run: RunVendorTool<PatchInput, string | undefined>;
}

/** Changes of files by diffs. Asks before each call unless `approve` is given. */
export function applyPatchTool(
  options: ApplyPatchToolOptions,
): Tool<string, PatchInput, string | undefined> {
  checkSettings("applyPatchTool", applyPatchTool, options);
  const { run, native } = options;
  return defineTool({
    ...sharedSettings<PatchInput>(options, {
      name: "apply_patch",
      description:
        'Creates, changes or deletes a file. A diff has lines that begin with " ", "+" or "-", behind a line "@@" for each place.',
      approve: "ask",
    }),
    vendor: { kind: "apply_patch", native },
    input: schemaFrom<PatchInput>(unionSchema(patches), (value) => unionIssues(patches, value)),
    run,
  });
}

/** The settings of `textEditorTool`. */
export interface TextEditorToolOptions extends VendorToolSettings<TextEditorInput> {
  /** The most characters that `view` gives of a file. Left out: all. `run` has to keep to it. */
  readonly maxCharacters?: number | undefined;
  readonly run: RunVendorTool<TextEditorInput, string | undefined>;
}

/** An editor of text files. Asks before each change unless `approve` is given; looking is allowed. */
export function textEditorTool(
  options: TextEditorToolOptions,
): Tool<string, TextEditorInput, string | undefined> {
  const maxCharacters = expects.optional(expects.whole(1));
  checkSettings("textEditorTool", textEditorTool, options, { maxCharacters });
  const { run, native } = options;
  return defineTool({
    ...sharedSettings<TextEditorInput>(options, {
      name: "text_editor",
      description: "Shows and edits text files.",
      approve: ({ command }) => (command === "view" ? "allow" : "ask"),
    }),
    vendor: { kind: "text_editor", maxCharacters: options.maxCharacters, native },
    input: schemaFrom<TextEditorInput>(unionSchema(edits), (value) => unionIssues(edits, value)),
    run,
  });
}

/** The settings of `memoryTool`. */
export interface MemoryToolOptions extends VendorToolSettings<MemoryInput> {
  /** Reads and writes the files of the memory, which are all below `/memories`. */
  readonly run: RunVendorTool<MemoryInput, string | undefined>;
}

/**
 * Files in which a model keeps what it learns, from session to session. Each path is below `/memories`
 * and has no "..": others are refused before `run` is called. Allowed unless `approve` is given.
 */
export function memoryTool(
  options: MemoryToolOptions,
): Tool<string, MemoryInput, string | undefined> {
  checkSettings("memoryTool", memoryTool, options);
  const { run, native } = options;
  return defineTool({
    ...sharedSettings<MemoryInput>(options, {
      name: "memory",
      description:
        "Keeps notes in files below /memories, which later conversations see. Look there before you begin.",
      approve: "allow",
    }),
    vendor: { kind: "memory", native },
    input: schemaFrom<MemoryInput>(unionSchema(memories), memoryIssues),
    run,
  });
}

const path = text("the path of the file");

const patches: Union = {
  tag: "type",
  fields: { path, diff: text("the diff; of a new file, all lines with +") },
  variants: {
    create_file: { required: ["path", "diff"] },
    update_file: { required: ["path", "diff"] },
    delete_file: { required: ["path"] },
  },
};

const editFields: Readonly<Record<string, Field>> = {
  path,
  view_range: listOf("the first line and the last, from 1; -1 is the end", whole("a line")),
  file_text: text("the content of the new file"),
  old_str: text("the text to replace, which the file has once"),
  new_str: text("the text in its place"),
  insert_line: whole("the line behind which the text goes; 0 is the beginning"),
  insert_text: text("the text to insert"),
};

const editCommands: Readonly<Record<string, Variant>> = {
  view: { required: ["path"], optional: ["view_range"] },
  create: { required: ["path", "file_text"] },
  str_replace: { required: ["path", "old_str"], optional: ["new_str"] },
  insert: { required: ["path", "insert_line", "insert_text"] },
};

const edits: Union = {
  tag: "command",
  fields: editFields,
  variants: { ...editCommands, undo_edit: { required: ["path"] } },
};

const memories: Union = {
  tag: "command",
  fields: { ...editFields, old_path: text("the path now"), new_path: text("the path then") },
  variants: {
    ...editCommands,
    delete: { required: ["path"] },
    rename: { required: ["old_path", "new_path"] },
  },
};

function memoryIssues(value: unknown): readonly Issue[] {
  const issues = unionIssues(memories, value);
  if (issues.length > 0) return issues;
  const given = value as Readonly<Record<string, unknown>>; // an object, as was just checked
  return ["path", "old_path", "new_path"].flatMap((name): readonly Issue[] => {
    const place = given[name];
    if (typeof place !== "string" || isInside(place)) return [];
    return [{ message: 'must be below /memories, without ".."', path: [name] }];
  });
}

/** True for a path that stays below `/memories`, however a file system may decode it. */
function isInside(place: string): boolean {
  return /^\/memories(?:\/|$)/.test(place) && !/\.\.|\\|\0|%2e|%2f|%5c/i.test(place);
}
