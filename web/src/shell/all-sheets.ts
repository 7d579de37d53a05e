import type { Sheet } from '../lib/sheet.ts';
import { creditsSheets } from '../modules/billing/sheets.tsx';
import { contactSheets } from '../modules/contact/sheets.tsx';
import { assetSheets } from '../modules/datasets/sheets.tsx';
import { trainingSheets } from '../modules/fine-tuning/sheets.tsx';
import { shellSheets } from './shortcuts/sheets.tsx';

/** All sheets of the app. */
export const sheets: readonly Sheet[] = [
  ...assetSheets,
  ...trainingSheets,
  ...creditsSheets,
  ...contactSheets,
  ...shellSheets,
];

/** Returns the sheet with this name; undefined if the URL names an unknown one. */
export function findSheet(name: string | undefined): Sheet | undefined {
  return sheets.find((sheet) => sheet.name === name);
}

/** Preloads the code of all sheets when one is likely to be opened. If this fails, opening a sheet loads it. */
export function preloadSheets(): void {
  for (const { preload } of sheets) preload().catch(() => undefined);
}
