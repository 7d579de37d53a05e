import type { CallOf, Endpoint, ResponseOf } from '@bakehouse/contract/endpoint';
import { type InfiniteData, infiniteQueryOptions, type Query, type QueryKey } from '@tanstack/react-query';
import { type CallArguments, type CallOptions, call } from '../api/api-client.ts';

/** A full refetch of a list reads at most this many pages, plus the pages with rows known to have changed. */
const REREAD_MAX = 10;

type Page = { next_cursor: string | null };

/** Progress of a refetch that starts at the first page. */
type Reading = { pages: number; seen: Set<unknown>; last: unknown };

/** By the fetch's signal; fetches of further pages have no entry. */
const readings = new WeakMap<AbortSignal, Reading>();

/** Changed rows of a list that haven't been refetched yet. */
const unread = new WeakMap<object, Set<unknown>>();

function unreadOf(query: object): Set<unknown> {
  const ids = unread.get(query) ?? new Set();
  unread.set(query, ids);
  return ids;
}

type Options<Rows extends string, Id extends string, P, Key extends QueryKey> = {
  queryKey: Key;
  /** The field of a page that contains its rows, and the field of a row that is its id. */
  rows: Rows;
  id: Id;
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<P>;
  /**
   * True if new rows appear at the top and events name the changed row: then only its page and the first page
   * are refetched. False for sorted or filtered lists, which a row can enter anywhere; pages that aren't
   * refetched are dropped.
   */
  newestFirst?: boolean;
  staleTime?: number;
  refetchOnWindowFocus?: boolean;
};

/** Returns query options for a cursor-paginated list. */
export function pagedQuery<
  const Rows extends string,
  const Id extends string,
  P extends Page & Record<Rows, readonly Record<Id, string>[]>,
  const Key extends QueryKey,
>({ queryKey, rows, id, read, newestFirst, ...options }: Options<Rows, Id, P, Key>) {
  const idsOf = (page: P) => page[rows].map((row) => row[id]);

  /** Returns the known rows after the last row read, up to the end of a page; null if there are none. */
  function knownBehind({ pages }: InfiniteData<P>, { last, seen }: Reading): P | null {
    const at = pages.findIndex((page) => idsOf(page).includes(last as string));
    const [before, after] = [pages[at], pages[at + 1]];
    if (!before) return null;
    const rest = before[rows].slice(idsOf(before).indexOf(last as string) + 1);
    if (!after && rest.length === 0) return null;
    const behind = [...rest, ...(after?.[rows] ?? [])].filter((row) => !seen.has(row[id]));
    return { ...(after ?? before), [rows]: behind };
  }

  /** Returns the cached page if it doesn't have to be refetched, else null. */
  function keptPage(query: Query<InfiniteData<P>>, reading: Reading, cursor: string | null): P | null {
    const { data, fetchMeta } = query.state;
    const isDeep = reading.pages >= REREAD_MAX;
    if (!data || cursor === null || !(isDeep || isOfRows(fetchMeta))) return null;
    // Drop the remaining rows; scrolling continues from this cursor.
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
  /** Call options other than the signal. */
  call?: Omit<CallOptions, 'signal'>;
};

/** Returns query options for an endpoint with a `cursor` parameter. */
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

/** Returns true if the fetch only concerns some rows. */
function isOfRows(meta: object | null): boolean {
  return meta !== null && 'ofRows' in meta;
}

/**
 * Refetches the parts of a visible list that the changed rows affect: the first page and the pages that
 * contain them. Returns false if the caller must refetch the whole list, which then includes these pages.
 */
export function refetchChangedPages(query: Query, changed: ReadonlySet<string>): Promise<unknown> | false {
  if (!query.meta?.newestFirst) return false;
  const heard = unreadOf(query);
  for (const id of changed) heard.add(id);
  const { isInvalidated, fetchStatus } = query.state;
  if (!query.isActive() || isInvalidated || fetchStatus !== 'idle') return false;
  query.invalidate();
  const ids = [...heard];
  // Not in the type of `fetch`, but passed through to `fetchMeta`.
  const meta: object = { ofRows: true };
  return query.fetch(undefined, { meta }).then(
    () => {
      // A cancelled fetch leaves the list stale.
      if (!query.state.isInvalidated) for (const id of ids) heard.delete(id);
    },
    () => undefined,
  );
}
