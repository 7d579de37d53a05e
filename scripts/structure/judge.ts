import type { Breach, Rule } from './find-breaches.ts';

/** What may break a rule: `where` is written as the check writes it. */
export type Exception = { rule: Rule; where: string; reason: string };

/** One line for each breach that is no exception, and for each exception that is not needed any more or stands twice. */
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
