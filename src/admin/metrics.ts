// The metrics: one table with name, type, labels and help of each, and how its series are read off the view. A series
// exists as long as what it is about is in the view, so it vanishes with its endpoint. The README's table is checked
// against this one. The readers are metrics_read.ts, the text format is metrics_text.ts.

import {
  bytesOf,
  counts,
  discoveredIn,
  failuresOf,
  histogramsOf,
  perCount,
  perDiscovery,
  perEndpoint,
  perListener,
  perUpstream,
  type Read,
  sessionsOf,
  single,
} from "./metrics_read.ts";

/** One metric. */
export interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly labels: readonly string[];
  readonly help: string;
  /** All series it has at the moment of a view. */
  readonly read: Read;
}

/** Everything `/metrics` shows, in this order. */
export const METRICS: readonly Metric[] = [
  {
    name: "hale_endpoint_usable",
    type: "gauge",
    labels: ["upstream", "endpoint"],
    help: "Whether a pick may take the endpoint now: 1 or 0",
    read: perEndpoint((it) => it.usable ? 1 : 0),
  },
  {
    name: "hale_endpoint_in_flight",
    type: "gauge",
    labels: ["upstream", "endpoint"],
    help: "Sessions and exchanges under way",
    read: perEndpoint((it) => it.in_flight),
  },
  {
    name: "hale_endpoint_picks_total",
    type: "counter",
    labels: ["upstream", "endpoint"],
    help: "How often the endpoint was picked",
    read: perEndpoint((it) => it.picks_total),
  },
  {
    name: "hale_endpoint_ejections_total",
    type: "counter",
    labels: ["upstream", "endpoint"],
    help: "How often the endpoint was ejected",
    read: perEndpoint((it) => it.ejections),
  },
  {
    name: "hale_endpoint_would_eject_total",
    type: "counter",
    labels: ["upstream", "endpoint"],
    help: "Ejections that mode observe only noted",
    read: perEndpoint((it) => it.would_eject),
  },
  {
    name: "hale_endpoint_failures_total",
    type: "counter",
    labels: ["upstream", "endpoint", "source", "outcome"],
    help: "Failures charged to the endpoint, by source (traffic, probe) and outcome",
    read: failuresOf,
  },
  {
    name: "hale_fail_open_picks_total",
    type: "counter",
    labels: ["upstream"],
    help: "Picks over the whole set because all endpoints were ejected",
    read: perUpstream((it) => it.fail_open_picks_total),
  },
  {
    name: "hale_no_endpoint_total",
    type: "counter",
    labels: ["upstream"],
    help: "Sessions and exchanges that found no endpoint to use",
    read: perUpstream((it) => it.no_endpoint_total),
  },
  {
    name: "hale_probes_total",
    type: "counter",
    labels: ["upstream", "outcome"],
    help: "Probes by how they ended",
    read: perCount((it) => it.probes_total),
  },
  {
    name: "hale_exchange_seconds",
    type: "histogram",
    labels: ["upstream"],
    help: "Duration of HTTP exchanges, body included",
    read: histogramsOf,
  },
  {
    name: "hale_responses_total",
    type: "counter",
    labels: ["upstream", "class"],
    help: "Answers to clients by class of status, 1xx to 5xx",
    read: perCount((it) => it.responses_total),
  },
  {
    name: "hale_discovery_refreshes_total",
    type: "counter",
    labels: ["upstream"],
    help: "Finished refreshes of discovery, good and bad",
    read: perDiscovery((it) => it.refreshes_total),
  },
  {
    name: "hale_discovery_endpoints",
    type: "gauge",
    labels: ["upstream"],
    help: "Endpoints now known by discovery",
    read: perDiscovery((_, upstream) => discoveredIn(upstream)),
  },
  {
    name: "hale_discovery_failures_total",
    type: "counter",
    labels: ["upstream", "kind"],
    help: "Failed refreshes by kind, as servfail or timeout",
    read: perCount((it) => it.discovery?.failures_total ?? {}),
  },
  {
    name: "hale_config_generation",
    type: "gauge",
    labels: [],
    help: "Number of the plan in force, 0 before the first",
    read: single((view) => view.generation),
  },
  {
    name: "hale_config_reloads_total",
    type: "counter",
    labels: ["result"],
    help: "Tries to load the config by result: accepted, refused, unchanged",
    read: counts((view) => view.config.reloads),
  },
  {
    name: "hale_config_last_attempt_ok",
    type: "gauge",
    labels: [],
    help: "Whether the last try to load the config was not refused: 1 or 0",
    read: single((view) => view.config.last_attempt.ok ? 1 : 0),
  },
  {
    name: "hale_sessions",
    type: "gauge",
    labels: ["listener"],
    help: "Open client connections",
    read: perListener((it) => it.sessions),
  },
  {
    name: "hale_sessions_total",
    type: "counter",
    labels: ["listener", "outcome"],
    help: "Ended sessions by outcome",
    read: sessionsOf,
  },
  {
    name: "hale_bytes_total",
    type: "counter",
    labels: ["listener", "direction"],
    help: "Bytes from clients (received) and to clients (sent)",
    read: bytesOf,
  },
  {
    name: "hale_not_charged_total",
    type: "counter",
    labels: ["cause"],
    help: "What went wrong without being charged to an endpoint, by cause",
    read: counts((view) => view.not_charged),
  },
  {
    name: "hale_worker_restarts_total",
    type: "counter",
    labels: [],
    help: "Workers that died and were started again",
    read: single((view) => view.process.worker_restarts_total),
  },
  {
    name: "hale_loop_lag_seconds",
    type: "gauge",
    labels: ["thread"],
    help: "How late the event loop of a thread woke of late",
    read: counts((view) => view.process.loop_lag_seconds),
  },
  {
    name: "hale_build_info",
    type: "gauge",
    labels: ["version"],
    help: "Always 1; the version is the label",
    read: (view) => [[[view.version], 1]],
  },
  {
    name: "process_start_time_seconds",
    type: "gauge",
    labels: [],
    help: "When the process began, seconds since 1970",
    read: single((view) => Date.parse(view.process.started_at) / 1000),
  },
  {
    name: "process_cpu_seconds_total",
    type: "counter",
    labels: [],
    help: "CPU time used by all threads, seconds",
    read: single((view) => view.process.cpu_seconds),
  },
  {
    name: "process_resident_memory_bytes",
    type: "gauge",
    labels: [],
    help: "Resident memory",
    read: single((view) => view.process.resident_bytes),
  },
  {
    name: "process_open_fds",
    type: "gauge",
    labels: [],
    help: "Open file descriptors",
    read: single((view) => view.process.open_descriptors),
  },
  {
    name: "process_max_fds",
    type: "gauge",
    labels: [],
    help: "Most file descriptors allowed",
    read: single((view) => view.process.max_descriptors),
  },
];
