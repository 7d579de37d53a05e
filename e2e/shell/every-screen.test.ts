import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect, inject } from 'vitest';
import { Client } from '../../scripts/client/client.ts';
import { root } from '../../scripts/root.ts';
import { allRoutes } from '../all-routes.ts';
import { journey } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const WIDTHS = [360, 390, 768, 1280, 1440];

/** What matches in the web app's sources, each once. */
async function inSources(files: string, pattern: RegExp): Promise<string[]> {
  const found = new Set<string>();
  for await (const file of glob(files, { cwd: path.join(root, 'web/src/modules') })) {
    const text = await readFile(path.join(root, 'web/src/modules', file), 'utf8');
    for (const [, name = ''] of text.matchAll(pattern)) found.add(name);
  }
  return [...found];
}

/** Whether an address leads to the page of this path. */
function isOf(route: string, address: string): boolean {
  const pattern = route.replace(/\$\w+/g, '[^/]+').replace(/\$$/, '.+');
  return new RegExp(`^${pattern}$`).test(address.split('?')[0] ?? '');
}

/** What axe finds in both themes, and the widths over whose edge something reaches. */
async function findProblems(page: Page, name: string): Promise<string[]> {
  const problems: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    const axe = new AxeBuilder({ page }).exclude('[data-base-ui-inert]');
    // Behind what hangs over the page it cannot be used, and is looked at without it.
    if (name.startsWith('menu')) axe.disableRules(['landmark-one-main', 'page-has-heading-one', 'region']);
    for (const { id, nodes } of (await axe.analyze()).violations)
      problems.push(
        `${name}, ${colorScheme}: ${id} ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`,
      );
  }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    if (excess > 0) problems.push(`${name}: ${excess} pixels wider than ${width}`);
  }
  return problems;
}

async function settle(page: Page): Promise<void> {
  await page.locator('[role=status][aria-label=Loading]').first().waitFor({ state: 'detached' });
}

journey(
  'every page, sheet and menu is free of axe violations in both themes, and fits five widths',
  { timeout: 15 * 60_000 },
  async ({ page, allowErrors, onTestFinished }) => {
    // Some of the addresses lead nowhere.
    allowErrors(/40[034]/);
    const visitor = await signUp(page);
    const client = await Client.signIn(inject('baseUrl'), { ...visitor, name: visitor.username });
    const { paths, end } = await allRoutes(client);
    onTestFinished(async () => void (await end()));

    const routes = await inSources('**/routes.ts', /path: '([^']+)'/g);
    // An operator's are shown to nobody else.
    const unseen = routes.filter(
      (route) => !route.startsWith('/operator') && !paths.some((one) => isOf(route, one)),
    );
    expect(unseen, 'pages that e2e/all-routes.ts does not name').toEqual([]);

    const problems: string[] = [];
    for (const one of paths) {
      await page.goto(one);
      await page.locator('h1').first().waitFor();
      await settle(page);
      problems.push(...(await findProblems(page, one)));
    }
    for (const sheet of await inSources('*/sheets.tsx', /name: '([a-z-]+)'/g)) {
      await page.goto(`/dashboard?sheet=${sheet}`);
      await page.getByRole('dialog').first().waitFor();
      await settle(page);
      problems.push(...(await findProblems(page, `sheet ${sheet}`)));
    }
    await page.goto('/dashboard');
    await settle(page);
    const menus = page.getByRole('banner').locator('button[aria-haspopup]:visible');
    for (let number = 0; number < (await menus.count()); number += 1) {
      await menus.nth(number).click();
      problems.push(...(await findProblems(page, `menu ${number}`)));
      await page.keyboard.press('Escape');
    }
    expect(problems).toEqual([]);
  },
);
