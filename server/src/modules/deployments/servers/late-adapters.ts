import type { Report, ReportsAnswer } from '@bakehouse/contract/runtime/report';
import { dropAdapter, grantInput, recordLoadedAdapter } from '../../../engine/grant-input.ts';
import type { Workload } from '../../../engine/model/workload.ts';
import { findWorkloadWithSpec } from '../../../engine/workloads.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import type { Jobs } from '../../../platform/jobs/jobs.ts';
import type { ServedAdapter } from '../../serving/served-model.ts';
import { adapterParts } from '../../serving/text-spec.ts';
import { reconcileModelServerJob } from '../jobs/reconcile-model-server.ts';
import { adapterNames } from './plan/plan-model-server.ts';
import { findModelServerOfWorkload, selectWaitingAdapters } from './server-queries.ts';
import { announceModelServer } from './watch-model-server.ts';

/*
 * vLLM can load and unload adapters while it runs. When a server reports to us, the response names the
 * adapters of new deployments, and all adapters that it must keep.
 */

/** Step: returns the adapters that a running server must load, with access to their files, and keep. */
export async function findAdapters(
  tx: Transaction,
  { id: workloadId, state, placement }: Workload,
): Promise<Partial<ReportsAnswer>> {
  if (state !== 'ready' || placement.accelerator === null) return {};
  const adapters = (await selectWaitingAdapters(tx, workloadId)).map((row) => ({
    name: row.revision_id,
    requested_at: row.requested_at.toISOString(),
    files: (row.adapter as ServedAdapter).files,
  }));
  for (const { sha256, size_bytes: sizeBytes } of adapters.flatMap(({ files }) => files))
    await grantInput(tx, { workloadId, sha256, sizeBytes });
  const found = await findWorkloadWithSpec(tx, workloadId);
  const loaded = found ? adapterNames(found) : [];
  return { adapters, wanted_adapters: [...loaded, ...adapters.map(({ name }) => name)] };
}

/**
 * Step: records that a server has loaded an adapter. If the server could not load it, ends the adapter's
 * deployments.
 */
export async function acceptAdapter(
  tx: Transaction,
  jobs: Jobs,
  workloadId: string,
  { name, failure }: Extract<Report, { type: 'adapter' }>,
): Promise<void> {
  const server = await findModelServerOfWorkload(tx, workloadId);
  if (!server) return;
  if (failure === null) {
    const found = (await selectWaitingAdapters(tx, workloadId)).find(({ revision_id: id }) => id === name);
    if (!found) return;
    const adapter = { ...(found.adapter as ServedAdapter), revisionId: name };
    await recordLoadedAdapter(tx, workloadId, adapterParts(adapter));
  } else await dropAdapter(tx, workloadId, name);
  const failedAdapter = failure === null ? {} : { failedAdapter: { revisionId: name, reason: failure } };
  await jobs.enqueue(tx, reconcileModelServerJob, { serverId: server.id, ...failedAdapter });
  await announceModelServer(tx, server.id);
}
