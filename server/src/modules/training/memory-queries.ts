import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../platform/db/database.ts';
import type { SettledFields } from './fine-tune-spec.ts';

/* The SQL of what runs have taken of memory. */

/**
 * What the latest runs of this base and kind that have finished took of memory at their peak, as a part of what the formula says, on a
 * CPU and on GPUs: the median of five; null before the first.
 */
export async function selectMeasuredMemory(
  db: Database,
  { baseId, adaptation, objective }: { baseId: string } & Pick<SettledFields, 'adaptation' | 'objective'>,
): Promise<{ cpu: number | null; gpu: number | null }> {
  const median = (price: RawBuilder<unknown>) => sql<number | null>`(
    select percentile_cont(0.5) within group (order by part) from (
      select (runs.summary ->> 'peak_memory_bytes')::float8 / runs.memory_bytes as part
      from runs join workloads using (id)
      where runs.base_asset_id = ${baseId} and runs.parameters ->> 'adaptation' = ${adaptation}
        and runs.parameters ->> 'objective' = ${objective} and runs.price_id ${price} 'training:CPU'
        and workloads.state = 'completed' and runs.memory_bytes is not null
        and jsonb_typeof(runs.summary -> 'peak_memory_bytes') = 'number'
      order by runs.created_at desc limit 5
    ) last)`;
  const { rows } = await sql<{ cpu: number | null; gpu: number | null }>`
    select ${median(sql`=`)} as cpu, ${median(sql`<>`)} as gpu`.execute(db);
  return rows[0] ?? { cpu: null, gpu: null };
}
