// The proxy that one would write first: Deno.serve in front, fetch behind. Arguments: LISTEN_PORT ENDPOINT_PORT.

import { HOST } from "./wire.ts";

if (import.meta.main) {
  const [port, endpointPort] = Deno.args.map(Number);
  if (port === undefined || endpointPort === undefined) throw new Error("Wanted LISTEN_PORT ENDPOINT_PORT");
  Deno.serve({ hostname: HOST, port, onListen: () => {} }, (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, body } = request;
    const headers = new Headers(request.headers);
    headers.delete("connection");
    return fetch(`http://${HOST}:${endpointPort}${pathname}${search}`, {
      method,
      headers,
      body,
      redirect: "manual",
    });
  });
}
