import assert from "node:assert/strict";
import { certificatesProblem, privateKeyProblem } from "../../../src/config/pem.ts";
import { configOf, problemsOf, withListener, withProtocol, withUpstream } from "../../support/config_text.ts";

const certsFolder = new URL("../../cases/certs/", import.meta.url);
const file = (name: string) => Deno.readTextFileSync(new URL(name, certsFolder));
const [good, key, ca] = [file("good.pem"), file("good.key"), file("ca.pem")];

const HTTPS = withProtocol("https", ["trusted_ca_file: ca.pem"]);
const TLS = withListener(
  "address: 127.0.0.1:1",
  "protocol: http",
  "upstream: app",
  "tls: { cert_file: c.pem, key_file: k.pem }",
);

Deno.test("every certificate and key of the test set passes", () => {
  for (const { name } of Deno.readDirSync(certsFolder)) {
    if (name === "garbage.pem") continue;
    const problem = name.endsWith(".key") ? privateKeyProblem(file(name)) : certificatesProblem(file(name));
    assert.equal(problem, undefined, name);
  }
});

Deno.test("what holds no certificate is refused", () => {
  const bad = [
    "",
    "garbage",
    file("garbage.pem"),
    key,
    "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
    good.replace(/.*\n/, ""),
    good.replaceAll("-----BEGIN", "----BEGIN"),
  ];
  for (const text of bad) assert.notEqual(certificatesProblem(text), undefined, text.slice(0, 60));
});

Deno.test("a certificate that is cut or altered at its edges is damaged", () => {
  const bodyLines = good.trimEnd().split("\n");
  const without = (from: number, to: number) =>
    [...bodyLines.slice(0, from), ...bodyLines.slice(to)].join("\n");
  assert.equal(certificatesProblem(without(3, 4)), "certificate 1 of the 1 in it is damaged");
  assert.equal(certificatesProblem(without(-1, bodyLines.length)), "certificate 1 of the 1 in it is damaged");
  assert.equal(certificatesProblem(good.replace("MI", "!!")), "certificate 1 of the 1 in it is damaged");
  assert.equal(certificatesProblem(`${ca}${without(3, 4)}`), "certificate 2 of the 2 in it is damaged");
});

Deno.test("PEM may have Windows line ends, text around it, and no newline at its end", () => {
  for (
    const text of [
      good.replaceAll("\n", "\r\n"),
      `subject=x\n${good}\ntext after`,
      good.trimEnd(),
      `${good}${ca}`,
      `${key}${good}`,
    ]
  ) {
    assert.equal(certificatesProblem(text), undefined);
  }
  assert.equal(privateKeyProblem(key.replaceAll("\n", "\r\n")), undefined);
  assert.equal(privateKeyProblem(`${good}${key}`), undefined);
});

Deno.test("keys of all usual kinds pass, encrypted ones and others do not", () => {
  const as = (label: string) => key.replaceAll(/(BEGIN|END) [A-Z ]+-----/g, `$1 ${label}-----`);
  for (const label of ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"]) {
    assert.equal(privateKeyProblem(as(label)), undefined);
  }
  assert.match(privateKeyProblem(as("ENCRYPTED PRIVATE KEY"))!, /encrypted/);
  assert.match(
    privateKeyProblem(as("RSA PRIVATE KEY").replace("-----\n", "-----\nProc-Type: 4,ENCRYPTED\n\n"))!,
    /encrypted/,
  );
  for (const label of ["PUBLIC KEY", "DSA PRIVATE KEY", "OPENSSH PRIVATE KEY"]) {
    assert.match(privateKeyProblem(as(label))!, /holds no private key/);
  }
  assert.match(privateKeyProblem(good)!, /holds no private key/);
  assert.match(privateKeyProblem("")!, /holds no private key/);
  assert.equal(privateKeyProblem(key.split("\n").toSpliced(1, 1).join("\n")), "its private key is damaged");
});

Deno.test("a million beginnings of a block are read in no time", () => {
  const started = performance.now();
  certificatesProblem("-----BEGIN CERTIFICATE-----\n".repeat(20_000));
  privateKeyProblem("-----BEGIN \n".repeat(100_000));
  assert.ok(performance.now() - started < 10_000);
});

