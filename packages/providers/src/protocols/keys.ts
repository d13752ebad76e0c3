/** Vendors' names of keys that are not those of `KeyboardEvent.key`, without case and underscores. */
const names: ReadonlyMap<string, string> = new Map([
  ["ctrl", "Control"],
  ["control", "Control"],
  ["controlormeta", "ControlOrMeta"],
  ["alt", "Alt"],
  ["option", "Alt"],
  ["shift", "Shift"],
  ["cmd", "Meta"],
  ["command", "Meta"],
  ["meta", "Meta"],
  ["super", "Meta"],
  ["win", "Meta"],
  ["windows", "Meta"],
  ["enter", "Enter"],
  ["return", "Enter"],
  ["kpenter", "Enter"],
  ["esc", "Escape"],
  ["escape", "Escape"],
  ["tab", "Tab"],
  ["space", " "],
  ["backspace", "Backspace"],
  ["del", "Delete"],
  ["delete", "Delete"],
  ["insert", "Insert"],
  ["home", "Home"],
  ["end", "End"],
  ["pageup", "PageUp"],
  ["prior", "PageUp"],
  ["pagedown", "PageDown"],
  ["next", "PageDown"],
  ["up", "ArrowUp"],
  ["arrowup", "ArrowUp"],
  ["down", "ArrowDown"],
  ["arrowdown", "ArrowDown"],
  ["left", "ArrowLeft"],
  ["arrowleft", "ArrowLeft"],
  ["right", "ArrowRight"],
  ["arrowright", "ArrowRight"],
  ["capslock", "CapsLock"],
  ["plus", "+"],
  ["minus", "-"],
]);

/** The key as `KeyboardEvent.key` names it, as far as it is known. */
export function keyNamed(given: string): string {
  const plain = given.toLowerCase().replaceAll("_", "");
  if (/^f\d{1,2}$/.test(plain)) return plain.toUpperCase();
  return names.get(plain) ?? given;
}

/** The keys of a combination such as `ctrl+shift+t`. A plus sign alone is a key. */
export function keysIn(combination: string): readonly string[] {
  const keys = combination.split("+").map((key) => key.trim());
  return combination.trim() === "+" ? ["+"] : keys.filter((key) => key !== "").map(keyNamed);
}
