import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { Client } from '../../scripts/client/client.ts';
import { journey, WORK_MS } from '../journey.ts';
import { journeyServer } from '../journey-server.ts';
import { ownOperatorServer, signUpOperator } from '../operator.ts';
import { createUserObjects, makeOperatorThings } from '../screens/create-user-objects.ts';
import { findProblems } from '../screens/find-problems.ts';
import { operatorScreens } from '../screens/operator-screens.ts';
import { userScreens, visitorScreens } from '../screens/screens.ts';
import { visitDeniedScreens, visitEmptyScreens, visitScreens } from '../screens/visit.ts';
import { signUp, type Visitor } from '../sign-up.ts';

const startServer = ownOperatorServer();

const LONG_MS = 6 * WORK_MS;

/** Errors that are expected, because requests fail or are offline here, and some URLs do not exist. */
const EXPECTED = /status of 40[034]|ERR_INTERNET_DISCONNECTED/;

/** Screens that are checked while a run is in progress. */
const RUNS = new Set(['/llm-training', '/runs', '/runs/$id']);

const clientOf = (url: string, { username, ...account }: Visitor) =>
  Client.signIn(url, { ...account, name: username });

journey(
  'visitor screens have no axe violations and fit: loading, failed, full, offline',
  { timeout: LONG_MS },
  async ({ page, allowErrors }) => {
    allowErrors(EXPECTED);
    expect(await visitScreens(page.context(), visitorScreens, null)).toEqual([]);
  },
);

journey(
  'screens of a new user have no axe violations and fit: empty, denied',
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
  'user screens have no axe violations and fit: loading, failed, full, offline',
  { timeout: LONG_MS },
  async ({ page, allowErrors, onTestFinished }) => {
    allowErrors(EXPECTED);
    const client = await clientOf(journeyServer().url, await signUp(page));
    const { end, ...things } = await createUserObjects(client);
    onTestFinished(async () => void (await end()));
    // One of the menus exists only during the run.
    const problems = await lookAtMenus(page);
    const ofRuns = userScreens.filter(({ route }) => RUNS.has(route));
    const others = userScreens.filter((screen) => !ofRuns.includes(screen));
    problems.push(...(await visitScreens(page.context(), ofRuns, things)));
    // Stop the run, which would take CPU time from the browser.
    await end();
    problems.push(...(await visitScreens(page.context(), others, things)));
    expect(problems).toEqual([]);
  },
);

journey(
  'operator screens have no axe violations and fit: loading, failed, empty, full, offline',
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

/** Menus in the header for a user whose run is in progress. */
const MENUS = [/^Create$/, /^Notifications/, /^Account: /, /in progress|failed/];

async function lookAtMenus(page: Page): Promise<string[]> {
  const problems: string[] = [];
  await page.goto('/dashboard');
  const header = page.getByRole('banner');
  for (const name of MENUS) {
    const menu = header.getByRole('button', { name });
    await menu.click();
    // The code of the menu may still be loading.
    const opened = menu.and(page.locator('[aria-expanded=true]'));
    await opened.waitFor();
    problems.push(...(await findProblems(page, `menu ${name}`, { popup: true })));
    await page.keyboard.press('Escape');
    await opened.waitFor({ state: 'detached' });
  }
  await expect.poll(() => header.locator('button[aria-haspopup]:visible').count()).toBe(MENUS.length);
  return problems;
}
