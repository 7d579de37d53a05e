import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { journey, look, soakJourney } from '../journey.ts';
import { signUp } from '../sign-up.ts';
import { buyCredits } from './move-credits.ts';

const sheetOf = (page: Page) => page.getByRole('dialog', { name: 'Send Credits' });

journey(
  'credits are sent to another user once, after confirming the recipient’s name',
  async ({ page, openPage }) => {
    const bob = await signUp(await openPage());
    await signUp(page);
    await buyCredits(page, 1_000_000_000n);
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('button', { name: 'Send Credits' })
      .click();
    const sheet = sheetOf(page);
    await sheet.getByRole('button', { name: 'Send' }).click();
    await sheet.getByText('Recipient username cannot be empty').waitFor();
    await sheet.getByText('Amount must be greater than 0').waitFor();
    await look(page, 'send-credits-problems');

    await sheet.getByLabel('Recipient').fill(bob.username);
    const amount = sheet.getByLabel('Amount');
    await amount.pressSequentially('12,34');
    expect(await amount.inputValue()).toBe('12,34');
    await sheet.getByRole('button', { name: 'Send' }).click();
    await sheet.getByText('Use only digits, and a point for decimals, e.g. 0.02').waitFor();
    await look(page, 'send-credits-comma');
    await amount.fill('12.34');
    await sheet.getByText('$12.34 = 308.50 BGL').waitFor();
    await sheet.getByText(bob.username, { exact: true }).waitFor();
    await look(page, 'send-credits');

    await sheet.getByRole('button', { name: 'Send' }).click();
    const question = page.getByRole('alertdialog');
    await question.getByText(`Send $12.34 to ${bob.username}?`).waitFor();
    await look(page, 'send-credits-confirm');
    await question.getByRole('button', { name: 'Send' }).click();
    await sheet.getByText('Transfer Successful').waitFor();
    await look(page, 'send-credits-success');
    await sheet.getByRole('button', { name: 'Done' }).click();
    await page.goto('/transactions');
    await page.getByText('−$12.34').waitFor();
  },
);

soakJourney(
  'a failed transfer keeps the form and the session, and does not reveal who has an account',
  async ({ page, openPage, allowErrors }) => {
    allowErrors(/402|404|ERR_FAILED/);
    const bob = await signUp(await openPage());
    const ada = await signUp(page);
    await buyCredits(page, 25_000_000n);
    await page.goto('/dashboard?sheet=send-credits');
    const sheet = sheetOf(page);
    const send = async (recipient: string, amount: string) => {
      await sheet.getByLabel('Recipient').fill(recipient);
      await sheet.getByLabel('Amount').fill(amount);
      const session = page.waitForResponse(/\/api\/v1\/session$/);
      await sheet.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Send' }).click();
      await sheet.getByText('Transfer Failed').waitFor();
      return session;
    };

    // Each failure makes all tabs load their session again, at most once in two seconds.
    await send('nobody@example.com', '0.10');
    await sheet
      .getByText('Failed to transfer Bagels. Please check the recipient username and try again.')
      .waitFor();
    await sheet.getByText('Failed to send Bagels. Please check the recipient username.').waitFor();
    await look(page, 'send-credits-failed');
    await sheet.getByRole('button', { name: 'Try Again' }).click();
    expect(await sheet.getByLabel('Recipient').inputValue()).toBe('nobody@example.com');
    expect(await sheet.getByLabel('Amount').inputValue()).toBe('0.10');

    await sheet.getByLabel('Recipient').fill('nobody-at-all');
    await sheet.getByRole('button', { name: 'Send' }).click();
    await sheet.getByText('No user has this username or ID').waitFor();

    await sheet.getByLabel('Recipient').fill(bob.username);
    await sheet.getByLabel('Amount').fill('9');
    await sheet.getByText('Username, email address or user ID.').waitFor();
    await sheet.getByRole('button', { name: 'Send' }).click();
    await sheet.getByText('Insufficient balance. Required: $9.00. Available: $6.00.').waitFor();
    await sheet.getByRole('link', { name: 'Get credits' }).waitFor();
    await look(page, 'send-credits-insufficient');

    // The response of a completed transfer is lost. A retry must not send the credits twice.
    await page.route(/transfer-tokens$/, async (route) => {
      await route.fetch();
      await route.abort();
    });
    await sheet.getByLabel('Amount').fill('0.40');
    await sheet.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Send' }).click();
    await sheet.getByText('There was an error processing your transfer. Please try again.').waitFor();
    await sheet.getByText('Failed to send Bagels. Please try again.').waitFor();
    await sheet.getByText('trying again won’t send it twice').waitFor();
    await page.unroute(/transfer-tokens$/);
    await sheet.getByRole('button', { name: 'Try Again' }).click();
    await sheet.getByRole('button', { name: 'Send' }).click();
    await sheet.getByText('Transfer Successful').waitFor();
    await sheet.getByRole('button', { name: 'Done' }).click();
    await page.goto('/transactions');
    await page.getByText('−$0.40').waitFor();
    expect(await page.getByText('−$0.40').count()).toBe(1);
    await page.getByRole('button', { name: ada.username }).waitFor();
  },
);
