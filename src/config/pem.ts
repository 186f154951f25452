// Looks at PEM files as far as that is possible without a TLS library: are there blocks of the right kind, and does
// each hold DER? Whether a certificate is valid, or fits its key, is found out by those who use it.

interface PemBlock {
  readonly label: string;
  readonly body: string;
}

const EDGE = /^-----(BEGIN|END) ([A-Z0-9 ]{1,40})-----[ \t]*\r?$/gm;

/** What is wrong with a file of certificates, as the second half of a sentence; undefined: nothing. */
export function certificatesProblem(text: string): string | undefined {
  const blocks = pemBlocks(text).filter(({ label }) => label === "CERTIFICATE");
  if (blocks.length === 0) return "it holds no certificate, want PEM with BEGIN CERTIFICATE";
  const broken = blocks.findIndex(({ body }) => !isDerSequence(body));
  return broken < 0 ? undefined : `certificate ${broken + 1} of the ${blocks.length} in it is damaged`;
}

/** What is wrong with a file that should hold a private key, as the second half of a sentence; undefined: nothing. */
export function privateKeyProblem(text: string): string | undefined {
  const blocks = pemBlocks(text);
  if (blocks.some(({ label, body }) => label === "ENCRYPTED PRIVATE KEY" || body.includes("ENCRYPTED"))) {
    return "its private key is encrypted, want one without a password";
  }
  const key = blocks.find(({ label }) => /^(RSA |EC )?PRIVATE KEY$/.test(label));
  if (key === undefined) return "it holds no private key, want PEM with BEGIN PRIVATE KEY";
  return isDerSequence(key.body) ? undefined : "its private key is damaged";
}

/** A block without its end counts, with nothing in it: damaged, not absent. */
function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: { readonly label: string; readonly start: number } | undefined;
  for (const { 0: line, 1: edge, 2: label = "", index } of text.matchAll(EDGE)) {
    if (open !== undefined) {
      const isWhole = edge === "END" && label === open.label;
      blocks.push({ label: open.label, body: isWhole ? text.slice(open.start, index) : "" });
    }
    open = edge === "BEGIN" ? { label, start: index + line.length } : undefined;
  }
  return open === undefined ? blocks : [...blocks, { label: open.label, body: "" }];
}

/** Whether base64 text holds exactly one DER SEQUENCE, judged by its outer tag and length. */
function isDerSequence(body: string): boolean {
  const compact = body.replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact) || compact.length % 4 !== 0) return false;
  const der = atob(compact);
  if (der.charCodeAt(0) !== 0x30 || der.length < 2) return false;
  const first = der.charCodeAt(1);
  if (first < 0x80) return der.length === 2 + first;
  const lengthBytes = first - 0x80;
  if (lengthBytes < 1 || lengthBytes > 4 || der.length < 2 + lengthBytes) return false;
  let length = 0;
  for (let index = 0; index < lengthBytes; index++) length = length * 256 + der.charCodeAt(2 + index);
  return der.length === 2 + lengthBytes + length;
}
