import { expect } from 'vitest';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey('a user creates a key with a budget and an expiry date, edits and revokes it', async ({ page }) => {
  await signUp(page);
  await page.goto('/api-key');
  await page.getByText('You have no other API keys yet').waitFor();
  await look(page, 'api-keys-empty');

  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByText('Name is required').waitFor();
  await dialog.getByLabel('Name').fill('Nightly report');
  await dialog.getByLabel('Permissions').click();
  await page.getByRole('option', { name: /^Read/ }).click();
  await dialog.getByLabel('Last day').fill('2099-12-31');
  await dialog.getByLabel('Budget').fill('2.50');
  await look(page, 'api-key-create');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const secret = await dialog.getByLabel('New API key').textContent();
  await look(page, 'api-key-created');
  await dialog.getByRole('button', { name: 'Done' }).click();

  const me = () => page.request.get('/api/v1/users/me', { headers: { 'X-API-KEY': secret ?? '' } });
  expect((await me()).status()).toBe(200);
  const row = page.getByRole('listitem').filter({ hasText: 'Nightly report' });
  await row.getByText('$0.00 of $2.50 spent this month').waitFor();
  await row.getByText(/Expires 31 Dec 2099, 23:59/).waitFor();

  await row.getByRole('button', { name: 'Change Nightly report' }).click();
  await dialog.getByLabel('Name').fill('Weekly report');
  await dialog.getByLabel('Budget').fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Weekly report was changed').waitFor();
  await page.getByText('No budget').waitFor();
  await look(page, 'api-keys');

  await page.getByRole('button', { name: 'Revoke Weekly report' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('You have no other API keys yet').waitFor();
  expect((await me()).status()).toBe(401);
});
