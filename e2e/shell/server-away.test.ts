import { expect } from 'vitest';
import type { Page } from '../chromium.ts';
import { journey, look, soakJourney, WORK_MS } from '../journey.ts';
import { restartable } from '../restartable-server.ts';
import { signUp } from '../sign-up.ts';

/** Waits until the browser has loaded the chunk with this name. */
async function fetched(page: Page, name: string): Promise<void> {
  const isThere = `performance.getEntriesByType('resource').some((entry) => /\\/assets\\/${name}-.{8}\\.js$/.test(entry.name))`;
  await expect.poll(() => page.evaluate<boolean>(isThere)).toBe(true);
}

const AWAY =
  /ERR_CONNECTION|ERR_FAILED|ERR_INTERNET_DISCONNECTED|ERR_INCOMPLETE|ERR_EMPTY_RESPONSE|Failed to fetch|Importing|not be fetched|status of 50[234]|network error/;

journey(
  'if the server becomes unreachable, the page keeps its content, shows that, and recovers automatically',
  { timeout: WORK_MS },
  async ({ openPage, allowErrors, onTestFinished }) => {
    allowErrors(AWAY);
    const server = await restartable({ BAKEHOUSE_PREPARE: 'false', BAKEHOUSE_DRIVER: 'fake' });
    onTestFinished(server.remove);
    const page = await openPage(server.url);
    page.setDefaultTimeout(60_000);
    // Block idle preloading, so that the test doesn't depend on it.
    const sheets = /\/assets\/create-dataset-sheet/;
    await page.route(sheets, (route) => route.abort());
    await signUp(page);
    await page.getByText('No datasets yet').or(page.getByText('Your data: csv')).first().waitFor();
    for (const piece of ['create-menu', 'menu', 'notification-popover']) await fetched(page, piece);

    await server.stop();
    const banner = page
      .getByRole('status')
      .filter({ hasText: 'The server cannot be reached. Trying again…' });
    await banner.getByText(/Last updated (just now|\d+ minutes? ago)\./).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
    await look(page, 'server-away');

    // Already loaded parts open.
    await page.getByRole('button', { name: 'Notifications' }).click();
    await page.getByRole('dialog', { name: 'Notifications' }).waitFor();
    await page.keyboard.press('Escape');

    // A page whose code isn't loaded: the shell stays, and the page area shows why.
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByText('The page opens automatically when it is back.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The page opens automatically when it is back.').waitFor();
    await page.getByRole('link', { name: 'Dashboard', exact: true }).waitFor();
    await look(page, 'server-away-page');
    expect(await page.getByText('Bakehouse was updated').count()).toBe(0);

    // A sheet whose code isn't loaded shows an error in its place, and recovers automatically.
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('menuitem', { name: 'Create Dataset' }).click();
    await page.getByText('The form opens automatically when it is back.').waitFor();
    await look(page, 'server-away-sheet');

    await page.unroute(sheets);
    await server.start();
    await page.getByRole('dialog', { name: 'Create Dataset' }).getByLabel('Name').waitFor();
    await page.getByText('What you enter stays here').waitFor({ state: 'hidden' });
    await page.keyboard.press('Escape');
    await page.getByText('Trying again…').waitFor({ state: 'hidden' });
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
    await page.getByLabel('Current password').waitFor();
  },
);

soakJourney(
  'offline, a page that was not opened before shows that, and only a new build is called an update',
  async ({ page, allowErrors }) => {
    allowErrors(/ERR_INTERNET_DISCONNECTED|Failed to fetch|not be fetched|404/);
    await signUp(page);
    await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'API-Key' }).click();
    await page.getByText('The page opens automatically when it is back.').waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { level: 1, name: 'API-Key' }).waitFor();

    // The file is missing but the build is the same, so no update is announced.
    const gone = (url: URL) => /\/assets\/profile-page/.test(url.pathname);
    await page.route(gone, (route) => route.fulfill({ status: 404, json: {} }));
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByText('This page could not be loaded').waitFor();
    expect(await page.getByText('Bakehouse was updated').count()).toBe(0);
    await page.getByRole('link', { name: 'Dashboard', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();

    // The server now serves another build.
    const origin = new URL(page.url()).origin;
    await page.route(`${origin}/`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: '<script type="module" src="/assets/index-new.js"></script>',
      }),
    );
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByText('Bakehouse was updated').waitFor();
    await page.getByRole('button', { name: 'Reload' }).waitFor();
  },
);
