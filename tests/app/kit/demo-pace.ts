// Imported before the demo, which reads it when it is loaded. Tests that look at a moment hold the demo there.
process.env["DEMO_PACE"] ??= "0.05";
