import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { journey, look } from './journey.ts';
import { signUp } from './sign-up.ts';

journey(
  'the focus goes along: to a form, to the title of a page, to the first field of a sheet',
  async ({ page }) => {
    await page.goto('/');
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByRole('heading', { name: 'Create your account' }).waitFor();
    expect(await focused(page)).toBe('INPUT username');
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
    await expect.poll(() => focused(page)).toBe('INPUT title');
  },
);

journey('a link to what is not there says so and leads on', async ({ page, allowErrors }) => {
  allowErrors(/400|404/);
  await signUp(page);
  const nothing = '00000000-0000-4000-8000-000000000000';
  for (const [path, title, way, leadsTo] of [
    [`/runs/${nothing}`, 'There is no such run', 'Go to LLM Training', '/llm-training'],
    ['/runs/mistyped', 'There is no such run', 'Go to LLM Training', '/llm-training'],
    [`/dataset/${nothing}/description`, 'There is no such dataset', 'Go to My Datasets', '/dataset'],
    [`/model/${nothing}/description`, 'There is no such model', 'Go to My Models', '/model'],
    [`/my-deployments/${nothing}`, 'There is no such deployment', 'Go to Deploy Models', '/my-deployments'],
  ] as const) {
    await page.goto(path);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await page.getByRole('link', { name: way }).click();
    await page.waitForURL(`**${leadsTo}`);
  }
  await page.goto(`/runs/${nothing}`);
  await page.getByRole('heading', { level: 1, name: 'There is no such run' }).waitFor();
  await look(page, 'run-missing');
  await page.goto('/runs');
  await page.waitForURL('**/llm-training');
});

journey(
  'the palette finds pages by what people call them, and starter models by what they are',
  async ({ page }) => {
    await signUp(page);
    await page.getByRole('button', { name: /^Search/ }).click();
    const palette = page.getByRole('dialog', { name: 'Search' });
    const field = palette.getByRole('combobox');
    for (const [typed, hit] of [
      ['bill', 'Transaction History'],
      ['terminate', 'Deploy Models'],
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
    await palette.getByRole('option', { name: 'Deploy Models' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/my-deployments');
  },
);

/** What has the focus: its kind, and its name or text. */
function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    "document.activeElement.tagName + ' ' + (document.activeElement.name ?? document.activeElement.textContent)",
  );
}
