// Every way an attempt on an endpoint, or a session, can end: one row each, with whose doing it was and what it
// says about the endpoint. Nothing else in hale decides blame (SPEC "Who is charged").

/** What an outcome says about the endpoint: a success, a failure, or nothing at all. */
export type Verdict = "success" | "failure" | "none";

/** Who caused the outcome. */
export type Party = "endpoint" | "client" | "hale" | "nobody";

interface OutcomeRow {
  readonly verdict: Verdict;
  readonly by: Party;
  /** For a count: "5 connect failures in a row, last: refused". */
  readonly noun: string;
  /** For a log line, after "endpoint 10.0.0.1:80: ". */
  readonly sentence: string;
}

const row = (verdict: Verdict, by: Party, noun: string, sentence: string): OutcomeRow => ({
  verdict,
  by,
  noun,
  sentence,
});

const CONNECT = "connect failure";
const ANSWER = "bad answer";

const TABLE = {
  // Connecting: surely the endpoint's (or its network's) doing.
  connected: row("success", "endpoint", "connect", "connected"),
  refused: row("failure", "endpoint", CONNECT, "refused the connection"),
  reset: row("failure", "endpoint", CONNECT, "reset the connection while connecting"),
  connect_timeout: row("failure", "endpoint", CONNECT, "did not accept the connection in time"),
  unreachable: row("failure", "endpoint", CONNECT, "could not be reached"),
  tls_failed: row("failure", "endpoint", CONNECT, "failed the TLS handshake"),
  // HTTP, after connecting.
  answered: row("success", "endpoint", "answer", "answered"),
  status_5xx: row("failure", "endpoint", "5xx answer", "answered with a 5xx status"),
  no_answer: row("failure", "endpoint", ANSWER, "closed before the first byte of an answer"),
  answer_timeout: row("failure", "endpoint", ANSWER, "sent no response head in time"),
  answer_cut: row("failure", "endpoint", ANSWER, "cut the answer off in the middle"),
  answer_malformed: row("failure", "endpoint", ANSWER, "sent a malformed answer"),
  // Probes.
  probe_ok: row("success", "endpoint", "probe", "passed the probe"),
  unexpected_status: row(
    "failure",
    "endpoint",
    "unexpected status",
    "answered the probe with an unexpected status",
  ),
  // After a TCP connection stands: counted by side, never charged.
  finished: row("none", "nobody", "session", "both sides finished"),
  client_reset: row("none", "client", "client abort", "the client reset the connection"),
  client_aborted: row("none", "client", "client abort", "the client went away"),
  client_slow: row("none", "client", "slow client", "the client was too slow"),
  client_garbage: row("none", "client", "bad request", "the client sent a malformed request"),
  endpoint_reset: row("none", "endpoint", "endpoint abort", "the endpoint reset the connection"),
  // A pooled connection that the endpoint had closed while it was idle: lawful, says nothing (W6). Or one on which the
  // rest of the answer before came late: that answer had counted.
  stale_connection: row("none", "endpoint", "stale connection", "had ended or spoiled the idle connection"),
  idle: row("none", "nobody", "idle session", "no byte moved within the idle limit"),
  half_close_timeout: row(
    "none",
    "nobody",
    "half-closed session",
    "the half-closed session stayed silent too long",
  ),
  // Our own doing.
  name_unresolved: row("none", "hale", "unresolved name", "its name could not be resolved"),
  own_limit: row("none", "hale", "own limit", "a limit of hale refused it"),
  out_of_descriptors: row("none", "hale", "own limit", "hale had no file descriptor left"),
  stalled: row("none", "hale", "own stall", "hale itself was stalled"),
  cancelled: row("none", "hale", "cancelled attempt", "the attempt was cancelled"),
  drained: row("none", "hale", "drained session", "was cut when the drain time was over"),
  no_endpoint: row("none", "hale", "no endpoint", "no endpoint could be used"),
  internal_error: row("none", "hale", "internal error", "hale failed"),
} as const satisfies Record<string, OutcomeRow>;

/** The code of an outcome, as it stands in logs, metrics and reports. */
export type Outcome = keyof typeof TABLE;

/** Whether the outcome counts for, against, or not at all. */
export function verdictOf(outcome: Outcome): Verdict {
  return TABLE[outcome].verdict;
}

/** Whose doing the outcome was. */
export function partyOf(outcome: Outcome): Party {
  return TABLE[outcome].by;
}

/** A sentence that goes on after an endpoint's name: "refused the connection". */
export function sentenceOf(outcome: Outcome): string {
  return TABLE[outcome].sentence;
}

/** The noun for counting such outcomes: "connect failure". */
export function nounOf(outcome: Outcome): string {
  return TABLE[outcome].noun;
}

/** How a client left whose connection failed with this error code. */
export function clientLeft(code: string | undefined): Outcome {
  return code === "ECONNRESET" || code === "EPIPE" ? "client_reset" : "client_aborted";
}
