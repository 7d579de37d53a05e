import { getSession } from '@bakehouse/contract/accounts';
import { streamEvents } from '@bakehouse/contract/events';
import type { Page } from 'playwright-core';

/** Who is signed in, and the event stream: without them there is no page at all. */
const SHELL = [getSession.path, streamEvents.path];

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
  pass: () => Promise<void>;
};

/**
 * Runs in the page before its own code. A route of Playwright's would take the browser's cache from the page, and each of its
 * files would be read and compiled anew. What is refused says 400: a page that is told 500 asks three times more, and waits
 * longer each time.
 */
const HOLD = `({ shell, pattern }) => {
  const { fetch } = globalThis;
  const refuse = () => Response.json({ error: { code: 'invalid_request', message: 'The disk is on fire' } }, { status: 400 });
  let state = 'held';
  let held = [];
  globalThis.reads = {
    fail: () => {
      state = 'failing';
      for (const answer of held) answer(refuse());
      held = [];
    },
    pass: () => { state = 'passing'; },
  };
  globalThis.fetch = (input, init) => {
    const { pathname } = new URL(input.url ?? input, location.href);
    const method = init?.method ?? input.method ?? 'GET';
    const isRead = /^[/](api|v1)[/]/.test(pathname) && method === 'GET' && !shell.includes(pathname) && pattern.test(pathname);
    if (!isRead || state === 'passing') return fetch(input, init);
    if (state === 'failing') return Promise.resolve(refuse());
    return new Promise((resolve) => held.push(resolve));
  };
}`;

/** Holds back the answers to everything that a page reads, or to what fits the pattern, until it is said what becomes of them. */
export async function holdReads(page: Page, pattern: RegExp): Promise<Reads> {
  await page.addInitScript({
    content: `(${HOLD})({ shell: ${JSON.stringify(SHELL)}, pattern: ${pattern} })`,
  });
  return {
    fail: () => page.evaluate('reads.fail()'),
    pass: () => page.evaluate('reads.pass()'),
  };
}

/** From now on nothing answers this page, and its browser has said so. */
export async function takeNetworkAway(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: true,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
}
