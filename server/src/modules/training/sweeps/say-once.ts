import { type Combination, nameCombination } from '@bakehouse/contract/sweep-axes';

/** What the validation says of a run, and the field that it is about. */
export type SaidOfRun = { combination: Combination; message: string; about: string | null };

/**
 * Each thing once, however many of the runs it is said of: as it is where it is said of all `count`, else with the values of the
 * first. Pure.
 */
export function sayOnce(said: readonly SaidOfRun[], count: number): Omit<SaidOfRun, 'combination'>[] {
  const byMessage = Map.groupBy(said, ({ message, about }) => JSON.stringify([message, about]));
  return [...byMessage.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const { combination, message, about } = first;
    if (others.length + 1 === count) return [{ message, about }];
    const more = others.length > 0 ? ` (and ${others.length} more)` : '';
    return [{ message: `${nameCombination(combination)}${more}: ${message}`, about }];
  });
}
