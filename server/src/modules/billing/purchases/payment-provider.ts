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
  /** The sum that was refunded, or that a dispute withholds or has cost. */
  reversedCents: number;
};

/** The payment service. A purchase's state is always requested from it, never derived from events. */
export type PaymentProvider = {
  /**
   * Opens the payment page of a purchase. For about a day, a repeated call returns the same page; after that,
   * it opens a second one.
   */
  openCheckout: (checkout: Checkout) => Promise<{ sessionId: string; url: string }>;
  /** Returns the URL of the payment page; null if the page is closed. */
  findCheckoutUrl: (sessionId: string) => Promise<string | null>;
  fetchPayment: (sessionId: string) => Promise<Payment>;
  /** Returns the references in a signed event; null if the signature is invalid or too old. */
  readEvent: (body: Buffer, signature: string) => Promise<PaymentEvent | null>;
};

/** The ids in an event by which its purchase is found. Each is null if the event does not contain it. */
export type PaymentEvent = { purchaseId: string | null; sessionId: string | null; paymentId: string | null };
