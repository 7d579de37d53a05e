import type { Deployment } from '@bakehouse/contract/deployments/text';
import { formatBgl } from '@bakehouse/contract/money';
import type { Config } from '../../config.ts';
import { cutHostPaths } from '../../engine/host/cut-host-paths.ts';
import type { WorkloadWithSpec } from '../../engine/model/workload.ts';
import { findWorkloadWithSpec } from '../../engine/workloads.ts';
import type { Context, Services } from '../../platform/context.ts';
import type { Database } from '../../platform/db/database.ts';
import { notFound } from '../../platform/errors.ts';
import { currentPriceOf } from '../billing/prices/cost.ts';
import type { PriceList } from '../billing/prices/prices.ts';
import { readPrices } from '../billing/prices/read-prices.ts';
import { deviceLabel } from '../serving/placement/choose-placement.ts';
import { type Carrier, findCarriers, findDeployment, type OwnDeployment } from './find-deployments.ts';
import { type DeploymentState, showDeployment } from './kinds/deployment-state.ts';
import type { KindName } from './kinds/kinds.ts';
import { PERIOD_MS, timeCostMicro, usedMs } from './metering/meter-deployment.ts';
import type { DeploymentRow } from './queries.ts';
import { carries, sleepsAfterMinutes } from './servers/plan/plan-model-server.ts';

/** A deployment with its state, before the state gets the name that its kind has in the API. */
export type DeploymentView = Omit<Deployment, 'task' | 'status' | 'job_status'> & {
  kind: KindName;
  state: DeploymentState;
  phase: string;
};

/** Returns one deployment of the caller. Throws AppError 'not_found'. */
export async function readDeployment(
  ctx: Context,
  { podId, kinds }: Omit<OwnDeployment, 'userId'>,
): Promise<DeploymentView> {
  const row = await findDeployment(ctx.db, { userId: ctx.caller.userId, podId, kinds });
  const [view] = row ? await viewDeployments(ctx, [row]) : [];
  if (!view) throw notFound('Deployment', 'podId');
  return view;
}

/** Returns deployments with the states of the workloads that serve them. */
export async function viewDeployments(
  { db, clock, config }: Pick<Services, 'db' | 'clock' | 'config'>,
  rows: DeploymentRow[],
): Promise<DeploymentView[]> {
  const ids = rows.map(({ id }) => id);
  const now = clock.now();
  const carriers = rows.length > 0 ? await findCarriers(db, ids) : new Map<string, Carrier>();
  const prices = rows.some(paysNext) ? await readPrices(db, now) : null;
  return rows.flatMap((row) => {
    const carrier = carriers.get(row.id);
    const priced = prices && paysNext(row) ? atPrices(row, prices) : row;
    return carrier ? [viewDeployment(priced, carrier, { now, config })] : [];
  });
}

/**
 * True if a live deployment has no hold, e.g. while it sleeps. It will pay the price at the time when it
 * wakes.
 */
function paysNext({ hold_id, terminated_at }: DeploymentRow): boolean {
  return hold_id === null && terminated_at === null;
}

function atPrices(row: DeploymentRow, prices: PriceList): DeploymentRow {
  return { ...row, unit_price_micro: currentPriceOf(prices, row).unitPriceMicro };
}

function viewDeployment(
  row: DeploymentRow,
  carrier: Carrier,
  { now, config }: { now: Date; config: Config },
): DeploymentView {
  const { terminated_at: terminatedAt, failed, sleeping, reason } = row;
  const shown = showDeployment({ terminatedAt, failed, sleeping, reason }, carrier.workload);
  const used = timeCostMicro(row, usedMs(row, now));
  return {
    pod_id: row.id,
    deployment_id: row.id,
    kind: row.kind as KindName,
    model_id: row.asset_id,
    model_name: row.model_name,
    title: row.title,
    base_model_title: row.base_model_title,
    state: shown.state,
    phase: shown.phase,
    reason: cutHostPaths(config, shown.reason),
    stop_reason: row.stop_reason as Deployment['stop_reason'],
    progress: shown.progress,
    instance_type: row.instance_type,
    device: deviceLabel(carrier),
    context_tokens: carrier.context_tokens,
    vision: carrier.vision,
    created_at: row.created_at.toISOString(),
    ready_at: row.ready_at?.toISOString() ?? null,
    last_request_at: row.last_request_at?.toISOString() ?? null,
    terminated_at: row.terminated_at?.toISOString() ?? null,
    price_per_hour: formatBgl(timeCostMicro(row, BigInt(PERIOD_MS))),
    auto_scale: row.auto_scale,
    min_replicas: row.min_replicas,
    max_replicas: row.max_replicas,
    replicas: row.replicas,
    cost_so_far: formatBgl(row.settled_micro + (row.hold_id ? used : 0n)),
    sleeps_after_minutes: sleepsAfterMinutes(config, row),
  };
}

type ServerWorkloads = { workload_id: string | null; next_workload_id: string | null };

/** Returns the workload that serves the deployment now or will serve it next. */
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
