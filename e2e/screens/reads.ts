import { getSession } from '@bakehouse/contract/accounts';
import { streamEvents } from '@bakehouse/contract/events';
import type { Page, Route } from 'playwright-core';

/** Who is signed in, and the event stream: without them there is no page at all. */
const SHELL = [getSession.path, streamEvents.path];
/** What this server's calls begin with. */
const API = /^https?:\/\/[^/]+\/(api|v1)\//;

/** The errors with which the server itself answers a page from now on. */
export function watchServerErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 500) errors.push(`${response.status()} for ${response.url()}`);
  });
  return errors;
}

export type Reads = {
  /** Refuses what was held back, and whatever else is asked from now on. */
  fail: () => Promise<void>;
  /** Lets everything through from now on. */
  pass: () => void;
};

/** Holds back the answers to everything that a page reads, or to what fits the pattern, until it is said what becomes of them. */
export async function holdReads(page: Page, pattern: RegExp): Promise<Reads> {
  let state: 'held' | 'failing' | 'passing' = 'held';
  let held: Route[] = [];
  await page.route(API, async (route) => {
    const { pathname } = new URL(route.request().url());
    const isRead = route.request().method() === 'GET' && !SHELL.includes(pathname) && pattern.test(pathname);
    if (!isRead || state === 'passing') return route.fallback();
    if (state === 'failing') return refuse(route);
    held.push(route);
  });
  return {
    fail: async () => {
      state = 'failing';
      await Promise.all(held.map(refuse));
      held = [];
    },
    pass: () => {
      state = 'passing';
    },
  };
}

/** From now on nothing answers this page, and its browser has said so. */
export async function takeNetworkAway(page: Page): Promise<void> {
  await page.route(/./, (route) => route.abort('internetdisconnected'));
  await page.evaluate('dispatchEvent(new Event("offline"))');
}

/** The page may have given up waiting meanwhile: then nobody hears the answer. */
function refuse(route: Route): Promise<void> {
  return route
    .fulfill({
      // A page that is told 500 asks three times more, and waits longer each time.
      status: 400,
      json: { error: { code: 'invalid_request', message: 'The disk is on fire' } },
    })
    .catch(() => undefined);
}
