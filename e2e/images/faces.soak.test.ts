import { deleteGeneration, getGeneration, startGeneration } from '@bakehouse/contract/generations';
import { expect } from 'vitest';
import { Client } from '../../scripts/client/client.ts';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';
import { startServiceServer } from './service-server.ts';

const { server } = await startServiceServer();

journey(
  'charges, statement and palette show the picture and its prompt; a deleted picture is marked as deleted',
  async ({ openPage, allowErrors }) => {
    // The dashboard shows the picture that will be deleted.
    allowErrors(/status of 404/);
    const page = await openPage(server.url);
    const user = await signUp(page);
    const client = await Client.signIn(server.url, { ...user, name: user.username });
    const make = async (prompt: string) => {
      const { id } = await client.call(startGeneration, {
        body: { generator: 'hidream', prompt, parameters: { seed: 7 } },
      });
      await expect
        .poll(async () => (await client.call(getGeneration, { params: { id } })).state)
        .toBe('completed');
      return id;
    };
    const gone = await make('a bun that nobody wants');
    const kept = await make('a rye loaf on a wooden board, morning light');
    await client.call(deleteGeneration, { params: { id: gone } });

    await page.goto('/transactions');
    const link = page.getByRole('link', { name: 'a rye loaf on a wooden board, morning light' });
    await link.waitFor();
    expect(await link.getAttribute('href')).toBe(`/gallery/${kept}`);
    await page.getByText(/ · deleted$/).waitFor();
    await look(page, 'faces-transactions');
    await page.goto('/transactions?view=statement');
    await page.getByText('a rye loaf on a wooden board, morning light').first().waitFor();
    await look(page, 'faces-statement');

    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Search' }).getByRole('combobox').fill('rye');
    await page.getByRole('option', { name: 'a rye loaf on a wooden board, morning light' }).waitFor();
    await look(page, 'faces-palette');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/gallery/${kept}`);
  },
);
