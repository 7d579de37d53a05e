import type { Sheet } from '../lib/sheet.ts';
import { assetSheets } from '../modules/assets/sheets.tsx';
import { contactSheets } from '../modules/contact/sheets.tsx';
import { creditsSheets } from '../modules/credits/sheets.tsx';
import { trainingSheets } from '../modules/training/sheets.tsx';
import { shellSheets } from './shortcuts/sheets.tsx';

/** Every sheet of the app. */
export const sheets: readonly Sheet[] = [
  ...assetSheets,
  ...trainingSheets,
  ...creditsSheets,
  ...contactSheets,
  ...shellSheets,
];

/** The sheet with this name; undefined where the URL names none. */
export function findSheet(name: string | undefined): Sheet | undefined {
  return sheets.find((sheet) => sheet.name === name);
}

/** Each fetches the code of a sheet before it is opened. */
export const sheetPreloads = sheets.map(({ preload }) => preload);

/** Fetches the code of all sheets, where one is about to be opened. */
export function preloadSheets(): void {
  for (const preload of sheetPreloads) void preload();
}
