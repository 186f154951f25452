// Random HTTP messages for fuzz tests: well-formed ones of many shapes, and the same after a few small wounds.

/** A source of chance that can be repeated: mulberry32. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** The seed of a run: HALE_FUZZ_SEED, else drawn; printed so that a failure can be repeated. */
export function fuzzSeed(): number {
  const seed = Number(Deno.env.get("HALE_FUZZ_SEED") ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`HALE_FUZZ_SEED=${seed}`);
  return seed;
}

/** How many times the usual number of runs is wanted. */
export const FUZZ_FACTOR = Number(Deno.env.get("HALE_FUZZ_FACTOR") ?? 1);

type Random = () => number;
const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

const WOUNDS = [
  "\r",
  "\n",
  "\r\n",
  "\r\n\r\n",
  "\0",
  " ",
  "\t",
  ":",
  ",",
  ";",
  "#",
  "%",
  "\x0b",
  "\x0c",
  "\x7f",
  "\x85",
  "\xa0",
  "\xff",
  "0",
  "1",
  "-",
  "+",
  "x",
  "chunked",
  " chunked",
  "Content-Length: 5\r\n",
  "Content-Length: 0\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding: identity\r\n",
  "Host: b\r\n",
  "Connection: close\r\n",
  "Connection: content-length\r\n",
  " HTTP/1.1",
  "HTTP/1.0",
  "GET /smuggled HTTP/1.1\r\nHost: z\r\n\r\n",
  "0\r\n\r\n",
  "5\r\nhello\r\n",
  "ffffffffffffffff",
  "Upgrade: foo\r\n",
  "@",
  "//",
  "http://b/",
  "Transfer-Encoding : chunked\r\n",
  "Transfer-Encoding:\tchunked\r\n",
  "Transfer-Encoding: chunked, chunked\r\n",
  "Content-Length: 05\r\n",
  "Content-Length: +5\r\n",
  "Content-Length:\r\n",
  "\r\n X",
  ";a=b",
  "0x5",
  "Connection: upgrade\r\n",
];
const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"];
const TARGETS = ["/", "/a?b=c", "/%2F/..//x", "http://b.example.test/x", "*", "/\xc3\xa9"];
const FIELDS = [
  "Accept: */*",
  "X-A:",
  "X-B:  y ",
  "Connection: keep-alive",
  "Connection: close, X-A",
  "TE: trailers",
  "Upgrade: websocket",
  "Expect: 100-continue",
  "X-Forwarded-For: 1.2.3.4",
  "X-Request-Id: abc",
  "Cookie: a=b; c=d",
  "Trailer: X-T",
  "Keep-Alive: timeout=5",
];

function chunksOf(random: Random): string {
  let text = "";
  for (let count = Math.floor(random() * 4); count > 0; count--) {
    const size = 1 + Math.floor(random() * 20);
    text += size.toString(16) + pick(random, ["", "", ";a", ';a="b c"']) + "\r\n" + "d".repeat(size) + "\r\n";
  }
  return text + "0\r\n" + pick(random, ["", "", "X-T: 1\r\n", "Content-Length: 3\r\n"]) + "\r\n";
}

/** A well-formed request, most often. */
export function randomRequest(random: Random): string {
  const lines = [
    `${pick(random, METHODS)} ${pick(random, TARGETS)} HTTP/1.${random() < 0.85 ? 1 : 0}`,
    "Host: a.example.test",
  ];
  for (let count = Math.floor(random() * 4); count > 0; count--) lines.push(pick(random, FIELDS));
  let body = "";
  const kind = random();
  if (kind < 0.3) {
    body = "b".repeat(Math.floor(random() * 30));
    lines.push(`Content-Length: ${body.length}`);
  } else if (kind < 0.6) {
    body = chunksOf(random);
    lines.push("Transfer-Encoding: chunked");
  }
  return lines.join("\r\n") + "\r\n\r\n" + body;
}

const STATUSES = [
  "200 OK",
  "204 No Content",
  "304 Not Modified",
  "404 Not Found",
  "500 X",
  "100 Continue",
  "103 Early",
  "200",
];
const ANSWER_FIELDS = [
  "Server: x",
  "Connection: keep-alive",
  "Connection: close",
  "X-A: y",
  "Keep-Alive: timeout=5",
  "Trailer: X-T",
];

/** A well-formed answer, most often. */
export function randomAnswer(random: Random): string {
  const lines = [`HTTP/1.${random() < 0.9 ? 1 : 0} ${pick(random, STATUSES)}`];
  for (let count = Math.floor(random() * 3); count > 0; count--) lines.push(pick(random, ANSWER_FIELDS));
  const kind = random();
  let body = "b".repeat(Math.floor(random() * 30));
  if (kind < 0.4) lines.push(`Content-Length: ${body.length}`);
  else if (kind < 0.8) {
    body = chunksOf(random);
    lines.push("Transfer-Encoding: chunked");
  }
  return lines.join("\r\n") + "\r\n\r\n" + body;
}

/** The text after up to `most` small wounds: bytes inserted, removed, doubled or replaced. */
export function wounded(random: Random, text: string, most = 3): string {
  for (let count = Math.floor(random() * (most + 1)); count > 0; count--) {
    const at = Math.floor(random() * text.length);
    const length = random() < 0.5 ? 0 : Math.floor(random() * 8);
    const added = random() < 0.15 ? text.slice(at, at + 10) : random() < 0.2 ? "" : pick(random, WOUNDS);
    text = text.slice(0, at) + added + text.slice(at + length);
  }
  return text;
}

/** Splits a text into pieces at random places. */
export function pieces(random: Random, text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const size = 1 + Math.floor(random() * (random() < 0.5 ? 4 : 60));
    parts.push(text.slice(at, at + size));
    at += size;
  }
  return parts;
}
