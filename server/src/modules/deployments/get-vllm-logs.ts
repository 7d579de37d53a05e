import type { vllmLogs as contract } from '@bakehouse/contract/deployments';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { cutHostPaths } from '../../engine/machine/cut-host-paths.ts';
import { findWorkloadWithSpec, selectLogLines } from '../../engine/queries.ts';
import type { WorkloadWithSpec } from '../../engine/workload.ts';
import type { Context } from '../../platform/context.ts';
import { deploymentNotFound } from './deployment-not-found.ts';
import { type DeploymentRow, findDeployment, findTextServer } from './queries.ts';
import { findCarrier } from './read-deployment.ts';
import { adapterNames } from './reconcile-text-server.ts';

/**
 * The end of the log of the model server that carries, or last carried, the deployment. Others share
 * that server: what it wrote before this deployment began or after it ended, and what it says of
 * other adapters, is not this deployment's.
 */
export async function getVllmLogs(
  ctx: Context,
  { params, query }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const row = await findDeployment(ctx.db, { userId: ctx.caller.userId, podId: params.podId });
  if (!row) throw deploymentNotFound();
  const writer = await findWriter(ctx, row);
  if (!writer) return { lines: [] };
  const during = { from: row.created_at, until: row.terminated_at };
  const lines = await selectLogLines(ctx.db, writer.id, query.limit, during);
  const others = adapterNames(writer).filter((name) => name !== row.revision_id);
  return {
    lines: lines
      .filter(({ line }) => !others.some((name) => line.includes(name)))
      .map(({ at, line }) => ({ at: at.toISOString(), line: cutHostPaths(ctx.config, line) })),
  };
}

/** Whose log it is: of the workload that carries a live deployment, else of the last one that did. */
async function findWriter({ db }: Context, row: DeploymentRow): Promise<WorkloadWithSpec | null> {
  const server = await findTextServer(db, row.text_server_id);
  const carrier = row.terminated_at ? null : await findCarrier(db, row, server);
  return carrier ?? (row.carrier_id ? findWorkloadWithSpec(db, row.carrier_id) : null);
}
