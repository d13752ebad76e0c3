/**
 * A tool that vendors define and the caller runs: what it is, and its settings. A vendor that has the
 * tool is given its own declaration; another one gets an ordinary function by the tool's schema. Calls
 * have the same input either way: `ComputerInput`, `ShellInput` and so on.
 */
export type VendorTool = (
  | ComputerSettings
  | { readonly kind: "shell" }
  | { readonly kind: "apply_patch" }
  | TextEditorSettings
  | { readonly kind: "memory" }
  | { readonly kind: "mcp_approval" }
) & {
  /**
   * `false`: an ordinary function for every vendor. `true`: the vendor's own tool, also for a model that
   * is not known to have it. Left out: as the model's name suggests.
   */
  readonly native?: boolean | undefined;
};

/** A screen with a mouse and a keyboard. Coordinates are pixels from its upper left corner. */
export interface ComputerSettings {
  readonly kind: "computer";
  readonly width: number;
  readonly height: number;
  /** Left out: `browser`. */
  readonly environment?: "browser" | "mac" | "windows" | "linux" | undefined;
  /** Whether a model may ask for a part of the screen in full resolution. Left out: no. */
  readonly zoom?: boolean | undefined;
}

/** An editor of text files. */
export interface TextEditorSettings {
  readonly kind: "text_editor";
  /** The most characters that `view` gives of a file. Left out: all. */
  readonly maxCharacters?: number | undefined;
}

/** What a model asks of a computer: actions in their order. */
export interface ComputerInput {
  readonly actions: readonly ComputerAction[];
  /** What the vendor wants a person to see before the actions are performed. */
  readonly checks?: readonly SafetyCheck[] | undefined;
}

/** Why a vendor wants a person to decide. */
export interface SafetyCheck {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

/** A place on a screen. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * One action. Keys have the names of `KeyboardEvent.key`, such as `Control`, `Enter`, `a`. `keys` beside
 * a mouse action are held during it. A place that is left out is that of the mouse.
 */
export type ComputerAction =
  | { readonly action: "screenshot" }
  | { readonly action: "zoom"; readonly from: Point; readonly to: Point }
  | ({ readonly action: "move"; readonly keys?: readonly string[] | undefined } & Point)
  | ({
      readonly action: "click";
      /** Left out: `left`. */
      readonly button?: MouseButton | undefined;
      /** 2 for a double click. Left out: 1. */
      readonly times?: number | undefined;
      readonly keys?: readonly string[] | undefined;
    } & Partial<Point>)
  | ({ readonly action: "mouse_down" | "mouse_up" } & Partial<Point>)
  | {
      readonly action: "drag";
      readonly path: readonly Point[];
      readonly keys?: readonly string[] | undefined;
    }
  | ({
      readonly action: "scroll";
      /** Pixels to the right and down. One step of a wheel is 100. */
      readonly dx: number;
      readonly dy: number;
      readonly keys?: readonly string[] | undefined;
    } & Partial<Point>)
  | ({
      readonly action: "type";
      readonly text: string;
      /** Empties the field first. */
      readonly clear?: boolean | undefined;
      /** Presses Enter behind the text. */
      readonly enter?: boolean | undefined;
    } & Partial<Point>)
  /** Pressed together; held for `seconds` if they are given. */
  | { readonly action: "key"; readonly keys: readonly string[]; readonly seconds?: number }
  | { readonly action: "wait"; readonly seconds?: number | undefined }
  | { readonly action: "cursor_position" }
  | { readonly action: "open_browser" | "search" | "back" | "forward" }
  | { readonly action: "navigate"; readonly url: string };

/** A button of a mouse. */
export type MouseButton = "left" | "right" | "middle" | "back" | "forward";

/** Commands to run in one shell, in their order. */
export interface ShellInput {
  readonly commands: readonly string[];
  /** True: begin with a new shell. There may be no command then. */
  readonly restart?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  /** The most characters of output that the model wants. */
  readonly maxOutputLength?: number | undefined;
  readonly directory?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly user?: string | undefined;
}

/** What the commands of a shell came to: one entry for each, or one for all. */
export interface ShellOutput {
  readonly outputs: readonly {
    readonly stdout: string;
    readonly stderr: string;
    /** `timeout`: it was ended because it took too long. */
    readonly exit: number | "timeout";
  }[];
}

/** One change of a file. The diff is OpenAI's V4A format: lines with " ", "+", "-" behind an `@@`. */
export type PatchInput =
  | {
      readonly type: "create_file" | "update_file";
      readonly path: string;
      readonly diff: string;
    }
  | { readonly type: "delete_file"; readonly path: string };

/** A command to an editor of text files. Lines are counted from 1. */
export type TextEditorInput =
  | ViewCommand
  | { readonly command: "create"; readonly path: string; readonly file_text: string }
  | ReplaceCommand
  | InsertCommand
  | { readonly command: "undo_edit"; readonly path: string };

/** Shows a file, or the files of a folder. */
export interface ViewCommand {
  readonly command: "view";
  readonly path: string;
  /** The first line and the last, which may be -1 for the end. */
  readonly view_range?: readonly number[] | undefined;
}

/** Replaces a text that a file has once. */
export interface ReplaceCommand {
  readonly command: "str_replace";
  readonly path: string;
  readonly old_str: string;
  /** Left out: the old text is removed. */
  readonly new_str?: string | undefined;
}

/** Inserts a text behind a line. */
export interface InsertCommand {
  readonly command: "insert";
  readonly path: string;
  /** The line behind which the text goes. 0 is the beginning of the file. */
  readonly insert_line: number;
  readonly insert_text: string;
}

/** A command to the memory of an agent: files below `/memories`. */
export type MemoryInput =
  | ViewCommand
  | { readonly command: "create"; readonly path: string; readonly file_text: string }
  | ReplaceCommand
  | InsertCommand
  | { readonly command: "delete"; readonly path: string }
  | { readonly command: "rename"; readonly old_path: string; readonly new_path: string };

/** A call of a server that the vendor wants to make, and that a person has to allow. */
export interface McpApprovalInput {
  readonly server: string;
  readonly tool: string;
  /** The arguments as the model wrote them. */
  readonly arguments: string;
}
