import { getGeneration, startGeneration } from '@bakehouse/contract/generations';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { Client } from '../../scripts/client/client.ts';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';
import { startServiceServer } from './service-server.ts';

const { server } = await startServiceServer();

journey(
  'a picture’s share link opens without an account and has a preview card, until it is revoked',
  async ({ openPage, allowErrors }) => {
    allowErrors(/status of 404/);
    const page = await openPage(server.url);
    const user = await signUp(page);
    const client = await Client.signIn(server.url, { ...user, name: user.username });
    const prompt = 'a rye loaf on a wooden board, morning light';
    const body = { generator: 'hidream', prompt, parameters: { seed: 7 } } as const;
    const { id } = await client.call(startGeneration, { body });
    await expect
      .poll(async () => (await client.call(getGeneration, { params: { id } })).state)
      .toBe('completed');

    await page.goto(`/gallery/${id}`);
    await page.getByRole('button', { name: 'Share link' }).waitFor();
    await look(page, 'share-not-shared');
    const visitor = await openPage(server.url);
    const link = await openShareLink(page, visitor);
    await look(page, 'share-shared');
    await visitor.getByRole('heading', { level: 1, name: 'HiDream I1 picture' }).waitFor();
    await visitor.getByText(prompt).waitFor();
    const picture = visitor.getByRole('img', { name: prompt });
    await expect
      .poll(() => picture.evaluate((image) => Reflect.get(image, 'naturalWidth')))
      .toBeGreaterThan(0);
    await look(visitor, 'shared-picture');
    const card = await readCard(link);
    expect(card.get('og:description')).toBe(prompt);
    expect(card.get('robots')).toBe('noindex, nofollow');
    expect((await fetch(card.get('og:image') ?? '')).status).toBe(200);

    await page.getByRole('button', { name: 'Stop sharing' }).click();
    await page.getByRole('button', { name: 'Share link' }).waitFor();
    await visitor.reload();
    await visitor.getByRole('heading', { name: 'This link does not work' }).waitFor();
    await look(visitor, 'shared-not-found');
    expect((await readCard(link)).has('og:image')).toBe(false);
    expect((await fetch(card.get('og:image') ?? '')).status).toBe(404);
  },
);

/** Creates the share link, and opens it in a visitor's page. */
async function openShareLink(page: Page, visitor: Page): Promise<string> {
  await page.getByRole('button', { name: 'Share link' }).click();
  const link = await page.getByRole('textbox', { name: 'Link' }).inputValue();
  await visitor.goto(link);
  return link;
}

/** Returns the meta tags of the page behind a link. */
async function readCard(link: string): Promise<Map<string, string>> {
  const html = await (await fetch(link)).text();
  const tags = html.matchAll(/<meta (?:property|name)="([^"]+)" content="([^"]*)"/g);
  return new Map([...tags].map(([, name = '', content = '']) => [name, content]));
}
