// One demo endpoint: answers HTTP requests and TCP lines with its own name, until it is told to end.
// Arguments: NAME HTTP_PORT TCP_PORT. Loopback only.

async function answerLines(conn: Deno.TcpConn, name: string): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of conn.readable) {
      const line = decoder.decode(chunk).trim();
      await conn.write(new TextEncoder().encode(`${name} heard "${line}"\n`));
    }
  } catch {
    // The client went away; a demo endpoint has nobody to tell.
  }
}

async function serveLines(name: string, port: number): Promise<void> {
  for await (const conn of Deno.listen({ hostname: "127.0.0.1", port })) void answerLines(conn, name);
}

function serveHttp(name: string, port: number): void {
  Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, (request) => {
    const path = new URL(request.url).pathname;
    return new Response(path === "/healthz" ? "well\n" : `${name} answers ${request.method} ${path}\n`);
  });
}

if (import.meta.main) {
  const [name, httpPort, tcpPort] = Deno.args;
  if (name === undefined) throw new Error("Wanted NAME HTTP_PORT TCP_PORT");
  serveHttp(name, Number(httpPort));
  await serveLines(name, Number(tcpPort));
}
