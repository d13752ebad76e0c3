/** What `--help` prints. */
export const helpText = `millrace: a model in the terminal. Sessions are files and can be taken up again.

  millrace                            a new session
  millrace "prompt"                   a new session that begins with this prompt
  millrace -p "prompt"                prints the answer and ends; the shell is never allowed to run
  cat file | millrace -p "prompt"     the prompt, and then what is piped in
  millrace --resume <id>              go on with a session; an interrupted run goes on by itself
  millrace --list                     the sessions there are
  millrace chat --url <server>        a session at a server: its model, its tools, the same screen

  -p, --print        print the answer and end. Also whenever stdin is no terminal
  --session <id>     the session of this name, made if it is not there
  --model <model>    anthropic/<name>, openai/<name>, gemini/<name>; ollama/<name>, vllm/<name> on this
                     machine; http://<host>/v1#<name>, any OpenAI-compatible server; demo; or
                     scripted:<file>. Left out: the session's own, MILLRACE_MODEL, or a default
  --store <folder>   where sessions are kept
  --url <server>     the server that the session is at; its tools run there, not here. Its token is
                     in MILLRACE_TOKEN. Also with -p, --json and --list
  --tools <list>     time, shell or none; both if left out. The shell asks before each command
  --json             one line of JSON: session, model, outcome, text, usage
  --json=events      every event as a line of JSON; without a prompt, each line of stdin is one
  --help, --version

Keys: ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY; for an address, MILLRACE_API_KEY.
To try it without a key: --model demo
Exit codes: 0 completed, 1 failed or ended by a limit, 2 usage, 130 stopped
`;

/** What `/help` prints, a line each. */
export const commandHelp: readonly string[] = [
  "Enter sends; while a run is on, it steers that run",
  "/followup <text>  to be taken up when the run is done",
  "/queue            what waits",
  "/back <n>         take back what waits, into the line",
  "/fork             go on in a copy of this session",
  "/usage            tokens and cost so far",
  "/quit             leave; a run that is on can be taken up again",
  "Esc               stops the run and keeps what came",
  "Ctrl-C            the same; twice, or with no run on, leaves",
];
