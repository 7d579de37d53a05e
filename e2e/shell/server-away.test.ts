import { journey, look, soakJourney, WORK_MS } from '../journey.ts';
import { restartable } from '../restartable-server.ts';
import { signUp } from '../sign-up.ts';

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
    // The Create menu preloads the sheets.
    const sheets = /\/assets\/create-dataset-sheet/;
    await page.route(sheets, (route) => route.abort());
    await signUp(page);
    await page.getByText('No datasets yet').or(page.getByText('Your data: csv')).first().waitFor();
    await page.getByRole('button', { name: 'Notifications' }).waitFor();

    await server.stop();
    const banner = page
      .getByRole('status')
      .filter({ hasText: 'The server cannot be reached. Trying again…' });
    await banner.getByText(/Last updated (just now|\d+ minutes? ago)\./).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
    await look(page, 'server-away');

    // Parts whose code has been loaded open.
    await page.getByRole('button', { name: 'Notifications' }).click();
    await page.getByRole('dialog', { name: 'Notifications' }).waitFor();
    await page.keyboard.press('Escape');

    // The code of this page has not been loaded. The shell remains, and the page area shows the reason.
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByText('The page opens automatically when it is back.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The page opens automatically when it is back.').waitFor();
    await page.getByRole('link', { name: 'Dashboard', exact: true }).waitFor();
    await look(page, 'server-away-page');

    // A sheet whose code isn't loaded shows an error in its place.
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('menuitem', { name: 'Create Dataset' }).click();
    await page.getByText('This part of the page could not be loaded').waitFor();
    await look(page, 'server-away-sheet');

    await page.unroute(sheets);
    await server.start();
    await page.getByText('Trying again…').waitFor({ state: 'hidden' });
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('dialog', { name: 'Create Dataset' }).getByLabel('Name').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Current password').waitFor();
  },
);

soakJourney(
  'offline, a page that was not opened before shows that, and opens when the server is back',
  async ({ page, allowErrors }) => {
    allowErrors(/ERR_INTERNET_DISCONNECTED|Failed to fetch|not be fetched|404/);
    await signUp(page);
    await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'API-Key' }).click();
    await page.getByText('The page opens automatically when it is back.').waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { level: 1, name: 'API-Key' }).waitFor();

    // An update of the server has replaced the page's code.
    const gone = (url: URL) => /\/assets\/profile-page/.test(url.pathname);
    await page.route(gone, (route) => route.fulfill({ status: 404, json: {} }));
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByText('This page could not be loaded').waitFor();
    await page.getByRole('button', { name: 'Reload' }).waitFor();
    await page.getByRole('link', { name: 'Dashboard', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
  },
);
