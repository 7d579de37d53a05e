import { getSession } from '@bakehouse/contract/accounts';
import { streamEvents } from '@bakehouse/contract/events';
import type { Page } from 'playwright-core';

/** Requests for the session and the event stream. Without them, no page is rendered. */
const SHELL = [getSession.path, streamEvents.path];

/** From now on, collects error responses of the server to the page. */
export function watchServerErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 500) errors.push(`${response.status()} for ${response.url()}`);
  });
  return errors;
}

export type HeldRequests = {
  /** Rejects the requests that are held, and future ones. */
  fail: () => Promise<void>;
  /** Lets future requests through. */
  pass: () => Promise<void>;
};

/**
 * Runs in the page before its own code. Not a Playwright route, which would disable the browser's cache, so
 * that each file would be loaded and compiled again. Rejects with 400, because after a 500 the page would
 * retry three times with growing pauses.
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

/** Holds the page's reads from the API that match the pattern. `fail` rejects them. */
export async function holdRequests(page: Page, pattern: RegExp): Promise<HeldRequests> {
  await page.addInitScript({
    content: `(${HOLD})({ shell: ${JSON.stringify(SHELL)}, pattern: ${pattern} })`,
  });
  return {
    fail: () => page.evaluate('reads.fail()'),
    pass: () => page.evaluate('reads.pass()'),
  };
}

/** Takes the page offline. The browser notifies the page. */
export async function goOffline(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: true,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
}
