import { type InfiniteData, infiniteQueryOptions, type Query, type QueryKey } from '@tanstack/react-query';

/** A list that is read again as a whole reads at most so many pages; those behind them stay as they are. */
const REREAD_MAX = 10;

type Page = { next_cursor: string | null };

/** A reading of a list from its first page on, so far. */
type Reading = { pages: number; seen: Set<unknown>; last: unknown };

/** By the signal of the fetch; one of a further page has none. */
const readings = new WeakMap<AbortSignal, Reading>();

type Options<Rows extends string, Id extends string, P, Key extends QueryKey> = {
  queryKey: Key;
  /** Which field of a page has its rows, and which field of a row is its id. */
  rows: Rows;
  id: Id;
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<P>;
  /**
   * New rows come to its top, and events name the row that has changed: only its page and the first are read again then. Not
   * for lists that are sorted otherwise or narrowed, which a row can enter anywhere.
   */
  newestFirst?: boolean;
  staleTime?: number;
  refetchOnWindowFocus?: boolean;
};

/** A list that comes page by page, each with the cursor of the next one. */
export function pagedQuery<
  const Rows extends string,
  const Id extends string,
  P extends Page & Record<Rows, readonly Record<Id, string>[]>,
  const Key extends QueryKey,
>({ queryKey, rows, id, read, newestFirst = false, ...options }: Options<Rows, Id, P, Key>) {
  const idsOf = (page: P) => page[rows].map((row) => row[id]);

  /** What is known behind the last row that was read, up to the end of a page; null where nothing is. */
  function knownBehind({ pages }: InfiniteData<P>, { last, seen }: Reading): P | null {
    const at = pages.findIndex((page) => idsOf(page).includes(last as string));
    const [before, after] = [pages[at], pages[at + 1]];
    if (!before) return null;
    const rest = before[rows].slice(idsOf(before).indexOf(last as string) + 1);
    if (!after && rest.length === 0) return null;
    const behind = [...rest, ...(after?.[rows] ?? [])].filter((row) => !seen.has(row[id]));
    return { ...(after ?? before), [rows]: behind };
  }

  return infiniteQueryOptions({
    ...options,
    queryKey,
    queryFn: async ({ client, pageParam, signal }): Promise<P> => {
      if (pageParam === null) readings.set(signal, { pages: 0, seen: new Set(), last: null });
      const reading = readings.get(signal);
      const state = client.getQueryState<InfiniteData<P>>(queryKey);
      const changed = changedOf(state?.fetchMeta);
      const known = reading && pageParam !== null && state?.data && knownBehind(state.data, reading);
      const isKept =
        reading &&
        known &&
        (changed
          ? ![...idsOf(known), known.next_cursor].some((one) => changed.has(one))
          : reading.pages >= REREAD_MAX);
      const page = isKept ? known : await read(pageParam ?? undefined, signal);
      if (reading) {
        reading.pages += 1;
        for (const one of idsOf(page)) reading.seen.add((reading.last = one));
      }
      return page;
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    meta: { newestFirst },
  });
}

function changedOf(meta: object | null | undefined): ReadonlySet<unknown> | undefined {
  return meta && 'changed' in meta ? (meta.changed as ReadonlySet<unknown>) : undefined;
}

/**
 * Reads again what these rows may have changed of a list in sight: its first page, and those in which they stand. False where
 * all of it has to be read.
 */
export function readRowsAgain(query: Query, changed: ReadonlySet<string>): Promise<unknown> | false {
  const { isInvalidated, fetchStatus } = query.state;
  if (!query.meta?.newestFirst || !query.isActive() || isInvalidated || fetchStatus !== 'idle') return false;
  query.invalidate();
  // The library says no more of a fetch than its type has, but hands on all of it.
  const meta: object = { changed };
  return query.fetch(undefined, { meta }).catch(() => undefined);
}
