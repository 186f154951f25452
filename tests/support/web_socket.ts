// WebSocket peers of other makes: the runtime's own client, wrapped so that a test can wait for what comes, and echoing
// servers of the runtime and of the `ws` package, which tell how their sockets ended.

import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { pem } from "./tls_endpoint.ts";

/** How a socket ended. 1006: without a close frame. */
export interface Closing {
  readonly code: number;
  readonly reason: string;
}

/** What came: texts as they are, binary messages as bytes. */
export type Message = string | Uint8Array<ArrayBuffer>;

/** A client's socket. */
export class SocketClient {
  readonly socket: WebSocket;
  readonly closed: Promise<Closing>;
  readonly #messages: Message[] = [];
  readonly #waiting: ((message: Message | undefined) => void)[] = [];

  constructor(url: string, options: { protocols?: string[]; client?: Deno.HttpClient } = {}) {
    const { protocols = [], client } = options;
    // The option is younger than the lowest runtime's types.
    const settings = client === undefined ? protocols : { protocols, client } as unknown as string[];
    this.socket = new WebSocket(url, settings);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => this.#take(typeof data === "string" ? data : new Uint8Array(data));
    this.closed = new Promise((resolve) => {
      this.socket.onclose = ({ code, reason }) => {
        // The runtime says 0 where browsers say 1006.
        resolve({ code: code === 0 ? 1006 : code, reason });
        for (const give of this.#waiting.splice(0)) give(undefined);
      };
    });
  }

  /** Connects; throws when it was closed instead. */
  static async open(
    url: string,
    options: { protocols?: string[]; client?: Deno.HttpClient } = {},
  ): Promise<SocketClient> {
    const talk = new SocketClient(url, options);
    const opened = new Promise<undefined>((resolve) => talk.socket.onopen = () => resolve(undefined));
    const closing = await Promise.race([opened, talk.closed]);
    if (closing !== undefined) throw new Error(`Closed instead of opened: ${closing.code}`);
    return talk;
  }

  #take(message: Message): void {
    const give = this.#waiting.shift();
    if (give === undefined) this.#messages.push(message);
    else give(message);
  }

  /** The next message; undefined: the socket was closed. */
  next(): Promise<Message | undefined> {
    if (this.#messages.length > 0) return Promise.resolve(this.#messages.shift());
    if (this.socket.readyState === WebSocket.CLOSED) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Sends a message and gives the next that comes. */
  ask(message: Message): Promise<Message | undefined> {
    this.socket.send(message);
    return this.next();
  }

  /** Closes with a code and waits until both sides have. */
  close(code: number, reason: string): Promise<Closing> {
    this.socket.close(code, reason);
    return this.closed;
  }
}

/** A server that sends back what comes. `close CODE REASON` closes, `die` cuts the connection, `ping` pings. */
export interface EchoServer extends AsyncDisposable {
  readonly port: number;
  /** How sockets ended, in that order. */
  readonly closings: Closing[];
  /** What came back for pings. */
  readonly pongs: string[];
}

/** How a server is to be. */
export interface EchoOptions {
  readonly isTls?: boolean;
  /** The subprotocol it speaks when the client offers it. */
  readonly protocol?: string;
  /** The runtime's server: it pings by itself, and cuts a socket that says nothing for so long, seconds. */
  readonly idleTimeout?: number;
}

const isClose = (data: unknown): data is string => typeof data === "string" && data.startsWith("close ");

/** The runtime's server. It can not `die` or `ping` when it is told to. */
export function denoServer({ isTls, protocol, idleTimeout = 120 }: EchoOptions = {}): Promise<EchoServer> {
  const closings: Closing[] = [];
  const tls = isTls === true ? { cert: pem("by-ip.pem"), key: pem("by-ip.key") } : {};
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {}, ...tls };
  const server = Deno.serve(options, (request) => {
    if (request.headers.get("upgrade") === null) return new Response("plain");
    const wished = request.headers.get("sec-websocket-protocol")?.split(", ") ?? [];
    const chosen = protocol !== undefined && wished.includes(protocol) ? { protocol } : {};
    const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout, ...chosen });
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      if (!isClose(data)) return socket.send(data);
      const [, code, reason] = data.split(" ");
      socket.close(Number(code), reason);
    };
    socket.onclose = ({ code, reason }) => closings.push({ code, reason });
    return response;
  });
  const close = () => server.shutdown();
  return Promise.resolve({ port: server.addr.port, closings, pongs: [], [Symbol.asyncDispose]: close });
}

/** A socket of the `ws` package, which brings no types. */
interface WsSocket {
  on(event: "message", hear: (data: Uint8Array, isBinary: boolean) => void): void;
  on(event: "pong", hear: (data: Uint8Array) => void): void;
  on(event: "close", hear: (code: number, reason: Uint8Array) => void): void;
  send(data: Uint8Array, options: { binary: boolean }): void;
  ping(data: string): void;
  close(code: number, reason: string | undefined): void;
  terminate(): void;
}

/** The server of the `ws` package, with compression on. */
export async function wsServer({ isTls, protocol }: EchoOptions = {}): Promise<EchoServer> {
  const [closings, pongs]: [Closing[], string[]] = [[], []];
  const tls = { cert: pem("by-ip.pem"), key: pem("by-ip.key") };
  const server = isTls === true ? createTlsServer(tls) : createServer();
  const sockets = new WebSocketServer({
    server,
    perMessageDeflate: true,
    handleProtocols: (offered: Set<string>) => protocol !== undefined && offered.has(protocol) && protocol,
  });
  sockets.on("connection", (socket: WsSocket) => {
    socket.on("message", (data, isBinary) => {
      const text = isBinary ? "" : new TextDecoder().decode(data);
      if (text === "die") return socket.terminate();
      if (text === "ping") return socket.ping("are you there");
      if (!isClose(text)) return socket.send(data, { binary: isBinary });
      const [, code, reason] = text.split(" ");
      socket.close(Number(code), reason);
    });
    socket.on("pong", (data) => pongs.push(new TextDecoder().decode(data)));
    socket.on("close", (code, reason) => {
      closings.push({ code, reason: new TextDecoder().decode(reason) });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    closings,
    pongs,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      await new Promise((resolve) => sockets.close(resolve));
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
