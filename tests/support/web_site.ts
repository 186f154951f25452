// A web site for a browser, served by the runtime: a page with many small resources, a large download, uploads,
// server-sent events, WebSockets, and sound that is asked for in ranges.

import { hashOf, patterned } from "./patterned.ts";

/** How many small resources the page has. */
export const RESOURCES = 30;
/** Bytes of `/large`. */
export const LARGE_BYTES = 20 << 20;
/** How many events `/events` sends. Each but the first waits until the page has told `/seen` of the one before. */
export const EVENTS = 8;

const SOUND_RATE = 44_100;
/** Length of `/sound.wav`, seconds. */
export const SOUND_S = 60;

/** The running site. */
export class WebSite implements AsyncDisposable {
  readonly #sound = soundOf(SOUND_S);
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  #seen = Promise.withResolvers<void>();
  /** `Range` headers of requests for the sound, in order. */
  readonly ranges: string[] = [];

  constructor() {
    const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    this.#server = Deno.serve(options, (request) => this.#answer(request));
  }

  /** "127.0.0.1:PORT". */
  get address(): string {
    return `127.0.0.1:${this.#server.addr.port}`;
  }

  #answer(request: Request): Response | Promise<Response> {
    const { pathname } = new URL(request.url);
    const [, kind] = pathname.split("/");
    switch (kind) {
      case "":
        return new Response(PAGE, { headers: { "content-type": "text/html" } });
      case "part":
        return partOf(pathname);
      case "large":
        return new Response(patterned(LARGE_BYTES), {
          headers: { "content-disposition": "attachment; filename=large.bin" },
        });
      case "form":
        return formAnswer(request);
      case "raw":
        return rawAnswer(request);
      case "events":
        return new Response(this.#events(), { headers: { "content-type": "text/event-stream" } });
      case "seen":
        this.#seen.resolve();
        return new Response(null, { status: 204 });
      case "socket":
        return socketAnswer(request);
      case "sound.wav":
        return this.#soundAnswer(request);
    }
    return new Response("There is no such thing", { status: 404 });
  }

  #events(): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    let sent = 0;
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        if (sent > 0) await this.#seen.promise;
        this.#seen = Promise.withResolvers();
        if (sent === EVENTS) return controller.close();
        controller.enqueue(encoder.encode(`id: ${sent}\ndata: event ${sent}\n\n`));
        sent++;
      },
    }, { highWaterMark: 0 });
  }

  #soundAnswer(request: Request): Response {
    const range = request.headers.get("range") ?? "";
    this.ranges.push(range);
    const headers = { "content-type": "audio/wav", "accept-ranges": "bytes" };
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? [];
    if (first === undefined) return new Response(this.#sound, { headers });
    const size = this.#sound.length;
    const end = last === undefined || last === "" ? size : Number(last) + 1;
    const part = this.#sound.subarray(Number(first), end);
    const contentRange = `bytes ${first}-${end - 1}/${size}`;
    return new Response(part, { status: 206, headers: { ...headers, "content-range": contentRange } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

const PAGE = `<!doctype html><title>Site</title><link rel="icon" href="data:,">
<script>window.loaded = [];</script>
${Array.from({ length: RESOURCES }, (_, at) => `<script async src="/part/${at}.js"></script>`).join("\n")}
<a href="/large/large.bin">download</a>`;

/** A script that tells its number, in sizes up to 60 kB, and now and then in chunks. */
function partOf(pathname: string): Response {
  const number = Number(/\d+/.exec(pathname));
  const script = `window.loaded.push(${number}); // ${"x".repeat(number * 2000)}`;
  const body = number % 3 === 0 ? new Blob([script]).stream() : script;
  return new Response(body, { headers: { "content-type": "text/javascript", "cache-control": "no-store" } });
}

async function formAnswer(request: Request): Promise<Response> {
  const form = await request.formData();
  const file = form.get("file") as File;
  const hash = hashOf(new Uint8Array(await file.arrayBuffer()));
  return Response.json({ name: file.name, size: file.size, word: form.get("word"), hash });
}

async function rawAnswer(request: Request): Promise<Response> {
  const body = new Uint8Array(await request.arrayBuffer());
  return Response.json({ method: request.method, size: body.length, hash: hashOf(body) });
}

function socketAnswer(request: Request): Response {
  const { socket, response } = Deno.upgradeWebSocket(request);
  socket.binaryType = "arraybuffer";
  socket.onmessage = ({ data }) => data === "close" ? socket.close(4005, "as you wish") : socket.send(data);
  return response;
}

/** Silence as a WAV file: one channel, 16 bits. */
function soundOf(seconds: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(44 + seconds * SOUND_RATE * 2);
  const view = new DataView(bytes.buffer);
  const put = (at: number, text: string) => bytes.set(new TextEncoder().encode(text), at);
  put(0, "RIFF");
  view.setUint32(4, bytes.length - 8, true);
  put(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, SOUND_RATE, true);
  view.setUint32(28, SOUND_RATE * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  put(36, "data");
  view.setUint32(40, bytes.length - 44, true);
  return bytes;
}
