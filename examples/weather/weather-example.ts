// Loaded before a program, it stands in for weather.example: what is asked there goes to an address on
// this machine instead.
const real = globalThis.fetch;

globalThis.fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  if (url.hostname !== "weather.example") return real(input, init);
  return real(`${process.env["WEATHER_URL"]}${url.pathname}`, init);
};
