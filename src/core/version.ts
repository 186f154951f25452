// The version of hale, once. deno.json carries the same; a test holds them together.

/** As `hale version` prints it. */
export const VERSION = "0.1.0";
