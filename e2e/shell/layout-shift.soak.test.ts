import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { Client } from '../../scripts/client/client.ts';
import { allRoutes } from '../all-routes.ts';
import { journey, WORK_MS } from '../journey.ts';
import { journeyServer } from '../journey-server.ts';
import { LAYOUT_SHIFT_MAX, openAndMeasure, watchLayoutShift } from '../layout-shift.ts';
import { signUp } from '../sign-up.ts';

const TABS = 3;
/** Pages that are checked while a run is in progress. */
const OF_RUNS = /run|llm-training/;

journey(
  'no page shifts its layout while it loads',
  { timeout: 2 * WORK_MS },
  async ({ page, allowErrors, onTestFinished }) => {
    // Errors that are expected, because two of the URLs do not exist.
    allowErrors(/40[034]/);
    page.setDefaultTimeout(60_000);
    await watchLayoutShift(page.context());
    const moved: Record<string, string[]> = {};
    const measure = async (tab: Page, path: string) => {
      for (const width of [1440, 390]) {
        await tab.setViewportSize({ width, height: 900 });
        const shift = await openAndMeasure(tab, path);
        if (shift.value >= LAYOUT_SHIFT_MAX)
          moved[`${path} at ${width} px: ${shift.value.toFixed(3)}`] = shift.moved;
      }
    };
    await measure(page, '/');
    await page.setViewportSize({ width: 1440, height: 900 });
    const visitor = await signUp(page);
    const client = await Client.signIn(journeyServer().url, { ...visitor, name: visitor.username });
    const { paths, end } = await allRoutes(client);
    onTestFinished(async () => void (await end()));
    // Open the next page while this one settles.
    const measureAll = async (rest: string[]) => {
      const work = async () => {
        const tab = await page.context().newPage();
        tab.setDefaultTimeout(60_000);
        for (let path = rest.shift(); path; path = rest.shift()) await measure(tab, path);
        await tab.close();
      };
      await Promise.all(Array.from({ length: TABS }, work));
    };
    await measureAll(paths.filter((path) => OF_RUNS.test(path)));
    // Stop the run, which would take CPU time from the browser.
    await end();
    await measureAll(paths.filter((path) => !OF_RUNS.test(path)));
    expect(moved).toEqual({});
  },
);
