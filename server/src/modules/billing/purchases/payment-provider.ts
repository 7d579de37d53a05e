/** The provider's payment page for one purchase. */
export type Checkout = {
  purchaseId: string;
  usdCents: number;
  /** Description of the purchase for the user. */
  description: string;
  email: string;
  /** Pages to which the browser returns. */
  successUrl: string;
  cancelUrl: string;
};

/** The provider's current state of a purchase. */
export type Payment = {
  status: 'open' | 'paid' | 'failed' | 'expired';
  /** The paid amount; null before the payment. */
  paid: { cents: number; currency: string } | null;
  paymentId: string | null;
  receiptUrl: string | null;
  /** Refunded amounts, and amounts that a dispute withholds or has cost. */
  reversedCents: number;
};

/** The payment service. Its state is always queried, never derived from events. */
export type PaymentProvider = {
  /** Opens the payment page: for about a day the same one for the same purchase, later a second one. */
  openCheckout: (checkout: Checkout) => Promise<{ sessionId: string; url: string }>;
  /** Returns the open page; null once it has ended. */
  findCheckoutUrl: (sessionId: string) => Promise<string | null>;
  fetchPayment: (sessionId: string) => Promise<Payment>;
  /** Returns the subject of a signed event; null if the signature is invalid or too old. */
  readEvent: (body: Buffer, signature: string) => Promise<PaymentEvent | null>;
};

/** References to the purchase of an event, as far as the event has them. */
export type PaymentEvent = { purchaseId: string | null; sessionId: string | null; paymentId: string | null };
