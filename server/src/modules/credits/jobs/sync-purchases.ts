import { AppError } from '../../../platform/errors.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { listPurchasesToCheck, setChecked } from '../purchases/purchase-queries.ts';
import { stripeProvider } from '../purchases/stripe-provider.ts';
import { syncPurchase } from '../purchases/sync-purchase.ts';

/** By then the events of most have come. */
const QUIET_MS = 5 * 60_000;
const PURCHASES_MAX = 200;

/** Checks purchases without an event of the provider, which may have been lost: that they were paid, refunded or disputed. */
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
      // Before it is asked about, so that one that cannot be answered does not come first again.
      await setChecked(services.db, id, now);
      try {
        await syncPurchase(services, provider, id);
      } catch (err) {
        // A provider that does not answer for one does not for the others either.
        if (err instanceof AppError && err.code === 'unavailable') throw err;
        services.log.error({ err, purchaseId: id }, 'could not check a purchase');
      }
    }
  },
});
