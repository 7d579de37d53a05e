import type { GenerationParameters, GenerationState } from '@bakehouse/contract/generations';
import type { GeneratorName, Provider } from '@bakehouse/contract/generators';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { DB } from '../../platform/db/schema.generated.ts';
import type { VideoOptions } from '../providers/field-mappers.ts';
import type { UpstreamJob } from '../providers/upstream-job.ts';

type Db = Database | Transaction;
type Columns = Selectable<DB['generations']>;

/* SQL of generations. Lock order everywhere: generation, the user's stored bytes, ledger. */

/** Details that only some models report; for Paris, the participation of its experts. */
export type GenerationDetails = {
  /** Per step. */
  expert_weights?: number[][];
  expert_used?: number | null;
  routing_confidence?: number | null;
};

/** Parameters of a videos API call. */
export type VideoParameters = VideoOptions & {
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
  asked: VideoParameters | null;
  generator: GeneratorName;
  provider: Provider;
  state: GenerationState;
  parameters: GenerationParameters;
  details: GenerationDetails;
  upstream_job: UpstreamJob | null;
};
export type OutputRow = Selectable<DB['generation_outputs']>;

/** Casts a row; the table's check constraints guarantee the contract's types. */
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

/** Serialises the user's starts until the transaction ends. */
export async function lockStarts(tx: Transaction, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`generations of ${userId}`}, 0))`.execute(tx);
}

/** Returns the number of the user's generations that have not ended. */
export async function countOpen(db: Db, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('generations')
    .select((select) => select.fn.countAll<bigint>().as('count'))
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Identifies a request by its hash. */
export type SameRequest = { userId: string; requestSha256: string };

type Own = { id: string; userId: string };

/**
 * Locks and returns a user's generation until the transaction ends. The lock prevents either all changes, or
 * only deletion.
 */
export async function lockGeneration(
  tx: Transaction,
  { id, userId }: Own,
  against: 'changes' | 'deletion',
): Promise<GenerationRow | undefined> {
  const query = tx.selectFrom('generations').selectAll().where('id', '=', id).where('user_id', '=', userId);
  const row = await (against === 'changes' ? query.forUpdate() : query.forKeyShare()).executeTakeFirst();
  return row && toRow(row);
}

/** Returns whether the generation has ended; undefined if it does not exist. */
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
  /** Only generations of one edit tree. */
  root?: string | undefined;
  search?: string | undefined;
  /** Only these ids. */
  ids?: string[] | undefined;
  /** Only running generations and generations that ended since. */
  endedSince?: Date | undefined;
  /** Returns the generations that follow this one in the list. */
  cursor?: string | undefined;
  limit: number;
};

/** Returns generations, newest first. */
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
  // Each condition matches an index: a user may have a hundred thousand generations.
  if (root !== undefined) query = query.where(sql<boolean>`coalesce(root_generation_id, id) = ${root}`);
  if (search !== '') query = query.where(sql<boolean>`lower(prompt) like lower(${patternOf(search)})`);
  if (ids !== undefined) query = query.where('id', '=', sql<string>`any(${ids}::uuid[])`);
  if (endedSince !== undefined)
    query = query.where(sql<boolean>`coalesce(ended_at, 'infinity') >= ${endedSince}`);
  if (cursor !== undefined) query = query.where('id', '<', cursor);
  return (await query.orderBy('id', 'desc').limit(limit).execute()).map(toRow);
}

/** Returns a `like` pattern that matches texts containing the words. */
function patternOf(words: string): string {
  return `%${words.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/** Records that the waiting client disconnected before it received the output. */
export async function markDisconnected(db: Db, { id, userId }: Own, now: Date): Promise<void> {
  await db
    .updateTable('generations')
    .set({ left_at: now })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .execute();
}

/**
 * Seconds without a heartbeat after which a process counts as dead. Heartbeats are sent every two seconds.
 */
const SILENT_S = 6;

/** SQL condition on a process: it sent no heartbeat for `SILENT_S` and was not shut down cleanly. */
const isSilent = sql<boolean>`(
  processes.left_at is null and processes.seen_at < clock_timestamp() - ${SILENT_S} * interval '1 second')`;

/**
 * SQL condition on a generation and a process: a call at that process waited for the generation and had no
 * answer at the process's last heartbeat.
 */
const isAwaitedAt = sql<boolean>`(
  processes.id = generations.process_id and generations.left_at is null
  and coalesce(generations.ended_at, 'infinity') > processes.seen_at)`;

/**
 * Returns the other live processes at which calls with this API key wait, with the time of their last
 * heartbeat.
 */
export async function listProcessesWithWaitingCalls(
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
 * Claims the newest matching generation whose first call got no answer within the last `withinMs`: either its
 * client disconnected, or its process died. The generation must be running or completed, and the call must
 * have the same API key. Assigns it to this process, so that no other call can claim it.
 */
export async function claimAbandonedGeneration(
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

/** Returns ids of a user's generations, optionally only those requested before a given time. */
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

/**
 * Stores the current preview of a leased generation. Does nothing if the lease is lost or the generation is
 * ending.
 */
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

/** Returns the previews of these generations that have one. */
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

// Queues

/** Returns the number of generations ahead of each waiting generation. */
export async function findPositions(db: Db, ids: string[]): Promise<Map<string, number>> {
  // The view sorts whole queues, whichever ids are requested: skip the query if none are.
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

/** Returns the first generations in a queue, at most `limit`. */
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

/**
 * Records that the user's generation started. The queue serves the user first who has waited longest since
 * then.
 */
export async function recordTurn(
  tx: Transaction,
  { user_id, queue }: GenerationRow,
  servedAt: Date,
): Promise<void> {
  // Rows from before the introduction of queues have no queue.
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
