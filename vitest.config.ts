import { availableParallelism } from 'node:os';
import path from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import sequencer from './scripts/test/sequencer.ts';

/** By default vitest reserves one core for itself, which is half of a two-core machine. */
const maxWorkers = availableParallelism();

/** Only stops tests that hang: no test depends on the speed of the machine. */
const testTimeout = 300_000;

/** Setup file of all projects. */
const patience = path.join(import.meta.dirname, 'scripts/test/wait-patiently.ts');

/** Files that only the soak tier runs. */
const exclude = [
  ...configDefaults.exclude,
  ...(process.env.BAKEHOUSE_TEST_SOAK === 'true' ? [] : ['**/*.soak.test.ts']),
];

/** One project per workspace; the journeys in e2e/ drive a browser and run after the others. */
export default defineConfig({
  test: {
    maxWorkers,
    sequence: { sequencer },
    projects: [
      {
        test: { name: 'contract', include: ['contract/src/**/*.test.ts'], setupFiles: patience, testTimeout },
      },
      {
        test: {
          name: 'scripts',
          include: ['scripts/**/*.test.ts'],
          exclude,
          setupFiles: patience,
          testTimeout,
        },
      },
      {
        test: {
          name: 'server',
          include: ['server/src/**/*.test.ts'],
          exclude,
          globalSetup: 'server/src/testing/global-setup.ts',
          setupFiles: [patience, 'server/src/testing/setup-file.ts'],
          // More workers than cores: these tests wait half of the time, mostly for other processes.
          maxWorkers: maxWorkers + 2,
          sequence: { groupOrder: 1 },
          // The files of a worker share its modules: importing the program again for each took a third of the time.
          isolate: false,
          testTimeout,
          hookTimeout: testTimeout,
          expect: { poll: { timeout: 120_000 } },
        },
      },
      {
        extends: './web/vite.config.ts',
        test: {
          name: 'web',
          root: 'web',
          include: ['src/**/*.test.tsx', 'src/**/*.{dom,mock}.test.ts'],
          environment: 'happy-dom',
          setupFiles: patience,
          maxWorkers,
        },
      },
      {
        test: {
          name: 'web logic',
          include: ['web/src/**/*.test.ts'],
          // The files of a worker share its modules, so those that mock modules run with `web`.
          exclude: [...exclude, '**/*.{dom,mock}.test.ts'],
          setupFiles: [patience, 'web/test-tabs.ts'],
          pool: 'threads',
          isolate: false,
          testTimeout,
        },
      },
      {
        test: {
          name: 'journeys',
          include: ['e2e/**/*.test.ts'],
          exclude,
          globalSetup: 'e2e/global-setup.ts',
          setupFiles: patience,
          // Each journey starts a server, which serves models.
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
          // Only stops journeys that hang.
          testTimeout: 20 * 60_000,
          hookTimeout: 20 * 60_000,
          expect: { poll: { timeout: 5 * 60_000 } },
        },
      },
    ],
  },
});
