import { AppError } from '../../../platform/errors.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { listPurchasesToCheck, setChecked } from '../purchases/purchase-queries.ts';
import { stripeProvider } from '../purchases/stripe-provider.ts';
import { syncPurchase } from '../purchases/sync-purchase.ts';

/** Check a purchase without an event only after this time, because most events have arrived by then. */
const QUIET_MS = 5 * 60_000;
const PURCHASES_MAX = 200;

/** Checks purchases whose event may have been lost, to find out if they were paid, refunded or disputed. */
export const syncPurchasesJob = defineJob({
  name: 'credits.sync-purchases',
  schedule: '*/10 * * * *',
  run: async (services, _data, signal) => {
    const { stripe } = services.config;
    if (stripe === null) return;
    const provider = stripeProvider(stripe);
    const now = services.clock.now();
    const openBefore = new Date(now.getTime() - QUIET_MS);
    for (const id of await listPurchasesToCheck(services.db, { openBefore, now, limit: PURCHASES_MAX })) {
      if (signal.aborted) return;
      // Set this first, so that a purchase whose check fails moves to the end of the list.
      await setChecked(services.db, id, now);
      try {
        await syncPurchase(services, provider, id);
      } catch (err) {
        // If the provider fails for one purchase, it fails for the others too.
        if (err instanceof AppError && err.code === 'unavailable') throw err;
        services.log.error({ err, purchaseId: id }, 'failed to check purchase');
      }
    }
  },
});
