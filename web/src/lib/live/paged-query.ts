import type { CallOf, Endpoint, ResponseOf } from '@bakehouse/contract/endpoint';
import { type InfiniteData, infiniteQueryOptions, type Query, type QueryKey } from '@tanstack/react-query';
import { type CallArguments, type CallOptions, call } from '../api/api-client.ts';

/** A list that is read again as a whole reads at most so many pages, and those in which rows are known to have changed. */
const REREAD_MAX = 10;

type Page = { next_cursor: string | null };

/** A reading of a list from its first page on, so far. */
type Reading = { pages: number; seen: Set<unknown>; last: unknown };

/** By the signal of the fetch; one of a further page has none. */
const readings = new WeakMap<AbortSignal, Reading>();

/** The rows of a list that have changed since it was last read for their sake. */
const unread = new WeakMap<object, Set<unknown>>();

function unreadOf(query: object): Set<unknown> {
  const ids = unread.get(query) ?? new Set();
  unread.set(query, ids);
  return ids;
}

type Options<Rows extends string, Id extends string, P, Key extends QueryKey> = {
  queryKey: Key;
  /** Which field of a page has its rows, and which field of a row is its id. */
  rows: Rows;
  id: Id;
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<P>;
  /**
   * New rows come to its top, and events name the row that has changed: only its page and the first are read again then.
   * False for a list that is sorted otherwise or narrowed, which a row can enter anywhere: what is not read again of it goes.
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
>({ queryKey, rows, id, read, newestFirst, ...options }: Options<Rows, Id, P, Key>) {
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

  /** What is not read again of a list, but stays; null where the page has to be read. */
  function keptPage(query: Query<InfiniteData<P>>, reading: Reading, cursor: string | null): P | null {
    const { data, fetchMeta } = query.state;
    const isDeep = reading.pages >= REREAD_MAX;
    if (!data || cursor === null || !(isDeep || isOfRows(fetchMeta))) return null;
    // Who goes there reads on from here.
    if (newestFirst === false) return { ...(data.pages[0] as P), [rows]: [], next_cursor: cursor };
    const known = knownBehind(data, reading);
    const changed = unreadOf(query);
    return known && ![...idsOf(known), known.next_cursor].some((one) => changed.has(one)) ? known : null;
  }

  return infiniteQueryOptions({
    ...options,
    queryKey,
    queryFn: async ({ client, pageParam, signal }): Promise<P> => {
      if (pageParam === null) readings.set(signal, { pages: 0, seen: new Set(), last: null });
      const reading = readings.get(signal);
      const query = client.getQueryCache().find<InfiniteData<P>>({ queryKey });
      const kept = reading && query && keptPage(query, reading, pageParam);
      const page = kept ?? (await read(pageParam ?? undefined, signal));
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

type PagesOptions<Rows extends string, Id extends string> = Omit<
  Options<Rows, Id, never, never>,
  'queryKey' | 'read'
> & {
  /** How it is called, beside the signal. */
  call?: Omit<CallOptions, 'signal'>;
};

/** The pages of an endpoint that takes a `cursor` in its query. */
export function endpointPages<
  E extends Endpoint,
  const Rows extends string,
  const Id extends string,
  const Key extends QueryKey,
>(
  queryKey: Key,
  endpoint: E,
  input: Omit<CallOf<E>, 'query'> & { query?: Omit<NonNullable<CallOf<E>['query']>, 'cursor'> },
  { call: how, ...options }: PagesOptions<Rows, Id>,
) {
  type P = Extract<ResponseOf<E>, Page & Record<Rows, readonly Record<Id, string>[]>>;
  return pagedQuery<Rows, Id, P, Key>({
    ...options,
    queryKey,
    read: (cursor, signal) => {
      const page = { ...input, query: { ...input.query, cursor } };
      return call(endpoint, ...([page, { ...how, signal }] as unknown as CallArguments<E>)) as Promise<P>;
    },
  });
}

/** Whether a list is read for the sake of some rows alone. */
function isOfRows(meta: object | null): boolean {
  return meta !== null && 'ofRows' in meta;
}

/**
 * Reads again what these rows may have changed of a list in sight: its first page, and those in which they stand. False where
 * all of it has to be read, which their pages are then part of.
 */
export function readRowsAgain(query: Query, changed: ReadonlySet<string>): Promise<unknown> | false {
  if (!query.meta?.newestFirst) return false;
  const heard = unreadOf(query);
  for (const id of changed) heard.add(id);
  const { isInvalidated, fetchStatus } = query.state;
  if (!query.isActive() || isInvalidated || fetchStatus !== 'idle') return false;
  query.invalidate();
  const ids = [...heard];
  // The library says no more of a fetch than its type has, but hands on all of it.
  const meta: object = { ofRows: true };
  return query.fetch(undefined, { meta }).then(
    () => {
      // Of a reading that was called off the list still is not as it should be.
      if (!query.state.isInvalidated) for (const id of ids) heard.delete(id);
    },
    () => undefined,
  );
}
