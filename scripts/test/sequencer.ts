import { statSync } from 'node:fs';
import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { root } from '../root.ts';
import { readDurations } from './durations.ts';
import { findChanged, isTestOf } from './find-changed.ts';

/**
 * Runs tests of changed files first, then the slowest ones, because a slow test at the end would run alone.
 * Tests of one project follow each other, because they share workers.
 */
export default class extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const [durations, changed] = await Promise.all([readDurations(), findChanged()]);
    const rankOf = ({ moduleId }: TestSpecification) => {
      const file = path.relative(root, moduleId);
      // Of tests that have not run before, the large files are usually the slow ones: about 1 ms per byte.
      return isTestOf(file, changed) ? Number.MAX_VALUE : (durations[file] ?? statSync(moduleId).size);
    };
    const ranked = specifications.map((one) => ({ one, rank: rankOf(one) })).sort((a, b) => b.rank - a.rank);
    const projects = [...new Set(ranked.map(({ one }) => one.project))];
    return projects.flatMap((project) =>
      ranked.filter(({ one }) => one.project === project).map(({ one }) => one),
    );
  }
}
