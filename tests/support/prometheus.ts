// A strict reader of the Prometheus text format 0.0.4, for tests: it throws at the first thing a scraper could stumble
// over. Stricter than the format where sloppiness is never wanted: HELP and TYPE before the samples of each metric,
// once; no metric in two places; no sample twice; label sets of a metric all alike; histograms complete and cumulative.

/** One sample. */
export interface Sample {
  /** With the suffix, as `_bucket`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** One metric with all its samples. */
export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*/;

/** Reads a whole exposition; throws an Error that names the line. */
export function parsePrometheus(text: string): ReadonlyMap<string, Family> {
  if (text !== "" && !text.endsWith("\n")) throw new Error("The last line has no line feed");
  const families = new Map<string, { name: string; type: string; help: string; samples: Sample[] }>();
  let current: { name: string; type: string; help: string; samples: Sample[] } | undefined;
  let help: { name: string; text: string } | undefined;
  const seen = new Set<string>();
  text.split("\n").slice(0, -1).forEach((line, at) => {
    const fail = (why: string): never => {
      throw new Error(`Line ${at + 1}: ${why}: ${line}`);
    };
    if (line.startsWith("# HELP ")) {
      const [, name, words] = /^# HELP ([^ ]+) (.*)$/.exec(line) ?? fail("no help");
      help = { name: name!, text: unescape(words!, /\\[\\n]/g, fail) };
      return;
    }
    if (line.startsWith("# TYPE ")) {
      const [, name, type] = /^# TYPE ([^ ]+) (counter|gauge|histogram|summary|untyped)$/.exec(line) ??
        fail("no type");
      if (NAME.exec(name!)?.[0] !== name) fail("not a name");
      if (families.has(name!)) fail("this metric was there before");
      if (help?.name !== name) fail("TYPE does not follow the HELP of its metric");
      if (type === "counter" && !name!.endsWith("_total")) fail("a counter's name ends in _total");
      current = { name: name!, type: type!, help: help!.text, samples: [] };
      families.set(name!, current);
      return;
    }
    if (line.startsWith("#") || line === "") fail("no other comments or empty lines are written");
    const sample = parseSample(line, fail);
    const base = current?.type === "histogram"
      ? sample.name.replace(/_(bucket|sum|count)$/, "")
      : sample.name;
    if (current === undefined || base !== current.name) fail("a sample outside of its metric");
    const key = sample.name + JSON.stringify(Object.entries(sample.labels).sort());
    if (seen.has(key)) fail("a sample twice");
    seen.add(key);
    if (current!.type === "counter" && !(sample.value >= 0)) fail("a counter below 0");
    current!.samples.push(sample);
  });
  families.forEach(checkFamily);
  return families;
}

function parseSample(line: string, fail: (why: string) => never): Sample {
  const name = NAME.exec(line)?.[0] ?? fail("no name");
  let rest = line.slice(name.length);
  const labels: Record<string, string> = {};
  if (rest.startsWith("{")) {
    rest = rest.slice(1);
    while (!rest.startsWith("}")) {
      const label = LABEL.exec(rest)?.[0] ?? fail("no label name");
      const quoted = /^="((?:[^"\\]|\\.)*)"(,(?=[a-zA-Z_])|(?=\}))/.exec(rest.slice(label.length)) ??
        fail("no label value");
      if (Object.hasOwn(labels, label)) fail("a label twice");
      labels[label] = unescape(quoted[1]!, /\\[\\n"]/g, fail);
      rest = rest.slice(label.length + quoted[0].length);
    }
    rest = rest.slice(1);
  }
  const value = /^ (NaN|[+-]Inf|-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)$/.exec(rest)?.[1] ?? fail("no value");
  return { name, labels, value: Number(value.replace("Inf", "Infinity")) };
}

function unescape(text: string, allowed: RegExp, fail: (why: string) => never): string {
  if (text.replaceAll(allowed, "").includes("\\")) fail("an unknown escape");
  return text.replaceAll(allowed, (pair) => pair === "\\n" ? "\n" : pair[1]!);
}

function checkFamily(family: Family): void {
  const names = family.samples.map(({ labels }) =>
    Object.keys(labels).filter((name) => name !== "le").join()
  );
  if (new Set(names).size > 1) throw new Error(`${family.name} has series with different labels`);
  if (family.type === "histogram") checkHistogram(family);
}

function checkHistogram(family: Family): void {
  const keyOf = ({ labels: { le: _le, ...labels } }: Sample) => JSON.stringify(labels);
  for (const [key, samples] of Map.groupBy(family.samples, keyOf)) {
    const of = (suffix: string) => samples.filter(({ name }) => name === family.name + suffix);
    const buckets = of("_bucket");
    const bounds = buckets.map(({ labels }) => Number(labels.le!.replace("Inf", "Infinity")));
    const counts = buckets.map(({ value }) => value);
    const rises = (numbers: number[], strictly: boolean) =>
      numbers.every((number, at) =>
        at === 0 || (strictly ? number > numbers[at - 1]! : number >= numbers[at - 1]!)
      );
    const whole = buckets.at(-1)?.labels.le === "+Inf" && of("_sum").length === 1 &&
      of("_count")[0]?.value === counts.at(-1);
    if (!whole || !rises(bounds, true) || !rises(counts, false)) {
      throw new Error(`The histogram ${family.name} ${key} is not complete or not cumulative`);
    }
  }
}
