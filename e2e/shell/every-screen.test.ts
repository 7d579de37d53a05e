import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { Client } from '../../scripts/client/client.ts';
import { root } from '../../scripts/root.ts';
import { effort } from '../../server/src/testing/soak.ts';
import { journey, WORK_MS } from '../journey.ts';
import { journeyServer } from '../journey-server.ts';
import { ownOperatorServer, signUpOperator } from '../operator.ts';
import { findProblems } from '../screens/find-problems.ts';
import { makeOperatorThings, makeThings } from '../screens/make-things.ts';
import { operatorScreens } from '../screens/operator-screens.ts';
import { userScreens, visitorScreens } from '../screens/screens.ts';
import { visitDeniedScreens, visitEmptyScreens, visitScreens } from '../screens/visit.ts';
import { signUp, type Visitor } from '../sign-up.ts';

const startServer = ownOperatorServer();

/** A soak looks at more widths, and at each address of a page. */
const LONG_MS = effort({ usual: 2 * WORK_MS, soak: 6 * WORK_MS });

/** What is read fails here or finds no network, and some of the addresses lead nowhere. */
const EXPECTED = /status of 40[034]|ERR_INTERNET_DISCONNECTED/;

/** Looked at while a run is under way. */
const RUNS = new Set(['/llm-training', '/runs', '/runs/$id']);

const clientOf = (url: string, { username, ...account }: Visitor) =>
  Client.signIn(url, { ...account, name: username });

journey('every route and every sheet is in the list of screens', async ({ page }) => {
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

journey(
  'what a visitor sees is free of axe violations and fits, while it loads, when it fails, full and offline',
  { timeout: LONG_MS },
  async ({ page, allowErrors }) => {
    allowErrors(EXPECTED);
    expect(await visitScreens(page.context(), visitorScreens, null)).toEqual([]);
  },
);

journey(
  'what a user sees who has nothing yet is free of axe violations and fits, empty and denied',
  { timeout: LONG_MS },
  async ({ page, allowErrors }) => {
    allowErrors(EXPECTED);
    await signUp(page);
    const problems = await visitEmptyScreens(page.context(), userScreens);
    problems.push(...(await visitDeniedScreens(page.context(), operatorScreens)));
    expect(problems).toEqual([]);
  },
);

journey(
  'what a user sees is free of axe violations and fits, while it loads, when it fails, full and offline',
  { timeout: LONG_MS },
  async ({ page, allowErrors, onTestFinished }) => {
    allowErrors(EXPECTED);
    const client = await clientOf(journeyServer().url, await signUp(page));
    const { end, ...things } = await makeThings(client);
    onTestFinished(async () => void (await end()));
    // One of them is there only while the run is under way.
    const problems = await lookAtMenus(page);
    const ofRuns = userScreens.filter(({ route }) => RUNS.has(route));
    const others = userScreens.filter((screen) => !ofRuns.includes(screen));
    problems.push(...(await visitScreens(page.context(), ofRuns, things)));
    // It would take from the browser what it computes with.
    await end();
    problems.push(...(await visitScreens(page.context(), others, things)));
    expect(problems).toEqual([]);
  },
);

journey(
  'what an operator sees is free of axe violations and fits, while it loads, when it fails, empty, full and offline',
  { timeout: LONG_MS },
  async ({ openPage, allowErrors }) => {
    allowErrors(EXPECTED);
    const server = await startServer();
    const guest = await openPage(server.url);
    const guestClient = await clientOf(server.url, await signUp(guest));
    const page = await openPage(server.url);
    const operator = await clientOf(server.url, await signUpOperator(page, server));
    const problems = await visitEmptyScreens(page.context(), operatorScreens);
    const things = await makeOperatorThings(operator, guestClient);
    problems.push(...(await visitScreens(page.context(), operatorScreens, things)));
    expect(problems).toEqual([]);
  },
);

/** What hangs on the header of a user with a run under way. */
const MENUS = [/^Create$/, /^Notifications/, /^Account: /, /in progress|failed/];

async function lookAtMenus(page: Page): Promise<string[]> {
  const problems: string[] = [];
  await page.goto('/dashboard');
  const header = page.getByRole('banner');
  for (const name of MENUS) {
    const menu = header.getByRole('button', { name });
    await menu.click();
    // Its code may still be on the way.
    const opened = menu.and(page.locator('[aria-expanded=true]'));
    await opened.waitFor();
    problems.push(...(await findProblems(page, `menu ${name}`, { popup: true })));
    await page.keyboard.press('Escape');
    await opened.waitFor({ state: 'detached' });
  }
  await expect.poll(() => header.locator('button[aria-haspopup]:visible').count()).toBe(MENUS.length);
  return problems;
}

/** All sheets that the web app has. */
async function sheetNames(): Promise<string[]> {
  const names: string[] = [];
  for await (const file of glob('web/src/{modules,shell}/*/sheets.tsx', { cwd: root })) {
    const text = await readFile(path.join(root, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/name: '([a-z-]+)'/g)) names.push(name);
  }
  return names;
}
