import type { ChangeEvent } from '@bakehouse/contract/events';
import type { Query, QueryKey, QueryState } from '@tanstack/react-query';
import { queryClient } from '../api/query-client.ts';
import { forgetReads } from '../api/shared-reads.ts';
import { readRowsAgain } from './paged-query.ts';

/** What comes within this time is read again together. */
const GATHER_MS = 250;
/** A reading that takes longer is waited for no longer: out of sight, one that has failed is tried again when it is seen. */
const READING_MS_MAX = 35_000;
/** A run reports several times a second; nobody reads faster than this. */
const SPACING_MS = 1_000;

/** Query keys are `[family, part, ...]`; a change in a topic concerns these families. */
const families: Record<ChangeEvent['topic'], string[]> = {
  asset: ['asset'],
  run: ['run'],
  deployment: ['deployment'],
  balance: ['balance', 'transaction'],
  machine: ['machine'],
  reading: ['reading'],
  api_key: ['session', 'api-key'],
  user: ['session', 'sign-in-session', 'own-sign-in-methods'],
  notification: ['notification'],
  generation: ['generation'],
  conversation: ['conversation'],
  clone: ['clone'],
  draft: ['draft'],
};
/** Parts that are about one thing: its id is the third element of the key. */
const aboutOne = new Set<unknown>(['one', 'face', 'metrics', 'logs', 'readiness', 'files', 'ipfs']);
/** Parts of an asset whose key names the revision, and a revision never changes. */
const ofRevision = new Set<unknown>(['preview', 'columns', 'row', 'sql']);

/**
 * Whether the change can have made untrue what was read under this key. A generation that is watched tells the lists
 * itself what it has become: they are not read for each of its steps.
 */
export function concerns({ topic, id }: ChangeEvent, key: QueryKey, watched = false): boolean {
  const [family, part, thing] = key;
  if (!isLive(key) || !families[topic]?.includes(String(family))) return false;
  if (topic === 'generation' && part === 'list' && watched) return false;
  return aboutOne.has(part) ? thing === id : true;
}

/**
 * Takes what the server says has changed, and reads again what is concerned: gathered, and never while the
 * last reading is still under way. The signal ends it.
 */
export function changeRefresher(signal: AbortSignal): (change: ChangeEvent) => void {
  let changes = new Map<string, ChangeEvent>();
  let running = false;

  async function goOn(): Promise<void> {
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
      // Between two readings there is room for what a person asks for, such as the next page.
      const read = Promise.race([reading, pause(READING_MS_MAX)]);
      await Promise.all([spacing, read.then(() => pause(GATHER_MS))]);
    }
    running = false;
  }

  return (change) => {
    changes.set(`${change.topic} ${change.id}`, change);
    if (!running) void goOn();
  };
}

/** Whether something in sight reads this one thing. */
function isWatched({ topic, id }: ChangeEvent): boolean {
  return (
    queryClient
      .getQueryCache()
      .find({ queryKey: [topic, 'one', id] })
      ?.isActive() ?? false
  );
}

/**
 * Whether nothing but an error is there. A change does not read that again: the error would give way to a placeholder at
 * every step of a run, and come back. Whoever sees it can try again.
 */
function hasFailed({ status, data }: QueryState): boolean {
  return status === 'error' && data === undefined;
}

/** Reads again what may have changed while nobody was there to hear of it, what has failed included. */
export function refreshMissed(): void {
  // A key that was replaced shows itself: the old one is refused.
  const heardOf = new Set(
    Object.values(families)
      .flat()
      .filter((family) => family !== 'session'),
  );
  void refresh(({ queryKey }) => isLive(queryKey) && heardOf.has(String(queryKey[0])));
}

/**
 * Reads such queries again; of lists only what is about the rows that have changed, where these are known. What is under way
 * may be of before the change: it is begun anew. The first reading of a query, which an invalidation leaves alone, a further
 * page, which it would end, and any reading of a list of which only rows are meant are waited for.
 */
export async function refresh(
  isMeant: (query: Query) => boolean,
  changed: ReadonlySet<string> | null = null,
): Promise<void> {
  forgetReads();
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
    const part = changed && readRowsAgain(query, changed);
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
