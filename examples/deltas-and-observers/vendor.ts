// What a vendor with OpenAI's chat API sends for each sequence, line by line.

const line = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 5 } })}\n\n`;

const end = (finish: string): string => `${line({}, finish)}${usage}data: [DONE]\n\n`;

/**
 * The beginning of a call: its id and its tool's name come at once, its arguments do not. The vendor
 * takes no dots in names: it was sent `fs.read_file` as `fs_read_file`, and answers with that.
 */
const named = (index: number, id: string, name: string): string =>
  line({ tool_calls: [{ index, id, function: { name } }] });

const argumentsOf = (index: number, text: string): string =>
  line({ tool_calls: [{ index, function: { arguments: text } }] });

/** The answer after a tool has run. */
const done = line({ content: "Done." }) + end("stop");

/** The replies of the vendor for each sequence: one, and one more after tools. */
export const sequences: Readonly<Record<string, readonly string[]>> = {
  text: [
    ["The ", "answer", " is ", "42."].map((content) => line({ content })).join("") + end("stop"),
  ],
  "multi-part": [
    line({ content: "I'll read that file." }) +
      named(0, "call-1", "fs_read_file") +
      argumentsOf(0, '{"path":') +
      argumentsOf(0, ' "src/main.rs"}') +
      end("tool_calls"),
    done,
  ],
  "tool call": [
    named(0, "call-7", "fs_read_file") +
      ['{"pa', 'th":', ' "sr', "c/mai", 'n.rs"', "}"].map((text) => argumentsOf(0, text)).join("") +
      end("tool_calls"),
    done,
  ],
  "parallel calls": [
    named(0, "call-1", "fs_read_file") +
      named(1, "call-2", "shell_exec") +
      argumentsOf(0, '{"path":') +
      argumentsOf(1, '{"exec') +
      argumentsOf(0, ' "a.txt"}') +
      argumentsOf(1, 'utable": "pwd"}') +
      end("tool_calls"),
    done,
  ],
  reasoning: [
    line({ reasoning_content: "The user wants to know..." }) +
      line({ reasoning_content: " I should consider..." }) +
      line({ content: "The answer is 42." }) +
      end("stop"),
  ],
};
