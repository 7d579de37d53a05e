import type { Exception } from './judge.ts';

/** Generated files, to which the limits of lines and files do not apply. */
const generated = [
  /\.generated\.ts$/,
  /^contract\/openapi\.json$/,
  /^runtime\/src\/bakehouse_runtime\/protocol\.py$/,
];

/** Returns true for a generated file. */
export function isGenerated(file: string): boolean {
  return generated.some((pattern) => pattern.test(file));
}

/** Permitted breaches of the structure rules. The check fails if one is not needed, or listed twice. */
export const exceptions: Exception[] = [
  {
    rule: 'file',
    where: 'server/migrations/0001_baseline.sql',
    reason: 'The whole schema, table by table; applied steps never change.',
  },
  {
    rule: 'folder',
    where: 'contract/src',
    reason:
      'One file per noun of the API, found by its name on both sides: the number grows with the product.',
  },
  {
    rule: 'folder',
    where: 'server/migrations',
    reason: 'One file per step, found by its number: applied steps are never moved or merged.',
  },
  {
    rule: 'folder',
    where: 'docs/decisions',
    reason: 'One file per decision: the number grows with the product.',
  },
  {
    rule: 'folder',
    where: 'web/src/ui',
    reason: 'The kit: one component per file, found by its name.',
  },
  {
    rule: 'function',
    where: 'server/src/modules/privacy/forgotten.test.ts#fillTables',
    reason: 'A table: one row for each table of the database that names a user.',
  },
  {
    rule: 'function',
    where: 'server/src/modules/fine-tuning/validation/check-fine-tune.ts#checkFineTune',
    reason: 'The checks before a fine-tune, in order; each check is a separate function.',
  },
  {
    rule: 'function',
    where: 'runtime/src/bakehouse_runtime/train/diffusion/train.py#train_network',
    reason: 'The steps of one training, in order; each step is a separate function.',
  },
  {
    rule: 'function',
    where: 'scripts/bench/models.ts#toLines',
    reason: 'A table: one entry for each figure, in the order of the report.',
  },
];
