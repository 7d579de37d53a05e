import type { WorkloadInput } from '@bakehouse/contract/runtime/workload-spec';
import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../platform/db/database.ts';
import { upsertInput } from './files/file-queries.ts';

/** Lets a workload fetch an input that its spec does not name, until its files are deleted. */
export async function grantInput(
  db: Database,
  input: { workloadId: string; sha256: string; sizeBytes: number },
): Promise<void> {
  await upsertInput(db, input);
}

/** Transaction step: adds a loaded adapter to the server's spec, so that the next attempt loads it too. */
export async function recordLoadedAdapter(
  tx: Transaction,
  workloadId: string,
  { adapter, input }: { adapter: { name: string }; input: WorkloadInput },
): Promise<void> {
  await sql`
    update workloads set spec = spec
      || jsonb_build_object('adapters', spec -> 'adapters' || ${toJson([adapter])}::jsonb)
      || jsonb_build_object('inputs', spec -> 'inputs' || ${toJson([input])}::jsonb)
    where id = ${workloadId} and ${adapter.name} <> all (adapter_names)`.execute(tx);
}

/** Transaction step: removes an adapter that the server could not load from its spec. */
export async function dropFailedAdapter(tx: Transaction, workloadId: string, name: string): Promise<void> {
  await sql`
    update workloads set spec = spec || jsonb_build_object('adapters', coalesce(
      (select jsonb_agg(one) from jsonb_array_elements(spec -> 'adapters') one where one ->> 'name' <> ${name}),
      '[]'))
    where id = ${workloadId} and ${name} = any (adapter_names)`.execute(tx);
}
