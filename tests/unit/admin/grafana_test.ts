// The dashboard beside the examples uses the metrics that hale has, by their names and labels.

import assert from "node:assert/strict";
import { METRICS } from "../../../src/admin/metrics.ts";

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const dashboard = JSON.parse(Deno.readTextFileSync(new URL("../../../config/grafana.json", import.meta.url)));
const panels: readonly Panel[] = dashboard.panels;
const targets = panels.flatMap(({ title, targets }) =>
  (targets ?? []).map((target) => ({ title, ...target }))
);
const expressions: readonly string[] = [
  ...targets.map(({ expr }) => expr),
  ...dashboard.annotations.list.map(({ expr }: { expr: string }) => expr),
  ...dashboard.templating.list.map(({ definition }: { definition?: string }) => definition ?? ""),
];

const namesIn = (text: string): string[] => text.match(/\b(?:hale|process)_[a-z_]+/g) ?? [];
const metricOf = (name: string) =>
  METRICS.find((metric) =>
    metric.name === name ||
    (metric.type === "histogram" && name.replace(/_(bucket|sum|count)$/, "") === metric.name)
  );

Deno.test("every metric in the dashboard is one of hale's, and every one of hale's is in it", () => {
  const used = new Set(expressions.flatMap(namesIn));
  assert.deepEqual([...used].filter((name) => metricOf(name) === undefined), []);
  const shown = new Set([...used].map((name) => metricOf(name)!.name));
  assert.deepEqual(METRICS.map(({ name }) => name).filter((name) => !shown.has(name)), []);
});

Deno.test("labels in queries and legends are labels of the metric", () => {
  for (const { title, expr, legendFormat } of targets) {
    const metric = metricOf(namesIn(expr)[0]!)!;
    const known = new Set([...metric.labels, "le", "instance"]);
    const grouped = [...expr.matchAll(/ by \(([^)]*)\)/g)].flatMap((match) => match[1]!.split(", "));
    const selected = [...expr.matchAll(/([a-z_]+)=~/g)].map((match) => match[1]!);
    const legend = [...legendFormat.matchAll(/\{\{([a-z_]+)\}\}/g)].map((match) => match[1]!);
    const unknown = [...grouped, ...selected, ...legend].filter((label) => !known.has(label));
    assert.deepEqual(unknown, [], `${title}: ${expr}`);
  }
});

Deno.test("counters are shown as rates or increases", () => {
  for (const { title, expr } of targets) {
    for (const name of namesIn(expr)) {
      if (metricOf(name)!.type !== "counter") continue;
      assert.match(expr, new RegExp(`(?:rate|increase)\\(${name}\\b`), title);
    }
  }
});

Deno.test("panels have different ids and do not overlap", () => {
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = new Set<string>();
  for (const { title, gridPos: { x, y, w, h } } of panels) {
    assert.ok(x + w <= 24, title);
    for (let column = x; column < x + w; column++) {
      for (let line = y; line < y + h; line++) {
        const cell = `${column},${line}`;
        assert.ok(!cells.has(cell), `${title} lies on another at ${cell}`);
        cells.add(cell);
      }
    }
  }
});
