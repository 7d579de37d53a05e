import { storedChoice } from './stored-choice.ts';

/** The height of table rows, chosen in the account menu. */
export const densityChoice = storedChoice('bakehouse.density', ['comfortable', 'compact'], 'comfortable');

/** Returns the row height in pixels for the chosen density. Compact rows keep room for two lines of text. */
export function useRowHeight(comfortable: number): number {
  return densityChoice.use() === 'compact' ? Math.max(32, Math.round(comfortable * 0.72)) : comfortable;
}
