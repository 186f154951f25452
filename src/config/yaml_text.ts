// Text to YAML nodes: one document of YAML 1.2 (core schema), with every fault of syntax and its place. Hostile texts
// are refused before they cost anything: size, number of tokens and depth are limited while the text is being cut up.
// What the nodes mean (aliases, keys, numbers) is the business of yaml_tree.ts.

import { Composer, type CST, type Document, Lexer, LineCounter, Parser, type YAMLError } from "yaml";

/** Most UTF-16 units of one file. */
export const MAX_TEXT_LENGTH = 1024 * 1024;
/** Most lexical tokens of one file: more than 10000 endpoints. */
const MAX_TOKENS = 250_000;
/** Most lines of one file. */
const MAX_LINES = 50_000;
/** Open brackets, blocks and lists at a time; a config needs about ten. */
const MAX_OPEN = 64;
/** Faults that are listed for one file; one mistake early in a file often breaks every line after it. */
const MAX_FAULTS = 20;

const TOO_LARGE = "The file is too large, split it and use a folder";

/** A fault in the text, at a place counted in UTF-16 units from its start. */
export interface TextFault {
  readonly offset: number;
  readonly message: string;
}

/** What was read. With faults the document may be missing or partial. */
export interface YamlText {
  readonly document?: Document.Parsed;
  readonly faults: readonly TextFault[];
  readonly lines: LineCounter;
}

/** Reads one YAML document from a text without byte order mark. */
export function readYaml(text: string): YamlText {
  const lines = countLines(text);
  const tokens = forbidden(text) ?? tooManyLines(lines) ?? tokensOf(text);
  if (!Array.isArray(tokens)) return { faults: [tokens], lines };
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    merge: false,
    // The tree walk looks for duplicates; here each key would be compared with each other.
    uniqueKeys: false,
    prettyErrors: false,
    resolveKnownTags: false,
    stringKeys: false,
  });
  const [document, ...others] = [...composer.compose(tokens, true, text.length)];
  const faults = document === undefined ? [] : documentFaults(document, text);
  if (others.length > 0) faults.push(secondDocument(tokens));
  const end = text.trimEnd().length;
  // What is missing at the end is missing behind the last character, not on the empty line after it.
  const inside = faults.map(({ offset, message }) => ({ offset: Math.min(offset, end), message }));
  return { ...(document !== undefined && { document }), faults: onePerLine(inside, lines), lines };
}

/** Counts here and not while parsing: after a fault the parser skips line ends without telling. */
function countLines(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.addNewLine(at + 1);
  return lines;
}

/** The first thing that no YAML text may hold. */
function forbidden(text: string): TextFault | undefined {
  if (text.length > MAX_TEXT_LENGTH) {
    return {
      offset: 0,
      message: `The file is too large (got ${text.length}, want at most ${MAX_TEXT_LENGTH} characters)`,
    };
  }
  for (let offset = 0; offset < text.length; offset++) {
    const code = text.charCodeAt(offset);
    if (code === 0x0d && text.charCodeAt(offset + 1) !== 0x0a) {
      return { offset, message: "A carriage return without a line feed is no line end here" };
    }
    if (isControl(code)) {
      const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
      return { offset, message: `The control character ${name} does not belong in a text file` };
    }
  }
  return undefined;
}

function tooManyLines({ lineStarts }: LineCounter): TextFault | undefined {
  const offset = lineStarts[MAX_LINES];
  return offset === undefined ? undefined : { offset, message: TOO_LARGE };
}

function isControl(code: number): boolean {
  if (code < 0x20) return code !== 0x09 && code !== 0x0a && code !== 0x0d;
  return code === 0xfeff || (code >= 0x7f && code < 0xa0 && code !== 0x85);
}

/** Cuts the text up, giving up as soon as a limit is passed. */
function tokensOf(text: string): CST.Token[] | TextFault {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > MAX_OPEN) {
      return { offset: parser.offset - lexeme.length, message: "Blocks and lists are nested too deep" };
    }
    if (++count > MAX_TOKENS) {
      return {
        offset: parser.offset - lexeme.length,
        message: "The file is too large, split it and use a folder",
      };
    }
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

function documentFaults(document: Document.Parsed, text: string): TextFault[] {
  const warnings = document.warnings.filter((warning) => warning.code !== "TAG_RESOLVE_FAILED");
  const faults = [...document.errors, ...warnings].map((error) => ({
    offset: error.pos[0],
    message: sentence(error, text),
  }));
  const { explicit, version } = document.directives.yaml;
  if (explicit && version !== "1.2") {
    faults.push({ offset: 0, message: `The file asks for another YAML version (got ${version}, want 1.2)` });
  }
  return faults;
}

function secondDocument(tokens: readonly CST.Token[]): TextFault {
  const starts = tokens.filter((token) => token.type === "document");
  const start = starts[1] ?? tokens[tokens.length - 1];
  return { offset: start?.offset ?? 0, message: "A second document begins here, a file holds only one" };
}

/** Most characters of the parser's own words that are passed on. */
const MAX_SENTENCE = 200;

function sentence(error: YAMLError, text: string): string {
  if (error.code === "TAB_AS_INDENT") return "A tab is used for indentation (got a tab, want spaces)";
  const line = lineAround(text, error.pos[0]);
  const address = /\[[0-9a-fA-F:.]*:[0-9a-fA-F:.]*\](:[0-9]+)?/.exec(line);
  if (address !== null) return `An IPv6 address in brackets needs quotes, as "${address[0]}"`;
  if (error.code === "BLOCK_AS_IMPLICIT_KEY") {
    return `A second ": " on one line; put the value in quotes if the colon belongs to it`;
  }
  const closing = /^Flow .* end with a (.)$/.exec(error.message)?.[1];
  if (closing !== undefined) {
    return `A "${closing === "]" ? "[" : "{"}" is not closed, or its "${closing}" is indented too little`;
  }
  // The parser may quote all the rest of the file.
  const message = error.message.replace(/\s+/g, " ").trim();
  return message.length <= MAX_SENTENCE ? message : `${message.slice(0, MAX_SENTENCE)}...`;
}

function lineAround(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const end = text.indexOf("\n", offset);
  return text.slice(start, end < 0 ? undefined : end).slice(0, 1000);
}

function onePerLine(faults: readonly TextFault[], lines: LineCounter): TextFault[] {
  const byLine = new Map<number, TextFault>();
  for (const fault of faults) {
    const { line } = lines.linePos(fault.offset);
    if (!byLine.has(line)) byLine.set(line, fault);
    if (byLine.size === MAX_FAULTS) break;
  }
  return [...byLine.values()];
}
