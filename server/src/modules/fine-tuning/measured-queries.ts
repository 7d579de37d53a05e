import type { Run } from '@bakehouse/contract/runs';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../platform/db/database.ts';
import type { PriceId } from '../billing/prices/prices.ts';
import type { SettledFields } from './fine-tune-spec.ts';

/* SQL for the measured speed and memory of finished runs. */

/**
 * Returns the operations per second of an idle machine: the median of the last five finished runs of this
 * kind and price; null if there are none. Runs that stopped early did only a part of their work and are
 * excluded.
 */
export async function selectMeasuredFlops(
  db: Database,
  { priceId, kind }: { priceId: PriceId; kind: Run['kind'] },
): Promise<number | null> {
  const { rows } = await sql<{ median: number | null }>`
    select percentile_cont(0.5) within group (order by flops) as median from (
      select runs.work_flops / workloads.active_seconds * runs.slowdown as flops
      from runs join workloads using (id)
      where runs.price_id = ${priceId} and runs.kind = ${kind} and workloads.state = 'completed' and workloads.active_seconds > 5
        and not coalesce(runs.summary ? 'stopped_early', false)
      order by runs.created_at desc limit 5
    ) last`.execute(db);
  return rows[0]?.median ?? null;
}

/**
 * Returns the peak memory of finished runs with this base and method, on CPU and on GPU, as a multiple of the
 * formula: the median of the last five runs; null if there are none.
 */
export async function selectMeasuredMemory(
  db: Database,
  {
    baseId,
    adaptation,
    objective,
    use_dora,
  }: { baseId: string } & Pick<SettledFields, 'adaptation' | 'objective' | 'use_dora'>,
): Promise<{ cpu: number | null; gpu: number | null }> {
  const median = (price: RawBuilder<unknown>) => sql<number | null>`(
    select percentile_cont(0.5) within group (order by part) from (
      select (runs.summary ->> 'peak_memory_bytes')::float8 / runs.memory_bytes as part
      from runs join workloads using (id)
      where runs.base_asset_id = ${baseId} and runs.parameters ->> 'adaptation' = ${adaptation}
        and runs.parameters ->> 'objective' = ${objective}
        and coalesce((runs.parameters ->> 'use_dora')::boolean, false) = ${use_dora}
        and runs.price_id ${price} 'training:CPU'
        and workloads.state = 'completed' and runs.memory_bytes is not null
        and jsonb_typeof(runs.summary -> 'peak_memory_bytes') = 'number'
      order by runs.created_at desc limit 5
    ) last)`;
  const { rows } = await sql<{ cpu: number | null; gpu: number | null }>`
    select ${median(sql`=`)} as cpu, ${median(sql`<>`)} as gpu`.execute(db);
  return rows[0] ?? { cpu: null, gpu: null };
}
