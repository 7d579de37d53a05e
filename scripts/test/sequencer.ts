import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { root } from '../root.ts';
import { readDurations } from './durations.ts';
import { findChanged, isTestOf } from './find-changed.ts';

/**
 * Tests of what changed come first, then those that took longest: a long one at the end would run alone. Those of a project
 * stay together, as they share their workers.
 */
export default class extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const [durations, changed] = await Promise.all([readDurations(), findChanged()]);
    const rankOf = ({ moduleId }: TestSpecification) => {
      const file = path.relative(root, moduleId);
      // One that is not known yet may be long.
      return isTestOf(file, changed) ? Number.MAX_VALUE : (durations[file] ?? 60_000);
    };
    const ranked = specifications.map((one) => ({ one, rank: rankOf(one) })).sort((a, b) => b.rank - a.rank);
    const projects = [...new Set(ranked.map(({ one }) => one.project))];
    return projects.flatMap((project) =>
      ranked.filter(({ one }) => one.project === project).map(({ one }) => one),
    );
  }
}
