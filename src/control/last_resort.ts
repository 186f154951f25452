// The last resort of the main thread: a fault of ours that nobody caught is told, and hale goes on serving.

/** The part of the global scope that is used here. */
export type FaultScope = Pick<EventTarget, "addEventListener" | "removeEventListener">;

/** Hears of faults until it is disposed of. `tell` must not throw. */
export function lastResort(tell: (fault: unknown) => void, scope: FaultScope = globalThis): Disposable {
  const onRejection = (event: Event) => {
    event.preventDefault();
    tell((event as PromiseRejectionEvent).reason);
  };
  const onError = (event: Event) => {
    event.preventDefault();
    tell((event as ErrorEvent).error);
  };
  scope.addEventListener("unhandledrejection", onRejection);
  scope.addEventListener("error", onError);
  return {
    [Symbol.dispose]() {
      scope.removeEventListener("unhandledrejection", onRejection);
      scope.removeEventListener("error", onError);
    },
  };
}
