import { useState } from "react";

/** Takes a key or a token, for this tab. */
export function SignInForm() {
  const [token, setToken] = useState("");
  const submit = () => {
    sessionStorage.setItem("token", token.trim());
    location.reload();
  };
  return (
    <form action={submit}>
      <label>
        Your key or token
        <input
          type="password"
          autoComplete="off"
          required
          value={token}
          onChange={({ target }) => setToken(target.value)}
        />
      </label>
      <button className="go">Sign in</button>
    </form>
  );
}
