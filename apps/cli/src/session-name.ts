/** A name for a new session that people can type: its day, and five letters. */
export function newSessionName(time: number, random: () => number): string {
  const letters = "abcdefghjkmnpqrstuvwxyz23456789";
  const pick = (): string => letters[Math.floor(random() * letters.length)] ?? "a";
  const day = new Date(time).toISOString().slice(0, 10);
  return `${day}-${Array.from({ length: 5 }, pick).join("")}`;
}
