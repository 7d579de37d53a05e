import type Stripe from 'stripe';
import type { Config } from '../../../config.ts';
import { internalError, unavailable } from '../../../platform/errors.ts';
import type { Payment, PaymentEvent, PaymentProvider } from './payment-provider.ts';
import { purchaseEnded } from './purchases.ts';

/** Timeout of a call to Stripe; the user waits for it. */
const TIMEOUT_MS = 20_000;

/** States of disputes that withhold no money, because they were won or are only inquiries. */
const HARMLESS = new Set([
  'won',
  'warning_needs_response',
  'warning_under_review',
  'warning_closed',
  'prevented',
]);

/** Returns a provider for Stripe Checkout. The library is loaded on the first call. */
export function stripeProvider({
  secretKey,
  webhookSecret,
  url,
}: NonNullable<Config['stripe']>): PaymentProvider {
  let loading: Promise<Stripe> | null = null;
  const library = () => (loading ??= loadStripe(secretKey, new URL(url)));
  return {
    async openCheckout({ purchaseId, usdCents, description, email, successUrl, cancelUrl }) {
      const stripe = await library();
      const metadata = { purchase_id: purchaseId };
      const creating = stripe.checkout.sessions.create(
        {
          mode: 'payment',
          client_reference_id: purchaseId,
          metadata,
          // The payment's charges inherit this metadata, so their events also name the purchase.
          payment_intent_data: { metadata },
          customer_email: email,
          line_items: [lineOf(usdCents, description)],
          success_url: successUrl,
          cancel_url: cancelUrl,
        },
        { idempotencyKey: `purchase:${purchaseId}` },
      );
      const session = await answered(creating);
      if (session.url === null) throw new Error(`Stripe returned no URL for session ${session.id}`);
      return { sessionId: session.id, url: session.url };
    },

    async findCheckoutUrl(sessionId) {
      const stripe = await library();
      const session = await answered(stripe.checkout.sessions.retrieve(sessionId));
      return session.status === 'open' ? session.url : null;
    },

    async fetchPayment(sessionId) {
      const stripe = await library();
      const session = await answered(
        stripe.checkout.sessions.retrieve(sessionId, { expand: ['payment_intent.latest_charge'] }),
      );
      const payment = asObject(session.payment_intent);
      const charge = asObject(payment?.latest_charge ?? null);
      const isPaid = session.payment_status === 'paid';
      return {
        status: isPaid ? 'paid' : statusOf(session, payment),
        paid: isPaid ? { cents: session.amount_total ?? 0, currency: session.currency ?? '' } : null,
        paymentId: payment?.id ?? null,
        receiptUrl: charge?.receipt_url ?? null,
        reversedCents:
          isPaid && charge ? charge.amount_refunded + (await disputedCents(stripe, charge.id)) : 0,
      };
    },

    async readEvent(body, signature) {
      const stripe = await library();
      // The library throws varying errors for malformed signatures.
      const event = await stripe.webhooks
        .constructEventAsync(body, signature, webhookSecret)
        .catch(() => null);
      return event && subjectOf(event.data.object);
    },
  };
}

function lineOf(usdCents: number, name: string) {
  return { quantity: 1, price_data: { currency: 'usd', unit_amount: usdCents, product_data: { name } } };
}

async function loadStripe(secretKey: string, url: URL): Promise<Stripe> {
  const { default: Library } = await import('stripe');
  return new Library(secretKey, {
    host: url.hostname,
    port: url.port || undefined,
    protocol: url.protocol === 'http:' ? 'http' : 'https',
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 2,
    telemetry: false,
  });
}

/** Errors that a retry does not fix: wrong settings or a wrong request. */
const REFUSALS = new Set(['StripeAuthenticationError', 'StripePermissionError', 'StripeInvalidRequestError']);

/**
 * Returns Stripe's answer. Throws AppError 'unavailable' if Stripe fails, 'internal' if Stripe rejects the
 * call, and 'conflict' if another call has used the same key.
 */
async function answered<Answer>(asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    const type = error instanceof Error && 'type' in error ? String(error.type) : '';
    if (type === 'StripeIdempotencyError') throw purchaseEnded(error);
    if (REFUSALS.has(type)) {
      throw internalError('The payment provider refused the request. Contact the operator of this server', {
        cause: error,
      });
    }
    throw unavailable('The payment provider did not answer. Please try again', { cause: error });
  }
}

/**
 * Returns the status of a session that is not paid. It may stay 'open' for days, because some payment methods
 * take that long and may still fail.
 */
function statusOf(session: Stripe.Checkout.Session, payment: Stripe.PaymentIntent | null): Payment['status'] {
  if (session.status === 'expired') return 'expired';
  const hasFailed = payment?.status === 'requires_payment_method' || payment?.status === 'canceled';
  return session.status === 'complete' && hasFailed ? 'failed' : 'open';
}

async function disputedCents(stripe: Stripe, charge: string): Promise<number> {
  const { data } = await answered(stripe.disputes.list({ charge }));
  return data.filter(({ status }) => !HARMLESS.has(status)).reduce((sum, { amount }) => sum + amount, 0);
}

/** Returns references to the purchase from an event's object, e.g. a session, charge or dispute. */
function subjectOf(object: object): PaymentEvent {
  const {
    metadata,
    client_reference_id,
    payment_intent,
    id,
    object: kind,
  } = object as {
    metadata?: Record<string, string> | null;
    client_reference_id?: string | null;
    payment_intent?: string | null;
    id: string;
    object: string;
  };
  return {
    purchaseId: metadata?.purchase_id ?? client_reference_id ?? null,
    sessionId: kind === 'checkout.session' ? id : null,
    paymentId: (kind === 'payment_intent' ? id : payment_intent) ?? null,
  };
}

/** Returns an expanded object; null if it is only an id. */
function asObject<T extends object>(value: string | T | null): T | null {
  return typeof value === 'string' ? null : value;
}
