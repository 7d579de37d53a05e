import { cutHostPaths } from '../../engine/host/cut-host-paths.ts';
import type { WorkloadWithSpec } from '../../engine/model/workload.ts';
import { selectLogLines } from '../../engine/reports/attempt-log.ts';
import { findWorkloadWithSpec } from '../../engine/workloads.ts';
import type { Context } from '../../platform/context.ts';
import { notFound } from '../../platform/errors.ts';
import { findDeployment } from './find-deployments.ts';
import type { KindName } from './kinds/kinds.ts';
import type { DeploymentRow } from './queries.ts';
import { findCarrier } from './read-deployment.ts';
import { adapterNames } from './servers/plan/plan-model-server.ts';
import { findModelServer } from './servers/server-queries.ts';

type Input = { podId: string; kinds: readonly KindName[]; limit: number };

/**
 * Returns the end of the log of the model server that serves the deployment, or that served it last. The
 * server may be shared, so lines from other times are left out, and lines about other adapters.
 */
export async function readLogs(
  ctx: Context,
  { podId, kinds, limit }: Input,
): Promise<{ at: Date; line: string }[]> {
  const row = await findDeployment(ctx.db, { userId: ctx.caller.userId, podId, kinds });
  if (!row) throw notFound('Deployment', 'podId');
  const writer = await findWriter(ctx, row);
  if (!writer) return [];
  const during = { from: row.created_at, until: row.terminated_at };
  const lines = await selectLogLines(ctx.db, writer.id, limit, during);
  const others = adapterNames(writer).filter((name) => name !== row.revision_id);
  return lines
    .filter(({ line }) => !others.some((name) => line.includes(name)))
    .map(({ at, line }) => ({ at, line: cutHostPaths(ctx.config, line) }));
}

/**
 * Returns the workload whose log to show. For a live deployment, this is the workload that serves it;
 * otherwise the workload that served it last.
 */
async function findWriter({ db }: Context, row: DeploymentRow): Promise<WorkloadWithSpec | null> {
  const server = await findModelServer(db, row.model_server_id);
  const carrier = row.terminated_at ? null : await findCarrier(db, row, server);
  return carrier ?? (row.carrier_id ? findWorkloadWithSpec(db, row.carrier_id) : null);
}
