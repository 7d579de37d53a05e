import type { Exception } from './judge.ts';

/** Files that a program writes: no rule asks how long they are, or how many. */
const generated = [
  /\.generated\.ts$/,
  /^contract\/openapi\.json$/,
  /^server\/migrations\/schema\.sql$/,
  /^runtime\/src\/bakehouse_runtime\/protocol\.py$/,
];

/** Whether a program writes the file. */
export function isGenerated(file: string): boolean {
  return generated.some((pattern) => pattern.test(file));
}

const toBeSplit = 'to be split';

/** What may break a rule of the structure, and why. One that is not needed any more, or stands twice, is refused. */
export const exceptions: Exception[] = [
  // For good.
  {
    rule: 'file',
    where: 'server/migrations/0061_given_credits.sql',
    reason: 'A migration that databases have run is never changed.',
  },
  {
    rule: 'folder',
    where: 'contract/src',
    reason:
      'One file per noun of the wire, looked for by its name on both sides: the number grows with the product.',
  },
  {
    rule: 'folder',
    where: 'docs/decisions',
    reason: 'One file per decision: the number grows with the product.',
  },
  {
    rule: 'folder',
    where: 'server/migrations',
    reason: 'One file per step, forward only: the number grows with the product.',
  },
  {
    rule: 'folder',
    where: 'web/src/ui',
    reason: 'The kit: one component per file, looked for by its name.',
  },
  {
    rule: 'function',
    where: 'scripts/bench/models.ts#toLines',
    reason: 'A table: one entry for each figure, in the order of the report.',
  },
  {
    rule: 'function',
    where: 'server/src/modules/assets/preview/csv-records.ts#csvRecords',
    reason: 'One state machine, state by state that of CPython, so that the two can be held side by side.',
  },

  { rule: 'function', where: 'web/src/modules/assets/files/rows-preview.tsx#Page', reason: toBeSplit },
  { rule: 'function', where: 'web/src/modules/assets/asset-list.tsx#AssetList', reason: toBeSplit },
  { rule: 'function', where: 'web/src/modules/assets/asset-page.tsx#LoadedPage', reason: toBeSplit },
  {
    rule: 'function',
    where: 'web/src/modules/assets/create-dataset-sheet.tsx#CreateDatasetSheet',
    reason: toBeSplit,
  },
  { rule: 'function', where: 'web/src/modules/assets/files/file-table.tsx#FileTable', reason: toBeSplit },
  { rule: 'function', where: 'web/src/ui/combobox.tsx#Combobox', reason: toBeSplit },
  { rule: 'function', where: 'web/src/ui/data-table.tsx#DataTable', reason: toBeSplit },
  { rule: 'function', where: 'web/src/ui/sheet.tsx#Sheet', reason: toBeSplit },
];
