import type { GenerationParameters, GenerationState } from '@bakehouse/contract/generations';
import type { GeneratorName, Provider } from '@bakehouse/contract/generators';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { DB } from '../../platform/db/schema.generated.ts';
import type { VideoWishes } from '../providers/field-mappers.ts';
import type { UpstreamJob } from '../providers/upstream-job.ts';

type Db = Database | Transaction;
type Columns = Selectable<DB['generations']>;

/* The SQL of generations. Locks are taken in one order everywhere: generation, what the user stores, ledger. */

/** What only some models tell of a generation: of Paris, how its experts took part. */
export type GenerationDetails = {
  /** Of each step. */
  expert_weights?: number[][];
  expert_used?: number | null;
  routing_confidence?: number | null;
};

/** What a call of the videos API asked for. */
export type VideoAsked = VideoWishes & {
  duration?: number | undefined;
  quality?: string | undefined;
  aspect_ratio?: string | undefined;
  negative_prompt?: string | undefined;
  generate_audio?: boolean | undefined;
  seed?: number | undefined;
};

export type GenerationRow = Omit<
  Columns,
  'generator' | 'provider' | 'state' | 'parameters' | 'details' | 'upstream_job' | 'asked'
> & {
  asked: VideoAsked | null;
  generator: GeneratorName;
  provider: Provider;
  state: GenerationState;
  parameters: GenerationParameters;
  details: GenerationDetails;
  upstream_job: UpstreamJob | null;
};
export type OutputRow = Selectable<DB['generation_outputs']>;

/** A row by its words: the checks of the table keep them to those of the contract. */
export function toRow(columns: Columns): GenerationRow {
  return columns as unknown as GenerationRow;
}

export async function nextId(tx: Transaction): Promise<string> {
  const { rows } = await sql<{ id: string }>`select uuidv7() as id`.execute(tx);
  return rows[0]?.id ?? '';
}

export async function insertGeneration(
  tx: Transaction,
  row: Insertable<DB['generations']>,
): Promise<GenerationRow> {
  return toRow(await tx.insertInto('generations').values(row).returningAll().executeTakeFirstOrThrow());
}

/** Whoever starts one for a user does it alone until the transaction ends. */
export async function lockStarts(tx: Transaction, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`generations of ${userId}`}, 0))`.execute(tx);
}

/** How many of a user's have not ended. */
export async function countOpen(db: Db, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('generations')
    .select((select) => select.fn.countAll<bigint>().as('count'))
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** What a call asks for, by its hash. */
export type SameRequest = { userId: string; requestSha256: string };

type Own = { id: string; userId: string };

/** A user's generation, which nobody changes until the transaction ends; or at least nobody deletes. */
export async function lockGeneration(
  tx: Transaction,
  { id, userId }: Own,
  against: 'changes' | 'deletion',
): Promise<GenerationRow | undefined> {
  const query = tx.selectFrom('generations').selectAll().where('id', '=', id).where('user_id', '=', userId);
  const row = await (against === 'changes' ? query.forUpdate() : query.forKeyShare()).executeTakeFirst();
  return row && toRow(row);
}

/** Whether it has ended; undefined where there is none. */
export async function hasEnded(db: Db, { id, userId }: Own): Promise<boolean | undefined> {
  const row = await db
    .selectFrom('generations')
    .select('ended_at')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row && row.ended_at !== null;
}

type Filter = {
  userId: string;
  generator?: GeneratorName | undefined;
  generators?: readonly GeneratorName[] | undefined;
  model?: string | undefined;
  state?: GenerationState | undefined;
  /** Those of one edit tree. */
  root?: string | undefined;
  search?: string | undefined;
  /** These alone. */
  ids?: string[] | undefined;
  /** Those alone that are under way, or have ended since. */
  endedSince?: Date | undefined;
  /** Those that come after it. */
  cursor?: string | undefined;
  limit: number;
};

/** Newest first. */
export async function selectGenerations(db: Db, filter: Filter): Promise<GenerationRow[]> {
  const {
    userId,
    generator,
    generators,
    model,
    state,
    root,
    search = '',
    ids,
    endedSince,
    cursor,
    limit,
  } = filter;
  let query = db.selectFrom('generations').selectAll().where('user_id', '=', userId);
  if (generator !== undefined) query = query.where('generator', '=', generator);
  if (generators !== undefined) query = query.where('generator', 'in', generators);
  if (model !== undefined) query = query.where('model', '=', model);
  if (state !== undefined) query = query.where('state', '=', state);
  // Each as an index has it: a user may have a hundred thousand.
  if (root !== undefined) query = query.where(sql<boolean>`coalesce(root_generation_id, id) = ${root}`);
  if (search !== '') query = query.where(sql<boolean>`lower(prompt) like lower(${patternOf(search)})`);
  if (ids !== undefined) query = query.where('id', '=', sql<string>`any(${ids}::uuid[])`);
  if (endedSince !== undefined)
    query = query.where(sql<boolean>`coalesce(ended_at, 'infinity') >= ${endedSince}`);
  if (cursor !== undefined) query = query.where('id', '<', cursor);
  return (await query.orderBy('id', 'desc').limit(limit).execute()).map(toRow);
}

/** What has the words in it, for `like`. */
function patternOf(words: string): string {
  return `%${words.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/** Notes that the call that waited for it went away without it. */
export async function markLeft(db: Db, { id, userId }: Own, now: Date): Promise<void> {
  await db
    .updateTable('generations')
    .set({ left_at: now })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .execute();
}

/** Beats come every two seconds: a process that misses three has died, or is cut off. */
const SILENT_S = 6;

/** Of a process: it has ended without a word. */
const isSilent = sql<boolean>`(
  processes.left_at is null and processes.seen_at < clock_timestamp() - ${SILENT_S} * interval '1 second')`;

/** Of a generation and a process: a call waited for it there, and was not answered before the process was last seen. */
const isAwaitedAt = sql<boolean>`(
  processes.id = generations.process_id and generations.left_at is null
  and coalesce(generations.ended_at, 'infinity') > processes.seen_at)`;

/** The other processes that live and have calls of the key waiting, and when each was last seen. */
export async function listWaitedAt(
  db: Db,
  { userId, keyId, processId }: { userId: string; keyId: string | null; processId: string },
): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; seen_at: Date }>`
    select distinct processes.id, processes.seen_at
    from generations join processes on ${isAwaitedAt}
    where user_id = ${userId} and key_id is not distinct from ${keyId}
      and processes.id <> ${processId} and processes.left_at is null and not ${isSilent}`.execute(db);
  return new Map(rows.map(({ id, seen_at }) => [id, seen_at.getTime()]));
}

