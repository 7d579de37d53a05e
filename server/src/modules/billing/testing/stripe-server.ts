import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Stripe } from 'stripe';

export type Session = {
  id: string;
  url: string;
  status: 'open' | 'complete' | 'expired';
  payment_status: 'unpaid' | 'paid';
  amount_total: number;
  currency: string;
  client_reference_id: string;
  metadata: Record<string, string>;
  success_url: string;
  intent: { id: string; status: string } | null;
  refunded: number;
  disputes: { status: string; amount: number }[];
};

type Event = { type: string; object: object };

type Answer = { status: number; body: object };

const SECRET_KEY = 'sk_test_only_for_tests';
const WEBHOOK_SECRET = 'whsec_only_for_tests';
const TROUBLE: Answer = {
  status: 500,
  body: { error: { type: 'api_error', message: 'Stripe is in trouble' } },
};

const OTHER_PARAMETERS: Answer = {
  status: 400,
  body: { error: { type: 'idempotency_error', message: 'Keys can only be used with the same parameters' } },
};

/** For tests: a server with Stripe's HTTP API, which signs its events like Stripe. Stop it with `close`. */
export async function stripeServer() {
  const sessions = new SessionBook();
  /** While `down` is true, every call fails as in an outage of Stripe. */
  const state = { down: false };
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      const { status, body } = state.down ? TROUBLE : sessions.answer(request, form);
      // Without this, the library would retry for a second.
      const head = { 'content-type': 'application/json', 'stripe-should-retry': 'false' };
      response.writeHead(status, head).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    state,
    config: { secretKey: SECRET_KEY, webhookSecret: WEBHOOK_SECRET, url },
    sessionOf: (purchaseId: string): Session => sessions.of(purchaseId),
    countSessions: (purchaseId: string): number => sessions.count(purchaseId),
    /** Deletes all stored keys, as Stripe does after a day, so that a repeated call creates a new session. */
    forgetKeys: () => sessions.forgetKeys(),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** Marks the session as paid and returns its event. */
export function pay(session: Session): Event {
  Object.assign(session, {
    status: 'complete',
    payment_status: 'paid',
    intent: { id: `pi_${session.id}`, status: 'succeeded' },
  });
  return { type: 'checkout.session.completed', object: toWire(session) };
}

/** Returns a dispute's event, which contains only the id of the payment. */
export function disputeOf(session: Session): Event {
  return {
    type: 'charge.dispute.created',
    object: { id: 'dp_1', object: 'dispute', metadata: {}, payment_intent: session.intent?.id },
  };
}

/** Returns a webhook request signed like Stripe's. */
export function signed(
  { type, object }: Event,
  { secret = WEBHOOK_SECRET, timestamp = Math.floor(Date.now() / 1000) } = {},
) {
  const body = JSON.stringify({ id: 'evt_1', object: 'event', type, data: { object } });
  const library = new Stripe(SECRET_KEY);
  const signature = library.webhooks.generateTestHeaderString({ payload: body, secret, timestamp });
  return { body, headers: { 'content-type': 'application/json', 'stripe-signature': signature } };
}

class SessionBook {
  readonly #sessions = new Map<string, Session>();
  readonly #byKey = new Map<string, { asked: string; session: Session }>();

  of(purchaseId: string): Session {
    const session = [...this.#sessions.values()].find((one) => one.client_reference_id === purchaseId);
    if (!session) throw new Error(`Purchase ${purchaseId} has no session`);
    return session;
  }

  count(purchaseId: string): number {
    return [...this.#sessions.values()].filter((one) => one.client_reference_id === purchaseId).length;
  }

  forgetKeys(): void {
    this.#byKey.clear();
  }

  answer({ method, url = '', headers }: http.IncomingMessage, form: URLSearchParams): Answer {
    const { pathname, searchParams } = new URL(url, 'http://stripe');
    if (method === 'POST' && pathname === '/v1/checkout/sessions')
      return this.#open(form, String(headers['idempotency-key']));
    if (pathname === '/v1/disputes') {
      const charged = this.#sessions.get((searchParams.get('charge') ?? '').replace('ch_', ''));
      return { status: 200, body: { object: 'list', has_more: false, data: charged?.disputes ?? [] } };
    }
    const session = this.#sessions.get(pathname.split('/').at(-1) ?? '');
    return session
      ? { status: 200, body: toWire(session) }
      : { status: 404, body: { error: { type: 'invalid_request_error', message: 'No such session' } } };
  }

  /** Returns the stored session for a repeated call with the same key and parameters. */
  #open(form: URLSearchParams, key: string): Answer {
    const asked = form.toString();
    const known = this.#byKey.get(key);
    if (known && known.asked !== asked) return OTHER_PARAMETERS;
    const session = known?.session ?? this.#add(form);
    this.#byKey.set(key, { asked, session });
    return { status: 200, body: toWire(session) };
  }

  #add(form: URLSearchParams): Session {
    const reference = form.get('client_reference_id') ?? '';
    const id = `cs_test_${this.#sessions.size}_${reference}`;
    const session: Session = {
      id,
      url: `https://checkout.stripe.example/pay/${id}`,
      status: 'open',
      payment_status: 'unpaid',
      amount_total: Number(form.get('line_items[0][price_data][unit_amount]')),
      currency: form.get('line_items[0][price_data][currency]') ?? '',
      client_reference_id: reference,
      metadata: { purchase_id: form.get('metadata[purchase_id]') ?? '' },
      success_url: form.get('success_url') ?? '',
      intent: null,
      refunded: 0,
      disputes: [],
    };
    this.#sessions.set(id, session);
    return session;
  }
}

function toWire({ intent, refunded, disputes: _, ...session }: Session) {
  const charge = intent && {
    id: `ch_${session.id}`,
    object: 'charge',
    amount_refunded: refunded,
    metadata: session.metadata,
    payment_intent: intent.id,
    receipt_url: `https://pay.stripe.com/receipts/${session.id}`,
  };
  return {
    ...session,
    url: session.status === 'open' ? session.url : null,
    object: 'checkout.session',
    payment_intent: intent && { ...intent, object: 'payment_intent', latest_charge: charge },
  };
}
