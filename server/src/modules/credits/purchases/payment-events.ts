import type { FastifyInstance } from 'fastify';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { addressOf, limitBy } from '../../../platform/http/callers/rate-limits.ts';
import { isUuid } from '../../../platform/is-uuid.ts';
import type { PaymentEvent, PaymentProvider } from './payment-provider.ts';
import { findPurchase, findPurchaseOfPayment, setSession } from './purchase-queries.ts';
import { syncPurchase } from './sync-purchase.ts';

const PATH = '/api/payments/stripe';
const BODY_BYTES_MAX = 256 * 1024;

/**
 * Makes the Fastify plugin that takes the provider's events about payments. An event only says which purchase to check: it may
 * come late, twice or out of order. One without the provider's signature is refused.
 */
export function paymentEvents(services: Services, provider: PaymentProvider) {
  let isWarned = false;
  const readEvent = async (body: Buffer, signature: string) => {
    const event = await provider.readEvent(body, signature);
    // Once until an event is valid: anybody can send a wrong signature.
    if (event === null && !isWarned)
      services.log.warn('A payment event has a wrong signature. Check BAKEHOUSE_STRIPE_WEBHOOK_SECRET');
    isWarned = event === null;
    return event;
  };
  return async (app: FastifyInstance): Promise<void> => {
    // The signature covers the bytes as they came.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    const countCall = limitBy(app, { max: services.config.rateLimitPerMinute, keyOf: addressOf });
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
        if (event === null)
          throw new AppError('invalid_request', {
            publicMessage: 'The signature is not valid',
            param: 'Stripe-Signature',
          });
        const purchaseId = await purchaseOf(services, event);
        if (purchaseId !== null) await syncPurchase(services, provider, purchaseId);
        return { received: true };
      },
    });
  };
}

/** Null for what is not ours: others may sell through the same account of the provider. */
async function purchaseOf({ db, log }: Services, event: PaymentEvent): Promise<string | null> {
  const { purchaseId, sessionId, paymentId } = event;
  if (purchaseId === null || !isUuid(purchaseId))
    return paymentId === null ? null : ((await findPurchaseOfPayment(db, paymentId)) ?? null);
  const purchase = await findPurchase(db, purchaseId);
  // Another installation's of the same account of the provider, or one that was begun after a backup that is restored.
  if (!purchase)
    log.warn({ purchase_id: purchaseId, session_id: sessionId }, 'a payment event names an unknown purchase');
  // The process that opened the page may have died before it stored the session.
  if (purchase?.session_id === null && sessionId !== null) await setSession(db, purchaseId, sessionId);
  return purchase?.id ?? null;
}
