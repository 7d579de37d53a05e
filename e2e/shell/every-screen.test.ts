import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { Client } from '../../scripts/client/client.ts';
import { root } from '../../scripts/root.ts';
import { journey, WORK_MS } from '../journey.ts';
import { journeyServer } from '../journey-server.ts';
import { createUserObjects } from '../screens/create-user-objects.ts';
import { operatorScreens } from '../screens/operator-screens.ts';
import { userScreens, visitorScreens } from '../screens/screens.ts';
import { visitFullScreens } from '../screens/visit.ts';
import { signUp } from '../sign-up.ts';

/*
 * Checks each screen on a phone, without axe. The soak tier runs axe on every state of each screen, in every
 * width.
 */

journey('the list of screens includes every route and every sheet', async ({ page }) => {
  await page.goto('/');
  const routes = await page.evaluate<string[]>('Object.keys(globalThis.__TSR_ROUTER__.routesByPath)');
  const all = [...visitorScreens, ...userScreens, ...operatorScreens];
  const listed = new Set(all.map(({ route }) => route));
  expect(routes).toContain('/dataset/$id/description');
  expect(
    routes.filter((route) => !listed.has(route)),
    'not in e2e/screens/',
  ).toEqual([]);
  const addresses = all.map(({ at }) => at);
  for (const sheet of await sheetNames()) expect(addresses).toContain(`/dashboard?sheet=${sheet}`);
});

journey('every screen loads and fits a phone', { timeout: 2 * WORK_MS }, async ({ page, allowErrors }) => {
  // Errors that are expected, because some URLs do not exist.
  allowErrors(/status of 40[034]/);
  const { username, ...account } = await signUp(page);
  const client = await Client.signIn(journeyServer().url, { ...account, name: username });
  const { end, ...things } = await createUserObjects(client);
  // Stop the work, which would take CPU time from the browser.
  await end();
  expect(await visitFullScreens(page.context(), userScreens, things)).toEqual([]);
});

/** Returns the names of all sheets of the web app. */
async function sheetNames(): Promise<string[]> {
  const names: string[] = [];
  for await (const file of glob('web/src/{modules,shell}/*/sheets.tsx', { cwd: root })) {
    const text = await readFile(path.join(root, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/name: '([a-z-]+)'/g)) names.push(name);
  }
  return names;
}
