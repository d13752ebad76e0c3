// Loaded before a program. Replaces weather.example: requests to it go to an address on this
// machine.
const real = globalThis.fetch;

globalThis.fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  if (url.hostname !== "weather.example") return real(input, init);
  return real(`${process.env["WEATHER_URL"]}${url.pathname}`, init);
};
