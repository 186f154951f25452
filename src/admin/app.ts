// The admin room's answer to requests (SPEC A1): page, status, metrics, events, probes of life, why, and the operator's
// three actions. It only knows the ports it is given; sockets and the HTTP codec are control's. Every refusal is JSON:
// {"error":{"code","message"}}.

import { type Context, Hono, type MiddlewareHandler } from "hono";
import type { Clock } from "../core/clock.ts";
import type { OperatorState } from "../core/event.ts";
import type { EventRing, From } from "./event_ring.ts";
import { EventStreams } from "./event_stream.ts";
import { foreignRefusal, type GuardRules, type Refusal, tokenRefusal } from "./guard.ts";
import { METRICS } from "./metrics.ts";
import { METRICS_TYPE, metricsText } from "./metrics_text.ts";
import { PAGE, PAGE_POLICY } from "./page.ts";
import type { Readiness, View, WhyView } from "./view.ts";

/** What control provides. */
export interface AdminPorts extends GuardRules {
  readonly view: () => View | Promise<View>;
  readonly readiness: () => Readiness;
  /** Undefined: there is no such endpoint. */
  readonly why: (upstream: string, endpoint: string) => WhyView | undefined;
  /** `ready` takes the other two back; doing it again is fine. False: there is no such endpoint. */
  readonly setOperator: (upstream: string, endpoint: string, state: OperatorState) => boolean;
  readonly events: EventRing;
  readonly clock: Clock;
  /** Takes what must not happen: a port that threw. The client gets a 500. */
  readonly fault: (error: unknown) => void;
}

/** The app: answers requests until it is closed. */
export interface AdminApp {
  /** Never rejects. The body of `/events` goes on until it is cancelled: cancel it when the client is gone. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Ends all event streams, so that their connections can end. */
  readonly close: () => void;
}

/** Builds the app. */
export function adminApp(ports: AdminPorts): AdminApp {
  const app = new Hono();
  const streams = new EventStreams(ports.events, ports.clock);
  app.use(securityHeaders);
  app.use(refuseBy((request) => foreignRefusal(request, ports)));
  addOpenRoutes(app, ports);
  app.use(refuseBy((request) => tokenRefusal(request, ports)));
  addReadRoutes(app, ports);
  addEvents(app, streams);
  addActions(app, ports);
  app.notFound((context) => failure(context, 404, "not_found", "There is no such page"));
  app.onError((error, context) => {
    ports.fault(error);
    return failure(context, 500, "internal_error", "This request failed inside hale, see its log");
  });
  return { fetch: async (request) => await app.fetch(request), close: () => streams.close() };
}

/** Without a token: the page (an empty shell) and the probes of life, which give no names to strangers. */
function addOpenRoutes(app: Hono, ports: AdminPorts): void {
  app.get("/", (context) => {
    context.header("content-security-policy", PAGE_POLICY);
    return context.html(PAGE);
  });
  app.get("/livez", (context) => context.json({ alive: true }));
  app.get("/readyz", (context) => {
    const { without_usable_endpoint, ...readiness } = ports.readiness();
    const knows = tokenRefusal(context.req.raw, ports) === undefined;
    return context.json(
      { ...readiness, ...(knows && { without_usable_endpoint }) },
      readiness.ready ? 200 : 503,
    );
  });
  for (const path of ["/", "/livez", "/readyz"]) {
    app.all(path, (context) => wrongMethod(context, "GET, HEAD"));
  }
}

function addReadRoutes(app: Hono, ports: AdminPorts): void {
  app.get("/status", async (context) => context.json(await ports.view()));
  app.get("/metrics", async (context) => {
    return context.body(metricsText(METRICS, await ports.view()), 200, { "content-type": METRICS_TYPE });
  });
  app.get("/upstreams/:upstream/endpoints/:endpoint/why", (context) => {
    const { upstream, endpoint } = context.req.param();
    const why = ports.why(upstream, endpoint);
    return why === undefined ? noEndpoint(context, upstream, endpoint) : context.json(why);
  });
  for (const path of ["/status", "/metrics", "/upstreams/:upstream/endpoints/:endpoint/why"]) {
    app.all(path, (context) => wrongMethod(context, "GET, HEAD"));
  }
}

function addEvents(app: Hono, streams: EventStreams): void {
  app.all("/events", (context) => {
    if (context.req.raw.method !== "GET") return wrongMethod(context, "GET");
    const body = streams.open(fromOf(context));
    if (body === undefined) {
      context.header("retry-after", "10");
      return failure(context, 503, "too_many_streams", "Too many clients follow the events");
    }
    return context.body(body, 200, { "content-type": "text/event-stream" });
  });
}

/** `Last-Event-ID` of a client that comes back, else `?last=N`. */
function fromOf(context: Context): From {
  const afterId = context.req.header("last-event-id");
  if (afterId !== undefined && afterId !== "") return { afterId };
  const last = Number(context.req.query("last"));
  return Number.isInteger(last) ? { last } : {};
}

const OPERATOR_STATES: readonly OperatorState[] = ["drain", "ready", "maintenance"];

function addActions(app: Hono, ports: AdminPorts): void {
  for (const state of OPERATOR_STATES) {
    const path = `/upstreams/:upstream/endpoints/:endpoint/${state}` as const;
    app.post(path, (context) => {
      const { upstream, endpoint } = context.req.param();
      const done = ports.setOperator(upstream, endpoint, state);
      return done ? context.json({ upstream, endpoint, state }) : noEndpoint(context, upstream, endpoint);
    });
    app.all(path, (context) => wrongMethod(context, "POST"));
  }
}

const securityHeaders: MiddlewareHandler = async (context, next) => {
  context.header("cache-control", "no-store");
  context.header("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  context.header("cross-origin-resource-policy", "same-origin");
  context.header("referrer-policy", "no-referrer");
  context.header("x-content-type-options", "nosniff");
  context.header("x-frame-options", "DENY");
  await next();
};

function refuseBy(check: (request: Request) => Refusal | undefined): MiddlewareHandler {
  return async (context, next) => {
    const refusal = check(context.req.raw);
    if (refusal === undefined) return await next();
    if (refusal.status === 401) context.header("www-authenticate", 'Bearer realm="hale"');
    return failure(context, refusal.status, refusal.code, refusal.message);
  };
}

function noEndpoint(context: Context, upstream: string, endpoint: string): Response {
  const message = `There is no endpoint "${endpoint}" in an upstream "${upstream}"`;
  return failure(context, 404, "no_such_endpoint", message);
}

function wrongMethod(context: Context, allowed: string): Response {
  context.header("allow", allowed);
  return failure(context, 405, "wrong_method", `Wanted ${allowed}`);
}

type FailureStatus = 401 | 403 | 404 | 405 | 500 | 503;

function failure(context: Context, status: FailureStatus, code: string, message: string): Response {
  return context.json({ error: { code, message } }, status);
}
