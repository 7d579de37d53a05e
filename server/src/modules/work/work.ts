import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { getWork } from '@bakehouse/contract/work';
import { readMachine } from '../../engine/machines/read-machines.ts';
import { recently } from '../../platform/clock.ts';
import type { Context } from '../../platform/context.ts';
import { bind } from '../../platform/http/bind.ts';
import { toAnyDeployment } from '../deployments/kinds/to-any-deployment.ts';
import { listDeployments } from '../deployments/list-deployments.ts';
import { listDrafts } from '../drafts/drafts.ts';
import { listReadings } from '../fine-tuning/readings/readings.ts';
import { listRuns } from '../fine-tuning/runs/runs.ts';
import { listGenerations } from '../generations/generations.ts';
import { listClones } from '../hub/clone/clones.ts';

const NEWEST = { recent: true, limit: 1_000 } as const;

export const ownWorkRoutes = [bind(getWork, readWork)];

/** Returns the caller's work that has not ended, or ended recently. */
async function readWork(ctx: Context): Promise<ResponseOf<typeof getWork>> {
  const since = recently(ctx.clock.now()).toISOString();
  const [{ runs }, { deployments }, { generations }, { clones }, { drafts }, readings, { preparations }] =
    await Promise.all([
      listRuns(ctx, { query: NEWEST }),
      listDeployments(ctx, { ...NEWEST, includeTerminated: false }),
      listGenerations(ctx, NEWEST),
      listClones(ctx, NEWEST),
      listDrafts(ctx),
      listReadings(ctx),
      readMachine(ctx),
    ]);
  return {
    ...{ runs, generations, clones, readings, preparations },
    deployments: deployments.map(toAnyDeployment),
    drafts: drafts.filter(({ status, ended_at }) => status !== 'open' && (ended_at ?? since) >= since),
  };
}
