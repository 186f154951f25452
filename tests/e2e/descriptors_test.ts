// A hale that runs out of file descriptors: it says so once, serves what it has, and recovers by itself.

import assert from "node:assert/strict";
import { HaleProcess } from "../support/hale_process.ts";
import { askTcp, NamedEndpoint, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";

Deno.test({
  name: "descriptor exhaustion: accepting pauses, no endpoint is blamed, and all is well once there is room",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using endpoint = NamedEndpoint.tcp("one");
    const port = freePort();
    const args = ["tcp", `127.0.0.1:${port}`, endpoint.address];
    await using hale = HaleProcess.start(args, { descriptors: 100 });
    await hale.ready();
    const conns: Deno.Conn[] = [];
    for (let count = 0; count < 120; count++) conns.push(await Deno.connect({ hostname: "127.0.0.1", port }));
    await hale.waitForLog(/EMFILE|too many open files/i);
    for (const conn of conns) conn.close();
    await until("hale to serve again", async () => {
      return await askTcp(port, "x").catch(() => "") === "one: x";
    });
    for (let turn = 0; turn < 20; turn++) assert.equal(await askTcp(port, "x"), "one: x");
    assert.doesNotMatch(hale.log, /ejected/i);
    const complaints = hale.log.split("\n").filter((line) => /EMFILE|too many open files/i.test(line));
    assert.ok(complaints.length <= 10, `told ${complaints.length} times`);
    assert.equal(await hale.stop(), 0);
  },
});
