import type { GenerationParameters, GenerationState } from '@bakehouse/contract/generations';
import type { GeneratorName, Provider } from '@bakehouse/contract/generators';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { DB } from '../../platform/db/schema.generated.ts';
import type { UpstreamJob } from '../upstreams/generate-upstream.ts';

type Db = Database | Transaction;
type Columns = Selectable<DB['generations']>;

/* The SQL of generations. Locks are taken in one order everywhere: generation, what the user stores, ledger. */

export type GenerationRow = Omit<
  Columns,
  'generator' | 'provider' | 'state' | 'parameters' | 'expert_weights' | 'upstream_job'
> & {
  generator: GeneratorName;
  provider: Provider;
  state: GenerationState;
  parameters: GenerationParameters;
  expert_weights: number[][] | null;
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

type Own = { id: string; userId: string };

const selectOwn = (db: Db, { id, userId }: Own) =>
  db.selectFrom('generations').selectAll().where('id', '=', id).where('user_id', '=', userId);

export async function findGeneration(db: Db, own: Own): Promise<GenerationRow | undefined> {
  const row = await selectOwn(db, own).executeTakeFirst();
  return row && toRow(row);
}

/** The same, which nobody changes until the transaction ends; or at least nobody deletes. */
export async function lockGeneration(
  tx: Transaction,
  own: Own,
  against: 'changes' | 'deletion',
): Promise<GenerationRow | undefined> {
  const query = selectOwn(tx, own);
  const row = await (against === 'changes' ? query.forUpdate() : query.forKeyShare()).executeTakeFirst();
  return row && toRow(row);
}

/** Those of these generations that are the user's, by their ids. */
export async function findGenerations(
  db: Db,
  { ids, userId }: { ids: string[]; userId: string },
): Promise<Map<string, GenerationRow>> {
  const rows = await db
    .selectFrom('generations')
    .selectAll()
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('user_id', '=', userId)
    .execute();
  return new Map(rows.map((row) => [row.id, toRow(row)]));
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
  state?: GenerationState | undefined;
  /** Those of one edit tree. */
  root?: string | undefined;
  search?: string | undefined;
  /** Those alone that are under way, or have ended since. */
  endedSince?: Date | undefined;
  /** Those that come after it. */
  cursor?: string | undefined;
  limit: number;
};

/** Newest first. */
export async function selectGenerations(db: Db, filter: Filter): Promise<GenerationRow[]> {
  const { userId, generator, state, root, search = '', endedSince, cursor, limit } = filter;
  let query = db.selectFrom('generations').selectAll().where('user_id', '=', userId);
  if (generator !== undefined) query = query.where('generator', '=', generator);
  if (state !== undefined) query = query.where('state', '=', state);
  if (root !== undefined)
    query = query.where((row) => row.or([row('id', '=', root), row('root_generation_id', '=', root)]));
  if (search !== '') query = query.where(sql<boolean>`strpos(lower(prompt), lower(${search})) > 0`);
  if (endedSince !== undefined)
    query = query.where((row) => row.or([row('ended_at', 'is', null), row('ended_at', '>=', endedSince)]));
  if (cursor !== undefined) query = query.where('id', '<', cursor);
  return (await query.orderBy('id', 'desc').limit(limit).execute()).map(toRow);
}

/** The newest generation that was asked for by the same call. */
export async function findByRequest(
  db: Db,
  { userId, requestSha256 }: { userId: string; requestSha256: string },
): Promise<GenerationRow | undefined> {
  const row = await db
    .selectFrom('generations')
    .selectAll()
    .where('user_id', '=', userId)
    .where('request_sha256', '=', requestSha256)
    .orderBy('id', 'desc')
    .limit(1)
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

export async function listGenerationIds(db: Db, userId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('generations')
    .select('id')
    .where('user_id', '=', userId)
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

// Outputs

export async function insertOutput(
  tx: Transaction,
  row: Insertable<DB['generation_outputs']>,
): Promise<void> {
  await tx.insertInto('generation_outputs').values(row).execute();
}

/** The outputs of each of these generations. */
export async function findOutputs(db: Db, generationIds: string[]): Promise<Map<string, OutputRow[]>> {
  const rows = await db
    .selectFrom('generation_outputs')
    .selectAll()
    .where('generation_id', '=', sql<string>`any(${generationIds}::uuid[])`)
    .orderBy('id')
    .execute();
  return Map.groupBy(rows, (row) => row.generation_id);
}

/** The generation that has made it. */
export async function findGenerationOfOutput(db: Db, { id, userId }: Own): Promise<string | undefined> {
  const row = await db
    .selectFrom('generation_outputs')
    .select('generation_id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.generation_id;
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

/**
 * The one to run next: one that nobody looks after any more, which those `atWork` here are not, else the first in a queue
 * that has a free place. The last place is for a user who has nothing in work, but where a deployment's owner has the queue
 * to himself. Whoever asks this does it alone until the transaction ends.
 */
export async function chooseNext(
  tx: Transaction,
  { places, now, atWork }: { places: Record<Provider, number>; now: Date; atWork: readonly string[] },
): Promise<string | null> {
  await sql`select pg_advisory_xact_lock(hashtextextended('the next generation', 0))`.execute(tx);
  const { rows: orphans } = await sql<{ id: string }>`
    select id from generations
    where ended_at is null and state in ('starting', 'running')
      and check_at <= ${now} and (locked_until is null or locked_until <= ${now})
      and id <> all (${atWork}::uuid[])
    order by id limit 1`.execute(tx);
  if (orphans[0]) return orphans[0].id;
  const placesOf = sql`case provider when 'own' then ${places.own}::int else ${places.upstream}::int end`;
  // The long queues are those that have no place free: they are not put in order.
  const { rows: first } = await sql<{ id: string }>`
    with running as (
      select queue, count(*), count(*) >= min(${placesOf}) as is_full from generations
      where ended_at is null and state in ('starting', 'running') group by queue
    ), waiting as (
      select id, waits.queue, turn, position, ${placesOf} as places
      from generation_queue waits join generations using (id)
      where check_at <= ${now} and waits.queue <> all (array(select queue from running where is_full))
    )
    select id from waiting left join running using (queue)
    where coalesce(running.count, 0) < places - case
      when turn = 1 or places = 1 or queue like 'deployment:%' then 0 else 1 end
    order by position, id limit 1`.execute(tx);
  return first[0]?.id ?? null;
}
