import type { Breach, Rule } from './find-breaches.ts';

/** A permitted breach. `where` has the same form as in the output of the check. */
export type Exception = { rule: Rule; where: string; reason: string };

/** Returns one line for each breach without an exception, and for each unused or duplicate exception. */
export function judge(breaches: Breach[], exceptions: Exception[]): string[] {
  const covers = (exception: Exception) => (other: Pick<Breach, 'rule' | 'where'>) =>
    exception.rule === other.rule && exception.where === other.where;
  const open = breaches.filter((breach) => !exceptions.some((exception) => covers(exception)(breach)));
  const idle = exceptions.filter((exception) => !breaches.some(covers(exception)));
  const repeated = exceptions.filter((exception, index) =>
    exceptions.slice(0, index).some((earlier) => covers(earlier)(exception)),
  );
  return [
    ...open.map(({ where, message }) => `${where}: ${message}`),
    ...idle.map(
      ({ rule, where }) =>
        `${where}: no longer breaks the rule '${rule}'. Take it off the list in scripts/structure/exceptions.ts.`,
    ),
    ...repeated.map(
      ({ rule, where }) =>
        `${where}: stands twice under the rule '${rule}'. Take one off the list in scripts/structure/exceptions.ts.`,
    ),
  ];
}
