// The account of unanswered handshakes, with a clock that stands still.

import assert from "node:assert/strict";
import { Handshakes, MAX_UNANSWERED } from "../../../src/net/handshakes.ts";
import { FakeClock, settled } from "../../support/fake_clock.ts";

const ADDRESS = "10.0.0.1:443";

class Desk {
  readonly clock = new FakeClock();
  readonly handshakes = new Handshakes(this.clock);
  closed = 0;
  readonly #ends: (() => void)[] = [];

  leave(count: number, address = ADDRESS): void {
    for (let i = 0; i < count; i++) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#ends.push(resolve);
      this.handshakes.leave(address, { close: () => this.closed++ }, promise);
    }
  }

  async endOne(): Promise<void> {
    this.#ends.shift()!();
    await settled();
  }
}

Deno.test("below the limit nothing is forbidden, at the limit that address alone is", () => {
  const desk = new Desk();
  desk.leave(MAX_UNANSWERED - 1);
  assert.equal(desk.handshakes.forbids(ADDRESS), 0);
  desk.leave(1);
  assert.equal(desk.handshakes.forbids(ADDRESS), MAX_UNANSWERED);
  assert.equal(desk.handshakes.forbids("10.0.0.2:443"), 0);
});

Deno.test("a handshake that ends after all is closed and counts no more", async () => {
  const desk = new Desk();
  desk.leave(MAX_UNANSWERED);
  await desk.endOne();
  assert.equal(desk.closed, 1);
  assert.equal(desk.handshakes.unanswered, MAX_UNANSWERED - 1);
  assert.equal(desk.handshakes.forbids(ADDRESS), 0);
});

Deno.test("at the limit one more is let through now and then, ever more rarely", async () => {
  const desk = new Desk();
  desk.leave(MAX_UNANSWERED);
  let allowed = 0;
  for (let minute = 0; minute < 24 * 60; minute++) {
    await desk.clock.advance(60_000);
    if (desk.handshakes.forbids(ADDRESS) > 0) continue;
    desk.leave(1);
    allowed++;
  }
  assert.ok(allowed >= 24 && allowed <= 32, `${allowed} in a day`);
});

Deno.test("an address that answers again is free again, whatever it left open", () => {
  const desk = new Desk();
  desk.leave(MAX_UNANSWERED);
  desk.handshakes.answered(ADDRESS);
  assert.equal(desk.handshakes.forbids(ADDRESS), 0);
  desk.leave(MAX_UNANSWERED);
  assert.equal(desk.handshakes.forbids(ADDRESS), MAX_UNANSWERED);
});
