// Whether the client is still there while its endpoint is dialed. The usual dial is over before anybody looks; one that
// takes longer is given up when nobody waits for it any more, and then says nothing about the endpoint.

import { clientLeft, type Outcome } from "../core/outcome.ts";
import type { Timed } from "../core/wheel.ts";
import type { ClientSide } from "../http/client_side.ts";
import { LOOK_MS } from "../http/course.ts";
import type { Cancellable } from "../net/deadline.ts";

/** Looks after the client of one session, dial by dial. */
export class ClientLook implements Timed {
  deadline = 0;
  bucket = -1;
  place = -1;
  /** How the client left during the last dial; undefined: as far as was seen, it did not. */
  gone: Outcome | undefined;
  readonly #side: ClientSide;
  #dial: Cancellable | undefined;
  #isLooking = false;
  #isRequestRead = true;

  constructor(side: ClientSide) {
    this.#side = side;
  }

  /** A dial begins. `isRequestRead`: the client has sent its whole request. */
  begin(isRequestRead: boolean): void {
    const { wheel } = this.#side.tools;
    this.gone = undefined;
    this.#isLooking = false;
    this.#isRequestRead = isRequestRead;
    this.deadline = wheel.now + LOOK_MS;
    wheel.add(this);
  }

  /** For `DialOptions.begun`. */
  readonly begun = (dial: Cancellable | undefined): void => {
    this.#dial = dial;
  };

  /** The dial is over. */
  end(): void {
    this.#side.tools.wheel.remove(this);
    this.#dial = undefined;
    if (this.#isLooking) this.#side.wire.onAhead = undefined;
  }

  /** Called by the wheel: first to look, then when a client that has ended its side was waited for long enough. */
  expire(): void {
    if (this.#isLooking) return this.giveUp("client_aborted");
    const { wire } = this.#side;
    this.#isLooking = true;
    wire.onAhead = () => this.#look();
    wire.readAhead();
    this.#look();
  }

  /**
   * An end may be a half-close or the client's farewell, nobody can tell: a connection that is near is still waited for.
   * Bytes are the next request, or more of this one, and keep.
   */
  #look(): void {
    const { wire, tools } = this.#side;
    if (wire.readFailure !== "") return this.giveUp(clientLeft(wire.readFailure));
    if (!wire.ended) return;
    if (!this.#isRequestRead && wire.unread === 0) return this.giveUp("client_aborted");
    tools.wheel.reschedule(this, tools.wheel.now + tools.limits.halfClosedMs);
  }

  /** Ends the dial under way, if that is possible; nothing is tried after it. */
  giveUp(reason: Outcome): void {
    this.gone ??= reason;
    this.#dial?.cancel();
  }
}
