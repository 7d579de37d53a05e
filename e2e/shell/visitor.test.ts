import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { journey, look, soakJourney, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey(
  'a visitor explores the product, fills in a generator’s form, signs up, and keeps the prompt; signing out stays there',
  async ({ page }) => {
    await page.goto('/');
    await page.getByRole('img', { name: /^A finished fine-tune/ }).waitFor();
    await page.getByRole('link', { name: /^FLUX\.1 ?(,|$)/ }).click();
    await page.getByRole('heading', { level: 1, name: 'FLUX.1' }).waitFor();
    await page.getByText('FLUX.1 is not connected to this server').waitFor();
    await page.getByText('A small starter model is used instead.').waitFor({ timeout: WORK_MS });
    await page.getByLabel('Prompt').fill('A loaf of rye bread');
    await look(page, 'generator-not-connected');

    await page.getByRole('link', { name: 'Sign up' }).click();
    const username = `ada-${randomBytes(4).toString('hex')}`;
    await page.getByLabel('Username').fill(username);
    await page.getByLabel('Email').fill(`${username}@example.com`);
    await page.getByLabel('Password').fill('a long password');
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.waitForURL('**/flux');
    expect(await page.getByLabel('Prompt').inputValue()).toBe('A loaf of rye bread');

    await page.getByRole('button', { name: `Account: ${username}` }).click();
    await page.getByRole('menuitem', { name: 'Sign Out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/flux');
  },
);

soakJourney(
  'on a served page a visitor is asked to sign in, told that a key is missing, and keeps the prompt',
  async ({ page }) => {
    await page.route('**/api/v1/generators', (route) =>
      route.fulfill({ json: { generators: [{ name: 'flux', served_by: ['own'], upstreams: [] }] } }),
    );
    await page.goto('/flux');
    await page.getByRole('button', { name: 'Generate' }).click();
    await page.getByText('Please enter a prompt').waitFor();
    await page.getByLabel('Prompt').fill('A loaf of rye bread');
    await page.getByRole('button', { name: 'Generate' }).click();
    await page.getByText('Sign in to generate').waitFor();
    await page.getByText('API key not found').waitFor();
    await look(page, 'generator-without-key');
    await page.getByRole('alert').getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goBack();
    await expect.poll(() => page.getByLabel('Prompt').inputValue()).toBe('A loaf of rye bread');
  },
);

journey(
  'the documentation is public, and pages that need a session redirect to the landing page',
  async ({ page }) => {
    await page.goto('/docs');
    await page.getByRole('heading', { level: 1, name: 'Getting started' }).waitFor();
    await look(page, 'documentation');
    await page.getByRole('article').getByRole('link', { name: 'The ledger' }).click();
    await page.getByRole('heading', { level: 1, name: 'The ledger' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/docs/ledger');
    await page.getByLabel('Search the documentation').fill('trigger word');
    await page.getByRole('link', { name: /^Picture models/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Fine-tuning' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#picture-models');
    for (const path of ['/flux-kontext', '/instant-generation', '/nowhere']) {
      await page.goto(path);
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/');
    }
  },
);

soakJourney('a user picks a generator, and sees the picture grow on its page', async ({ page }) => {
  await signUp(page);
  await look(page, 'dashboard-new');
  await page.getByRole('link', { name: 'Instant Generation' }).click();
  await page.getByRole('combobox', { name: 'Generator' }).click();
  await page.getByRole('option', { name: /^Paris/ }).click();
  await page.getByLabel('Prompt').fill('A red apple');
  await look(page, 'instant-generation');
  await page.getByRole('button', { name: 'Generate' }).click();
  await page.getByRole('heading', { level: 1, name: 'Paris' }).waitFor();
  expect(await page.getByLabel('Prompt').inputValue()).toBe('A red apple');
  await page.getByRole('region', { name: 'Results' }).waitFor();
});

soakJourney('a failed sign-in with a provider shows the reason, and can be retried', async ({ page }) => {
  await page.goto('/?error=email_not_verified');
  await page.getByRole('alert').getByText('Your provider has not verified your email address.').waitFor();
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByLabel('Username').waitFor();
  await page.getByRole('alert').waitFor({ state: 'detached' });
});
