import type { Quote } from '@bakehouse/contract/credits';
import { fineTuneDefaults } from '@bakehouse/contract/fine-tune-numbers';
import type { ExportRun, PicturesRun, Run, RunFilter, TextRun } from '@bakehouse/contract/runs';
import { type Selectable, sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import { type ListOrder, listOrders } from '../../platform/db/list-orders.ts';
import type { RunsTable } from '../../platform/db/schema.generated.ts';
import { agreedPrice } from '../billing/prices/cost.ts';
import type { Price } from '../billing/prices/prices.ts';

export type Source = { assetId: string; revisionId: string; title: string };

/** The held-out file of a run, if it is not a part of the dataset. */
export type ValidationFile = Source & { fileName: string };

/** The kind, file and parameters of a run. */
export type Trained =
  | { kind: 'text'; fileName: string; parameters: TextRun['parameters'] }
  | { kind: 'pictures'; fileName: string | null; parameters: PicturesRun['parameters'] }
  | { kind: 'export'; fileName: null; parameters: ExportRun['parameters'] };

export type RunRow = Trained & {
  /** Id of the run and of its workload. */
  id: string;
  userId: string;
  /** The API key that last started or resumed the run; null if the user did so in the web app. */
  keyId: string | null;
  title: string;
  modelAssetId: string;
  base: Source;
  dataset: Source;
  /** Null if part of the dataset's rows is held out. */
  validation: ValidationFile | null;
  /** At the run's start. */
  price: Price;
  devices: number;
  quote: Quote;
  /** Estimated operations of the run. */
  workFlops: number;
  /** Memory estimate by the formula, without corrections; null if there is none. */
  memoryBytes: number | null;
  holdId: string;
  heldMicro: bigint;
  holdExpiresAt: Date;
  /**
   * Charged amount and seconds of all earlier rounds. A round is the time between a start or resume and its
   * end.
   */
  settledMicro: bigint;
  settledSeconds: number;
  /** Seconds of saved work that earlier rounds did not charge. This round pays for them. */
  unpaidSeconds: number;
  /** Number of resumes by its owner. */
  resumes: number;
  /** Maximum cost of all rounds together. */
  ceilingMicro: bigint;
  /** Estimated cost of this round; null if the user chose the ceiling. */
  estimateMicro: bigint | null;
  /** Why the server stopped this round; null if it did not. */
  stopReason: Run['stop_reason'];
  /** Charged for this round; null until settled. */
  chargedMicro: bigint | null;
  summary: Run['summary'];
  createdAt: Date;
};

/** The fields of a run at its start. */
type NewRun = Trained &
  Omit<
    RunRow,
    | keyof Trained
    | 'settledMicro'
    | 'settledSeconds'
    | 'unpaidSeconds'
    | 'resumes'
    | 'stopReason'
    | 'chargedMicro'
    | 'summary'
  >;

/** Credits held for a run. */
export type RunHold = { id: string; micro: bigint; expiresAt: Date };

export async function insertRun(tx: Transaction, run: NewRun): Promise<void> {
  await tx
    .insertInto('runs')
    .values({
      id: run.id,
      user_id: run.userId,
      key_id: run.keyId,
      title: run.title,
      model_asset_id: run.modelAssetId,
      base_asset_id: run.base.assetId,
      base_revision_id: run.base.revisionId,
      base_title: run.base.title,
      dataset_asset_id: run.dataset.assetId,
      dataset_revision_id: run.dataset.revisionId,
      dataset_title: run.dataset.title,
      validation_asset_id: run.validation?.assetId,
      validation_revision_id: run.validation?.revisionId,
      validation_title: run.validation?.title,
      validation_file_name: run.validation?.fileName,
      kind: run.kind,
      file_name: run.fileName ?? '',
      parameters: toJson(run.parameters),
      price_id: run.price.id,
      unit_price_micro: run.price.unitPriceMicro,
      devices: run.devices,
      quote: toJson(run.quote),
      work_flops: run.workFlops,
      memory_bytes: run.memoryBytes === null ? null : BigInt(run.memoryBytes),
      hold_id: run.holdId,
      held_micro: run.heldMicro,
      hold_expires_at: run.holdExpiresAt,
      ceiling_micro: run.ceilingMicro,
      estimate_micro: run.estimateMicro,
      created_at: run.createdAt,
    })
    .execute();
}

export async function findRun(db: Database | Transaction, id: string): Promise<RunRow | null> {
  const row = await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? toRunRow(row) : null;
}

/** Returns the owners of these runs. */
export async function findOwners(tx: Transaction, ids: string[]): Promise<{ id: string; userId: string }[]> {
  return tx
    .selectFrom('runs')
    .select(['id', 'user_id as userId'])
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute();
}

/** SQL for the run's state as the list filter names it. */
const endedAs = sql<RunFilter>`case
  when workloads.ended_at is null then 'active'
  when workloads.state = 'stopped' then 'cancelled'
  else workloads.state end`;

/** Returns how many runs a user has in each final state, and what they cost in micro-BGL. */
export async function selectRunSums(db: Database, userId: string, kind: Run['kind'] | undefined) {
  return db
    .selectFrom('runs')
    .innerJoin('workloads', 'workloads.id', 'runs.id')
    .where('runs.user_id', '=', userId)
    .$if(kind !== undefined, (query) => query.where('runs.kind', '=', kind ?? ''))
    .groupBy(endedAs)
    .select([
      endedAs.as('ended_as'),
      sql<bigint>`count(*)`.as('count'),
      sql<bigint>`coalesce(sum(settled_micro + coalesce(charged_micro, 0)), 0)::bigint`.as('cost_micro'),
      sql<bigint>`coalesce(sum(held_micro) filter (where charged_micro is null), 0)::bigint`.as('held_micro'),
    ])
    .execute();
}

/**
 * Returns a page of runs, newest first or by title. With `endedSince`, runs that ended earlier are left out.
 */
export async function selectRuns(
  db: Database | Transaction,
  filter: {
    userId: string;
    kind?: Run['kind'];
    modelAssetIds?: string[];
    endedSince?: Date;
    search?: string;
    state?: RunFilter;
    sort?: ListOrder;
    cursor?: string;
    limit: number;
  },
): Promise<RunRow[]> {
  const { search, state, sort = 'created' } = filter;
  const { key, direction, after } = listOrders[sort];
  const rows = await db
    .selectFrom('runs')
    .selectAll()
    .where('user_id', '=', filter.userId)
    .$if(filter.kind !== undefined, (query) => query.where('kind', '=', filter.kind ?? ''))
    .$if(filter.modelAssetIds !== undefined, (query) =>
      query.where('model_asset_id', 'in', filter.modelAssetIds ?? []),
    )
    .$if(filter.endedSince !== undefined, (query) =>
      query.where(
        sql<boolean>`exists (
          select from workloads
          where workloads.id = runs.id and (ended_at is null or ended_at > ${filter.endedSince}))`,
      ),
    )
    .$if(search !== undefined && search !== '', (query) =>
      query.where(
        sql<boolean>`strpos(lower(concat_ws(chr(10), title, base_title, dataset_title)), lower(${search})) > 0`,
      ),
    )
    .$if(state !== undefined, (query) =>
      query.where(sql<boolean>`exists (
        select from workloads where workloads.id = runs.id and ${endedAs} = ${state})`),
    )
    .$if(filter.cursor !== undefined, (query) =>
      query.where(
        sql<boolean>`(${key}, id) ${after} (
          select ${key}, id from runs where id = ${filter.cursor} and user_id = ${filter.userId})`,
      ),
    )
    .orderBy(sql`${key} ${direction}, id ${direction}`)
    .limit(filter.limit)
    .execute();
  return rows.map(toRunRow);
}

/**
 * Finds unfinished runs that read or write the asset: the title of a run of its owner, and the number of
 * other users' runs. An export uses a fine-tune and its base, but no dataset.
 */
export async function findRunsUsing(
  tx: Transaction,
  { assetId, userId }: { assetId: string; userId: string | null },
): Promise<{ ownTitle: string | null; others: number }> {
  const { rows } = await sql<{ own: string | null; others: bigint }>`
    select min(runs.title) filter (where runs.user_id = ${userId}::text) as own,
      count(*) filter (where runs.user_id is distinct from ${userId}::text) as others
    from runs join workloads on workloads.id = runs.id and workloads.ended_at is null
    where ${assetId} in (runs.model_asset_id, runs.base_asset_id, runs.validation_asset_id)
      or (runs.kind <> 'export' and runs.dataset_asset_id = ${assetId})
      or (runs.kind = 'export' and exists (
        select from asset_lineage
        where asset_id = runs.base_asset_id and base_asset_id = ${assetId}))`.execute(tx);
  return { ownTitle: rows[0]?.own ?? null, others: Number(rows[0]?.others ?? 0n) };
}

export async function updateHold(tx: Transaction, id: string, hold: RunHold): Promise<void> {
  await tx
    .updateTable('runs')
    .set({ hold_id: hold.id, held_micro: hold.micro, hold_expires_at: hold.expiresAt })
    .where('id', '=', id)
    .execute();
}

/** Starts another round of a settled run, with a new hold and ceiling. */
export async function startRound(
  tx: Transaction,
  run: RunRow,
  {
    settledSeconds,
    unpaidSeconds,
    ceilingMicro,
    estimateMicro,
    hold,
  }: Pick<RunRow, 'settledSeconds' | 'unpaidSeconds' | 'ceilingMicro' | 'estimateMicro'> & { hold: RunHold },
): Promise<void> {
  await tx
    .updateTable('runs')
    .set({
      settled_micro: run.settledMicro + (run.chargedMicro ?? 0n),
      settled_seconds: settledSeconds,
      unpaid_seconds: unpaidSeconds,
      resumes: run.resumes + 1,
      ceiling_micro: ceilingMicro,
      estimate_micro: estimateMicro,
      stop_reason: null,
      charged_micro: null,
      hold_id: hold.id,
      held_micro: hold.micro,
      hold_expires_at: hold.expiresAt,
      key_id: run.keyId,
    })
    .where('id', '=', run.id)
    .execute();
}

export async function updateStopReason(
  tx: Transaction,
  id: string,
  reason: NonNullable<Run['stop_reason']>,
): Promise<void> {
  await tx.updateTable('runs').set({ stop_reason: reason }).where('id', '=', id).execute();
}

export async function updateCharge(tx: Transaction, id: string, chargedMicro: bigint): Promise<void> {
  await tx.updateTable('runs').set({ charged_micro: chargedMicro }).where('id', '=', id).execute();
}

export async function updateSummary(
  tx: Transaction,
  id: string,
  summary: NonNullable<Run['summary']>,
): Promise<void> {
  await tx
    .updateTable('runs')
    .set({ summary: toJson(summary) })
    .where('id', '=', id)
    .execute();
}

/**
 * Stores how many times longer a run took than on an idle machine. It is measured by the load at the run's
 * end.
 */
export async function updateSlowdown(tx: Transaction, id: string, slowdown: number): Promise<void> {
  await tx.updateTable('runs').set({ slowdown }).where('id', '=', id).execute();
}

/**
 * Fields that old rows lack, with the defaults that these runs used. Full fine-tunes have no adapter fields.
 */
const { lora_r, lora_dropout, use_rslora, use_dora, ...ofAll } = fineTuneDefaults;
const leftOut = { ...ofAll, objective: 'sft' as const, rewards: [] };
const ofAdapter = { lora_r, lora_dropout, use_rslora, use_dora };

function toTrained({ kind, file_name, parameters }: Selectable<RunsTable>): Trained {
  if (kind === 'export') return { kind, fileName: null, parameters: parameters as ExportRun['parameters'] };
  if (kind === 'pictures')
    return { kind, fileName: file_name || null, parameters: parameters as PicturesRun['parameters'] };
  const textParameters = parameters as TextRun['parameters'];
  const adapter = textParameters.adaptation === 'full' ? {} : ofAdapter;
  return { kind: 'text', fileName: file_name, parameters: { ...leftOut, ...adapter, ...textParameters } };
}

function toValidation(row: Selectable<RunsTable>): ValidationFile | null {
  const { validation_asset_id: assetId, validation_revision_id: revisionId } = row;
  const { validation_title: title, validation_file_name: fileName } = row;
  return assetId && revisionId && title !== null && fileName !== null
    ? { assetId, revisionId, title, fileName }
    : null;
}

function toRunRow(row: Selectable<RunsTable>): RunRow {
  return {
    id: row.id,
    userId: row.user_id,
    keyId: row.key_id,
    title: row.title,
    modelAssetId: row.model_asset_id,
    base: { assetId: row.base_asset_id, revisionId: row.base_revision_id, title: row.base_title },
    dataset: { assetId: row.dataset_asset_id, revisionId: row.dataset_revision_id, title: row.dataset_title },
    validation: toValidation(row),
    ...toTrained(row),
    price: agreedPrice(row.price_id, row.unit_price_micro),
    devices: row.devices,
    quote: row.quote as Quote,
    workFlops: row.work_flops,
    memoryBytes: row.memory_bytes === null ? null : Number(row.memory_bytes),
    holdId: row.hold_id,
    heldMicro: row.held_micro,
    holdExpiresAt: row.hold_expires_at,
    settledMicro: row.settled_micro,
    settledSeconds: row.settled_seconds,
    unpaidSeconds: row.unpaid_seconds,
    resumes: row.resumes,
    ceilingMicro: row.ceiling_micro,
    estimateMicro: row.estimate_micro,
    stopReason: row.stop_reason as RunRow['stopReason'],
    chargedMicro: row.charged_micro,
    summary: row.summary as RunRow['summary'],
    createdAt: row.created_at,
  };
}

export async function selectLiveRunIds(db: Database, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('runs')
    .innerJoin('workloads', 'workloads.id', 'runs.id')
    .select('runs.id')
    .where('runs.user_id', '=', userId)
    .where('workloads.ended_at', 'is', null)
    .execute();
  return rows.map(({ id }) => id);
}
