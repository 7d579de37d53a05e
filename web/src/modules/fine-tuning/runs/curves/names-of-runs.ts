import type { Run } from '@bakehouse/contract/runs';
import { formatDateTime } from '../../../../lib/format/format-time.ts';

type Named = Pick<Run, 'title' | 'created_at'>;

/**
 * Names the runs of a comparison: by title, plus the creation time for equal titles, plus a number if that is
 * equal too.
 */
export function namesOfRuns(runs: readonly Named[]): string[] {
  const titles = runs.map(({ title }) => title);
  const dated = runs.map(({ title, created_at }) =>
    isRepeated(title, titles) ? `${title} (${formatDateTime(new Date(created_at))})` : title,
  );
  return dated.map((name, index) =>
    isRepeated(name, dated)
      ? `${name} ${dated.slice(0, index + 1).filter((other) => other === name).length}`
      : name,
  );
}

function isRepeated(name: string, names: readonly string[]): boolean {
  return names.indexOf(name) !== names.lastIndexOf(name);
}
