import type { ChangeEvent } from '@bakehouse/contract/events';
import { matchQuery, type Query, type QueryKey, type QueryState } from '@tanstack/react-query';
import { queryClient } from '../api/query-client.ts';
import { discardSharedReads } from '../api/shared-reads.ts';
import { refetchChangedPages } from './paged-query.ts';

/** Changes within this time are refetched together. */
const GATHER_MS = 250;
/** Maximum wait for a refetch, because a failed query of a hidden page retries only when the page is visible. */
const READING_MS_MAX = 35_000;
/** Runs report several times a second, faster than users can read. */
const SPACING_MS = 1_000;

/** Query keys are `[family, part, ...]`. Maps each topic to the families it affects. */
const families: Record<ChangeEvent['topic'], string[]> = {
  asset: ['asset'],
  run: ['run', 'own-work'],
  deployment: ['deployment', 'own-work'],
  balance: ['balance', 'transaction'],
  machine: ['machine', 'own-work'],
  reading: ['own-work'],
  api_key: ['session', 'api-key'],
  user: ['session', 'sign-in-session', 'own-sign-in-methods'],
  notification: ['notification'],
  generation: ['generation', 'own-work'],
  conversation: ['conversation'],
  clone: ['clone', 'own-work'],
  draft: ['draft', 'own-work'],
};
/** Families whose changes also affect the user's work. */
const workFamilies = new Set<unknown>(
  Object.values(families).flatMap((all) => (all.includes('own-work') ? all : [])),
);
/** Parts about a single resource: the third element of the key is its id. */
const aboutOne = new Set<unknown>(['one', 'face', 'metrics', 'logs', 'readiness', 'files', 'ipfs']);
/** Parts of an asset with the revision in their key; revisions never change. */
const ofRevision = new Set<unknown>(['preview', 'columns', 'row', 'sql']);

/**
 * Returns true if the change may have outdated data under this key. A watched generation updates the lists
 * itself when it ends, so its progress doesn't refetch them.
 */
export function concerns({ topic, id }: ChangeEvent, key: QueryKey, watched = false): boolean {
  const [family, part, thing] = key;
  if (!isLive(key) || !families[topic]?.includes(String(family))) return false;
  if (topic === 'generation' && part === 'list' && watched) return false;
  return aboutOne.has(part) ? thing === id : true;
}

/** Returns true if a write to the data under this key may have outdated the query. */
export function isAffected(query: Query, written: QueryKey): boolean {
  return (
    matchQuery({ queryKey: written }, query) ||
    (query.queryKey[0] === 'own-work' && workFamilies.has(written[0]))
  );
}

/**
 * Returns a function that refetches what a change affects. Batches changes and never overlaps refetches. Ends
 * when the signal aborts.
 */
export function changeRefresher(signal: AbortSignal): (change: ChangeEvent) => void {
  let changes = new Map<string, ChangeEvent>();
  let running = false;

  async function refetchNext(): Promise<void> {
    running = true;
    await pause(GATHER_MS);
    while (changes.size > 0 && !signal.aborted) {
      const gathered = [...changes.values()].map((change) => ({ change, watched: isWatched(change) }));
      changes = new Map();
      const spacing = pause(SPACING_MS);
      const reading = refresh(
        ({ queryKey, state }) =>
          !hasFailed(state) && gathered.some(({ change, watched }) => concerns(change, queryKey, watched)),
        new Set(gathered.map(({ change }) => change.id)),
      );
      // Leave a gap between refetches for user requests, such as the next page.
      const read = Promise.race([reading, pause(READING_MS_MAX)]);
      await Promise.all([spacing, read.then(() => pause(GATHER_MS))]);
    }
    running = false;
  }

  return (change) => {
    changes.set(`${change.topic} ${change.id}`, change);
    if (!running) void refetchNext();
  };
}

/** Returns true if a mounted component uses this resource's query. */
function isWatched({ topic, id }: ChangeEvent): boolean {
  return (
    queryClient
      .getQueryCache()
      .find({ queryKey: [topic, 'one', id] })
      ?.isActive() ?? false
  );
}

/**
 * Returns true for a query with an error and no data. Changes don't refetch it: the error would flicker to a
 * placeholder on every step of a run. The user can retry.
 */
function hasFailed({ status, data }: QueryState): boolean {
  return status === 'error' && data === undefined;
}

/** Refetches everything that may have changed while disconnected, including failed queries. */
export function refreshMissed(): void {
  // The session isn't refetched: a replaced key is detected when the old one is rejected.
  const heardOf = new Set(
    Object.values(families)
      .flat()
      .filter((family) => family !== 'session'),
  );
  void refresh(({ queryKey }) => isLive(queryKey) && heardOf.has(String(queryKey[0])));
}

/**
 * Refetches matching queries; of lists, only the parts affected by the changed rows, if known. Restarts
 * fetches in flight, which may return older data. Three kinds of fetch are awaited first: first loads, which
 * an invalidation would ignore; next pages, which it would cancel; and any fetch of a list if only rows
 * changed.
 */
export async function refresh(
  isMeant: (query: Query) => boolean,
  changed: ReadonlySet<string> | null = null,
): Promise<void> {
  discardSharedReads();
  const queries = queryClient.getQueryCache().findAll({ predicate: isMeant });
  const awaited = queries.filter(
    ({ state, meta }) =>
      state.fetchStatus === 'fetching' &&
      (state.data === undefined || state.fetchMeta?.fetchMore || (changed && meta?.newestFirst)),
  );
  await Promise.all([
    invalidate(
      queries.filter((query) => !awaited.includes(query)),
      changed,
    ),
    ...awaited.map(async (query) => {
      await query.promise?.catch(() => undefined);
      if (!hasFailed(query.state)) await invalidate([query], changed);
    }),
  ]);
}

async function invalidate(queries: readonly Query[], changed: ReadonlySet<string> | null): Promise<void> {
  const whole: Query[] = [];
  const parts: Promise<unknown>[] = [];
  for (const query of queries) {
    const part = changed && refetchChangedPages(query, changed);
    if (part) parts.push(part);
    else whole.push(query);
  }
  await Promise.all([
    queryClient.invalidateQueries({ predicate: (query) => whole.includes(query) }),
    ...parts,
  ]);
}

function isLive([family, part]: QueryKey): boolean {
  return family !== 'asset' || !ofRevision.has(part);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
