import type { WorkloadInput } from '@bakehouse/contract/runtime/workload-spec';
import { sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';

/** The files of workloads that ended before these times may be deleted. */
export type RetentionStart = { run: Date; deployment: Date };

/**
 * Returns workloads whose files on a machine can be deleted. Completed workloads and workloads of deleted
 * users qualify immediately, others if they ended before `keptSince`. Workloads without a machine have no
 * files, so any machine may mark theirs as deleted.
 */
export async function listUnneededFiles(
  db: Database,
  machineId: string,
  keptSince: RetentionStart,
  limit: number,
): Promise<string[]> {
  const withFiles = db
    .selectFrom('workloads')
    .select('id')
    .where('files_removed_at', 'is', null)
    .where((where) => where.or([where('machine_id', '=', machineId), where('machine_id', 'is', null)]));
  // Use separate queries, because each has an index: then no other workloads are read.
  const rows = await withFiles
    .where('state', '=', 'completed')
    .union(withFiles.where('owner_gone', '=', true).where('ended_at', 'is not', null))
    .union(withFiles.where('ended_at', 'is not', null).where('ended_at', '<', keptSince.run))
    .union(
      withFiles
        .where('behaviour', '=', 'deployment')
        .where('ended_at', 'is not', null)
        .where('ended_at', '<', keptSince.deployment),
    )
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Locks a workload and returns true if its files can still be deleted; its owner may have resumed it. */
export async function lockUnneededFiles(
  tx: Transaction,
  id: string,
  keptSince: RetentionStart,
): Promise<boolean> {
  const row = await tx
    .selectFrom('workloads')
    .select('id')
    .where('id', '=', id)
    .where('files_removed_at', 'is', null)
    .where((where) =>
      where.or([
        where('state', '=', 'completed'),
        where.and([where('owner_gone', '=', true), where('ended_at', 'is not', null)]),
        where('ended_at', '<', keptSince.run),
        where.and([where('behaviour', '=', 'deployment'), where('ended_at', '<', keptSince.deployment)]),
      ]),
    )
    .forUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

export type Artefact = { path: string; sha256: string; sizeBytes: number };

/**
 * Records an artefact of the workload under a path, and locks the workload. Returns the artefact that it
 * replaced, and when that one was stored, by the database's clock.
 */
export async function upsertArtefact(
  tx: Transaction,
  workloadId: string,
  artefact: Artefact,
): Promise<{ sha256: string; stored_at: Date } | undefined> {
  const before = await tx
    .selectFrom('workload_artefacts')
    .select(['sha256', 'stored_at'])
    .where('workload_id', '=', workloadId)
    .where('path', '=', artefact.path)
    .executeTakeFirst();
  const stored = {
    sha256: artefact.sha256,
    size_bytes: BigInt(artefact.sizeBytes),
    stored_at: sql<Date>`clock_timestamp()`,
  };
  await tx
    .insertInto('workload_artefacts')
    .values({ workload_id: workloadId, path: artefact.path, ...stored })
    .onConflict((conflict) => conflict.columns(['workload_id', 'path']).doUpdateSet(stored))
    .execute();
  return before;
}

export async function selectArtefacts(db: Database | Transaction, workloadId: string): Promise<Artefact[]> {
  const rows = await db
    .selectFrom('workload_artefacts')
    .select(['path', 'sha256', 'size_bytes'])
    .where('workload_id', '=', workloadId)
    .orderBy('path')
    .execute();
  return rows.map((row) => ({ path: row.path, sha256: row.sha256, sizeBytes: Number(row.size_bytes) }));
}

/** Inserts the files named in a workload's spec, so that lookups do not read the spec. */
export async function insertInputs(tx: Transaction, workloadId: string): Promise<void> {
  await sql`
    insert into workload_inputs (workload_id, sha256, size_bytes)
    select distinct on (file->>'sha256') id, file->>'sha256', (file->>'size_bytes')::bigint
    from workloads, jsonb_array_elements(spec->'inputs') input, jsonb_array_elements(input->'files') file
    where id = ${workloadId}
    on conflict do nothing`.execute(tx);
}

/** Adds one more input, if it is not recorded yet. */
export async function upsertInput(
  db: Database,
  { workloadId, sha256, sizeBytes }: { workloadId: string; sha256: string; sizeBytes: number },
): Promise<void> {
  await db
    .insertInto('workload_inputs')
    .values({ workload_id: workloadId, sha256, size_bytes: BigInt(sizeBytes) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Artefact path of a run's last checkpoint. The runtime uploads it (workload.py), and each upload replaces
 * the previous one.
 */
export const CHECKPOINT = 'checkpoint.tar';

/** Returns the last uploaded checkpoint of the workload, as an input for its next attempt. */
export async function findCheckpoint(db: Database, workloadId: string): Promise<WorkloadInput | null> {
  const row = await db
    .selectFrom('workload_artefacts')
    .select(['path', 'sha256', 'size_bytes'])
    .where('workload_id', '=', workloadId)
    .where('path', '=', CHECKPOINT)
    .executeTakeFirst();
  if (!row) return null;
  const file = { path: row.path, sha256: row.sha256, size_bytes: Number(row.size_bytes) };
  return { name: 'checkpoint', files: [file] };
}

/** Deletes the workload's checkpoint if it has this hash; returns false if it has not. */
export async function deleteCheckpoint(
  tx: Transaction,
  workloadId: string,
  sha256: string,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('workload_artefacts')
    .where('workload_id', '=', workloadId)
    .where('path', '=', CHECKPOINT)
    .where('sha256', '=', sha256)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Returns the size of a file that the workload may read: one that its spec names, one that was granted to it,
 * or its last checkpoint. Null for any other file.
 */
export async function findInput(db: Database, workloadId: string, sha256: string): Promise<number | null> {
  const row = await db
    .selectFrom('workload_inputs')
    .select('size_bytes')
    .where('workload_id', '=', workloadId)
    .where('sha256', '=', sha256)
    .unionAll(
      db
        .selectFrom('workload_artefacts')
        .select('size_bytes')
        .where('workload_id', '=', workloadId)
        .where('path', '=', CHECKPOINT)
        .where('sha256', '=', sha256),
    )
    .executeTakeFirst();
  return row ? Number(row.size_bytes) : null;
}

/** Deletes the rows of a workload's files. If its user is deleted, also deletes its log. */
export async function recordFilesRemoved(tx: Transaction, workloadId: string, at: Date): Promise<void> {
  await sql`
    delete from workload_logs using workloads
    where workload_id = ${workloadId} and workloads.id = workload_id and owner_gone`.execute(tx);
  await tx.deleteFrom('workload_artefacts').where('workload_id', '=', workloadId).execute();
  await tx.deleteFrom('workload_inputs').where('workload_id', '=', workloadId).execute();
  await tx.updateTable('workloads').set({ files_removed_at: at }).where('id', '=', workloadId).execute();
}