/**
 * The newest that the same call of the same key has left within so long, if it is done or under way; or that it waited for
 * at a process that has died within so long. It is the caller's who asks for it, at this process: nobody else gets it after
 * that.
 */
export async function takeLeft(
  tx: Transaction,
  asked: SameRequest & { keyId: string | null; processId: string; now: Date; withinMs: number },
): Promise<GenerationRow | undefined> {
  const { userId, requestSha256, keyId, processId, now, withinMs } = asked;
  const left = sql<string>`(
    select id from generations
    where user_id = ${userId} and request_sha256 = ${requestSha256} and key_id is not distinct from ${keyId}
      and (ended_at is null or state = 'completed')
      and (left_at >= ${new Date(now.getTime() - withinMs)} or exists (
        select from processes where ${isAwaitedAt} and ${isSilent}
          and seen_at >= clock_timestamp() - ${withinMs} * interval '1 millisecond'))
    order by id desc limit 1 for update)`;
  const row = await tx
    .updateTable('generations')
    .set({ left_at: null, process_id: processId })
    .where('id', '=', left)
    .returningAll()
    .executeTakeFirst();
  return row && toRow(row);
}

export async function updateGeneration(
  tx: Transaction,
  id: string,
  values: Updateable<DB['generations']>,
): Promise<void> {
  await tx.updateTable('generations').set(values).where('id', '=', id).execute();
}

export async function removeGeneration(tx: Transaction, id: string): Promise<void> {
  await tx.deleteFrom('generations').where('id', '=', id).execute();
}

/** Of a user's, those that were asked for before a moment where one is said. */
export async function listGenerationIds(
  db: Db,
  userId: string,
  limit: number,
  before?: Date,
): Promise<string[]> {
  let query = db.selectFrom('generations').select('id').where('user_id', '=', userId);
  if (before) query = query.where('created_at', '<', before);
  return (await query.orderBy('id').limit(limit).execute()).map(({ id }) => id);
}

// Previews

/** Writes how the picture of a lease looks by now; nothing where the lease does not hold any more, or ends in this moment. */
export async function putPreview(
  db: Db,
  { id, token }: { id: string; token: string },
  preview: string,
): Promise<void> {
  await sql`
    insert into generation_previews (generation_id, preview)
    select id, ${preview} from generations where id = ${id} and lock_token = ${token} for update
    on conflict (generation_id) do update set preview = excluded.preview`.execute(db);
}

export async function deletePreview(tx: Transaction, id: string): Promise<void> {
  await tx.deleteFrom('generation_previews').where('generation_id', '=', id).execute();
}

/** Those of these generations that have one. */
export async function findPreviews(db: Db, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('generation_previews')
    .selectAll()
    .where('generation_id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute();
  return new Map(rows.map((row) => [row.generation_id, row.preview]));
}

// Outputs

export async function insertOutput(
  tx: Transaction,
  row: Insertable<DB['generation_outputs']>,
): Promise<void> {
  await tx.insertInto('generation_outputs').values(row).execute();
}

// The queues

/** How many are generated before each of these that waits. */
export async function findPositions(db: Db, ids: string[]): Promise<Map<string, number>> {
  // The view puts whole queues in order, whoever is asked for: no others than theirs.
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('generation_queue')
    .select(['id', 'position'])
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where(
      'queue',
      '=',
      sql<string>`any(array(select queue from generations where id = any(${ids}::uuid[])))`,
    )
    .execute();
  return new Map(rows.map(({ id, position }) => [id ?? '', Number(position)]));
}

/** Who waits first in a queue, at most `limit`. */
export async function listWaiting(
  db: Db,
  { queue, limit }: { queue: string | null; limit: number },
): Promise<{ id: string; userId: string }[]> {
  const rows = await db
    .selectFrom('generation_queue')
    .select(['id', 'user_id'])
    .where('queue', '=', queue)
    .orderBy('position')
    .limit(limit)
    .execute();
  return rows.map(({ id, user_id }) => ({ id: id ?? '', userId: user_id ?? '' }));
}

/** Notes that the user's turn has come: among those who wait, whoever had theirs longest ago is first. */
export async function noteTurn(
  tx: Transaction,
  { user_id, queue }: GenerationRow,
  servedAt: Date,
): Promise<void> {
  // What had ended before there were queues stood in none.
  if (queue === null) return;
  await tx
    .insertInto('generation_turns')
    .values({ user_id, queue, served_at: servedAt })
    .onConflict((conflict) => conflict.columns(['user_id', 'queue']).doUpdateSet({ served_at: servedAt }))
    .execute();
}

export async function deleteTurnsOf(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('generation_turns').where('user_id', '=', userId).execute();
}
