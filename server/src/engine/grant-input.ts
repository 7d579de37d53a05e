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

/** Transaction step: removes an adapter from the server's spec, so that the next attempt does not load it. */
export async function dropAdapter(tx: Transaction, workloadId: string, name: string): Promise<void> {
  const names = sql`jsonb_build_object('name', ${name}::text, 'input', 'adapter-' || ${name}::text)`;
  await sql`
    update workloads set spec = spec || jsonb_build_object(
      'adapters', jsonb_path_query_array(spec, '$.adapters[*] ? (@.name != $name)', ${names}),
      'inputs', jsonb_path_query_array(spec, '$.inputs[*] ? (@.name != $input)', ${names}))
    where id = ${workloadId} and ${name} = any (adapter_names)`.execute(tx);
}
