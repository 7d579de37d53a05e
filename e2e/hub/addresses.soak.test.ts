import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { Client } from '../../scripts/client/client.ts';
import { journey, look } from '../journey.ts';
import { journeyServer } from '../journey-server.ts';
import { signUp } from '../sign-up.ts';

/** Creates a repository with two commits over the Hub's API, and tags the first one. */
async function makeRepository(page: Page) {
  const { username: name, ...account } = await signUp(page);
  const client = await Client.signIn(journeyServer().url, { ...account, name });
  const as = { authorization: `Bearer ${client.apiKey}` };
  const hub = (path: string, body: string, type = 'application/json') =>
    fetch(`${client.url}/hub${path}`, { method: 'POST', body, headers: { ...as, 'content-type': type } });
  const created = await hub(
    '/api/repos/create',
    JSON.stringify({ name: 'secret-data', type: 'dataset', private: true }),
  );
  const { url, name: id } = (await created.json()) as { url: string; name: string };
  const commit = async (lines: { key: string; value: object }[]): Promise<string> => {
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const answer = await hub(`/api/datasets/${id}/commit/main`, body, 'application/x-ndjson');
    const { commitUrl } = (await answer.json()) as { commitUrl: string };
    return commitUrl;
  };
  const file = (path: string, text: string) => ({
    key: 'file',
    value: { path, content: Buffer.from(text).toString('base64'), encoding: 'base64' },
  });
  const long = 'a long answer; '.repeat(60);
  const first = await commit([
    { key: 'header', value: { summary: 'Add the loaves' } },
    file('loaves.csv', `question,answer,notes\nWhy?,Because,${long}\nHow?,So,short\n`),
    file('notes/old.txt', 'rye'),
  ]);
  await hub(`/api/datasets/${id}/tag/main`, JSON.stringify({ tag: 'v1' }));
  const second = await commit([
    { key: 'header', value: { summary: 'Remove the notes' } },
    { key: 'deletedFile', value: { path: 'notes/old.txt' } },
  ]);
  return { url, id, first, second };
}

journey(
  'links printed by Hub clients open the dataset’s page and its commits with tags and files',
  async ({ page, openPage, allowErrors }) => {
    allowErrors(/404/);
    const { url, id, first, second } = await makeRepository(page);
    await page.goto(url);
    await page.waitForURL(/\/dataset\/[\w-]+\/description$/);
    await page.getByText(id, { exact: true }).waitFor();
    await look(page, 'dataset-with-name');
    await page.goto(`${url}/blob/main/loaves.csv`);
    await page.getByText('Rows 1 to 2 of 2').waitFor();
    await look(page, 'dataset-rows-with-long-cell');
    await page.goto(`${url}/commits/main`);
    await page.getByText('Tag: v1').waitFor();
    await look(page, 'history-with-tag');

    await page.goto(second);
    await page.getByText('1 file removed').waitFor();
    const old = await downloaded(page, 'Download', true);
    expect(old).toEqual({ name: 'old.txt', text: 'rye' });
    await page.goto(first);
    const files = page.getByRole('list', { name: 'Files of this version' });
    await files.getByRole('link', { name: 'loaves.csv' }).waitFor();
    await look(page, 'commit-with-files');
    await files.getByRole('button', { name: 'notes' }).click();
    await page.waitForURL(/folder=notes/);
    expect(await downloaded(page, 'Download old.txt')).toEqual(old);
    await look(page, 'commit-folder');

    // The page does not reveal whether the repository exists.
    const other = await openPage();
    await signUp(other);
    for (const address of [url, `${journeyServer().url}/hub/datasets/nobody/nothing`]) {
      await other.goto(address);
      await other.getByRole('heading', { name: 'Dataset not found' }).waitFor();
    }
    await look(other, 'no-such-dataset');
  },
);

async function downloaded(page: Page, button: string, exact = false) {
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: button, exact }).click();
  const saved = await saving;
  const chunks: Buffer[] = [];
  for await (const chunk of await saved.createReadStream()) chunks.push(chunk as Buffer);
  return { name: saved.suggestedFilename(), text: Buffer.concat(chunks).toString() };
}
