/** What `--help` prints. */
export const helpText = `millrace chat: talk to a model in the terminal. Sessions are files and can be taken up again.

  millrace chat                       a new session
  millrace chat --resume <id>         go on with a session; an interrupted run goes on by itself
  millrace chat --list                the sessions there are
  echo "…" | millrace chat            one prompt; only the answer is printed

  --session <id>     the session of this name, made if it is not there
  --model <model>    anthropic/<name>, openai/<name>, gemini/<name>, demo, or scripted:<file>
                     (or set MILLRACE_MODEL)
  --store <folder>   where sessions are kept
  --tools <list>     time, shell or none; both if left out. The shell asks before each command
  --json             events as JSON lines on stdout; prompts from stdin, one per line
  --help, --version

Keys and variables: ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY. To try it without a key: --model demo
Exit codes: 0 completed, 1 failed, 2 usage, 130 stopped
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
  "Ctrl-C            stops the run and keeps what came; twice, or with no run on, leaves",
];
