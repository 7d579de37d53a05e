import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';

export type Sample = {
  step: number;
  number: number;
  sha256: string;
  sizeBytes: number;
  width: number;
  height: number;
};

type Drawn = { path: string; width: number; height: number };

/**
 * Stores the samples of a checkpoint, which are artefacts of the workload. Replaces earlier samples of the
 * same step.
 */
export async function replaceSamples(
  tx: Transaction,
  { runId, userId, step, pictures }: { runId: string; userId: string; step: number; pictures: Drawn[] },
): Promise<void> {
  await tx.deleteFrom('run_samples').where('run_id', '=', runId).where('step', '=', step).execute();
  await sql`
    insert into run_samples (run_id, step, number, user_id, sha256, size_bytes, width, height)
    select ${runId}::uuid, ${step}::int, drawn.number - 1, ${userId}, stored.sha256, stored.size_bytes, drawn.width, drawn.height
    from unnest(
      ${pictures.map(({ path }) => path)}::text[],
      ${pictures.map(({ width }) => width)}::int[],
      ${pictures.map(({ height }) => height)}::int[]
    ) with ordinality as drawn (path, width, height, number)
    join workload_artefacts stored on stored.workload_id = ${runId}::uuid and stored.path = drawn.path`.execute(
    tx,
  );
}

/** Returns the samples of a run, ordered by step and number. */
export async function selectSamples(db: Database | Transaction, runId: string): Promise<Sample[]> {
  const rows = await db
    .selectFrom('run_samples')
    .select(['step', 'number', 'sha256', 'size_bytes', 'width', 'height'])
    .where('run_id', '=', runId)
    .orderBy('step')
    .orderBy('number')
    .execute();
  return rows.map(({ size_bytes, ...row }) => ({ ...row, sizeBytes: Number(size_bytes) }));
}

export async function deleteSamples(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('run_samples').where('user_id', '=', userId).execute();
}
