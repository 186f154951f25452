// Buffers for heads and bodies, from free lists, so that a steady load allocates nothing. A page belongs to whoever
// took it until it is given back, which may be only when no read into it and no write from it is pending.

/** Sizes of pages, bytes: for a connection that waits, for a larger head, for a busy body. */
export const PAGE_BYTES = { small: 4096, middle: 16384, large: 69632 } as const;

/** Bytes of one connection or message. */
export type Page = Uint8Array<ArrayBuffer>;

/** The pages of one worker. */
export class Pages {
  readonly #small: Page[] = [];
  readonly #middle: Page[] = [];
  readonly #large: Page[] = [];

  /** A page of at least `bytes`; above the largest size it is made to measure and not kept afterwards. */
  take(bytes: number): Page {
    if (bytes <= PAGE_BYTES.small) return this.#small.pop() ?? new Uint8Array(PAGE_BYTES.small);
    if (bytes <= PAGE_BYTES.middle) return this.#middle.pop() ?? new Uint8Array(PAGE_BYTES.middle);
    if (bytes <= PAGE_BYTES.large) return this.#large.pop() ?? new Uint8Array(PAGE_BYTES.large);
    return new Uint8Array(bytes);
  }

  /** Takes a page back. Keeps at most some megabytes of each size. */
  give(page: Page): void {
    if (page.length === PAGE_BYTES.small) keep(this.#small, page, 2048);
    else if (page.length === PAGE_BYTES.middle) keep(this.#middle, page, 512);
    else if (page.length === PAGE_BYTES.large) keep(this.#large, page, 128);
  }
}

function keep(list: Page[], page: Page, most: number): void {
  if (list.length < most) list.push(page);
}
