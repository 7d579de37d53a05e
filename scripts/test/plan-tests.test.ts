import { expect, it } from 'vitest';
import { planTests } from './plan-tests.ts';

const files = [
  'contract/src/money.test.ts',
  'web/src/ui/money.test.tsx',
  'runtime/tests/test_lora.py',
  'models/tests/test_scenes.py',
  'e2e/accounts/sign-up.test.ts',
];

it('runs everything when nothing is asked for', () => {
  const all = { files: null, name: null };
  expect(planTests([], files)).toEqual({ units: all, runtime: all, journeys: all });
});

it('takes a word that is part of a path for files, in their runners only', () => {
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

it('takes other words for the name of a test', () => {
  const named = { files: null, name: 'rounds half away' };
  expect(planTests(['rounds half away'], files)).toEqual({ units: named, runtime: named, journeys: named });
  expect(planTests(['contract', 'rounds'], files).units).toEqual({
    files: ['contract/src/money.test.ts'],
    name: 'rounds',
  });
});
