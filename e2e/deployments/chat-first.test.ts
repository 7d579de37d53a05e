import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { choose } from '../choose.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey(
  'a new user chats with the starter model, and compares a deployment with it',
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await page.goto('/chat');
    const starter = page.getByRole('region', { name: 'Chat with smollm2-135m-instruct', exact: true });
    await starter.getByText('answers without a deployment').waitFor({ timeout: WORK_MS });
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
    await expect.poll(() => new URL(page.url()).searchParams.get('conversation')).toBeTruthy();

    await savesWhatWasSaid(page, starter);
    await keepsWhatWasBefore(page, starter);

    await page.goto('/my-deployments');
    await page.getByText('Nothing is deployed').waitFor();
    expect(await page.getByText('Tokens generated').count()).toBe(0);
    await page.getByRole('button', { name: 'Deploy a model' }).first().click();
    await choose(page, page.getByRole('dialog').getByRole('combobox', { name: 'Model' }), 'SmolLM2-135M');
    await page.getByRole('dialog').getByText('per hour').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Deploy' }).click();
    await page.getByRole('heading', { level: 1, name: 'SmolLM2-135M-Instruct' }).waitFor();
    await page.getByPlaceholder('Ask a question').waitFor({ timeout: WORK_MS });

    await page.goto('/chat');
    const deployed = page.getByRole('region', { name: 'Chat with smollm2-135m-instruct-2', exact: true });
    await deployed.getByText('Your deployment').waitFor();
    await look(page, 'chat-with-deployment');
    await page.getByRole('button', { name: 'Compare' }).click();
    await starter.waitFor();
    const both = page.getByPlaceholder('Ask both models');
    await both.waitFor();
    expect(await page.getByLabel('Message').count()).toBe(1);
    await both.fill('What is spelt?');
    await both.press('Enter');
    await deployed.getByText('An answer from smollm2-135m-instruct-2').waitFor();
    await starter.getByText('What is spelt?').waitFor();
    await look(page, 'chat-compared');
    await earlier(page)
      .getByRole('button', { name: /^What is spelt.* and / })
      .waitFor();
    await page.reload();
    await deployed.getByText('An answer from smollm2-135m-instruct-2').waitFor();
    await starter.getByText('What is spelt?').waitFor();
    await page.getByRole('button', { name: 'Stop comparing' }).click();
    await page.getByRole('button', { name: 'Compare' }).waitFor();
    expect(await deployed.getByText('What is spelt?').count()).toBe(0);

    await page.goto('/my-deployments');
    await page.getByText('Tokens generated').waitFor();
    await page.getByRole('button', { name: 'Terminate SmolLM2-135M-Instruct' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Terminate' }).click();
    await page.getByText('Nothing is deployed').waitFor();
  },
);

/** The list of earlier conversations. */
const earlier = (page: Page) => page.getByRole('navigation', { name: 'Conversations' });

/** Starts a new conversation. The previous one stays in the list, and can be opened and deleted. */
async function keepsWhatWasBefore(page: Page, starter: Locator): Promise<void> {
  await page.getByRole('button', { name: 'New conversation' }).click();
  await starter.getByText('What is rye?').waitFor({ state: 'detached' });
  await page.locator('textarea:focus').waitFor();
  await page.keyboard.type('What is emmer?');
  await page.keyboard.press('Enter');
  await starter.getByText('An answer from smollm2-135m-instruct').waitFor();
  const list = earlier(page);
  await list.getByText('What is emmer?').waitFor();
  await look(page, 'chat-history');
  await list.getByRole('button', { name: /^What is rye/ }).click();
  await starter.getByText('What is rye?').waitFor();
  await page.goBack();
  await starter.getByText('What is emmer?').waitFor();
  await page.goForward();
  await starter.getByText('What is rye?').waitFor();
  await page.reload();
  await starter.getByText('What is rye?').waitFor();
  expect(await starter.getByText('What is emmer?').count()).toBe(0);
  await list.getByRole('button', { name: 'Delete “What is emmer?”' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await list.getByText('What is emmer?').waitFor({ state: 'detached' });
  await list.getByText('What is rye?').waitFor();
}

/** Saves an answer as a row of a dataset. A link leads from there to the conversation. */
async function savesWhatWasSaid(page: Page, chat: Locator): Promise<void> {
  const address = page.url();
  await chat.getByRole('button', { name: 'Save as training data' }).click();
  const dialog = page.getByRole('dialog');
  const answer = dialog.getByRole('checkbox', { name: 'An answer from' });
  await answer.uncheck();
  await dialog.getByRole('button', { name: 'Save 0 answers' }).click();
  await dialog.getByText('Choose an answer').waitFor();
  await answer.check();
  await look(page, 'chat-save');
  await dialog.getByRole('button', { name: 'Save 1 answer' }).click();
  await page.getByRole('button', { name: 'Open the dataset' }).click();
  await page.getByRole('heading', { level: 1, name: 'Chats' }).waitFor();
  await page.getByRole('tab', { name: 'Rows' }).click();
  await page.getByText('What is rye?').first().waitFor();
  await page.goto(address);
}
