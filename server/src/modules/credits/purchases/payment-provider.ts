/** How the provider's page is opened for one purchase. */
export type Checkout = {
  purchaseId: string;
  usdCents: number;
  /** What is bought, in words. */
  description: string;
  email: string;
  /** Where the browser comes back to. */
  successUrl: string;
  cancelUrl: string;
};

/** What the provider says of a purchase at this moment. */
export type Payment = {
  status: 'open' | 'paid' | 'failed' | 'expired';
  /** What was paid; null until it is. */
  paid: { cents: number; currency: string } | null;
  paymentId: string | null;
  receiptUrl: string | null;
  /** What was refunded, and what a dispute withholds or has lost. */
  reversedCents: number;
};

/** The service that takes payments. Its state is always queried, never taken from events. */
export type PaymentProvider = {
  /** Opens the page where it is paid. For a day or so the same purchase gets the same page; later it would get a second one. */
  openCheckout: (checkout: Checkout) => Promise<{ sessionId: string; url: string }>;
  /** The page that was opened; null once it has ended. */
  findCheckoutUrl: (sessionId: string) => Promise<string | null>;
  fetchPayment: (sessionId: string) => Promise<Payment>;
  /** What a signed event is about; null where the signature is not the provider's, or too old. */
  readEvent: (body: Buffer, signature: string) => Promise<PaymentEvent | null>;
};

/** What names the purchase that an event is about: whatever of it the event has. */
export type PaymentEvent = { purchaseId: string | null; sessionId: string | null; paymentId: string | null };
