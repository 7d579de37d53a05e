import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { isSoak } from '../server/src/testing/soak.ts';
import { choose } from './choose.ts';
import { chooseFile } from './create-dataset.ts';
import { journey, look, WORK_MS } from './journey.ts';
import { signUp } from './sign-up.ts';

const EXAMPLE = path.resolve(import.meta.dirname, '../examples/bakehouse-facts.csv');
/** Number of rows: enough for a curve, and few enough for a short run. */
const ROWS = 30;

/**
 * The main workflow, from an empty account to an answer and a bill. A single journey, because each screen
 * shows the result of the one before.
 */
journey(
  'a user uploads a file, fine-tunes a model on it, deploys it, chats with it and reads the bill',
  { timeout: 3 * WORK_MS },
  async ({ page }) => {
    await page.goto('/');
    await signUp(page);
    await makeDataset(page);
    await fineTune(page);
    await chooseAndStart(page);
    await watchRun(page);
    await seeModel(page);
    await chat(page);
    await seeDeployment(page);
    await terminateAndDeployAgain(page);
    await readBill(page);
  },
);

/** Creates a dataset, from the empty list to the rows of the new dataset. */
async function makeDataset(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'My Datasets' }).first().click();
  await page.getByText('No datasets yet').waitFor();
  await look(page, 'datasets-empty');
  await page.getByRole('button', { name: 'Create Dataset' }).first().click();
  const sheet = page.getByRole('dialog', { name: 'Create Dataset' });
  await sheet.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('Name is required').waitFor();
  await look(page, 'create-dataset');
  await page.getByLabel('Name').fill('Bakehouse facts');
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByLabel('Category').click();
  await page.getByRole('option', { name: 'Book' }).click();
  await page.getByPlaceholder('Type a tag and press Enter').fill('facts');
  await page.keyboard.press('Enter');
  await sheet.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('Your Dataset is Ready!').waitFor();
  await look(page, 'dataset-ready');
  await page.getByRole('link', { name: 'Manage Dataset' }).click();
  await page.getByText('No files yet').waitFor();
  await chooseFile(page, { name: 'facts.csv', text: await beginningOf(EXAMPLE, ROWS) });
  await page.getByText(`Rows 1 to ${ROWS} of ${ROWS}`).waitFor();
  await look(page, 'dataset-rows');
  await page.getByRole('tab', { name: 'Files (1)' }).click();
  await look(page, 'dataset-files');
}

/** Starts a fine-tune with the form that fits on one screen and is already filled in. */
async function fineTune(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Fine-tune on this' }).click();
  const screen = page.getByRole('dialog', { name: 'Fine-tune' });
  await screen
    .getByText(/^30 examples, .+ on this CPU, about \$[\d.]+, never more than \$[\d.]+\.$/)
    .waitFor({ timeout: WORK_MS });
  expect(await screen.getByRole('combobox', { name: 'Base model' }).inputValue()).toBe(
    'SmolLM2-135M-Instruct',
  );
  const name = screen.getByLabel('Model name');
  expect(await name.inputValue()).toBe('Bakehouse facts model');
  await screen.locator('mark').getByText('Millicent').waitFor();
  await look(page, 'fine-tune');
  await name.fill('Cr');
  await screen.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByText('Model name must have at least 4 characters').first().waitFor();
  await look(page, 'fine-tune-refused');
  await name.fill('Crumb Expert');
  await screen.getByRole('button', { name: 'All settings' }).click();
}

