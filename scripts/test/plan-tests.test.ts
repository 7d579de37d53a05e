import { expect, it } from 'vitest';
import { planTests } from './plan-tests.ts';

const files = new Map([
  ['contract/src/money.test.ts', "it('rounds half away from zero')"],
  ['web/src/ui/money.test.tsx', ''],
  ['runtime/tests/test_lora.py', 'def test_rounds_half_away():'],
  ['models/tests/test_scenes.py', ''],
  ['e2e/accounts/sign-up.test.ts', ''],
]);

it('runs everything without arguments', () => {
  const all = { files: null, name: null };
  expect(planTests([], files)).toEqual({ units: all, runtime: all, journeys: all });
});

it('a word that is part of a path selects these files, and only their runners', () => {
  expect(planTests(['money'], files)).toEqual({
    units: { files: ['contract/src/money.test.ts', 'web/src/ui/money.test.tsx'], name: null },
    runtime: null,
    journeys: null,
  });
  expect(planTests(['./runtime/tests/test_lora.py', 'sign-up'], files)).toEqual({
    units: null,
    runtime: { files: ['runtime/tests/test_lora.py'], name: null },
    journeys: { files: ['e2e/accounts/sign-up.test.ts'], name: null },
  });
  expect(planTests(['test_scenes'], files).runtime?.files).toEqual(['models/tests/test_scenes.py']);
});

it('other words are the name of a test, which is searched for in files that contain all of them', () => {
  const name = 'rounds half away';
  expect(planTests([name], files)).toEqual({
    units: { files: ['contract/src/money.test.ts'], name },
    runtime: { files: ['runtime/tests/test_lora.py'], name },
    journeys: null,
  });
  expect(planTests(['contract', 'rounds'], files).units).toEqual({
    files: ['contract/src/money.test.ts'],
    name: 'rounds',
  });
});

it('runs nothing if no file contains the word', () => {
  expect(planTests(['acounts'], files)).toEqual({ units: null, runtime: null, journeys: null });
});

it('a soak selects only the files of the soak tier', () => {
  const soaking = new Map([
    ...files,
    ['server/src/survival/kill-nine.test.ts', "import { effort } from '../testing/soak.ts';"],
    ['server/src/fuzz.soak.test.ts', ''],
    ['server/src/testing/deploy/chart.test.ts', "import { effort } from '../soak.ts';"],
    ['runtime/tests/test_seeds.py', '@pytest.mark.soak'],
    ['e2e/images/paris.test.ts', "soakJourney('users share the queue')"],
  ]);
  expect(planTests([], soaking, { soak: true })).toEqual({
    units: {
      files: [
        'server/src/survival/kill-nine.test.ts',
        'server/src/fuzz.soak.test.ts',
        'server/src/testing/deploy/chart.test.ts',
      ],
      name: null,
    },
    runtime: { files: ['runtime/tests/test_seeds.py'], name: null },
    journeys: { files: ['e2e/images/paris.test.ts'], name: null },
  });
  expect(planTests(['money'], soaking, { soak: true }).units).toBeNull();
  expect(planTests(['server/src/fuzz'], soaking).units).toBeNull();
});
