import { sql } from 'kysely';
import type { Database } from '../../platform/db/database.ts';

/**
 * The training and the held-out loss of a workload by step: of at most `max` points, evenly spaced, and of all that were
 * evaluated.
 */
export async function selectCurve(
  db: Database,
  workloadId: string,
  { max }: { max: number },
): Promise<{ step: number; values: Record<string, number> }[]> {
  const { rows } = await sql<{ step: number; values: Record<string, number> }>`
    select step, jsonb_strip_nulls(jsonb_build_object('loss', values -> 'loss', 'eval_loss', values -> 'eval_loss')) as values
    from (
      select step, values, row_number() over (order by step) as place, count(*) over () as points
      from workload_metrics where workload_id = ${workloadId}::uuid
    ) numbered
    where values -> 'eval_loss' is not null or place % ceil(points / ${max}::numeric) = 0
    order by step`.execute(db);
  return rows;
}
