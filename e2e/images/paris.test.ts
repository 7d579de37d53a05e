import { randomBytes } from 'node:crypto';
import { cancelGeneration, listGenerations, startGeneration } from '@bakehouse/contract/generations';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { Client } from '../../scripts/client/client.ts';
import { journey, look, soakJourney, WORK_MS } from '../journey.ts';
import { journeyServer } from '../journey-server.ts';
import { signUp } from '../sign-up.ts';
import { unfoldSettings } from '../unfold-settings.ts';

/**
 * Fills in the form of Paris. Submits it only after the model is ready and the price is shown, because that
 * price limits the cost.
 */
async function generate(page: Page, prompt: string, settings: Record<string, string>): Promise<void> {
  await page.goto('/paris');
  await page.getByRole('group', { name: 'Price' }).getByText(/^\$/).waitFor({ timeout: WORK_MS });
  await page.getByLabel('Prompt').fill(prompt);
  await unfoldSettings(page);
  for (const [label, value] of Object.entries(settings))
    await page.getByRole('spinbutton', { name: label }).fill(value);
  await page.locator('[aria-label="Price"][aria-busy="false"]').waitFor();
  await page.getByRole('button', { name: 'Generate' }).click();
}

journey(
  'a prompt becomes a picture, which is downloaded, generated again with other experts, found again and deleted',
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await page.goto('/gallery');
    await page.getByText('No generations yet').waitFor();
    await look(page, 'gallery-empty');

    const prompt = 'a red apple on a gray table, soft light';
    // Leaving the field corrects its value. The click that causes this must still have its effect.
    await generate(page, prompt, { Guidance: '4', Steps: '3' });
    await page.getByText('3 is too low and was changed to 10.').waitFor();
    await page.getByText('Paris images generated successfully!').waitFor({ timeout: WORK_MS });
    const results = page.getByRole('region', { name: 'Results' });
    await results.getByRole('img', { name: prompt }).waitFor();
    await results.getByText('Expert used').waitFor();
    await look(page, 'paris-done');

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      results.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^paris-[0-9a-f]{8}\.png$/);

    await results.getByRole('button', { name: /^Run again/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('radio', { name: 'The best one' }).click();
    await dialog.getByRole('group', { name: 'Price' }).getByText(/^\$/).waitFor();
    await look(page, 'paris-run-again');
    await dialog.getByRole('button', { name: 'Generate' }).click();
    await page.getByRole('heading', { name: 'Side by side' }).waitFor();
    await expect
      .poll(() => page.getByRole('main').getByRole('img', { name: prompt }).count(), { timeout: WORK_MS })
      .toBe(2);
    await look(page, 'paris-side-by-side');

    await page.getByRole('link', { name: 'All generations' }).click();
    await page.getByRole('searchbox', { name: 'Search prompts' }).fill('apple');
    await page.waitForURL('**/gallery?search=apple');
    await expect.poll(() => page.getByRole('link', { name: prompt, exact: true }).count()).toBe(2);
    await look(page, 'gallery');
    await page.getByRole('link', { name: prompt, exact: true }).first().click();
    await page.getByText('paris-ddm-v1.0').waitFor();
    await look(page, 'generation');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Paris generation deleted successfully').waitFor();
    await expect.poll(() => page.getByRole('link', { name: prompt, exact: true }).count()).toBe(1);

    await page.getByRole('link', { name: prompt, exact: true }).click();
    await page.getByRole('button', { name: 'Remix' }).click();
    await page.getByRole('menuitem', { name: 'Everything' }).click();
    await page.waitForURL('**/paris');
    await expect.poll(() => page.getByLabel('Prompt').inputValue()).toBe(prompt);
    await unfoldSettings(page);
    expect(await page.getByRole('spinbutton', { name: 'Steps' }).inputValue()).toBe('10');
  },
);

