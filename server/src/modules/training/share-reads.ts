import { createHash } from 'node:crypto';
import type { ValidateReport } from '@bakehouse/contract/runtime/train-spec';
import { takeTurns } from '../../platform/take-turns.ts';
import type { DataToRead, ReadData } from './read-data.ts';

/** Each takes a core and some hundred megabytes. */
const READS_AT_ONCE = 2;
const REPORTS_KEPT = 100;

/**
 * The same reader, with each data file read once: equal calls share one read, those in flight too,
 * since the files are named by their content. Few read at once, and the users take turns.
 */
export function shareReads(read: ReadData): ReadData {
  const reports = new Map<string, Promise<ValidateReport>>();
  const inTurn = takeTurns(READS_AT_ONCE);

  return (ctx, input) => {
    const name = nameOf(input);
    const before = reports.get(name);
    if (before) return before;
    const report = inTurn(ctx.caller.userId, () => read(ctx, input));
    reports.set(name, report);
    report.catch(() => reports.delete(name));
    const [oldest] = reports.keys();
    if (reports.size > REPORTS_KEPT && oldest !== undefined) reports.delete(oldest);
    return report;
  };
}

/** Equal for inputs that are read alike: neither learning rate nor dropout changes the report. */
function nameOf({ base, dataFile, spec }: DataToRead): string {
  const { learning_rate, lora, ...parameters } = spec.parameters;
  const { dropout, ...adapter } = lora;
  const read = { base, dataFile, spec: { ...spec, parameters: { ...parameters, lora: adapter } } };
  return createHash('sha256').update(JSON.stringify(read)).digest('hex');
}
