import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import { requestWorkload } from '../../../engine/request-workload.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import type { ServedAdapter } from '../../serving/served-model.ts';
import { findServerKind } from '../../serving/server-kinds.ts';
import type { DeploymentRow } from '../queries.ts';
import type { ModelServerRow } from './server-queries.ts';

export const MODEL_SERVER_KIND = 'model-server';

/** After a failed start: when the next start may be, and the reason that is shown until then. */
export type Retry = { notBefore: Date; reason: string };

/** Step: enqueues a workload for the model server with these adapters. Returns its id. */
export async function startServerWorkload(
  tx: Transaction,
  now: Date,
  server: ModelServerRow,
  { adapters, userId, retry }: { adapters: ServedAdapter[]; userId: string | null; retry: Retry | null },
): Promise<string> {
  return requestWorkload(tx, {
    userId,
    behaviour: 'deployment',
    kind: MODEL_SERVER_KIND,
    deploymentId: server.deployment_id,
    title: server.starter_name ?? 'Model server',
    spec: findServerKind(server.kind).spec({
      base: { engine: server.engine, files: server.base_files as InputFile[] },
      adapters,
      gpus: server.accelerator_count,
      contextTokens: server.context_tokens,
    }),
    placement: server.accelerator
      ? { accelerator: server.accelerator, count: server.accelerator_count }
      : { accelerator: null, count: 0 },
    now,
    ...retry,
  });
}

/** Returns each adapter once, even if several deployments share it. */
export function adaptersOf(live: DeploymentRow[]): ServedAdapter[] {
  const adapters = new Map<string, ServedAdapter>();
  for (const { revision_id, adapter } of live) {
    if (adapter !== null)
      adapters.set(revision_id, { ...(adapter as ServedAdapter), revisionId: revision_id });
  }
  return [...adapters.values()];
}
