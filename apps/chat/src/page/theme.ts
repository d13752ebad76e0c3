import { useEffect, useState } from "react";

const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];
const name = "chat:theme";

function kept(): Theme {
  const found = localStorage.getItem(name);
  return themes.find((theme) => theme === found) ?? "system";
}

/** The theme of this device, and the function that changes to the next one. */
export function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(kept);
  useEffect(() => {
    // Every colour is a pair of `light-dark()`, so that this one property is all there is to change.
    document.documentElement.style.colorScheme = theme === "system" ? "light dark" : theme;
    localStorage.setItem(name, theme);
  }, [theme]);
  const next = (): void =>
    setTheme(themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system");
  return [theme, next];
}
