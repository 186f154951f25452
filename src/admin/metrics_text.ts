// Writes metrics in the Prometheus text format 0.0.4: help, type and all series of one metric together, label values
// and help escaped. Which metrics there are is metrics.ts.

import type { Metric } from "./metrics.ts";
import type { HistogramView, View } from "./view.ts";

/** The content type of the text. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The text for `metrics` as of `view`. A metric without series at this moment keeps its help and type. */
export function metricsText(metrics: readonly Metric[], view: View): string {
  return metrics.map((metric) => metricText(metric, view)).join("");
}

function metricText(metric: Metric, view: View): string {
  const { name, help, type } = metric;
  let text = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
  for (const [values, value] of metric.read(view)) {
    const labels = metric.labels.map((label, index) => `${label}="${escapeLabel(values[index] ?? "")}"`);
    text += typeof value === "number" ? line(name, labels, value) : histogramText(name, labels, value);
  }
  return text;
}

function histogramText(name: string, labels: readonly string[], histogram: HistogramView): string {
  const bucket = (le: string, count: number) => line(`${name}_bucket`, [...labels, `le="${le}"`], count);
  const bounded = histogram.buckets.map(([le, count]) => bucket(numberText(le), count)).join("");
  return bounded + bucket("+Inf", histogram.count) +
    line(`${name}_sum`, labels, histogram.sum) + line(`${name}_count`, labels, histogram.count);
}

function line(name: string, labels: readonly string[], value: number): string {
  const braces = labels.length === 0 ? "" : `{${labels.join(",")}}`;
  return `${name}${braces} ${numberText(value)}\n`;
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return String(value);
}

function escapeLabel(text: string): string {
  return /[\\"\n]/.test(text)
    ? text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
    : text;
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
