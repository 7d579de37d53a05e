import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { journey, look, soakJourney } from '../journey.ts';
import { ownOperatorServer, signUpOperator } from '../operator.ts';
import { signUp, type Visitor } from '../sign-up.ts';

const startServer = ownOperatorServer();

journey(
  'an operator grants and charges back credits, finds accounts, and reads the audit log',
  async ({ openPage }) => {
    const server = await startServer();
    const guest = await openPage(server.url);
    const ada = await signUp(guest);
    const page = await openPage(server.url);
    const operator = await signUpOperator(page, server);
    await page.goto('/operator/ledger');
    const grant = page.locator('form').filter({ has: page.getByLabel('Recipient') });
    const charge = page.locator('form').filter({ has: page.getByLabel('Payer') });
    const confirm = (name: string) => page.getByRole('alertdialog').getByRole('button', { name }).click();

    await grant.getByRole('button', { name: 'Grant' }).click();
    await grant.getByText('Amount must be greater than 0, with at most 6 decimals').waitFor();
    await grant.getByLabel('Recipient').fill('nobody-here');
    await grant.getByLabel('Amount').fill('2');
    await grant.getByRole('button', { name: 'Grant' }).click();
    await grant.getByText('User not found. Please check the username.').waitFor();
    await look(page, 'operator-ledger-unknown-user');
    await grant.getByLabel('Recipient').fill(ada.username);
    await grant.getByRole('button', { name: 'Grant' }).click();
    await page.getByText(`Grant $2.00 (50.00 BGL) to ${ada.username}?`).waitFor();
    await look(page, 'operator-ledger-question');
    await confirm('Grant');
    await page.getByText(`Granted $2.00 to ${ada.username}`).waitFor();
    await guest.getByRole('link', { name: 'Balance: $7.00' }).waitFor();

    await charge.getByLabel('Payer').fill(ada.username);
    await charge.getByLabel('Amount').fill('0.40');
    await charge.getByRole('button', { name: 'Charge back' }).click();
    await confirm('Charge back');
    await page.getByText(`Charged $0.40 back from ${ada.username}`).waitFor();
    await look(page, 'operator-ledger');

    await findAccounts(page, { operator, ada });
    await readAuditLog(page, { operator, ada });
    await seeMachines(page);
  },
);

type People = { operator: Visitor; ada: Visitor };

async function findAccounts(page: Page, { operator, ada }: People): Promise<void> {
  await page.goto('/operator/accounts');
  await page
    .getByRole('row', { name: new RegExp(operator.username) })
    .getByText('Operator', { exact: true })
    .waitFor();
  await look(page, 'operator-accounts');
  await page.getByLabel('Search accounts').fill('nobody-here');
  await page.getByText('No accounts found').waitFor();
  await look(page, 'operator-accounts-none');
  await page.getByLabel('Search accounts').fill(ada.username);
  await page.getByRole('row', { name: new RegExp(ada.email) }).waitFor();
  expect(await page.getByRole('row', { name: new RegExp(operator.username) }).count()).toBe(0);
}

async function readAuditLog(page: Page, { operator, ada }: People): Promise<void> {
  await page.goto('/operator/audit');
  await page.getByText(`${operator.username} took back $0.40 from ${ada.username}`).waitFor();
  const details = page.getByText('Details').first();
  expect((await details.boundingBox())?.height).toBeGreaterThanOrEqual(24);
  await details.click();
  await page.getByText('credits.charged_back').waitFor();
  await look(page, 'operator-audit');
  await page.getByLabel('Who did it').fill('nobody-here');
  await page.getByText('Enter the complete username, email address or ID.').waitFor();
  await look(page, 'operator-audit-none');
  await page.getByLabel('Who did it').fill(operator.username);
  await page.getByText(/granted \$2\.00 to/).waitFor();
  // The name of a user is a link to the user's actions.
  await page.getByRole('link', { name: ada.username }).first().click();
  await page.getByText(`${ada.username} signed up`).waitFor();
  await page.getByText(/signed in with Chrome/).waitFor();
}

async function seeMachines(page: Page): Promise<void> {
  await page.goto('/operator/machines');
  await page.getByText('Now', { exact: true }).waitFor();
  await look(page, 'operator-machines');
  await page.setViewportSize({ width: 390, height: 844 });
  await page
    .getByText(/\d+ cores?, \d+ GB of memory/)
    .filter({ visible: true })
    .waitFor();
}

soakJourney('operators receive and answer messages and requests', async ({ openPage }) => {
  const server = await startServer();
  const guest = await openPage(server.url);
  const ada = await signUp(guest);
  const page = await openPage(server.url);
  await signUpOperator(page, server);
  await page.goto('/operator/messages');
  await page.getByText('No messages yet').waitFor();
  await look(page, 'operator-messages-none');

  await guest.goto('/dashboard?sheet=contact');
  const sheet = guest.getByRole('dialog', { name: 'Contact Us' });
  await sheet.getByRole('button', { name: 'Send' }).click();
  await sheet.getByText('Subject is required').waitFor();
  await sheet.getByLabel('Subject').fill('Invoice');
  await sheet.getByLabel('Message').fill('Where do I find the invoice?\n\nThank you');
  await sheet.getByRole('button', { name: 'Send' }).click();
  await guest.getByText('Your message has been sent successfully!').waitFor();
  await page.reload();
  await page.getByRole('button', { name: /^Invoice/ }).click();
  await page.getByText(ada.email).waitFor();
  await look(page, 'operator-messages');
  await page.getByRole('button', { name: 'Mark as answered' }).click();
  await page.getByRole('button', { name: 'Mark as unanswered' }).waitFor();
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await page.getByText('No new messages').waitFor();

  await page.goto('/operator/access-requests');
  await page.getByText('No restricted models yet').waitFor();
  await page.getByRole('button', { name: 'Add a model' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.getByText('Id is required').waitFor();
  await look(page, 'operator-restricted-model');
  // The buttons are visible in a small window too.
  await page.setViewportSize({ width: 390, height: 500 });
  const bottom = () =>
    dialog
      .getByRole('button', { name: 'Add', exact: true })
      .evaluate((button: { getBoundingClientRect: () => { bottom: number } }) =>
        Math.round(button.getBoundingClientRect().bottom),
      );
  await expect.poll(bottom).toBeLessThan(500);
  await page.setViewportSize({ width: 1440, height: 900 });
  await dialog.getByLabel('Id').fill('bakehouse/crumb-70b');
  await dialog.getByLabel('Name').fill('Crumb 70B');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('bakehouse/crumb-70b').waitFor();

  await guest.goto('/model/source/bakehouse%2Fcrumb-70b/description');
  await guest.getByLabel('Message').fill('To bake with it');
  await guest
    .getByRole('button', { name: /request/i })
    .last()
    .click();
  await guest.getByText('Your request was sent').waitFor();
  await page.reload();
  await page.getByText('To bake with it').waitFor();
  await look(page, 'operator-access-requests');
  await page.getByRole('button', { name: /^Grant/ }).click();
  await page.getByText(`${ada.username} was granted access to Crumb 70B`).waitFor();
  await page.getByText('No requests are waiting').waitFor();
});
