import { createAsset } from '@bakehouse/contract/assets';
import { expect } from 'vitest';
import { Client } from '../../scripts/client/client.ts';
import { choose } from '../choose.ts';
import { journey, look } from '../journey.ts';
import { journeyServer } from '../journey-server.ts';
import { signUp } from '../sign-up.ts';

journey('datasets are filtered by tag and sorted in the URL, which survives a reload', async ({ page }) => {
  const { username: name, ...account } = await signUp(page);
  const client = await Client.signIn(journeyServer().url, { ...account, name });
  const things = [
    ['Spelt recipes', ['bread', 'a tag of people who write whole sentences as tags']],
    ['Ale recipes', ['beer']],
    ['Rye recipes', ['bread', '2026']],
  ] as const;
  for (const [title, tags] of things) {
    const body = { dataset_type: 'RAW', title, tags, category: 'Book', user_id: client.userId } as const;
    await client.call(createAsset, { body: { ...body, tags: [...tags] } });
  }
  await page.goto('/dataset');
  await page.getByRole('button', { name: 'bread', exact: true }).first().click();
  await page.getByText('Ale recipes').waitFor({ state: 'detached' });
  await choose(page, 'Sort by', 'Name');
  await page.waitForURL(/tag=bread.*sort=title|sort=title.*tag=bread/);
  await page.reload();
  await page.getByText('Spelt recipes').waitFor();
  const shown = await page.getByRole('table').getByRole('link').allTextContents();
  expect(shown).toEqual(['Rye recipes', 'Spelt recipes']);
  await look(page, 'datasets-with-tag');

  await page.getByLabel('Search datasets').fill('beer');
  await page.getByText("Nothing with the tag 'bread' matches 'beer'.").waitFor();
  await page.getByRole('button', { name: 'Tag: bread' }).click();
  await page.getByText('Ale recipes').waitFor();
  expect(page.url()).toContain('sort=title');
  // A tag that looks like a number in the URL.
  await page.goto('/dataset?tag=2026');
  await page.getByText('Rye recipes').waitFor();
  expect(await page.getByText('Spelt recipes').count()).toBe(0);
});
