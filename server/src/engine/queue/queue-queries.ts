import { type Selectable, sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { WorkloadsTable } from '../../platform/db/schema.generated.ts';
import { storableText } from '../../platform/db/storable-text.ts';
import { isPresent } from '../machines/queries.ts';
import type { SpecKind } from '../model/spec-kind.ts';
import type { Placement, Workload } from '../model/workload.ts';
import { columns, toWorkload } from '../workloads.ts';

type Row = Selectable<WorkloadsTable>;

/** The fields of a waiting workload that the queue and the driver need. */
export type WaitingWorkload = Pick<
  Workload,
  'id' | 'userId' | 'behaviour' | 'placement' | 'reason' | 'queuedAt' | 'notBefore'
> & { spec: SpecKind };

/** Excludes work that was handed over to a driver's own queue. */
const isWaiting = sql<boolean>`ended_at is null and state = 'queued' and devices is null and wanted = 'running'`;

export async function listWaiting(db: Database | Transaction): Promise<WaitingWorkload[]> {
  const { rows } = await sql<
    Pick<Row, 'id' | 'user_id' | 'behaviour' | 'accelerator' | 'accelerator_count' | 'reason'> &
      Pick<Row, 'queued_at' | 'not_before'> & { spec: SpecKind }
  >`
    select id, user_id, behaviour, accelerator, accelerator_count, reason, queued_at, not_before,
      jsonb_build_object('kind', spec_kind, 'engine', spec_engine) as spec
    from workloads where ${isWaiting}`.execute(db);
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    behaviour: row.behaviour as Workload['behaviour'],
    placement: { accelerator: row.accelerator, count: row.accelerator_count } as Placement,
    reason: row.reason,
    queuedAt: row.queued_at,
    notBefore: row.not_before,
    spec: row.spec,
  }));
}

/**
 * Returns the number of waiting workloads, and a fingerprint of everything that affects their order and
 * reasons. Reads one row instead of the whole queue.
 */
export async function readFingerprint(
  db: Database,
  now: Date,
): Promise<{ waiting: number; fingerprint: string }> {
  const { rows } = await sql<{ waiting: number; fingerprint: string }>`
    select waiting.count as waiting, concat_ws(' ', waiting.count, waiting.hash, holding.hash, offers.hash)
      as fingerprint
    from (
      select count(*)::int as count,
        bit_xor(hashtextextended(concat_ws(' ', id, xmin, not_before > ${now}), 0)) as hash
      from workloads where ${isWaiting}
    ) as waiting, (
      select bit_xor(hashtextextended(
        concat_ws(' ', id, machine_id, devices, unit, remaining_seconds is null), 0)) as hash
      from workloads where ended_at is null and devices is not null
    ) as holding, (
      select bit_xor(hashtextextended(concat_ws(' ', id, offer - 'load', ${isPresent}), 0)) as hash
      from machines
    ) as offers`.execute(db);
  return rows[0] ?? { waiting: 0, fingerprint: '' };
}

/** Returns all workloads that have not ended. */
export async function listUnended(db: Database): Promise<(Workload & { spec: SpecKind })[]> {
  const rows = await db
    .selectFrom('workloads')
    .select(columns)
    .select(sql<SpecKind>`jsonb_build_object('kind', spec_kind, 'engine', spec_engine)`.as('spec'))
    .where('ended_at', 'is', null)
    .execute();
  return rows.map((row) => ({ ...toWorkload(row), spec: row.spec }));
}

/** Returns those that still wait, locked in the order of their ids, like everywhere, against deadlocks. */
export async function lockWaiting(tx: Transaction, ids: string[]): Promise<Workload[]> {
  if (ids.length === 0) return [];
  const rows = await tx
    .selectFrom('workloads')
    .select(columns)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where(isWaiting)
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows.map(toWorkload);
}

/** Updates the reasons of waiting workloads in one statement. */
export async function updateReasons(tx: Transaction, reasons: Map<string, string>): Promise<void> {
  const texts = [...reasons.values()].map(storableText);
  await sql`
    update workloads set reason = given.reason
    from unnest(${[...reasons.keys()]}::uuid[], ${texts}::text[]) as given (id, reason)
    where workloads.id = given.id`.execute(tx);
}

export async function listHolding(tx: Transaction): Promise<Workload[]> {
  const rows = await tx
    .selectFrom('workloads')
    .select(columns)
    .where('ended_at', 'is', null)
    .where('devices', 'is not', null)
    // Work that waits in a driver's own queue holds no slot yet.
    .where('state', '<>', 'queued')
    .execute();
  return rows.map(toWorkload);
}
