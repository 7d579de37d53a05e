import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { chooseFile, createDataset } from '../create-dataset.ts';
import { journey, look } from '../journey.ts';
import { screenshotPath } from '../screenshots.ts';
import { signUp } from '../sign-up.ts';

journey(
  'the focus follows navigation: to a form, to a page’s title, to a sheet’s first field',
  async ({ page }) => {
    await page.goto('/');
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByRole('heading', { name: 'Create your account' }).waitFor();
    await expect.poll(() => focused(page)).toBe('INPUT username');
    await signUp(page);

    await page.getByRole('link', { name: 'API-Key' }).click();
    await page.getByRole('heading', { level: 1, name: 'API-Key' }).waitFor();
    await expect.poll(() => focused(page)).toBe('H1 API-Key');
    await page.goBack();
    await expect.poll(() => focused(page)).toBe('H1 Dashboard');

    await page.getByRole('button', { name: /^Account:/ }).click();
    await page.getByRole('menuitem', { name: 'Profile' }).click();
    await expect.poll(() => focused(page)).toBe('H1 Profile');

    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Create Dataset' }).click();
    await page.getByRole('dialog', { name: 'Create Dataset' }).waitFor();
    await page.getByLabel('Name').and(page.locator(':focus')).waitFor();
  },
);

journey('a link to a missing page shows that with a link onward', async ({ page, allowErrors }) => {
  allowErrors(/400|404/);
  await signUp(page);
  const nothing = '00000000-0000-4000-8000-000000000000';
  for (const [path, title, linkName, leadsTo] of [
    [`/runs/${nothing}`, 'Run not found', 'Go to LLM Training', '/llm-training'],
    ['/runs/mistyped', 'Run not found', 'Go to LLM Training', '/llm-training'],
    [`/dataset/${nothing}/description`, 'Dataset not found', 'Go to My Datasets', '/dataset'],
    [`/model/${nothing}/description`, 'Model not found', 'Go to My Models', '/model'],
    [`/my-deployments/${nothing}`, 'Deployment not found', 'Go to Deploy Models', '/my-deployments'],
  ] as const) {
    await page.goto(path);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await page.getByRole('link', { name: linkName }).click();
    await page.waitForURL(`**${leadsTo}`);
  }
  await page.goto(`/runs/${nothing}`);
  await page.getByRole('heading', { level: 1, name: 'Run not found' }).waitFor();
  await look(page, 'run-missing');
  await page.goto('/runs');
  await page.waitForURL('**/llm-training');
});

journey('the palette finds pages by synonyms, and starter models by their kind', async ({ page }) => {
  await signUp(page);
  await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Search' });
  const field = palette.getByRole('combobox');
  for (const [typed, hit] of [
    ['bill', 'Transaction History'],
    ['terminate', 'Deploy Models'],
    ['pictures', 'Gallery'],
    ['smol', 'SmolLM2-135M-Instruct'],
    ['llama', 'SmolLM2-135M-Instruct'],
  ] as const) {
    await field.fill(typed);
    await palette.getByRole('option', { name: hit }).waitFor();
  }
  await look(page, 'palette');
  await field.fill('no such thing');
  await palette.getByText('Nothing matches').waitFor();
  await field.fill('chat');
  await palette.getByRole('option', { name: 'Chat', exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/chat');
});

journey('the search box finds models and datasets while typing, with the keyboard', async ({ page }) => {
  await signUp(page);
  const box = page.getByRole('combobox', { name: 'Search models and datasets' });
  await box.waitFor();
  await page.keyboard.press('/');
  for (const tag of ['transformers', 'pytorch', 'llama', 'code', 'text-generation'])
    await page.getByRole('option', { name: tag, exact: true }).waitFor();
  await look(page, 'search-suggested', { popup: true });
  await page.getByRole('option', { name: 'llama' }).click();
  await page.getByRole('option', { name: /SmolLM2-135M-Instruct/ }).waitFor();
  await box.fill('no such model');
  await page.getByText('No models found').waitFor();
  await look(page, 'search-nothing', { popup: true });
  await box.fill('smollm2-135m-instrct');
  await page.getByText('Did you mean one of these?').waitFor();
  await look(page, 'search-similar', { popup: true });
  await box.fill('SMOL');
  await page.getByText('Did you mean').waitFor({ state: 'detached' });
  await page.getByRole('option', { name: /SmolLM2-135M-Instruct/ }).waitFor();
  await look(page, 'search-found', { popup: true });
  await page.keyboard.press('Enter');
  await page.waitForURL('**/model/*/description');
  await page.getByRole('heading', { level: 1, name: 'SmolLM2-135M-Instruct' }).waitFor();
});

journey('? opens the keyboard shortcuts, and narrow screens have a search', async ({ page }) => {
  await signUp(page);
  await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await sheet.waitFor();
  await look(page, 'shortcuts');
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'detached' });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Search' }).click();
  const palette = page.getByRole('dialog', { name: 'Search' });
  await palette.waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Menu' }).click();
  const menu = page.getByRole('dialog', { name: 'Menu' });
  await menu.getByRole('combobox', { name: 'Search models and datasets' }).fill('smol');
  await page.getByRole('option', { name: /SmolLM2-135M-Instruct/ }).waitFor();
  await page.screenshot({ path: screenshotPath('search-in-menu') });
  await page.getByRole('option', { name: /SmolLM2-135M-Instruct/ }).click();
  await page.waitForURL('**/model/*/description');
});

journey('starting work shifts nothing in a phone’s header', async ({ page }) => {
  await signUp(page);
  await createDataset(page, { name: 'Loaves' });
  await page.setViewportSize({ width: 390, height: 844 });
  const header = page.getByRole('banner');
  const places = () =>
    Promise.all(
      ['Menu', 'Search', 'Create', /^Account/].map((name) =>
        header.getByRole('button', { name }).boundingBox(),
      ),
    );
  const before = await places();
  // A slow upload.
  await page.route('**/upload', () => undefined);
  await chooseFile(page, { name: 'loaves.csv', text: 'question,answer\na,b\n' });
  await header.getByRole('button', { name: '1 task in progress' }).waitFor();
  expect(await places()).toEqual(before);
  await page.screenshot({ path: screenshotPath('header-phone-work') });
});

/** Returns the tag of the focused element, and its name or text. */
function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    "document.activeElement.tagName + ' ' + (document.activeElement.name ?? document.activeElement.textContent)",
  );
}
