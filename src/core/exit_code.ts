// With what a command of hale ends (SPEC X).

/** Exit codes: all well, problems were found, it was called wrongly, sessions were cut when it stopped. */
export const EXIT = { ok: 0, problems: 1, usage: 2, forced: 3 } as const;
