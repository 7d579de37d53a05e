import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { allRoutes } from '../../e2e/all-routes.ts';
import { type Browser, launchChromium, type Page } from '../../e2e/chromium.ts';
import { LAYOUT_SHIFT_MAX, openAndMeasure, watchLayoutShift } from '../../e2e/layout-shift.ts';
import { FIRST_SCREENS_FILE, firstScreens } from '../../web/first-screen-plugin.ts';
import { Client } from '../client/client.ts';
import { startOwnServer } from '../client/own-server.ts';
import { ensureWebBuild } from '../prepare/web-build.ts';
import { root } from '../root.ts';
import { type Measured, median } from './measured.ts';

const ROUNDS = 5;
const DESKTOP = { width: 1440, height: 900 };

/** What a browser has to fetch, how soon a sheet opens, and how much pages move, all in a real Chromium. */
export async function measurePage(): Promise<Measured[]> {
  await ensureWebBuild();
  const server = await startOwnServer();
  const browser = await launchChromium();
  try {
    const account = { name: 'bench', email: 'bench@example.com', password: randomBytes(12).toString('hex') };
    const client = await Client.signUp(server.url, account);
    const landing = await fetched(browser, server.url, { at: '/', account: null });
    const generator = await fetched(browser, server.url, { at: '/paris', account: null });
    const dashboard = await fetched(browser, server.url, { at: '/dashboard', account });
    const opened: number[] = [];
    for (let round = 0; round < ROUNDS; round++)
      opened.push(await firstOpening(await signedIn(browser, server.url, account)));
    return [
      ...(await measuredScreens()),
      ...(await toLines('landing page', landing)),
      ...(await toLines('generator page', generator)),
      ...(await toLines('dashboard', dashboard)),
      {
        name: 'first opening of a sheet',
        unit: 'ms',
        ours: median(opened),
        goal: { kind: 'less than', value: 100 },
      },
      {
        name: 'worst layout shift of a page',
        unit: '',
        ours: await worstShift(await signedIn(browser, server.url, account), client),
        goal: { kind: 'less than', value: LAYOUT_SHIFT_MAX },
      },
    ];
  } finally {
    await browser.close();
    await server.stop();
  }
}

type Account = { email: string; password: string };
type Fetched = { requests: number; scripts: string[] };

/** A page of a browser of its own, signed in where there is an account, with nothing in its cache. */
async function signedIn(browser: Browser, baseURL: string, account: Account | null): Promise<Page> {
  const context = await browser.newContext({ baseURL, viewport: DESKTOP });
  await watchLayoutShift(context);
  if (account) {
    const { email, password } = account;
    await context.request.post('/api/auth/sign-in/email', {
      data: { email, password },
      headers: { origin: baseURL },
    });
    // As in a browser in which somebody is signed in.
    await context.addInitScript({ content: "localStorage.setItem('bakehouse.session', 'expected')" });
  }
  return context.newPage();
}

/** What an uncached browser asks for until the page is there. What follows when it is idle is not counted. */
async function fetched(
  browser: Browser,
  url: string,
  { at, account }: { at: string; account: Account | null },
): Promise<Fetched> {
  const page = await signedIn(browser, url, account);
  await page.addInitScript({ content: 'globalThis.requestIdleCallback = () => 0' });
  const asked: { url: string; isScript: boolean }[] = [];
  page.on('request', (request) => {
    const isScript = request.resourceType() === 'script' || /\/assets\/.*\.js$/.test(request.url());
    asked.push({ url: request.url(), isScript });
  });
  await openAndMeasure(page, at);
  await page.context().close();
  const scripts = asked.filter(({ isScript }) => isScript).map((request) => request.url);
  return { requests: asked.length, scripts: [...new Set(scripts)] };
}

/** What a first screen cannot be shown without, as the build has measured it. */
async function measuredScreens(): Promise<Measured[]> {
  const file = path.join(root, 'web', 'dist', FIRST_SCREENS_FILE);
  const bytes: Record<keyof typeof firstScreens, number> = JSON.parse(await readFile(file, 'utf8'));
  return Object.entries(firstScreens).map(([screen, { bytesMax }]) => ({
    name: `${screen}: JavaScript of the first screen, gzipped`,
    unit: 'kB',
    ours: bytes[screen as keyof typeof firstScreens] / 1000,
    goal: { kind: 'less than', value: bytesMax / 1000 },
  }));
}

/** The bytes as they go out, against the same files through brotli at its best. */
async function toLines(name: string, { requests, scripts }: Fetched): Promise<Measured[]> {
  let onWire = 0;
  let plain = 0;
  let best = 0;
  for (const script of scripts) {
    const { body, encoding } = await rawBytes(script);
    const source = encoding === 'br' ? brotliDecompressSync(body) : body;
    onWire += body.length;
    plain += source.length;
    best += brotliCompressSync(source, {
      params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
    }).length;
  }
  return [
    { name: `${name}: requests, uncached`, unit: '', ours: requests },
    { name: `${name}: JavaScript on the wire`, unit: 'kB', ours: onWire / 1000 },
    {
      name: `${name}: JavaScript shrinks`,
      unit: 'times',
      ours: plain / onWire,
      reference: { what: 'brotli', value: plain / best },
      goal: { kind: 'ratio at least', value: 0.97 },
    },
  ];
}

/** The body without being unpacked, which `fetch` would do. */
function rawBytes(url: string): Promise<{ body: Buffer; encoding: string | undefined }> {
  return new Promise((resolve, reject) => {
    http
      .get(url, { headers: { 'accept-encoding': 'gzip, br' } }, (answer) => {
        buffer(answer).then(
          (body) => resolve({ body, encoding: answer.headers['content-encoding'] }),
          reject,
        );
      })
      .once('error', reject);
  });
}

/** Milliseconds from the click that opens a sheet for the first time to the frame that shows it. */
async function firstOpening(page: Page): Promise<number> {
  await page.goto('/dashboard');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const item = page.getByRole('menuitem', { name: 'Create Model' });
  await item.waitFor();
  await page.evaluate(`
    globalThis.opened = new Promise((resolve) => {
      let clicked = 0;
      addEventListener('click', (event) => { clicked = event.timeStamp; }, { capture: true, once: true });
      new MutationObserver((_, observer) => {
        if (!document.querySelector('[role=dialog]')) return;
        observer.disconnect();
        requestAnimationFrame(() => resolve(performance.now() - clicked));
      }).observe(document.body, { childList: true, subtree: true });
    });
    undefined;
  `);
  await item.click();
  const opened = await page.evaluate<number>('globalThis.opened');
  await page.context().close();
  return opened;
}

async function worstShift(page: Page, client: Client): Promise<number> {
  const { paths, end } = await allRoutes(client);
  let worst = 0;
  for (const at of paths) worst = Math.max(worst, (await openAndMeasure(page, at)).value);
  await end();
  return worst;
}
