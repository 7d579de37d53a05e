import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { findChromium, openProfile } from '../../e2e/chromium.ts';
import { Client } from '../client/client.ts';
import { type SeparateServer, startSeparateServer } from '../client/separate-server.ts';
import { PlainError } from '../plain-error.ts';
import { ensureWebBuild } from '../prepare/web-build.ts';
import { type Measured, median } from './measured.ts';

/** Version that is downloaded when this measurement is requested. Not a dependency, because it has 185 MB. */
const LIGHTHOUSE = 'lighthouse@13.5.0';
const PAGES = [
  { at: '/', isSignedIn: false },
  { at: '/paris', isSignedIn: false },
  { at: '/dashboard', isSignedIn: true },
];
/** Lighthouse's two presets. `phone` simulates a quarter of this CPU and slow 4G. */
const DEVICES = { desktop: ['--preset=desktop'], phone: [] };
const CATEGORIES = ['performance', 'accessibility', 'best-practices'];
const ROUNDS = 3;
const LEAST: Record<string, number> = { desktop: 95, phone: 85 };

type Scores = Record<string, number>;

/** Measures Lighthouse's scores (0 to 100) of the built app, the median of three. Needs an idle machine. */
export async function measureLighthouse(): Promise<Measured[]> {
  await ensureWebBuild();
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-lighthouse-'));
  const server = await startSeparateServer();
  try {
    const headers = path.join(folder, 'headers.json');
    await writeFile(headers, JSON.stringify({ cookie: await signUp(server) }));
    const lines: Measured[] = [];
    for (const { at, isSignedIn } of PAGES) {
      for (const [device, options] of Object.entries(DEVICES)) {
        const visits: Scores[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          const profile = await mkdtemp(path.join(folder, 'profile-'));
          if (isSignedIn) await rememberSession(profile, server.url);
          const session = isSignedIn ? ['--extra-headers', headers, '--disable-storage-reset'] : [];
          visits.push(await visit(`${server.url}${at}`, profile, [...options, ...session]));
        }
        lines.push(
          ...CATEGORIES.map(
            (category): Measured => ({
              name: `Lighthouse of ${at} on a ${device}: ${category}`,
              unit: '',
              ours: median(visits.map((scores) => scores[category] ?? Number.NaN)),
              goal: { kind: 'at least', value: LEAST[device] ?? 0 },
            }),
          ),
        );
      }
    }
    return lines;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

/** Makes the browser look signed in, with an empty cache. The app then shows the shell immediately. */
async function rememberSession(profile: string, url: string): Promise<void> {
  const context = await openProfile(profile);
  const page = await context.newPage();
  await page.goto(`${url}/favicon.svg`);
  await page.evaluate("localStorage.setItem('bakehouse.session', 'expected')");
  await context.close();
}

/** Visits a page with the browser profile in this folder. */
async function visit(url: string, profile: string, options: string[]): Promise<Scores> {
  const chromium = findChromium();
  if (!chromium)
    throw new PlainError("There is no Chromium on this machine: './bakehouse test' installs one.");
  const report = path.join(profile, 'report.json');
  const asRoot = process.getuid?.() === 0 ? ' --no-sandbox' : '';
  const argv = [
    ...['exec', '--yes', `--package=${LIGHTHOUSE}`, '--', 'lighthouse', url, '--quiet'],
    ...['--output=json', `--output-path=${report}`, `--only-categories=${CATEGORIES.join(',')}`],
    ...[`--chrome-flags=--headless=new --user-data-dir=${profile}${asRoot}`, ...options],
  ];
  // Run it in its own folder, which has no package.json.
  const run = () =>
    promisify(execFile)('npm', argv, { cwd: profile, env: { ...process.env, CHROME_PATH: chromium } });
  // Lighthouse sometimes misses the beginning of its own trace, and then says that it should be run again.
  await run()
    .catch(run)
    .catch((error: { stderr?: string }) => {
      throw new PlainError(`${LIGHTHOUSE} could not be fetched from npm, or failed: ${error.stderr?.trim()}`);
    });
  const { categories } = JSON.parse(await readFile(report, 'utf8')) as {
    categories: Record<string, { score: number | null }>;
  };
  return Object.fromEntries(
    Object.entries(categories).map(([name, { score }]) => [name, 100 * (score ?? Number.NaN)]),
  );
}

/** Returns a session cookie. */
async function signUp({ url }: SeparateServer): Promise<string> {
  const account = { name: 'bench', email: 'bench@example.com', password: randomBytes(12).toString('hex') };
  await Client.signUp(url, account);
  const answer = await fetch(`${url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify(account),
  });
  return answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
}
