import type { FastifyInstance } from 'fastify';
import type { Services } from '../../../platform/context.ts';
import { invalidParam } from '../../../platform/errors.ts';
import { addressOf, limitBy } from '../../../platform/http/callers/rate-limits.ts';
import { isUuid } from '../../../platform/is-uuid.ts';
import type { PaymentEvent, PaymentProvider } from './payment-provider.ts';
import { findPurchase, findPurchaseOfPayment, setSession } from './purchase-queries.ts';
import { syncPurchase } from './sync-purchase.ts';

const PATH = '/api/payments/stripe';
const BODY_BYTES_MAX = 256 * 1024;

/**
 * Returns the Fastify plugin that receives the provider's payment events. An event may be late, repeated or
 * out of order, so it is only used to find the purchase to check. Rejects events without the provider's
 * signature.
 */
export function paymentEvents(services: Services, provider: PaymentProvider) {
  let isWarned = false;
  const readEvent = async (body: Buffer, signature: string) => {
    const event = await provider.readEvent(body, signature);
    // Anyone can send a wrong signature, so warn only once until the next valid event.
    if (event === null && !isWarned)
      services.log.warn('A payment event has a wrong signature. Check BAKEHOUSE_STRIPE_WEBHOOK_SECRET');
    isWarned = event === null;
    return event;
  };
  return async (app: FastifyInstance): Promise<void> => {
    // The signature covers the raw bytes.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    const countCall = limitBy(app, {
      name: 'payment events',
      max: services.config.rateLimitPerMinute,
      keyOf: addressOf,
    });
    app.route({
      method: 'POST',
      url: PATH,
      bodyLimit: BODY_BYTES_MAX,
      schema: { hide: true },
      onRequest: countCall,
      handler: async ({ body, headers }) => {
        const signature = headers['stripe-signature'];
        const event =
          Buffer.isBuffer(body) && typeof signature === 'string' ? await readEvent(body, signature) : null;
        if (event === null) throw invalidParam('Stripe-Signature', 'The signature is not valid');
        const purchaseId = await purchaseOf(services, event);
        if (purchaseId !== null) await syncPurchase(services, provider, purchaseId);
        return { received: true };
      },
    });
  };
}

/**
 * Returns the purchase of an event, or null if the event belongs to another system that uses the same
 * provider account.
 */
async function purchaseOf({ db, log }: Services, event: PaymentEvent): Promise<string | null> {
  const { purchaseId, sessionId, paymentId } = event;
  if (purchaseId === null || !isUuid(purchaseId))
    return paymentId === null ? null : ((await findPurchaseOfPayment(db, paymentId)) ?? null);
  const purchase = await findPurchase(db, purchaseId);
  // The purchase may belong to another installation with the same account, or be missing in a restored
  // backup.
  if (!purchase)
    log.warn({ purchase_id: purchaseId, session_id: sessionId }, 'payment event for an unknown purchase');
  // Store the session: the process that opened the page may have died before it could.
  if (purchase?.session_id === null && sessionId !== null) await setSession(db, purchaseId, sessionId);
  return purchase?.id ?? null;
}
