// A bound on the sockets that questions to name servers may take: a server that answers nothing, asked for many names,
// would else use up the descriptors that traffic needs. Each server has its own places, so a silent one delays no other.

import { type Ask, type AskFailure, askServer, serverName } from "./dns_query.ts";
import { Places } from "./places.ts";

/** Most questions under way with one server. */
export const MAX_QUESTIONS = 32;

/** Asks as `ask` does, with at most `MAX_QUESTIONS` under way per server. Waiting does not count against a question's time. */
export function limitedAsk(ask: Ask = askServer): Ask {
  const byServer = new Map<string, Places>();
  return async (server, question, options) => {
    const name = serverName(server);
    const places = byServer.get(name) ?? new Places(MAX_QUESTIONS);
    byServer.set(name, places);
    try {
      await places.take(options.signal);
    } catch {
      return CANCELLED; // Nobody wants the answer any more.
    }
    try {
      return await ask(server, question, options);
    } finally {
      places.give();
    }
  };
}

const CANCELLED: AskFailure = { failure: "timeout", detail: "cancelled" };
