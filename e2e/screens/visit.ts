import type { BrowserContext, Locator, Page } from 'playwright-core';
import { screenshotPath } from '../screenshots.ts';
import { findOverflow, findProblems, PHONE } from './find-problems.ts';
import { goOffline, holdRequests, watchServerErrors } from './held-requests.ts';
import type { Screen } from './screens.ts';

/** Number of tabs. While one waits, others are checked. */
const TABS = 3;
/** Number of retries, because a retry may cause further requests that fail too. */
const ROUNDS_MAX = 3;
const LOADING = '[role=status][aria-label^=Loading]';
const PAGE_CODE = '[aria-label="Loading the page"]';

/** Checks all states of all screens, each in its own tab. Returns the problems. */
export function visitScreens<Made>(
  context: BrowserContext,
  screens: readonly Screen<Made>[],
  made: Made,
): Promise<string[]> {
  return inTabs(context, screens, async (page, screen) => {
    const at = typeof screen.at === 'string' ? screen.at : screen.at(made);
    return screen.failed === undefined
      ? seeFull(page, { ...screen, at })
      : seeEachState(page, { ...screen, at, failed: screen.failed });
  });
}

/** Checks that each screen loads and fits on a phone. Returns the problems. */
export function visitFullScreens<Made>(
  context: BrowserContext,
  screens: readonly Screen<Made>[],
  made: Made,
): Promise<string[]> {
  return inTabs(context, screens, async (page, screen) => {
    if (screen.alike === 'same') return [];
    const at = typeof screen.at === 'string' ? screen.at : screen.at(made);
    await page.setViewportSize({ width: PHONE, height: 900 });
    await page.goto(at);
    await waitForFull(page, { ...screen, at });
    await settle(page);
    return findOverflow(page, at, PHONE);
  });
}

/**
 * Checks the screens that are empty for a new account. One is checked completely, because they look alike.
 */
export function visitEmptyScreens(
  context: BrowserContext,
  screens: readonly Screen<never>[],
): Promise<string[]> {
  const empties = screens.flatMap(({ at, empty }) =>
    empty && typeof at === 'string' ? [{ at, empty }] : [],
  );
  const [first] = empties.map(({ at }) => at);
  return inTabs(context, empties, async (page, { at, empty }) => {
    await page.goto(at);
    await content(page, at).getByText(empty).first().waitFor();
    await settle(page);
    return findProblems(page, `${at}, empty`, { alike: at !== first });
  });
}

/** Checks the operators' pages as an ordinary user. They look alike, with different texts. */
export function visitDeniedScreens(
  context: BrowserContext,
  screens: readonly Screen<never>[],
): Promise<string[]> {
  const denials = screens.flatMap(({ at, denied }) =>
    denied && typeof at === 'string' ? [{ at, denied }] : [],
  );
  const [first] = denials.map(({ at }) => at);
  return inTabs(context, denials, async (page, { at, denied }) => {
    await page.goto(at);
    await content(page, at).getByText(denied).waitFor();
    return at === first ? findProblems(page, `${at}, denied`, { alike: true }) : [];
  });
}

type Visit = Pick<Screen<never>, 'full' | 'reads' | 'alike'> & { at: string };

/**
 * Holds the page's requests, fails them, and retries with the page's own button. Then takes the network away;
 * the data must stay visible.
 */
async function seeEachState(page: Page, screen: Visit & { failed: string }): Promise<string[]> {
  const { at, failed, reads: pattern = /./ } = screen;
  const reads = await holdRequests(page, pattern);
  await page.goto(at);
  const main = content(page, at);
  await main.locator(`${LOADING}:not(${PAGE_CODE})`).first().waitFor();
  // Check these once, because skeletons, errors and the offline state look the same everywhere.
  const alike = { alike: true };
  const problems = await findProblems(page, `${at}, loading`, { loading: true, ...alike });

  await reads.fail();
  await main.getByRole('alert').filter({ hasText: failed }).first().waitFor();
  await settle(page);
  await main.getByRole('button', { name: 'Try again' }).first().waitFor();
  problems.push(...(await findProblems(page, `${at}, failed`, alike)));

  await reads.pass();
  await tryAgain(page, main);
  problems.push(...(await lookAtFull(page, screen)));
  if (screen.alike) return problems;
  await goOffline(page);
  await page.getByText('The server cannot be reached').first().waitFor();
  await waitForFull(page, screen);
  const offline = await findProblems(page, `${at}, offline`, alike);
  return [...problems, ...offline];
}

async function seeFull(page: Page, screen: Visit): Promise<string[]> {
  await page.goto(screen.at);
  return lookAtFull(page, screen);
}

async function lookAtFull(page: Page, screen: Visit): Promise<string[]> {
  await waitForFull(page, screen);
  await settle(page);
  return findProblems(page, `${screen.at}, full`, { alike: screen.alike !== undefined });
}

function waitForFull(page: Page, { at, full }: Pick<Visit, 'at' | 'full'>): Promise<void> {
  const main = content(page, at);
  return main
    .getByText(full)
    .or(main.getByRole('link', { name: full }))
    .filter({ visible: true })
    .first()
    .waitFor();
}

/** Clicks every button "Try again" until everything has loaded. */
async function tryAgain(page: Page, main: Locator): Promise<void> {
  const buttons = main.getByRole('alert').getByRole('button', { name: 'Try again' });
  for (let round = 1; (await buttons.count()) > 0; round += 1) {
    if (round > ROUNDS_MAX) throw new Error('The page does not load after retrying');
    await buttons.evaluateAll((all: { click: () => void }[]) => {
      for (const button of all) button.click();
    });
    await buttons.first().waitFor({ state: 'detached' });
    await settle(page);
  }
}

/** Returns the content at a URL: the sheet if one is open, otherwise the page. */
function content(page: Page, at: string): Locator {
  return at.includes('sheet=') ? page.getByRole('dialog').first() : page.getByRole('main');
}

async function settle(page: Page): Promise<void> {
  await page.locator(LOADING).first().waitFor({ state: 'detached' });
}

/** Returns the failure, so that other screens are still checked. */
async function inTabs<One>(
  context: BrowserContext,
  all: readonly One[],
  visit: (page: Page, one: One) => Promise<string[]>,
): Promise<string[]> {
  const problems: string[] = [];
  const rest = [...all];
  const work = async () => {
    for (let one = rest.shift(); one; one = rest.shift()) {
      const page = await context.newPage();
      const serverErrors = watchServerErrors(page);
      try {
        problems.push(...(await visit(page, one)));
      } catch (error) {
        problems.push(`${page.url()}: ${String(error)}`);
        await page.screenshot({ path: screenshotPath(`failed-${page.url()}`) });
      }
      problems.push(...serverErrors);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.close();
    }
  };
  await Promise.all(Array.from({ length: TABS }, work));
  return problems;
}
