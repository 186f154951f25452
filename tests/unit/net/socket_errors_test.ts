// Errors are judged by their code: what they are called and what they say differs between runtimes.

import assert from "node:assert/strict";
import { verdictOf } from "../../../src/core/outcome.ts";
import { codeOf, connectFailure, messageOf } from "../../../src/net/socket_errors.ts";
import { tlsReason } from "../../../src/net/tls_errors.ts";
import { coded } from "../../support/memory_duplex.ts";

Deno.test("each code has its outcome, whatever the error's class and text", () => {
  const expected: Record<string, string> = {
    ECONNREFUSED: "refused",
    ECONNRESET: "reset",
    ETIMEDOUT: "connect_timeout",
    ENETUNREACH: "unreachable",
    EHOSTUNREACH: "unreachable",
    EINVAL: "unreachable",
    EACCES: "unreachable",
    EMFILE: "out_of_descriptors",
    ENFILE: "out_of_descriptors",
    EADDRNOTAVAIL: "own_limit",
    ENOBUFS: "own_limit",
  };
  for (const [code, outcome] of Object.entries(expected)) {
    const failure = connectFailure(coded(code, "misleading words: connection refused"));
    assert.equal(failure.outcome, outcome, code);
    assert.match(failure.reason, new RegExp(`\\(${code}\\)$`));
  }
});

Deno.test("what only we lacked is never charged to the endpoint", () => {
  for (const code of ["EMFILE", "ENFILE", "EADDRNOTAVAIL", "EADDRINUSE", "EAGAIN", "ENOBUFS", "ENOMEM"]) {
    assert.equal(verdictOf(connectFailure(coded(code, "x")).outcome), "none", code);
  }
  assert.equal(verdictOf(connectFailure(new Error("never seen before")).outcome), "none");
});

Deno.test("anything thrown can be asked for its code and message", () => {
  assert.equal(codeOf(null), undefined);
  assert.equal(codeOf("text"), undefined);
  assert.equal(codeOf({ code: 7 }), undefined);
  assert.equal(codeOf(coded("EPIPE", "x")), "EPIPE");
  assert.equal(messageOf("text"), "text");
  assert.equal(messageOf(new TypeError("two\n lines")), "TypeError: two lines");
});

Deno.test("TLS failures are told in words a person can act on", () => {
  const say = (message: string) => tlsReason(new Error(message));
  assert.equal(
    say("invalid peer certificate: certificate expired: verification time 1 (UNIX), but ..."),
    "certificate has expired",
  );
  assert.equal(say("invalid peer certificate: Expired"), "certificate has expired");
  assert.equal(
    say("invalid peer certificate: UnknownIssuer"),
    "certificate was issued by an unknown authority",
  );
  assert.equal(
    say(
      'invalid peer certificate: certificate not valid for name "127.0.0.1"; certificate is only valid for ' +
        'DnsName("app.example.test") or IpAddress(10.0.0.1)',
    ),
    'certificate is not valid for name "127.0.0.1", only for app.example.test, 10.0.0.1',
  );
  assert.equal(
    say("received corrupt message of type InvalidContentType"),
    "the port does not speak TLS",
  );
  assert.match(
    say("invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))"),
    /CA certificate .*CA:FALSE/,
  );
  assert.equal(
    say("received fatal alert: HandshakeFailure"),
    "the server refused the handshake (alert HandshakeFailure)",
  );
  assert.equal(say("something new"), "Error: something new");
  assert.match(tlsReason(coded("ECONNRESET", "x")), /reset in the handshake/);
});
