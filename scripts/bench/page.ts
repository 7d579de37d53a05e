import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { allRoutes } from '../../e2e/all-routes.ts';
import { type Browser, launchChromium, type Page } from '../../e2e/chromium.ts';
import { LAYOUT_SHIFT_MAX, openAndMeasure, watchLayoutShift } from '../../e2e/layout-shift.ts';
import { FIRST_SCREEN_BYTES_MAX, FIRST_SCREENS_FILE } from '../../web/first-screen-plugin.ts';
import { Client } from '../client/client.ts';
import { startSeparateServer } from '../client/separate-server.ts';
import { ensureWebBuild } from '../prepare/web-build.ts';
import { root } from '../root.ts';
import { type Measured, median } from './measured.ts';

const ROUNDS = 5;
const DESKTOP = { width: 1440, height: 900 };

/** Measures in Chromium how many bytes are downloaded, how soon a sheet opens, and layout shifts. */
export async function measurePage(): Promise<Measured[]> {
  await ensureWebBuild();
  const server = await startSeparateServer();
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

/** Opens a page in a new browser context with an empty cache, signed in if there is an account. */
async function signedIn(browser: Browser, baseURL: string, account: Account | null): Promise<Page> {
  const context = await browser.newContext({ baseURL, viewport: DESKTOP });
  await watchLayoutShift(context);
  if (account) {
    const { email, password } = account;
    await context.request.post('/api/auth/sign-in/email', {
      data: { email, password },
      headers: { origin: baseURL },
    });
    // Makes the browser look signed in before.
    await context.addInitScript({ content: "localStorage.setItem('bakehouse.session', 'expected')" });
  }
  return context.newPage();
}

/** Requests of an uncached browser until the page is shown. */
async function fetched(
  browser: Browser,
  url: string,
  { at, account }: { at: string; account: Account | null },
): Promise<Fetched> {
  const page = await signedIn(browser, url, account);
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

/** Returns how many bytes each first screen needs, as measured by the build. */
async function measuredScreens(): Promise<Measured[]> {
  const file = path.join(root, 'web', 'dist', FIRST_SCREENS_FILE);
  const measured: Record<string, number> = JSON.parse(await readFile(file, 'utf8'));
  return Object.entries(measured).map(([screen, bytes]) => ({
    name: `${screen}: JavaScript of the first screen, gzipped`,
    unit: 'kB',
    ours: bytes / 1000,
    goal: { kind: 'less than', value: FIRST_SCREEN_BYTES_MAX / 1000 },
  }));
}

/** Measures bytes on the network, compared with the same files through brotli at its highest level. */
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

/** Returns the body as it was compressed, because `fetch` would decompress it. */
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

/** Returns the milliseconds from the first click that opens a sheet to the frame that shows it. */
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