/** Sets all settings, including invalid values that are rejected. */
async function chooseAndStart(page: Page): Promise<void> {
  const next = page.getByRole('button', { name: 'Continue' });
  const suggested = page.getByRole('button', { name: 'Suggested', pressed: true });
  await suggested.waitFor();
  expect(await page.getByLabel('Epochs').inputValue()).toBe('10');
  await page.getByRole('button', { name: 'Back' }).click();
  const baseModel = page.getByRole('combobox', { name: 'Base model' });
  await baseModel.fill('');
  await next.click();
  await page.getByText('Please make sure you have selected a model, dataset, and file').first().waitFor();
  await choose(page, 'Base model', 'SmolLM2-135M-Instruct');
  await look(page, 'wizard-selection');
  await next.click();
  await suggested.waitFor();
  await page.getByRole('button', { name: 'API defaults' }).click();
  expect(await page.getByLabel('Epochs').inputValue()).toBe('1');
  await page.getByText('This machine’s CPU at $0.10 an hour').waitFor();
  await page.getByRole('combobox', { name: 'Input column' }).getByText('question').waitFor();
  await choose(page, 'Output column', 'question');
  await next.click();
  await page.getByText('Input and output must be different columns').first().waitFor();
  await choose(page, 'Output column', 'answer');
  await page.getByLabel('Gradient accumulation').fill('2');
  await look(page, 'wizard-parameters');
  await next.click();
  await page.getByText(/^You pay for the time used, never more than \$/).waitFor({ timeout: WORK_MS });
  await page.getByRole('dialog').getByText('30 examples').waitFor();
  await look(page, 'wizard-review');
  await page.getByRole('button', { name: 'Details' }).click();
  await page.getByRole('dialog').getByText(`${ROWS} of ${ROWS}`).waitFor();
  await look(page, 'wizard-review-details');
  await page.getByLabel('Spending limit').fill('2');
  await page.getByRole('button', { name: 'Start training' }).click();
  await page.getByText('Your model is fine-tuning!').waitFor({ timeout: WORK_MS });
  await look(page, 'wizard-result');
  await page.getByRole('link', { name: 'Manage Model' }).click();
}

/** Watches the run. A reload and a second tab show the same run. */
async function watchRun(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Curves, parameters and cost' }).click();
  // The run may have ended already, if the machine is fast or the page slow.
  const steps = (on: Page, live: RegExp) =>
    on
      .getByText(live)
      .or(on.getByText(/mean of the last \d+ steps?/))
      .first();
  await steps(page, /Step [1-9]\d* of \d+/).waitFor({ timeout: WORK_MS });
  await page.reload();
  await steps(page, /Step \d+ of \d+/).waitFor();
  const second = await page.context().newPage();
  await second.goto(page.url());
  await steps(second, /Step \d+ of \d+/).waitFor();
  await page.bringToFront();
  await page.locator('figure canvas').nth(3).waitFor();
  await look(page, 'run-live');
  await page.getByText('Completed').first().waitFor({ timeout: WORK_MS });
  await second.getByText('Completed').first().waitFor();
  await second.close();
  await page.getByText('Held-out loss').first().waitFor();
  await page.getByRole('heading', { name: 'Before and after training' }).waitFor();
  await page.getByText('per hour').waitFor();
  await page.getByRole('button', { name: 'Deploy and chat' }).waitFor();
  expect(await page.title()).toContain('Completed · Crumb Expert');
  await look(page, 'run-completed');
  await page.goto('/llm-training');
  await page.getByRole('checkbox', { name: 'Compare Crumb Expert' }).click();
  await page.getByRole('region', { name: 'Comparison' }).waitFor();
  await look(page, 'runs');
}

/** Views the model, its card and the list. */
async function seeModel(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Crumb Expert' }).first().click();
  await page.getByRole('link', { name: 'Model', exact: true }).click();
  await page.getByText('Made from').waitFor();
  await page.getByRole('button', { name: 'Deploy' }).waitFor();
  await page.getByRole('heading', { name: 'Parameters' }).waitFor();
  await page.getByRole('heading', { name: 'Before and after training' }).waitFor();
  await look(page, 'model');
  await page.goto('/model');
  await page.getByText('Starter model').first().waitFor();
  await look(page, 'models');
}

/** Deploys the model and chats with it. */
async function chat(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Crumb Expert' }).click();
  await page.getByRole('button', { name: 'Deploy' }).click();
  await page.waitForURL('**/my-deployments/*');
  const question = page.getByPlaceholder('Ask a question');
  await question.waitFor({ timeout: WORK_MS });
  await question.fill('What is the name of the house sourdough starter?');
  await question.press('Enter');
  // The answer continues while another tab is shown.
  await page.getByRole('tab', { name: 'Code' }).click();
  await page.getByRole('tab', { name: 'Playground' }).click();
  await page.getByText(/\d+ tokens? · first word after/).waitFor({ timeout: WORK_MS });
  await look(page, 'deployment-chat');
}

