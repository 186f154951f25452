// What a failed TLS handshake means, in words a person can act on. The runtime gives these errors as text without a
// code, so the text is matched; one that is not known is shown as it is.

import { codeOf, messageOf } from "./socket_errors.ts";

type Rule = readonly [pattern: RegExp, say: (match: RegExpExecArray) => string];

const RULES: readonly Rule[] = [
  [/Unable to add pem file/, () => "the trusted CA bundle can not be read"],
  [/certificate expired|\bExpired\b/, () => "certificate has expired"],
  [/certificate not valid yet|\bNotValidYet\b/, () => "certificate is not valid yet"],
  [/\bUnknownIssuer\b/, () => "certificate was issued by an unknown authority"],
  [
    /\bCaUsedAsEndEntity\b/,
    () =>
      "certificate is a CA certificate (CA:TRUE), which can not be a server's own; make one with CA:FALSE",
  ],
  [/certificate not valid for name "([^"]*)"(.*)/, (match) => notValidForName(match[1]!, match[2]!)],
  [/\bNotValidForName\b/, () => "certificate is not valid for the name asked for"],
  [/\bRevoked\b/, () => "certificate was revoked"],
  [/\bBadSignature\b/, () => "certificate has a bad signature"],
  [/\bInvalidPurpose\b/, () => "certificate is not meant for servers"],
  [/\bBadEncoding\b/, () => "certificate can not be read"],
  [/corrupt message|InvalidContentType/, () => "the port does not speak TLS"],
  [/alert: NoApplicationProtocol/, () => "the server offers no HTTP/1.1 (ALPN)"],
  [/alert: CertificateRequired/, () => "the server wants a client certificate"],
  [/alert: ProtocolVersion|incompatible/, () => "no TLS version or cipher in common"],
  [/alert: (\w+)/, (match) => `the server refused the handshake (alert ${match[1]})`],
  [/unexpected end of file|close_notify|\bEof\b/i, () => "the server closed the connection in the handshake"],
  [/Invalid hostname/, () => "the server name is not one that TLS can check"],
];

/** The reason of a failed handshake, as a short sentence without a full stop. */
export function tlsReason(error: unknown): string {
  const code = codeOf(error);
  if (code === "ECONNRESET" || code === "EPIPE") return `connection reset in the handshake (${code})`;
  const message = messageOf(error);
  for (const [pattern, say] of RULES) {
    const match = pattern.exec(message);
    if (match !== null) return say(match);
  }
  return message;
}

function notValidForName(name: string, rest: string): string {
  const names = [...rest.matchAll(/(?:DnsName|IpAddress)\(([^)]*)\)/g)].map((match) =>
    match[1]!.replaceAll('"', "")
  );
  const only = names.length === 0 ? "" : `, only for ${names.join(", ")}`;
  return `certificate is not valid for name "${name}"${only}`;
}
