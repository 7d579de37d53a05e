import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { previewDeletion as endpoint } from '@bakehouse/contract/privacy';
import type { Context } from '../../platform/context.ts';
import { hasPassword } from '../accounts/steps.ts';
import { countOwnAssets } from '../assets/own/count-own-assets.ts';
import { getTotals } from '../credits/steps.ts';
import { listLivePodIds } from '../deployments/kinds/list-live-pod-ids.ts';
import { listLiveRuns } from '../training/runs/list-live-runs.ts';

/** Returns what deleting the caller's account would delete. */
export async function previewDeletion({ db, caller }: Context): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = caller;
  const [assets, runs, pods, totals, asksPassword] = await Promise.all([
    countOwnAssets(db, userId),
    listLiveRuns(db, userId),
    listLivePodIds(db, userId),
    getTotals(db, userId),
    hasPassword(db, userId),
  ]);
  return {
    ...assets,
    running: runs.length + pods.length,
    bought: formatBgl(totals.balance - totals.given),
    given: formatBgl(totals.given),
    owed: formatBgl(totals.owed),
    asks_password: asksPassword,
  };
}
