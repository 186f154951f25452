// The proxy that one would write first: Deno.serve in front, fetch behind. Arguments: LISTEN_PORT ENDPOINT_PORT.

import { HOST } from "./wire.ts";

/** The headers as they go to the endpoint. */
function forwarded(request: Request, client: string, id: string): Headers {
  const headers = new Headers(request.headers);
  headers.delete("connection");
  headers.set("x-forwarded-for", client);
  headers.set("x-forwarded-proto", "http");
  headers.set("x-forwarded-host", request.headers.get("host") ?? "");
  headers.set("x-request-id", id);
  return headers;
}

async function proxy(request: Request, client: string, base: string): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method, body } = request;
  const id = crypto.randomUUID();
  const headers = forwarded(request, client, id);
  const answer = await fetch(`${base}${pathname}${search}`, { method, headers, body, redirect: "manual" });
  const { status, statusText } = answer;
  const answerHeaders = new Headers(answer.headers);
  answerHeaders.delete("connection");
  answerHeaders.set("x-request-id", id);
  return new Response(answer.body, { status, statusText, headers: answerHeaders });
}

if (import.meta.main) {
  const [port, endpointPort] = Deno.args.map(Number);
  if (port === undefined || endpointPort === undefined) throw new Error("Wanted LISTEN_PORT ENDPOINT_PORT");
  const base = `http://${HOST}:${endpointPort}`;
  const options = { hostname: HOST, port, onListen: () => {} };
  Deno.serve(options, (request, { remoteAddr }) => proxy(request, remoteAddr.hostname, base));
}
