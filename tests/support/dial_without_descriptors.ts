// Run under a low `ulimit -n`: uses up all descriptors, dials a literal and a name, frees them, dials again.
// Prints one outcome per line.

import { dial } from "../../src/net/dial.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { takeAll } from "./descriptors.ts";

const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
const options = {
  connectMs: 5000,
  happyEyeballsMs: 250,
  clock: new SystemClock(),
  resolveHost: () => Promise.resolve({ addresses: ["127.0.0.1", "127.0.0.2"] }),
};

async function say(host: string): Promise<void> {
  const result = await dial({ host, port: listener.addr.port }, options);
  console.log("outcome" in result ? result.outcome : "connected");
  if ("conn" in result) result.conn.close();
}

const files = takeAll();
await say("127.0.0.1");
await say("app.example.test");
for (const file of files) file.close();
await say("127.0.0.1");
listener.close();