Deno.test("a CA file is a problem where it is named, when it is missing, unreadable or holds none", () => {
  assert.deepEqual(problemsOf(HTTPS, { "ca.pem": ca }), []);
  const at = "7:22  upstreams[0].trusted_ca_file  ";
  assert.deepEqual(problemsOf(HTTPS), [`${at}Can not read "ca.pem": no such file`]);
  assert.deepEqual(problemsOf(HTTPS, { "ca.pem": "garbage" }), [
    `${at}Can not use "ca.pem": it holds no certificate, want PEM with BEGIN CERTIFICATE`,
  ]);
  const inBlock = withProtocol("tcp", ["tls: { trusted_ca_file: ca.pem }"]);
  assert.deepEqual(problemsOf(inBlock), [
    `7:29  upstreams[0].tls.trusted_ca_file  Can not read "ca.pem": no such file`,
  ]);
});

Deno.test("a folder in place of a file is a problem", () => {
  assert.equal(problemsOf(withProtocol("https", ["trusted_ca_file: dir"]), { "dir/ca.pem": ca }).length, 1);
});

Deno.test("certificate and key are each a problem of their own", () => {
  assert.deepEqual(problemsOf(TLS, { "c.pem": good, "k.pem": key }), []);
  assert.deepEqual(problemsOf(TLS, { "c.pem": key, "k.pem": good }), [
    `6:23  listeners[0].tls.cert_file  Can not use "c.pem": it holds no certificate, want PEM with BEGIN CERTIFICATE`,
    `6:40  listeners[0].tls.key_file  Can not use "k.pem": it holds no private key, want PEM with BEGIN PRIVATE KEY`,
  ]);
  assert.equal(problemsOf(TLS, { "c.pem": good }).length, 1);
  assert.equal(problemsOf(TLS.replace(", key_file: k.pem", ""), { "c.pem": good }).length, 1);
});

Deno.test("a key is never part of a problem", () => {
  const problems = problemsOf(TLS, { "c.pem": key, "k.pem": key.replace("MI", "XX") });
  assert.ok(!problems.join().includes(key.split("\n")[1]!.slice(5, 20)));
});

const admin = (fields: string) => `admin: { ${fields} }\n${withUpstream()}`;

Deno.test("an admin endpoint beyond loopback needs a token", () => {
  for (const host of ["0.0.0.0", "[::]", "10.0.0.1", "admin.example", "[::ffff:10.0.0.1]"]) {
    assert.match(
      problemsOf(admin(`address: "${host}:9900"`))[0]!,
      /admin\.address {2}Anybody could reach the admin endpoint/,
      host,
    );
    assert.deepEqual(problemsOf(admin(`address: "${host}:9900", token_file: t`), { t: "x\n" }), [], host);
  }
  for (const host of ["127.0.0.1", "127.9.9.9", "[::1]", "localhost", "[::ffff:127.0.0.1]"]) {
    assert.deepEqual(problemsOf(admin(`address: "${host}:9900"`)), [], host);
  }
});

Deno.test("a token is one word, and never part of a problem", () => {
  const token = (text: string) => problemsOf(admin(`address: "0.0.0.0:9900", token_file: t`), { t: text });
  assert.equal(
    configOf(admin(`address: "0.0.0.0:9900", token_file: t`), { t: "  s3cret-token\r\n" }).admin?.token,
    "s3cret-token",
  );
  for (const text of ["", "\n", "two words", "ümlaut", "a\0b", "line one\nline two", "x".repeat(2000)]) {
    const problems = token(text);
    assert.equal(problems.length, 1, JSON.stringify(text));
    assert.ok(text.trim() === "" || !problems[0]!.includes(text));
  }
  assert.match(
    problemsOf(admin(`address: "127.0.0.1:9900", token_file: gone`))[0]!,
    /Can not read "gone": no such file/,
  );
});

Deno.test("paths are relative to the file that names them", () => {
  const text = withProtocol("https", ["trusted_ca_file: ../tls/ca.pem"]);
  assert.deepEqual(
    problemsOf(`include: conf.d/sub/\n`, { "conf.d/sub/a.yaml": text, "conf.d/tls/ca.pem": ca }),
    [],
  );
});
