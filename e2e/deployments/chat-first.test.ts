import { expect } from 'vitest';
import { choose } from '../choose.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey(
  'a newcomer chats with the starter model, and compares a deployment with it',
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await page.goto('/my-deployments');
    const starter = page.getByRole('region', { name: 'Chat with smollm2-135m-instruct', exact: true });
    await starter.getByText('answers without a deployment').waitFor({ timeout: WORK_MS });
    await page.getByText('Nothing is deployed').waitFor();
    expect(await page.getByText('Tokens generated').count()).toBe(0);
    await look(page, 'chat-first');
    await page.route('**/v1/chat/completions', (route) => {
      const { model } = route.request().postDataJSON();
      const chunk = JSON.stringify({ choices: [{ delta: { content: `An answer from ${model}` } }] });
      return route.fulfill({
        contentType: 'text/event-stream',
        body: `data: ${chunk}\n\ndata: [DONE]\n\n`,
      });
    });
    const question = starter.getByPlaceholder('Ask a question');
    await question.fill('What is rye?');
    await question.press('Enter');
    await starter.getByText('An answer from smollm2-135m-instruct').waitFor();

    await page.getByRole('button', { name: 'Deploy a model' }).click();
    await choose(page, page.getByRole('dialog').getByRole('combobox', { name: 'Model' }), 'SmolLM2-135M');
    await page.getByRole('dialog').getByText('per hour').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Deploy' }).click();
    await page.getByRole('heading', { level: 1, name: 'SmolLM2-135M-Instruct' }).waitFor();
    await page.getByPlaceholder('Ask a question').waitFor({ timeout: WORK_MS });

    await page.goto('/my-deployments');
    const deployed = page.getByRole('region', { name: 'Chat with smollm2-135m-instruct-2', exact: true });
    await deployed.getByText('Your deployment').waitFor();
    await page.getByText('Tokens generated').waitFor();
    await look(page, 'chat-with-deployment');
    await page.getByRole('button', { name: 'Compare' }).click();
    await starter.getByText('What is rye?').waitFor();
    const both = page.getByPlaceholder('Ask both models');
    expect(await page.getByLabel('Message').count()).toBe(1);
    await both.fill('What is spelt?');
    await both.press('Enter');
    await deployed.getByText('An answer from smollm2-135m-instruct-2').waitFor();
    await starter.getByText('What is spelt?').waitFor();
    await look(page, 'chat-compared');
    await page.getByRole('button', { name: 'Terminate SmolLM2-135M-Instruct' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Terminate' }).click();
    await page.getByText('Nothing is deployed').waitFor();
    // Nothing is left to compare with.
    await page.getByRole('button', { name: 'Stop comparing' }).waitFor({ state: 'detached' });
  },
);
