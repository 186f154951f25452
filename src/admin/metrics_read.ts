// How the series of a metric are read off the view. Each function gives, or is, a reader for the table in metrics.ts;
// label values come in the order of the metric's labels.

import type {
  Counts,
  DiscoveryView,
  EndpointView,
  HistogramView,
  ListenerView,
  UpstreamView,
  View,
} from "./view.ts";

/** One series: the values of the metric's labels, in order, and its value. */
export type Series = readonly [labels: readonly string[], value: number | HistogramView];

/** Gives all series of one metric. */
export type Read = (view: View) => readonly Series[];

/** A value without labels; null: the platform does not tell, so there is no series. */
export function single(value: (view: View) => number | null): Read {
  return (view) => {
    const now = value(view);
    return now === null ? [] : [[[], now]];
  };
}

/** One series per name in `of(view)`. */
export function counts(of: (view: View) => Counts): Read {
  return (view) => named([], of(view));
}

/** One series per endpoint: upstream, endpoint. */
export function perEndpoint(value: (endpoint: EndpointView) => number): Read {
  return (view) =>
    view.upstreams.flatMap(({ name, endpoints }) =>
      endpoints.map((endpoint): Series => [[name, endpoint.address], value(endpoint)])
    );
}

/** One series per upstream. */
export function perUpstream(value: (upstream: UpstreamView) => number): Read {
  return (view) => view.upstreams.map((upstream): Series => [[upstream.name], value(upstream)]);
}

/** One series per upstream and name in `of(upstream)`. */
export function perCount(of: (upstream: UpstreamView) => Counts): Read {
  return (view) => view.upstreams.flatMap((upstream) => named([upstream.name], of(upstream)));
}

/** One series per upstream that has discovery. */
export function perDiscovery(value: (discovery: DiscoveryView, upstream: UpstreamView) => number): Read {
  return (view) =>
    view.upstreams.flatMap((upstream): Series[] =>
      upstream.discovery === undefined ? [] : [[[upstream.name], value(upstream.discovery, upstream)]]
    );
}

/** How many of its endpoints an upstream has from discovery. */
export function discoveredIn(upstream: UpstreamView): number {
  return upstream.endpoints.filter((endpoint) => endpoint.source === "discovered").length;
}

/** One series per listener. */
export function perListener(value: (listener: ListenerView) => number): Read {
  return (view) => view.listeners.map((listener): Series => [[listener.name], value(listener)]);
}

/** Failures: upstream, endpoint, source, outcome. */
export function failuresOf(view: View): readonly Series[] {
  return view.upstreams.flatMap(({ name, endpoints }) =>
    endpoints.flatMap(({ address, failures }) =>
      failures.map(({ source, outcome, count }): Series => [[name, address, source, outcome], count])
    )
  );
}

/** Histograms: upstream; those without measured exchanges have none. */
export function histogramsOf(view: View): readonly Series[] {
  return view.upstreams.flatMap(({ name, exchange_seconds }): Series[] =>
    exchange_seconds === undefined ? [] : [[[name], exchange_seconds]]
  );
}

/** Ended sessions: listener, outcome. */
export function sessionsOf(view: View): readonly Series[] {
  return view.listeners.flatMap((listener) => named([listener.name], listener.sessions_total));
}

/** Bytes: listener, direction. */
export function bytesOf(view: View): readonly Series[] {
  return view.listeners.flatMap((listener): Series[] => [
    [[listener.name, "received"], listener.bytes_received],
    [[listener.name, "sent"], listener.bytes_sent],
  ]);
}

function named(labels: readonly string[], of: Counts): Series[] {
  return Object.entries(of).map(([name, count]): Series => [[...labels, name], count]);
}
