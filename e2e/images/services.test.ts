import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';
import { startServiceServer } from './service-server.ts';

/** Asks for what is in the form, with this prompt, once the price is known. */
async function generate(page: Page, prompt: string, price: string): Promise<void> {
  await page.getByRole('group', { name: 'Price' }).getByText(price).waitFor();
  await page.getByLabel('Prompt', { exact: true }).fill(prompt);
  await page.getByRole('button', { name: 'Generate' }).click();
}

const balance = (page: Page, amount: string) =>
  page.getByRole('link', { name: `Balance: ${amount}`, exact: true }).waitFor();

journey(
  'a service draws what is asked of it, for the price that was shown; what it refuses costs nothing',
  async ({ openPage }) => {
    const { server, upstream } = await startServiceServer();
    const page = await openPage(server.url);
    await signUp(page);

    // The page of this installation's own models has none to draw with.
    await page.goto('/bakery/flux');
    await page.getByText('FLUX.1 needs a model on this installation that makes pictures').waitFor();
    expect(await page.getByRole('button', { name: 'Generate' }).isDisabled()).toBe(true);
    await look(page, 'bakery-not-served');

    await page.goto('/flux');
    await page.getByText('Drawn by Black Forest Labs: your prompt leaves this installation.').waitFor();
    const results = page.getByRole('region', { name: 'Results' });
    await generate(page, 'a basket of rolls', '$0.03');
    // It stands for some seconds only.
    await page.getByText('Image Generation Completed!').waitFor();
    await results.getByRole('img', { name: 'a basket of rolls' }).waitFor();
    await results.getByText('flux-dev').waitFor();
    await balance(page, '$4.98');
    await look(page, 'service-done');
    expect(upstream.submissions.at(-1)).toMatchObject({
      path: '/v1/flux-dev',
      body: { prompt: 'a basket of rolls', width: 1024, height: 1024 },
    });

    upstream.answer = 'moderated';
    await generate(page, 'something dreadful', '$0.03');
    const refusal =
      'Black Forest Labs refused this prompt, or what it led to, by its content rules. You were not charged.';
    await results.getByRole('alert').getByText(refusal).waitFor();
    await balance(page, '$4.98');
    await look(page, 'service-refused');
    // Before its server ends.
    await page.close();
  },
);

journey(
  'a service draws several pictures after a wait in its queue; where the operator has no credit there, that is said',
  async ({ openPage }) => {
    const { server, upstream } = await startServiceServer();
    const page = await openPage(server.url);
    await signUp(page);
    upstream.answer = 'hang';
    await page.goto('/hidream');
    await page.getByText('Drawn by fal: your prompt leaves this installation.').waitFor();
    await page.getByRole('textbox', { name: 'Pictures' }).fill('2');
    await generate(page, 'two loaves of bread', '$0.10');
    const results = page.getByRole('region', { name: 'Results' });
    await results.getByText('Waiting at fal: 2 before it').first().waitFor();
    await look(page, 'service-waiting');
    upstream.answer = 'ok';
    for (const number of [1, 2])
      await results.getByRole('img', { name: `two loaves of bread, ${number} of 2` }).waitFor();
    await balance(page, '$4.90');
    await look(page, 'service-several');

    upstream.answer = 'no credit';
    await generate(page, 'a third loaf', '$0.10');
    const reason =
      "This server's account at fal has no credit left. Please tell its operator. You were not charged.";
    await results.getByRole('alert').getByText(reason).waitFor();
    await balance(page, '$4.90');
    // Before its server ends.
    await page.close();
  },
);
