import { fineTunePayload } from '@bakehouse/contract/fine-tuning';
import { sql } from 'kysely';
import { type Database, toJson } from '../../server/src/platform/db/database.ts';
import { inTransaction } from '../../server/src/platform/db/in-transaction.ts';

type Options = { userId: string; assetId: string; count: number };

/** Inserts deployments that are asleep: they are live but have no model server. */
export async function fillDeployments(db: Database, { userId, assetId, count }: Options): Promise<void> {
  await inTransaction(db, async (tx) => {
    await sql`
      with server as (
        insert into model_servers (kind, engine, files_sha256, base_files, accelerator_count, context_tokens)
        values ('text', 'llamacpp', repeat('5', 64), '[]', 0, 8192) returning id
      )
      insert into deployments (kind, user_id, model_server_id, asset_id, revision_id, base_asset_id, model_name, title,
        base_model_title, instance_type, price_id, price_count, unit_price_micro, sleeping, created_at, ready_at)
      select 'text', ${userId}, server.id, ${assetId}, gen_random_uuid(), ${assetId}, 'crumb-' || i, 'Crumb ' || i, 'Crumb', 'cpu',
        'text_serving:CPU', 1, 1250000, true, now() - i * interval '1 minute', now()
      from server, generate_series(1, ${count}::int) i`.execute(tx);
  });
}

/** Inserts runs that wait for a type of GPU that this machine does not have. Each has its hold. */
export async function fillWaitingRuns(db: Database, { userId, assetId, count }: Options): Promise<void> {
  const { user_id, asset_id, base_model, file_name, ...parameters } = fineTunePayload.parse({
    asset_id: assetId,
    model_name: 'Waiting',
    base_model: assetId,
    file_name: 'facts.csv',
    user_id: userId,
  });
  const quote = { items: [], total: '1', total_usd: '0.04' };
  // Large specs, because real ones name every file of the dataset.
  const inputs = Array.from({ length: 50 }, (_, i) => ({ path: `part-${i}.csv`, sha256: 'a'.repeat(64) }));
  await inTransaction(db, async (tx) => {
    await sql`
      with planned as (
        select gen_random_uuid() as id, i from generate_series(1, ${count}::int) i
      ), held as (
        insert into ledger_holds (debit_account_id, credit_account_id, amount, amount_asked, kind, description, refs,
          idempotency_key, expires_at)
        select 'user:' || ${userId}, 'revenue:fine_tuning', 1000000, 1000000, 'charge', 'Fine-tuning of Waiting', '{}',
          'run:' || id || ':1', now() + interval '30 days'
        from planned returning id, idempotency_key
      ), working as (
        insert into workloads (id, user_id, behaviour, kind, title, spec, accelerator, accelerator_count,
          check_at, created_at, queued_at, not_before)
        select id, ${userId}, 'run', 'fine_tune', 'Waiting ' || i, ${toJson({ kind: 'train', inputs })}::jsonb,
          'NVIDIA_TESLA_V100', 1, now(), now(), now() + i * interval '1 millisecond', now()
        from planned returning id
      ), debited as (
        update ledger_accounts set debits_pending = debits_pending + ${count}::bigint * 1000000
        where id = 'user:' || ${userId} returning id
      )
      insert into runs (id, user_id, title, model_asset_id, base_asset_id, base_revision_id, base_title, dataset_asset_id,
        dataset_revision_id, dataset_title, file_name, parameters, price_id, unit_price_micro, devices, quote, work_flops, hold_id,
        held_micro, hold_expires_at, ceiling_micro, created_at)
      select p.id, ${userId}, 'Waiting ' || p.i, ${assetId}, ${assetId}, gen_random_uuid(), 'Crumb', ${assetId},
        gen_random_uuid(), 'Facts', 'facts.csv', ${toJson(parameters)}::jsonb, 'training:NVIDIA_TESLA_V100', 25000000, 1,
        ${toJson(quote)}::jsonb, 1e12, h.id, 1000000, now() + interval '30 days', 1500000, now()
      from planned p join held h on h.idempotency_key = 'run:' || p.id || ':1'`.execute(tx);
  });
}
