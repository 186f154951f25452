// The difference between two configs or two plans, by identity: a listener is its address, an upstream its name, an
// endpoint its key within its upstream. What a difference means for running things is the caller's business.

import { formatAddress } from "./address.ts";
import type { EndpointConfig, Listener, UpstreamPolicy } from "./plan.ts";

/** What happened to things of one kind. `kept` ones are equal in every field; all lists keep the order of the files. */
export interface Change<T> {
  readonly added: readonly T[];
  readonly removed: readonly T[];
  readonly changed: readonly Changed<T>[];
  readonly kept: readonly T[];
}

/** One thing before and after an edit. */
export interface Changed<T> {
  readonly before: T;
  readonly after: T;
}

/** The parts of a `Config` or `Plan` that have identities. */
export interface Diffable<U extends DiffableUpstream> {
  readonly listeners: readonly Listener[];
  readonly upstreams: readonly U[];
}

/** An upstream of either. */
export interface DiffableUpstream extends UpstreamPolicy {
  readonly endpoints: readonly EndpointConfig[];
}

/** An endpoint with the name of its upstream. */
export interface Member<U extends DiffableUpstream> {
  readonly upstream: string;
  readonly endpoint: U["endpoints"][number];
}

/** The whole difference. An upstream counts as changed by its policy alone; its endpoints stand on their own. */
export interface Diff<U extends DiffableUpstream> {
  readonly listeners: Change<Listener>;
  readonly upstreams: Change<U>;
  /** Over all upstreams, those that were added or removed included. */
  readonly endpoints: Change<Member<U>>;
}

/** Compares two configs or two plans. Order, comments and spelling make no difference; only values do. */
export function diffConfig<U extends DiffableUpstream>(old: Diffable<U>, next: Diffable<U>): Diff<U> {
  return {
    listeners: diffBy(old.listeners, next.listeners, { identity: listenerIdentity, isSame: sameValue }),
    upstreams: diffBy(old.upstreams, next.upstreams, { identity: ({ name }) => name, isSame: samePolicy }),
    endpoints: diffBy(membersOf(old), membersOf(next), { identity: memberIdentity, isSame: sameValue }),
  };
}

/** What makes two listeners the same one: their address, or on port 0, where each has a port of its own, the name too. */
export function listenerIdentity({ address, name }: Listener): string {
  return address.port === 0 ? `${formatAddress(address)} ${name}` : formatAddress(address);
}

function memberIdentity(member: { readonly upstream: string; readonly endpoint: EndpointConfig }): string {
  return JSON.stringify([member.upstream, member.endpoint.key]);
}

function membersOf<U extends DiffableUpstream>(of: Diffable<U>): Member<U>[] {
  return of.upstreams.flatMap(({ name, endpoints }) =>
    endpoints.map((endpoint) => ({ upstream: name, endpoint }))
  );
}

function samePolicy(a: DiffableUpstream, b: DiffableUpstream): boolean {
  return sameValue({ ...a, endpoints: [] }, { ...b, endpoints: [] });
}

interface Sameness<T> {
  readonly identity: (thing: T) => string;
  readonly isSame: (a: T, b: T) => boolean;
}

function diffBy<T>(old: readonly T[], next: readonly T[], { identity, isSame }: Sameness<T>): Change<T> {
  const before = new Map(old.map((thing) => [identity(thing), thing]));
  const after = new Set(next.map(identity));
  const pairs = next.map((thing) => ({ before: before.get(identity(thing)), after: thing }));
  const common = pairs.filter((pair): pair is Changed<T> => pair.before !== undefined);
  return {
    added: pairs.filter((pair) => pair.before === undefined).map((pair) => pair.after),
    removed: old.filter((thing) => !after.has(identity(thing))),
    changed: common.filter((pair) => !isSame(pair.before, pair.after)),
    kept: common.filter((pair) => isSame(pair.before, pair.after)).map((pair) => pair.after),
  };
}

/** Whether two values of plain data (objects, lists, texts, numbers) are equal; absent and undefined fields are one. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length &&
      a.every((item, i) => sameValue(item, b[i]));
  }
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((key) =>
    sameValue(left[key], right[key])
  );
}
