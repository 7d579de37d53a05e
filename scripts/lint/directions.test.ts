import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../root.ts';
import { checkImport, findPackageViolation, findReexportViolation } from './directions.ts';

describe('refuseImport', () => {
  it.each([
    ['server/src/modules/fine-tuning/start-run.ts', 'server/src/modules/billing/hold-credits.ts'],
    ['server/src/modules/fine-tuning/start-run.ts', 'server/src/modules/accounts/queries.ts'],
    ['server/src/modules/fine-tuning/start-run.ts', 'server/src/engine/plan.ts'],
    ['server/src/modules/billing/jobs/seal.ts', 'server/src/modules/billing/queries.ts'],
    ['server/src/platform/context.ts', 'server/src/config.ts'],
    ['server/src/app.ts', 'server/src/modules/assets/routes.ts'],
    ['server/src/wires/openai/videos.ts', 'server/src/modules/videos/videos.ts'],
    ['server/src/app.ts', 'server/src/wires/openai/routes.ts'],
    ['server/src/modules/assets/upload.test.ts', 'server/src/testing/database.ts'],
    ['server/src/modules/billing/quote.ts', 'contract/src/money.ts'],
    ['web/src/modules/fine-tuning/runs/run-page.tsx', 'web/src/modules/datasets/asset-queries.ts'],
    ['web/src/shell/header/header.tsx', 'web/src/modules/billing/balance-widget.tsx'],
    ['web/src/routes.tsx', 'web/src/modules/models/model-page.tsx'],
    ['scripts/ledger.ts', 'server/src/config.ts'],
  ])('%s may import %s', (from, to) => {
    expect(checkImport(from, to)).toBeNull();
  });

  it.each([
    [
      'server/src/modules/billing/quote.ts',
      'server/src/modules/fine-tuning/queries.ts',
      /billing may not use fine-tuning/,
    ],
    ['server/src/modules/assets/upload.ts', 'server/src/engine/plan.ts', /assets may not use engine/],
    ['server/src/engine/plan.ts', 'server/src/modules/assets/queries.ts', /engine must not import modules/],
    [
      'server/src/platform/db/setup/migrate.ts',
      'server/src/engine/plan.ts',
      /platform must not import engine/,
    ],
    ['server/src/modules/assets/upload.ts', 'server/src/app.ts', /modules must not import app/],
    ['server/src/modules/chat/routes.ts', 'server/src/wires/anthropic/routes.ts', /must not import wires/],
    ['server/src/wires/openai/routes.ts', 'server/src/wires/anthropic/routes.ts', /wires.openai may not use/],
    ['server/src/wires/openai/routes.ts', 'server/src/modules/privacy/purge.ts', /wires.openai may not use/],
    ['server/src/modules/assets/upload.ts', 'server/src/testing/database.ts', /Only tests/],
    [
      'web/src/modules/datasets/asset-list.tsx',
      'web/src/modules/fine-tuning/runs/run-state.ts',
      /may not use fine-tuning/,
    ],
    ['web/src/ui/button.tsx', 'web/src/modules/datasets/asset-calls.ts', /ui must not import modules/],
    [
      'web/src/modules/datasets/asset-calls.ts',
      'web/src/shell/header/header.tsx',
      /modules must not import shell/,
    ],
    ['web/src/lib/api/api-client.ts', 'server/src/config.ts', /meet in contract/],
    ['contract/src/money.ts', 'server/src/config.ts', /meet in contract/],
  ])('%s must not import %s', (from, to, reason) => {
    expect(checkImport(from, to)).toMatch(reason);
  });
});

it('lets contract import zod and nothing else', () => {
  expect(findPackageViolation('contract/src/money.ts', 'zod')).toBeNull();
  expect(findPackageViolation('contract/src/money.ts', 'node:fs')).toMatch(/zod only/);
  expect(findPackageViolation('contract/src/money.test.ts', 'vitest')).toBeNull();
});

it('refuses barrels in the web app', () => {
  expect(findReexportViolation('web/src/modules/datasets/asset-queries.ts')).toMatch(/no barrels/);
  expect(findReexportViolation('server/src/modules/assets/queries.ts')).toBeNull();
});

it.each(['server', 'web'])('has no cycles between modules of %s', (pkg) => {
  const folder = `${pkg}/src/modules`;
  const modules = readdirSync(path.join(root, folder));
  const mayUse = (from: string, to: string) =>
    checkImport(`${folder}/${from}/a.ts`, `${folder}/${to}/a.ts`) === null;
  const pairs = modules.flatMap((one) =>
    modules.filter((other) => one < other).map((other) => [one, other] as const),
  );
  expect(pairs.filter(([one, other]) => mayUse(one, other) && mayUse(other, one))).toEqual([]);
});
