import { useState } from "react";
import type { SubmitEvent } from "react";

/** Takes a name and a password; the server answers with a cookie. */
export function SignInForm() {
  const [problem, setProblem] = useState("");
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault(); // as its `action` it would lose the name after a wrong password
    const body = new URLSearchParams();
    for (const [name, value] of new FormData(event.currentTarget))
      if (typeof value === "string") body.set(name, value);
    const response = await fetch("/sign-in", { method: "POST", body }).catch(() => undefined);
    if (response?.ok) return location.reload();
    const isWrong = response?.status === 401;
    setProblem(isWrong ? "Wrong name or password." : "The server gave no answer. Try again.");
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <label>
        Name <input name="user" autoComplete="username" required />
      </label>
      <label>
        Password
        <input name="password" type="password" autoComplete="current-password" required />
      </label>
      {problem && <p role="alert">{problem}</p>}
      <button className="go">Sign in</button>
    </form>
  );
}
