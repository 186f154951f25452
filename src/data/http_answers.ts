// What a client is told when its request did not get an endpoint's answer (W7), by how the attempts ended.

import { type Outcome, partyOf, sentenceOf } from "../core/outcome.ts";
import type { OwnAnswer } from "../http/answer.ts";

/** No route took the request, and the listener has no default. */
export const NO_ROUTE: OwnAnswer = {
  status: 404,
  code: "no_route",
  message: "No route of this listener takes the request",
};

const NO_ENDPOINT: OwnAnswer = {
  status: 503,
  code: "no_endpoint",
  message: "No endpoint can be used at the moment",
  retryAfterS: 1,
};

const BUSY: OwnAnswer = {
  status: 503,
  code: "own_limit",
  message: "hale is at a limit of its own",
  retryAfterS: 1,
};

const SLOW_BODY: OwnAnswer = {
  status: 408,
  code: "request_timeout",
  message: "The request body did not arrive in time",
};

const BAD_BODY: OwnAnswer = { status: 400, code: "bad_request", message: "The request body is malformed" };

const STATUS_504: readonly Outcome[] = ["connect_timeout", "answer_timeout"];

/** The answer for an outcome; undefined: nobody is there to be answered, or it must not be. */
export function answerFor(outcome: Outcome): OwnAnswer | undefined {
  switch (outcome) {
    case "no_endpoint":
      return NO_ENDPOINT;
    case "own_limit":
    case "out_of_descriptors":
    case "stalled":
      return BUSY;
    case "client_slow":
      return SLOW_BODY;
    case "client_garbage":
      return BAD_BODY;
    case "client_aborted":
    case "client_reset":
    case "drained":
      return undefined;
  }
  const message = partyOf(outcome) === "endpoint"
    ? `The endpoint ${sentenceOf(outcome)}`
    : sentenceOf(outcome);
  return { status: STATUS_504.includes(outcome) ? 504 : 502, code: outcome, message };
}
