/** One answer to a question. */
export interface Choice {
  readonly name: string;
  readonly hint: string;
}

/** A question of the creator. Its flag has the same name; the first choice is the usual one. */
export interface Question {
  readonly text: string;
  readonly choices: readonly Choice[];
}

/** The questions, in the order in which they are asked. */
export const questions = {
  template: {
    text: "What do you build?",
    choices: [
      { name: "web", hint: "a page in React, and its server" },
      { name: "api", hint: "a server alone, for the front end you have" },
      { name: "terminal", hint: "a chat in the terminal" },
    ],
  },
  vendor: {
    text: "Which model?",
    choices: [
      { name: "none", hint: "none yet: a script plays it, no key needed" },
      { name: "anthropic", hint: "Anthropic, with ANTHROPIC_API_KEY" },
      { name: "openai", hint: "OpenAI, with OPENAI_API_KEY" },
      { name: "gemini", hint: "Google, with GEMINI_API_KEY" },
      { name: "compatible", hint: "Ollama, vLLM, OpenRouter, any OpenAI-compatible server" },
    ],
  },
  run: {
    text: "Where will it run?",
    choices: [
      { name: "local", hint: "on one machine: sessions in files" },
      { name: "services", hint: "in many processes: PostgreSQL and Redis" },
      { name: "temporal", hint: "the same, and Temporal drives the runs" },
    ],
  },
  "sign-in": {
    text: "How do people sign in?",
    choices: [
      { name: "later", hint: "guests of this machine; production refuses to start" },
      { name: "keys", hint: "an API key for each user" },
      { name: "jwt", hint: "tokens of your identity provider" },
      { name: "session", hint: "a password, then a signed cookie" },
    ],
  },
} as const satisfies Readonly<Record<string, Question>>;

export type QuestionName = keyof typeof questions;

/** The answers that make a project. */
export type Answers = {
  readonly [Name in QuestionName]: (typeof questions)[Name]["choices"][number]["name"];
};

export const questionNames: readonly QuestionName[] = ["template", "vendor", "run", "sign-in"];

/** Whether a text is an answer to a question. */
export function isAnswer<Name extends QuestionName>(
  name: Name,
  text: string,
): text is Answers[Name] {
  return questions[name].choices.some((choice) => choice.name === text);
}
