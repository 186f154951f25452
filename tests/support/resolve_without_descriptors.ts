// Run under a low `ulimit -n`: resolves a name by UDP, by TCP and by the system while no descriptor is left, with
// /etc/resolv.conf and /etc/hosts read before and not read before. Prints one failure per line.

import { askServer } from "../../src/net/dns_query.ts";
import { DnsResolver } from "../../src/net/dns_resolver.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { SystemResolver } from "../../src/net/system_resolver.ts";
import { WatchedFile } from "../../src/net/watched_file.ts";
import { NO_FILES } from "./scripted_dns.ts";
import { takeAll } from "./descriptors.ts";

const APP = { name: "app.example.test", type: "A" } as const;
const server = { host: "127.0.0.1", port: 9 };
const path = await Deno.makeTempFile();
await Deno.writeTextFile(path, "one");
const read = new WatchedFile(path, (text) => text);
await read.read();

const failureOf = (end: object) => "failure" in end ? end.failure : "found";
const system = new SystemResolver();
const files = takeAll();
for (const useTcp of [false, true]) {
  console.log(failureOf(await askServer(server, APP, { timeoutMs: 1000, useTcp })));
}
console.log(
  failureOf(
    await new DnsResolver({ clock: new SystemClock(), ...NO_FILES, nameservers: [server] }).resolve(APP),
  ),
);
console.log(failureOf(await new DnsResolver({ clock: new SystemClock() }).resolve(APP)));
console.log(failureOf(await system.resolve(APP)));
await Deno.utime(path, 1, 1); // It looks changed now, and can not be opened.
console.log(await read.read());
for (const file of files) file.close();
await Deno.remove(path);