soakJourney(
  'a reload during generation shows it again, a second picture is rejected, and cancelling is free',
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    await signUp(page);
    const balance = page.getByRole('link', { name: /^Balance: / });
    const before = await balance.getAttribute('aria-label');
    await generate(page, 'a blue car on a green field', { Steps: '200', 'Number of experts': '8' });
    const step = page.getByRole('main').getByText(/^Step \d+ of 200$/);
    await step.waitFor({ timeout: WORK_MS });
    await page.reload();
    await step.waitFor();
    await page.getByRole('button', { name: 'Generate' }).click();
    await page
      .getByText('A picture is still being generated. Wait for it to finish, or cancel it first.')
      .waitFor();
    await page.getByRole('button', { name: /in progress/ }).click();
    await page.getByRole('button', { name: 'Cancel a blue car on a green field' }).click();
    await page.getByText('Generation cancelled. You were not charged.').waitFor();
    await page.reload();
    await expect.poll(() => balance.getAttribute('aria-label')).toBe(before);
  },
);

/** Starts a picture that takes several minutes. */
async function startLong(client: Client): Promise<string> {
  const { id } = await client.call(startGeneration, {
    body: {
      generator: 'paris',
      prompt: 'a boat',
      parameters: { num_inference_steps: 200, sampling_strategy: 'full' },
    },
  });
  return id;
}

soakJourney(
  'users share the queue fairly: a later user sees their place and does not wait for all of another user’s pictures',
  { timeout: 2 * WORK_MS },
  async ({ page, openPage }) => {
    const newClient = async () => {
      const user = await signUp(await openPage());
      return Client.signIn(journeyServer().url, { ...user, name: user.username });
    };
    const [greedy, second] = [await newClient(), await newClient()];
    await signUp(page);
    await page.goto('/paris');
    await page.getByRole('group', { name: 'Price' }).getByText(/^\$/).waitFor({ timeout: WORK_MS });
    const ids: string[] = [];
    for (let number = 0; number < 8; number += 1) ids.push(await startLong(greedy));
    // The last slot is reserved for users without pictures in progress.
    const last = await startLong(second);
    await generate(page, 'a radish', { Steps: '10', 'Number of experts': '1' });
    const main = page.getByRole('main');
    await main.getByText('Next in the queue').waitFor();
    await second.call(cancelGeneration, { params: { id: last } });
    await main.getByRole('img', { name: 'a radish' }).waitFor({ timeout: WORK_MS });
    const { generations } = await greedy.call(listGenerations, {
      params: { userId: greedy.userId },
      query: {},
    });
    expect(generations.filter(({ state }) => state === 'queued').length).toBeGreaterThan(0);
    for (const id of ids) await greedy.call(cancelGeneration, { params: { id } });
  },
);

soakJourney(
  'the page opens with the starter’s preset; the specified settings are one click away, with their price',
  { timeout: WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await page.goto('/paris');
    const price = page.locator('[aria-label="Price"][aria-busy="false"]');
    await price.getByText('$0.01').waitFor({ timeout: WORK_MS });
    await page.getByText('20 steps, guidance 4, 2 experts').waitFor();
    await page.getByText('128 × 128, best at single objects').waitFor();
    await look(page, 'paris-standard');
    await page.getByRole('radio', { name: 'API defaults' }).click();
    await page.getByText('100 steps, guidance 7.5, 4 experts').waitFor();
    await price.getByText('$0.10').waitFor();
    await unfoldSettings(page);
    await look(page, 'paris-advanced');
  },
);

soakJourney('a visitor generates, signs up, and keeps the prompt', { timeout: WORK_MS }, async ({ page }) => {
  await page.goto('/paris');
  await page.getByLabel('Prompt').fill('a loaf of rye bread');
  await expect
    .poll(() => page.getByRole('button', { name: 'Generate' }).isEnabled(), { timeout: WORK_MS })
    .toBe(true);
  await page.getByRole('button', { name: 'Generate' }).click();
  await page.getByText('Sign in to generate').waitFor();
  await page.getByText('API key not found').waitFor();
  await page.getByRole('link', { name: 'Sign up' }).click();
  const username = `ada-${randomBytes(4).toString('hex')}`;
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Email').fill(`${username}@example.com`);
  await page.getByLabel('Password').fill('a long password');
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.waitForURL('**/paris');
  expect(await page.getByLabel('Prompt').inputValue()).toBe('a loaf of rye bread');
  await page.getByRole('group', { name: 'Price' }).getByText(/^\$/).waitFor();
});
