import path from 'node:path';
import { expect } from 'vitest';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const picture = path.join(import.meta.dirname, '../../web/public/pictures/run-light.webp');

journey('a user changes their name and picture', async ({ page }) => {
  await signUp(page);
  await page.goto('/profile');
  await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Your name was changed').waitFor();
  await page.getByLabel('Picture').setInputFiles(picture);
  await page.getByRole('button', { name: 'Change picture' }).waitFor();
  await page.reload();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Ada Lovelace');
  const shown = page.getByRole('main').locator('img[src^="data:image/"]');
  await expect.poll(() => shown.evaluate((img) => Reflect.get(img, 'naturalWidth'))).toBe(256);
  await look(page, 'profile with a picture');

  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByRole('button', { name: 'Upload a picture' }).waitFor();
});

journey(
  'a user ends a session in another browser, which is signed out immediately',
  async ({ page, openPage }) => {
    const { email, password } = await signUp(page);
    const other = await openPage();
    await other.goto('/');
    await other.getByLabel('Email').fill(email);
    await other.getByLabel('Password').fill(password);
    await other.getByRole('button', { name: 'Sign in' }).click();
    await other.waitForURL('**/dashboard');

    await page.goto('/profile');
    await page.getByText('This browser').waitFor();
    await look(page, 'sessions');
    await page.getByRole('button', { name: /^Sign out in / }).click();
    await other.waitForURL((url) => url.pathname === '/');
    await page.getByRole('button', { name: 'Sign out everywhere else' }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe('/profile');
  },
);

journey('a user exports their data and deletes the account', async ({ page, allowErrors }) => {
  allowErrors(/40[01]/);
  const { email, password } = await signUp(page);
  await page.goto('/profile');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download my data' }).click();
  expect((await download).suggestedFilename()).toMatch(/^bakehouse-.*\.json$/);

  await page.getByRole('button', { name: 'Delete account…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Forfeit 125.00 BGL/).check();
  await dialog.getByRole('button', { name: 'Delete account' }).click();
  await dialog.getByText('Enter your password').waitFor();
  await dialog.getByLabel('Password').fill('not the password');
  await dialog.getByRole('button', { name: 'Delete account' }).click();
  await dialog.getByText('Wrong password').waitFor();
  await look(page, 'delete-account');
  await dialog.getByLabel('Password').fill(password);
  await dialog.getByRole('button', { name: 'Delete account' }).click();
  await page.waitForURL((url) => url.pathname === '/');

  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText(/Invalid email or password/).waitFor();
});
