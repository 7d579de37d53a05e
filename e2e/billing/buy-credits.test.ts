import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { type SeparateServer, startSeparateServer } from '../../scripts/client/separate-server.ts';
import { hashCode } from '../../server/src/modules/billing/codes/codes.ts';
import { pay, signed, stripeServer } from '../../server/src/modules/billing/testing/stripe-server.ts';
import { connect } from '../../server/src/platform/db/database.ts';
import { journey, look, soakJourney } from '../journey.ts';
import { signUp } from '../sign-up.ts';
import { getUserId } from './move-credits.ts';

type Stripe = Awaited<ReturnType<typeof stripeServer>>;
type Session = ReturnType<Stripe['sessionOf']>;

/** Starts a server that sells credits through Stripe. Signs up a new user and opens the purchase page. */
async function startPurchase(openPage: (url: string) => Promise<Page>) {
  const stripe = await stripeServer();
  onTestFinished(async () => void (await stripe.close()));
  const server = await startSeparateServer({
    BAKEHOUSE_STRIPE_SECRET_KEY: stripe.config.secretKey,
    BAKEHOUSE_STRIPE_WEBHOOK_SECRET: stripe.config.webhookSecret,
    BAKEHOUSE_SERVICE_URLS: `stripe=${stripe.config.url}`,
    BAKEHOUSE_PREPARE: 'false',
    BAKEHOUSE_DRIVER: 'fake',
  });
  onTestFinished(server.stop);
  const page = await openPage(server.url);
  await signUp(page);
  await page.goto('/buy-bagels');
  return { stripe, server, page };
}

/** Continues to the page of the payment provider, where the user would pay. */
async function goToPayment(page: Page, stripe: Stripe): Promise<Session> {
  await page.route('https://checkout.stripe.example/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<title>Stripe</title>' }),
  );
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await page.waitForURL('https://checkout.stripe.example/**');
  return stripe.sessionOf(page.url().split(/cs_test_\d+_/)[1] ?? '');
}

/** Sends the provider's webhook for a completed payment. */
async function sendPaidWebhook(server: SeparateServer, session: Session): Promise<void> {
  const answer = await fetch(new URL('/api/payments/stripe', server.url), {
    method: 'POST',
    ...signed(pay(session)),
  });
  expect(answer.status).toBe(200);
}

journey(
  'credits are bought through Stripe after confirmation, and added with a code',
  async ({ openPage, allowErrors }) => {
    allowErrors(/404/);
    const { stripe, server, page } = await startPurchase(openPage);
    await page.getByLabel('Another amount').fill('0.5');
    await page.getByRole('button', { name: 'Continue to payment' }).click();
    await page.getByText('Choose an amount from $1 to $10,000').waitFor();
    await page.getByRole('button', { name: /^\$50/ }).click();
    await look(page, 'buy-credits');

    const session = await goToPayment(page, stripe);
    expect(session.amount_total).toBe(5_000);
    await page.goto(session.success_url);
    await page.getByText('Waiting for your payment to be confirmed').waitFor();
    await look(page, 'buy-credits-waiting');
    await sendPaidWebhook(server, session);
    await page.getByText('Payment received').waitFor();
    await page.getByRole('link', { name: /^Receipt/ }).waitFor();
    await look(page, 'buy-credits-paid');

    const db = connect(await server.databaseUrl());
    await db
      .insertInto('credit_codes')
      .values({
        sha256: hashCode('CRUM-B000'),
        hint: 'B000',
        amount_micro: 25_000_000n,
        redemptions_max: 1,
        note: '',
        created_by: await getUserId(page),
      })
      .execute();
    await db.destroy();
    await page.getByLabel('Code').fill('nonsense');
    await page.getByRole('button', { name: 'Redeem' }).click();
    await page.getByText('This code cannot be redeemed').waitFor();
    await look(page, 'buy-credits-bad-code');
    await page.getByLabel('Code').fill('crum-booo');
    await page.getByRole('button', { name: 'Redeem' }).click();
    await page.getByText('$1.00 was added to your balance').waitFor();
    // $5 at the start, $50 bought, $1 redeemed.
    await page.getByRole('link', { name: 'Balance: $56.00' }).waitFor();
    // Close the page before its server stops.
    await page.close();
  },
);

soakJourney(
  'a payment that does not match its purchase is reported as under review',
  async ({ openPage }) => {
    const { stripe, server, page } = await startPurchase(openPage);
    await page.getByRole('button', { name: /^\$50/ }).click();
    const session = await goToPayment(page, stripe);
    session.amount_total = 100;
    await sendPaidWebhook(server, session);
    await page.goto(session.success_url);
    await page.getByText('Your payment could not be credited').waitFor();
    await page.getByText('Under review', { exact: true }).waitFor();
    // Only the credits that the user had at the start.
    await page.getByRole('link', { name: 'Balance: $5.00' }).waitFor();
    await look(page, 'buy-credits-under-review');
    await page.close();
  },
);
