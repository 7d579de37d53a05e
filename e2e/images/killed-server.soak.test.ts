import { listTransactions } from '@bakehouse/contract/credits';
import { expect } from 'vitest';
import { Client } from '../../scripts/client/client.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { restartable } from '../restartable-server.ts';
import { signUp } from '../sign-up.ts';
import { unfoldSettings } from '../unfold-settings.ts';

/** What the browser logs while the server does not run. */
const AWAY =
  /ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY_RESPONSE|Failed to fetch|not be fetched|status of 50[234]|network error/;

journey(
  'a server killed during generation resumes the picture, which is charged once',
  { timeout: 2 * WORK_MS },
  async ({ openPage, allowErrors, onTestFinished }) => {
    allowErrors(AWAY);
    const server = await restartable();
    onTestFinished(server.remove);
    const page = await openPage(server.url);
    const user = await signUp(page);
    const prompt = 'a green car on a field';
    await page.goto('/paris');
    await page.getByRole('group', { name: 'Price' }).getByText(/^\$/).waitFor({ timeout: WORK_MS });
    await page.getByLabel('Prompt').fill(prompt);
    await unfoldSettings(page);
    await page.getByRole('spinbutton', { name: 'Steps' }).fill('30');
    await page.getByRole('spinbutton', { name: 'Number of experts' }).fill('8');
    await page.locator('[aria-label="Price"][aria-busy="false"]').waitFor();
    await page.getByRole('button', { name: 'Generate' }).click();
    await page
      .getByRole('main')
      .getByText(/^Step \d+ of 30$/)
      .waitFor({ timeout: WORK_MS });

    await server.kill();
    await page.getByText('The server cannot be reached. Trying again…').waitFor();
    await look(page, 'paris-server-killed');
    await server.start();

    await page.getByRole('main').getByRole('img', { name: prompt }).waitFor({ timeout: WORK_MS });
    await page.getByText('Trying again…').waitFor({ state: 'hidden' });
    const client = await Client.signIn(server.url, { ...user, name: user.username });
    const { transactions } = await client.call(listTransactions, {
      params: { userId: client.userId },
      query: {},
    });
    const paid = transactions.filter(({ generation_id }) => generation_id !== null);
    expect(paid.map(({ status }) => status)).toEqual(['completed']);
  },
);