/** Views the other tabs of the deployment's page. */
async function seeDeployment(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Code' }).click();
  await page
    .getByRole('button', { name: 'Python' })
    .or(page.getByRole('radio', { name: 'Python' }))
    .click();
  await look(page, 'deployment-code');
  await page.getByRole('tab', { name: 'Metrics' }).click();
  await page.getByText('Requests per minute').first().waitFor();
  await page.locator('figure canvas').nth(3).waitFor();
  await look(page, 'deployment-metrics');
  await page.getByRole('tab', { name: 'Log' }).click();
  await look(page, 'deployment-log');
}

/** Terminates the deployment and checks the price of the next one. */
async function terminateAndDeployAgain(page: Page): Promise<void> {
  await page.goto('/my-deployments');
  await page.getByText('crumb-expert').first().waitFor();
  await look(page, 'deployments');
  await page.getByRole('link', { name: 'Crumb Expert' }).click();
  // Match exactly, because other buttons in the list also contain the word.
  await page.getByRole('button', { name: 'Terminate', exact: true }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Terminate' }).click();
  await page.getByText('Terminated by you').waitFor();
  await page.getByRole('button', { name: 'Deploy again' }).waitFor();
  await page.goto('/my-deployments');
  await page.getByRole('button', { name: 'Deploy a model' }).first().click();
  await choose(page, 'Model', 'Crumb Expert');
  await page.getByRole('dialog').getByText('per hour').waitFor();
  await look(page, 'deploy-dialog');
  await page.getByRole('button', { name: 'Cancel' }).click();
}

/** Checks the bill, which lists every action. */
async function readBill(page: Page): Promise<void> {
  await page.goto('/transactions');
  await page.getByText('Fine-tuning of Crumb Expert').first().waitFor();
  // A minute after the last answer, tokens are charged, and listed together with the time.
  await page
    .getByText(/^(Serving|Deployment of) Crumb Expert$/)
    .first()
    .waitFor();
  // The gate covers this in usage-leader.test.ts, which moves the clock instead of waiting.
  if (isSoak) {
    await page.getByText('Deployment of Crumb Expert').waitFor();
    await page.getByRole('button', { name: 'Charges' }).click();
    await page.getByText('Serving Crumb Expert').first().waitFor();
    await page.getByText('Tokens of crumb-expert').first().waitFor();
  }
  await look(page, 'transactions');
  await page.getByLabel('From').fill('2099-01-01');
  await page.getByText('Choose today or an earlier day').waitFor();
  await page.getByLabel('To', { exact: true }).fill('2026-01-01');
  await page.getByLabel('From').fill('2026-01-02');
  await page.getByText('The first day cannot be after the last').waitFor();
  await look(page, 'transactions-period');
  expect(new URL(page.url()).search).toBe('');
  await page.getByRole('button', { name: 'Show all days' }).click();
  await page.getByRole('button', { name: 'Statement' }).click();
  await page.getByText(/Totals of \d+ transactions/).waitFor();
  await look(page, 'statement');
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  expect((await saved).suggestedFilename()).toMatch(/^statement-[\d-]+\.csv$/);
  await page.goto('/buy-bagels');
  await page.getByRole('heading', { level: 1, name: 'Buy Credits' }).waitFor();
  await look(page, 'buy-credits');
  await page.goto('/api-key');
  await page.getByRole('heading', { name: 'API-Key' }).waitFor();
  await look(page, 'api-key');
  await page.goto('/dashboard');
  await page.getByText('Crumb Expert').first().waitFor();
  await look(page, 'dashboard-full');
}

/** Returns the header and the first rows of a CSV file. */
async function beginningOf(file: string, rows: number): Promise<string> {
  const text = await readFile(file, 'utf8');
  return text.split('\n', 1 + rows).join('\n');
}
