import path from 'node:path';
import type { Reporter, TestModule, TestSpecification } from 'vitest/node';
import { root } from '../root.ts';
import { type Durations, inMinutes, readDurations, saveDurations } from './durations.ts';

/** Interval of progress messages. */
const SAID_MS = 30_000;

/** Prints finished files, and the estimated time for the others. Saves the durations. */
export default class implements Reporter {
  private last: Durations = {};
  private readonly took: Durations = {};
  private files: string[] = [];
  private startedAt = 0;
  private saidAt = 0;

  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    this.last = await readDurations();
    this.files = specifications.map(({ moduleId }) => path.relative(root, moduleId));
    this.startedAt = this.saidAt = performance.now();
  }

  onTestModuleEnd(module: TestModule): void {
    this.took[path.relative(root, module.moduleId)] = module.diagnostic().duration;
    const now = performance.now();
    if (now - this.saidAt < SAID_MS) return;
    this.saidAt = now;
    const isDone = (file: string) => file in this.took;
    const [done, left] = [this.files.filter(isDone), this.files.filter((file) => !isDone(file))];
    const remaining = ((now - this.startedAt) * this.weigh(left)) / this.weigh(done);
    console.log(
      `--- ${done.length} of ${this.files.length} files are done; ${inMinutes(remaining)} left for the others`,
    );
  }

  async onTestRunEnd(): Promise<void> {
    await saveDurations(this.took);
  }

  private weigh(files: string[]): number {
    return files.reduce((total, file) => total + 100 + (this.last[file] ?? 1_000), 0);
  }
}
