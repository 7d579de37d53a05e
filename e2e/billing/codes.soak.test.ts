import { expect } from 'vitest';
import { journey, look } from '../journey.ts';
import { ownOperatorServer, signUpOperator } from '../operator.ts';
import { signUp } from '../sign-up.ts';

const startServer = ownOperatorServer();

journey('an operator creates codes, sees who redeemed them, and revokes one', async ({ openPage }) => {
  const server = await startServer();
  const guest = await openPage(server.url);
  await signUp(guest);
  await guest.goto('/operator/codes');
  await guest.getByText('Only operators can see the codes').waitFor();

  const page = await openPage(server.url);
  const { username } = await signUpOperator(page, server);
  await page.goto('/operator/codes');
  await page.getByText('No codes yet').waitFor();
  await look(page, 'operator-codes-empty');

  await page.getByRole('button', { name: 'Create codes' }).click();
  await page.getByText('Amount must be greater than 0, with at most 6 decimals').waitFor();
  await page.getByLabel('Value of each code').fill('2');
  await page.getByLabel('Number of codes').fill('2');
  await page.getByLabel('Last day').fill('2099-12-31');
  await page.getByLabel('Note').fill('Workshop');
  await page.getByRole('button', { name: 'Create codes' }).click();
  const dialog = page.getByRole('dialog');
  const codes = ((await dialog.locator('pre').textContent()) ?? '').split('\n');
  expect(codes).toHaveLength(2);
  await look(page, 'operator-codes-made');
  await dialog.getByRole('button', { name: 'Done' }).click();

  await page.goto('/buy-bagels');
  await page.getByLabel('Code').fill(codes[0] ?? '');
  await page.getByRole('button', { name: 'Redeem' }).click();
  await page.getByText('$2.00 was added to your balance').waitFor();

  await page.goto('/operator/codes');
  await page.getByText(username, { exact: true }).waitFor();
  await page.getByText('until 31 Dec 2099, 23:59').waitFor();
  await page.getByRole('button', { name: /^Revoke the code/ }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('Revoked', { exact: true }).waitFor();
  await look(page, 'operator-codes');
});
