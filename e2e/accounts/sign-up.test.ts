import { expect } from 'vitest';
import { journey, look, soakJourney } from '../journey.ts';
import { signUp, signUpByForm } from '../sign-up.ts';

journey('a user signs up, sees the dashboard, signs out and in again', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await look(page, 'landing');

  const { username, email, password } = await signUpByForm(page);
  // The starting credits of 125 BGL in dollars.
  await page.getByRole('link', { name: 'Balance: $5.00' }).waitFor();
  await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
  await look(page, 'dashboard');

  await page.getByRole('button', { name: `Account: ${username}` }).click();
  await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();

  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/dashboard');
});

journey('without a session every page redirects to the landing page', async ({ page }) => {
  await page.goto('/dataset');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/');
});

soakJourney('a user changes the password and signs in with the new one', async ({ page, allowErrors }) => {
  allowErrors(/400/);
  const { username, email, password } = await signUp(page);
  await page.getByRole('button', { name: `Account: ${username}` }).click();
  await page.getByRole('menuitem', { name: 'Profile' }).click();
  await page.getByLabel('Current password').fill('not the password');
  await page.getByLabel('New password').fill('another long password');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('This is not your current password').waitFor();
  await look(page, 'profile');
  await page.getByLabel('Current password').fill(password);
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('Your password was changed').waitFor();

  await page.getByRole('button', { name: `Account: ${username}` }).click();
  await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill('another long password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/dashboard');
});
