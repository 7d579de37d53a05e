import type { Deployment } from '@bakehouse/contract/deployments';
import { formatBgl } from '@bakehouse/contract/money';
import { cutHostPaths } from '../../engine/machine/cut-host-paths.ts';
import { findWorkloadWithSpec } from '../../engine/queries.ts';
import type { WorkloadWithSpec } from '../../engine/workload.ts';
import type { Services } from '../../platform/context.ts';
import type { Database } from '../../platform/db/database.ts';
import { deviceLabel } from './choose-placement.ts';
import { deploymentNotFound } from './deployment-not-found.ts';
import { type ShownDeployment, showDeployment } from './deployment-status.ts';
import { PERIOD_MS, timeCostMicro, usedMs } from './meter-deployment.ts';
import { type DeploymentRow, findDeployment, findTextServer } from './queries.ts';
import { carries } from './reconcile-text-server.ts';

/** One deployment of the user as the wire shows it. Throws AppError 'not_found'. */
export async function readDeployment(
  services: Pick<Services, 'db' | 'clock' | 'config'>,
  owner: { userId: string; podId: string },
): Promise<Deployment> {
  const row = await findDeployment(services.db, owner);
  if (!row) throw deploymentNotFound();
  return toWire(services, row);
}

/** A row with the state of the workload that carries it, in the words of the wire. */
export async function toWire(
  { db, clock, config }: Pick<Services, 'db' | 'clock' | 'config'>,
  row: DeploymentRow,
): Promise<Deployment> {
  const server = await findTextServer(db, row.text_server_id);
  const shown = await show(db, row, server);
  const used = timeCostMicro(row, usedMs(row, clock.now()));
  return {
    pod_id: row.id,
    deployment_id: row.id,
    model_id: row.asset_id,
    model_name: row.model_name,
    title: row.title,
    base_model_title: row.base_model_title,
    status: shown.status,
    reason: cutHostPaths(config, shown.reason),
    progress: shown.progress,
    instance_type: row.instance_type,
    device: deviceLabel(server),
    created_at: row.created_at.toISOString(),
    ready_at: row.ready_at?.toISOString() ?? null,
    last_request_at: row.last_request_at?.toISOString() ?? null,
    terminated_at: row.terminated_at?.toISOString() ?? null,
    price_per_hour: formatBgl(timeCostMicro(row, BigInt(PERIOD_MS))),
    cost_so_far: formatBgl(row.settled_micro + (row.hold_id ? used : 0n)),
  };
}

/** The state of a deployment: that of the workload which carries it, or will. */
export async function show(
  db: Database,
  row: DeploymentRow,
  server: ServerWorkloads,
): Promise<ShownDeployment> {
  return showDeployment(
    { terminatedAt: row.terminated_at, failed: row.failed, sleeping: row.sleeping, reason: row.reason },
    await findCarrier(db, row, server),
  );
}

type ServerWorkloads = { workload_id: string | null; next_workload_id: string | null };

/** The workload of the server that carries the deployment, or will. */
export async function findCarrier(
  db: Database,
  row: DeploymentRow,
  server: ServerWorkloads,
): Promise<WorkloadWithSpec | null> {
  for (const id of [server.workload_id, server.next_workload_id]) {
    const workload = id ? await findWorkloadWithSpec(db, id) : null;
    if (workload && carries(workload, row)) return workload;
  }
  return null;
}
