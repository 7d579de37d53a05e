import type { Deployment } from '@bakehouse/contract/deployments';
import { formatBgl } from '@bakehouse/contract/money';
import type { Config } from '../../config.ts';
import { cutHostPaths } from '../../engine/machine/cut-host-paths.ts';
import { findWorkloadWithSpec } from '../../engine/queries.ts';
import type { WorkloadWithSpec } from '../../engine/workload.ts';
import type { Services } from '../../platform/context.ts';
import type { Database } from '../../platform/db/database.ts';
import { deviceLabel } from './choose-placement.ts';
import { deploymentNotFound } from './deployment-not-found.ts';
import { type ShownDeployment, showDeployment } from './deployment-status.ts';
import { PERIOD_MS, timeCostMicro, usedMs } from './meter-deployment.ts';
import { type Carrier, type DeploymentRow, findCarriers, findDeployment } from './queries.ts';
import { carries } from './reconcile-text-server.ts';

/** One deployment of the user as the wire shows it. Throws AppError 'not_found'. */
export async function readDeployment(
  services: Pick<Services, 'db' | 'clock' | 'config'>,
  owner: { userId: string; podId: string },
): Promise<Deployment> {
  const row = await findDeployment(services.db, owner);
  const [shown] = row ? await toWire(services, [row]) : [];
  if (!shown) throw deploymentNotFound();
  return shown;
}

/** Rows with the state of the workloads that carry them, in the words of the wire. */
export async function toWire(
  { db, clock, config }: Pick<Services, 'db' | 'clock' | 'config'>,
  rows: DeploymentRow[],
): Promise<Deployment[]> {
  const ids = rows.map(({ id }) => id);
  const carriers = rows.length > 0 ? await findCarriers(db, ids) : new Map<string, Carrier>();
  return rows.flatMap((row) => {
    const carrier = carriers.get(row.id);
    return carrier ? [toDeployment(row, carrier, { now: clock.now(), config })] : [];
  });
}

function toDeployment(
  row: DeploymentRow,
  carrier: Carrier,
  { now, config }: { now: Date; config: Config },
): Deployment {
  const shown = show(row, carrier);
  const used = timeCostMicro(row, usedMs(row, now));
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
    device: deviceLabel(carrier),
    created_at: row.created_at.toISOString(),
    ready_at: row.ready_at?.toISOString() ?? null,
    last_request_at: row.last_request_at?.toISOString() ?? null,
    terminated_at: row.terminated_at?.toISOString() ?? null,
    price_per_hour: formatBgl(timeCostMicro(row, BigInt(PERIOD_MS))),
    cost_so_far: formatBgl(row.settled_micro + (row.hold_id ? used : 0n)),
  };
}

/** The state of a deployment: that of the workload which carries it, or will. */
export function show(row: DeploymentRow, { workload }: Carrier): ShownDeployment {
  const { terminated_at: terminatedAt, failed, sleeping, reason } = row;
  return showDeployment({ terminatedAt, failed, sleeping, reason }, workload);
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
